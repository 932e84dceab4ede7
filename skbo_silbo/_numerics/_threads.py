"""Linear algebra on one thread, in the whole process."""

import os
import threading
from contextlib import contextmanager
from typing import Any

from skbo_silbo._sklearn import threadpool_controller


class _Limited:
    """How many contexts of `one_thread` are open in this process, and the threads found before."""

    lock, n_open = threading.Lock(), 0
    found: Any = ()

    @classmethod
    def after_fork(cls):
        """Begin anew in a child, where the threads that were inside are gone."""
        cls.lock, cls.n_open = threading.Lock(), 0


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_Limited.after_fork)


@contextmanager
def one_thread():
    """Return a context in which the linear algebra libraries use one thread.

    With small matrices threads cost several times what they save. The limit of BLAS is the whole
    process's: the first thread to enter notes what it finds, the last to leave restores that.
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
            with blas.limit(limits=None):  # gives OpenBLAS back, which only one thread may set
                pass
