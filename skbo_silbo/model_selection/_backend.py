"""Where joblib's active backend makes fits."""

from joblib.parallel import BACKENDS, get_active_backend

THREADS, PROCESSES = "threads", "processes"


def kind_of_workers():
    """Return "threads", "processes" (joblib's own), or the name of the class of another backend."""
    backend, _ = get_active_backend()
    if backend.supports_sharedmem:
        return THREADS
    return PROCESSES if isinstance(backend, BACKENDS["loky"]) else type(backend).__name__


def dies_with_its_fits(n_workers, timeout):
    """Return whether fits are made in this process, so that one can end it."""
    in_place = n_workers == 1 and timeout is None
    return in_place or kind_of_workers() == THREADS
