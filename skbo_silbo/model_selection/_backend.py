"""Where joblib's active backend makes fits."""

from joblib.parallel import BACKENDS, get_active_backend

THREADS, PROCESSES = "threads", "processes"


def kind_of_workers():
    """Return "threads", "processes" (joblib's own), or the name of the class of another backend."""
    backend, _ = get_active_backend()
    if isinstance(backend, (BACKENDS["threading"], BACKENDS["sequential"])):
        return THREADS
    return PROCESSES if isinstance(backend, BACKENDS["loky"]) else type(backend).__name__


def require_that_fits_can_be_given_up(timeout):
    """Refuse a timeout where no fit can be taken from the workers of joblib's backend.

    Raises
    ------
    ValueError
    """
    kind = kind_of_workers()
    if timeout is not None and kind not in (THREADS, PROCESSES):
        raise ValueError(
            f"timeout must be None with joblib's {kind}: got {timeout}. No fit can be taken from "
            'its workers; use the backends "loky" or "threading".'
        )


def dies_with_its_fits(n_workers, timeout):
    """Return whether fits are made in this process, so that one can end it."""
    in_place = n_workers == 1 and timeout is None
    return in_place or kind_of_workers() == THREADS
