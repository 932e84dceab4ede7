"""Where joblib's active backend makes fits, and what can be sent there."""

import pickle

from joblib.externals.loky.backend import reduction
from joblib.parallel import BACKENDS, get_active_backend

from skbo_silbo._checks import check_picklable

THREADS, PROCESSES = "threads", "processes"
PLAIN = "MultiprocessingBackend"  # is sent no lambdas, as all others are
SENT = (
    "Give an object that pickle takes (no open file, lock, generator or connection; lambdas and "
    'nested functions need the backend "loky", and cloudpickle), n_jobs=1, or the backend '
    '"threading".'
)


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


def require_that_fits_can_be_sent(search, n_workers):
    """Refuse, before the first fit, what cannot be sent to the workers of joblib's backend.

    Raises
    ------
    ValueError
        Naming the parameter that cannot.
    """
    kind = kind_of_workers()
    if kind == THREADS or (n_workers == 1 and search.timeout is None):
        return
    dumps = pickle.dumps if kind == PLAIN else reduction.dumps
    sent = {name: getattr(search, name) for name in ("param_distributions", "scoring")}
    for name, part in {**_blamed(search.estimator, dumps), **sent}.items():
        check_picklable(name, part, dumps, f"joblib's {kind}", SENT)


def _blamed(estimator, dumps):
    """Return the estimator by name; one that cannot be sent after its parameters, inner first."""
    whole = {"estimator": estimator}
    try:
        dumps(estimator)
    except Exception:  # whatever an object's own methods raise
        parts = estimator.get_params(deep=True)
        inner_first = sorted(parts, key=lambda name: -name.count("__"))
        return {f"{name} of estimator": parts[name] for name in inner_first} | whole
    return whole


def dies_with_its_fits(n_workers, timeout):
    """Return whether fits are made in this process, so that one can end it."""
    in_place = n_workers == 1 and timeout is None
    return in_place or kind_of_workers() == THREADS
