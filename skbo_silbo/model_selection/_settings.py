"""Read and validate the settings of a search before its first evaluation."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from skbo_silbo._checks import brief, check_nonnegative, check_picklable
from skbo_silbo._joblib import loky_dumps
from skbo_silbo._typing import Auto
from skbo_silbo.evaluation.budget import check_limits
from skbo_silbo.model_selection._cross_validation import read_pre_dispatch
from skbo_silbo.model_selection._initial_candidates import InitialCandidates, read_initial_params
from skbo_silbo.model_selection._initial_results import Results, read_initial_results
from skbo_silbo.optimizers.configuration import n_initial_points
from skbo_silbo.optimizers.constraints import KnownConstraints
from skbo_silbo.space.any_space import NamedSpace, as_space, branches_of
from skbo_silbo.space.default_ranges import list_steps
from skbo_silbo.space.filled_space import fill_space
from skbo_silbo.workers.backends import DASK, PROCESSES, THREADS, kind_of_workers

PICKLE_REMEDY = (
    'Remove open files, locks, generators and connections from it, use the backend "loky" for '
    'lambdas and nested functions, or set n_jobs=1 or the backend "threading".'
)


@dataclass(frozen=True, eq=False)
class Settings:
    """Settings of a search, computed once from its parameters and the data.

    Attributes
    ----------
    space : Space or SpaceUnion
        The search space that candidates are drawn from.
    constraints : KnownConstraints
        The compiled constraints of the search.
    initial : InitialCandidates
        Candidates to evaluate before the initial design.
    results : (list of dict, list of float)
        The candidates of `initial_results` and their scores.
    n_initial : int or "auto"
        Number of candidates in the initial design. By default, it is at most half of `n_iter`; with
        10 iterations, this limit improved the mean of eight tuning tasks (doc/search_log.rst).
        Methods other than "silbo" have their own defaults.
    n_candidates : int or float
        Maximum number of candidates.
    """

    space: NamedSpace
    constraints: KnownConstraints
    initial: InitialCandidates
    results: Results
    n_initial: int | Auto
    n_candidates: float


def read_settings(search: Any, X: Any, y: Any) -> Settings:
    """Validate the parameters of a search, and compute the settings that depend on the data.

    Parameters
    ----------
    search : SILBOSearchCV
        The search to read, which has the attribute `n_splits_`. Its attribute `space_` is set here.
    X, y : array-like
        The training data that were passed to ``fit``.

    Raises
    ------
    ValueError
        If a setting is invalid.
    """
    steps = list_steps(search.estimator, X, y)
    search.space_ = fill_space(search.param_distributions, search.estimator, X, y)
    space = read_space(search.space_)
    _require_known_parameters(search, space)
    constraints = KnownConstraints.of(search.constraints, space)
    most = math.inf if search.n_iter is None else search.n_iter
    initial = read_initial_params(search.initial_params, steps, space, most, constraints.violation)
    require_options_that_fit(search, initial, most)
    results = read_initial_results(search.initial_results, search.refit, space)
    n_initial = search.n_initial
    if n_initial == "auto" and search.method == "silbo":
        n_initial = int(min(n_initial_points(space.n_features_), max(most / 2, 1)))
    n_candidates = min(most, space.n_points + len(initial.outside))
    return Settings(space, constraints, initial, results, n_initial, n_candidates)


def read_space(given: Any) -> Any:
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
    return as_space(given)


def require_options_that_fit(search: Any, initial: InitialCandidates, most: float) -> None:
    """Check that the options of a search are compatible with each other and the data.

    Parameters
    ----------
    search : SILBOSearchCV
    initial : InitialCandidates
    most : int or float
        Maximum number of candidates.

    Raises
    ------
    ValueError
        If an option cannot be used.
    """
    check_nonnegative("timeout", search.timeout, "None")  # unlike scikit-learn, rejects True
    check_limits("n_iter", search.n_iter, search.max_time)
    if len(initial.due) > most:
        raise ValueError(
            f"`initial_params` must contain at most n_iter={search.n_iter} candidates, got "
            f"{len(initial.params)}. Increase n_iter or remove some candidates."
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


def _require_that_fits_can_be_sent(search: Any, n_workers: int, kind: str) -> None:
    """Check that joblib's workers can receive the fits and can be stopped after `timeout`.

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


def _require_known_parameters(search: Any, space: NamedSpace) -> None:
    """Raise scikit-learn's error if the estimator does not have a parameter of the space.

    Other errors are ignored: `set_params` may reject values that constraints exclude.
    """
    for branch in branches_of(space):
        [middle] = branch.decode(np.zeros((1, branch.n_features_)))
        try:
            clone(search.estimator).set_params(**clone(middle, safe=False))
        except Exception as error:  # estimators of users may raise anything
            if str(error).startswith("Invalid parameter"):
                raise
