"""Read and validate the settings of a search before its first evaluation."""

from collections.abc import Mapping

from joblib import effective_n_jobs

from skbo_silbo._checks import brief, check_nonnegative, check_picklable
from skbo_silbo._joblib import loky_dumps
from skbo_silbo.model_selection._cross_validation import read_pre_dispatch
from skbo_silbo.model_selection._initial_candidates import read_initial_params
from skbo_silbo.model_selection._initial_results import read_initial_results
from skbo_silbo.optimizers.constraints import KnownConstraints
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.default_ranges import list_steps, none_is_default
from skbo_silbo.space.filled_space import fill_space
from skbo_silbo.workers.backends import DASK, PROCESSES, THREADS, kind_of_workers

PICKLE_REMEDY = (
    'Remove open files, locks, generators and connections from it, use the backend "loky" for '
    'lambdas and nested functions, or set n_jobs=1 or the backend "threading".'
)


def read_settings(search, X, y):
    """Validate the parameters of a search, and return its space, constraints and candidates.

    Parameters
    ----------
    search : SILBOSearchCV
        The search to read, which has the attribute `n_splits_`. Its attribute `space_` is set here.
    X, y : array-like
        The training data that were passed to ``fit``.

    Returns
    -------
    space : Space or SpaceUnion
    constraints : KnownConstraints
    given : InitialCandidates
    results : (list of dict, list of float)
        The candidates of `initial_results` and their scores.

    Raises
    ------
    ValueError
        If a setting is invalid.
    """
    steps = list_steps(search.estimator, X, y)
    search.space_ = fill_space(search.param_distributions, search.estimator, X, y)
    space = read_space(search.space_, steps)
    constraints = KnownConstraints.of(search.constraints, space)
    rule = constraints.violation
    given = read_initial_params(search.initial_params, steps, space, search._most_candidates, rule)
    require_options_that_fit(search, given)
    results = read_initial_results(search.initial_results, search.refit, space)
    return space, constraints, given, results


def read_space(given, steps=()):
    """Convert `param_distributions` to a search space.

    Raises
    ------
    ValueError
        If the space is invalid.
    """
    if not isinstance(given, (Mapping, list)):
        return as_space(given)
    branches = given if isinstance(given, list) else [given]
    if not all(isinstance(branch, Mapping) and branch for branch in branches or [None]):
        raise ValueError(
            "`param_distributions` must be a Space, a non-empty dict or a non-empty list of "
            f"non-empty dicts, got {brief(given)}. Use 'auto' for the default ranges, or a list "
            "with one value to keep a parameter."
        )
    prefixes = tuple(step.prefix for step in steps if none_is_default(step.estimator))
    own = {name for branch in branches for name in branch if str(name).startswith(prefixes)}
    return as_space(given, none_is_default=own)


def require_options_that_fit(search, given):
    """Check that the options of a search are compatible with each other and the data.

    Parameters
    ----------
    search : SILBOSearchCV
    given : InitialCandidates

    Raises
    ------
    ValueError
        If an option cannot be used.
    """
    check_nonnegative("timeout", search.timeout, "None")  # unlike scikit-learn, rejects True
    check_nonnegative("max_time", search.max_time, "None")
    if search.n_iter is None and search.max_time is None:
        raise ValueError(
            "`max_time` must be a number of seconds if `n_iter` is None, got None. Set one of them "
            "to limit the search."
        )
    if len(given.due) > search._most_candidates:
        raise ValueError(
            f"`initial_params` must contain at most n_iter={search.n_iter} candidates, got "
            f"{len(given.params)}. Increase n_iter or remove some candidates."
        )
    if not search.n_splits_:
        raise ValueError(
            f"`cv` must provide at least one split, got {brief(search.cv)}. No fits were "
            "performed. Was the CV iterator empty? Were there no candidates? Pass a number of "
            "folds or an iterable that is not exhausted."
        )
    if search._goals and search.method != "silbo":
        raise ValueError(
            f"`method` must be 'silbo' for a multi-objective search (refit={search.refit!r}), got "
            f"{search.method!r}."
        )
    n_workers = effective_n_jobs(search.n_jobs)
    read_pre_dispatch(search.pre_dispatch, n_workers)
    if n_workers > 1 or search.timeout is not None:
        _require_that_fits_can_be_sent(search, n_workers, kind_of_workers())


def _require_that_fits_can_be_sent(search, n_workers, kind):
    """Check that joblib's workers can receive the fits, and stop them after `timeout`.

    Raises
    ------
    ValueError
        If this is not possible. The message names the parameter.
    """
    if search.timeout is not None and kind not in (THREADS, PROCESSES):
        raise ValueError(
            f"`timeout` must be None with joblib's {kind}, got {search.timeout}. Its fits cannot "
            'be stopped; use the backend "loky" or "threading".'
        )
    if kind not in (THREADS, PROCESSES, DASK):
        raise ValueError(
            f"`n_jobs` must be 1 with joblib's {kind}, got {n_workers} workers. Use the backend "
            '"loky", "threading" or "dask": joblib.parallel_config("loky").'
        )
    if kind == THREADS:
        return
    for name in ("estimator", "param_distributions", "scoring"):
        value = getattr(search, name)
        check_picklable(name, value, loky_dumps, f"joblib's {kind}", PICKLE_REMEDY)
