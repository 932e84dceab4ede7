"""What a search is refused for, before there is a journal and a fit."""

from collections.abc import Mapping

from joblib import effective_n_jobs
from joblib.externals.loky.backend import reduction

from skbo_silbo._checks import check_picklable
from skbo_silbo.model_selection._given import read_initial_params
from skbo_silbo.model_selection._optimizer import make_optimizer, tell_initial_results
from skbo_silbo.optimizers._constraints import as_violation
from skbo_silbo.space._known_space import as_known_space, steps_of
from skbo_silbo.space._read import as_space
from skbo_silbo.workers._joblib import DASK, kind_of_workers
from skbo_silbo.workers._pool import PROCESSES, THREADS

SENT = (
    "Give an object that pickle takes (no open file, lock, generator or connection; lambdas and "
    'nested functions need the backend "loky", and cloudpickle), n_jobs=1, or the backend '
    '"threading".'
)


def read_settings(search, X, y):
    """Return the space of a search and its given candidates, once all its options are seen to fit.

    Parameters
    ----------
    search : SILBOSearchCV
        With the number of its splits. It gets `space_`.
    X, y : array-like
        Of its fit.

    Returns
    -------
    space : Space or SpaceUnion
    given : InitialCandidates

    Raises
    ------
    ValueError
    """
    steps = steps_of(search.estimator, X, y)
    search.space_ = as_known_space(search.param_distributions, search.estimator, X, y)
    space = read_space(search.space_)
    trial = make_optimizer(search, space, 0)
    violation = as_violation(search.constraints, space)
    given = read_initial_params(search.initial_params, steps, space, search.n_iter, violation)
    require_options_that_fit(search, given)
    if search.constraints is not None:
        trial.ask()  # a first point, for which there is no model; raises if none is valid
    tell_initial_results(search, trial, space)
    return space, given


def read_space(given):
    """Return the space that `param_distributions` says.

    Raises
    ------
    ValueError
    """
    is_list = isinstance(given, list)
    if is_list and not (given and all(isinstance(b, Mapping) for b in given)):
        raise ValueError(
            "param_distributions must be a dict, a list of at least one dict or a Space: got "
            f"{given!r}. Name every parameter."
        )
    return as_space(given)


def require_options_that_fit(search, given):
    """Refuse options that cannot be honoured.

    Parameters
    ----------
    search : SILBOSearchCV
    given : InitialCandidates

    Raises
    ------
    ValueError
    """
    for name in ("timeout", "max_time"):
        if isinstance(getattr(search, name), bool):
            raise ValueError(
                f"{name} must be None or seconds: got {getattr(search, name)}. Give a number."
            )
    if len(given.left([])) > search.n_iter:
        raise ValueError(
            f"initial_params must be at most n_iter={search.n_iter} candidates: got "
            f"{len(given.params)}. Give n_iter more, or fewer of them."
        )
    if not search.n_splits_:
        raise ValueError(
            f"cv must give at least one split: got {search.cv!r}, which gives none. No fits were "
            "performed. Was the CV iterator empty? Were there no candidates? Give a number of "
            "folds, or an iterable that is not used up."
        )
    if search.patience == "auto" and search.n_splits_ < 2:
        raise ValueError(
            "patience must be None or an int with one split, whose score has no standard error: "
            "got 'auto'. Give cv more splits."
        )
    n_workers = effective_n_jobs(search.n_jobs)
    if n_workers > 1 or search.timeout is not None:
        _require_that_fits_can_be_sent(search, n_workers, kind_of_workers())


def _require_that_fits_can_be_sent(search, n_workers, kind):
    """Refuse what cannot be sent to the workers of joblib's backend, or taken from them.

    Raises
    ------
    ValueError
        Naming the parameter that cannot.
    """
    if search.timeout is not None and kind not in (THREADS, PROCESSES):
        raise ValueError(
            f"timeout must be None with joblib's {kind}: got {search.timeout}. No fit can be taken "
            'from its workers; use the backends "loky" or "threading".'
        )
    if kind not in (THREADS, PROCESSES, DASK):
        raise ValueError(
            f"n_jobs must be 1 with joblib's {kind}: got {n_workers} workers. Use the backends "
            '"loky", "threading" or "dask": joblib.parallel_config("loky").'
        )
    if kind == THREADS:
        return
    sent = {name: getattr(search, name) for name in ("param_distributions", "scoring")}
    for name, part in {**_blamed(search.estimator), **sent}.items():
        check_picklable(name, part, reduction.dumps, f"joblib's {kind}", SENT)


def _blamed(estimator):
    """Return the estimator by name; one that cannot be sent after its parameters, inner first."""
    whole = {"estimator": estimator}
    try:
        reduction.dumps(estimator)
    except Exception:  # whatever an object's own methods raise
        parts = estimator.get_params(deep=True)
        inner_first = sorted(parts, key=lambda name: -name.count("__"))
        return {f"{name} of estimator": parts[name] for name in inner_first} | whole
    return whole
