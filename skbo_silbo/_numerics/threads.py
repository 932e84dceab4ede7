"""Context manager that limits linear algebra libraries to one thread."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skbo_silbo._sklearn import threadpool_controller


class _Limited:
    """State of the open `one_thread` contexts in this process."""

    lock, n_open = threading.Lock(), 0
    found: Any = ()

    @classmethod
    def after_fork(cls):
        """Reset the state in a forked child process, which has no other threads."""
        cls.lock, cls.n_open = threading.Lock(), 0


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_Limited.after_fork)


@contextmanager
def one_thread() -> Iterator[None]:
    """Context manager that limits linear algebra libraries to one thread.

    The limit applies to the whole process. The first thread to enter stores the thread counts, and
    the last one to leave restores them.
    """
    controller = threadpool_controller()
    blas = controller.select(user_api="blas")
    with _Limited.lock:
        if _Limited.n_open == 0:
            _Limited.found = blas.info()
        _Limited.n_open += 1
        limit = controller.limit(limits=1).__enter__()
    try:
        yield
    finally:
        with _Limited.lock:
            _Limited.n_open -= 1
            limit.__exit__(None, None, None)
            for library, found in zip(blas.lib_controllers, _Limited.found, strict=True):
                library.set_num_threads(1 if _Limited.n_open else found["num_threads"])
            with blas.limit(limits=None):  # releases OpenBLAS, which only one thread may limit
                pass
