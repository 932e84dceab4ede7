"""Create the optimiser of a search and validate the settings before the first evaluation."""

import warnings
from collections.abc import Mapping
from contextlib import suppress
from html import escape

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import brief, check_nonnegative, check_picklable
from skbo_silbo._joblib import loky_dumps
from skbo_silbo.minimization.methods import make_optimizer as make_by_method
from skbo_silbo.model_selection._cross_validation import read_pre_dispatch
from skbo_silbo.model_selection._given import (
    is_point_of,
    is_same,
    read_initial_params,
    read_initial_results,
)
from skbo_silbo.model_selection._goals import ParEGO
from skbo_silbo.optimizers import SILBO, EmbeddedOptimizer
from skbo_silbo.optimizers.configuration import n_initial_points
from skbo_silbo.optimizers.constraints import KnownConstraints
from skbo_silbo.optimizers.history import as_points
from skbo_silbo.optimizers.html import search_html
from skbo_silbo.optimizers.predictions import Prediction
from skbo_silbo.optimizers.state import engine_options
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.filled_space import fill_space
from skbo_silbo.space.known_space import KnownSpace, KnownSpaces, list_steps, none_is_default
from skbo_silbo.workers.backends import DASK, PROCESSES, THREADS, kind_of_workers

OWN = ("embedding", "n_components", "n_initial", "surrogate")  # also parameters of the search


def n_first_candidates(search, space):
    """Return the size of the initial design, by default at most half of `n_iter`.

    With 10 iterations, this limit improved the mean of eight tuning tasks (doc/search_log.rst).
    Other methods than "silbo" have their own defaults.
    """
    if search.n_initial != "auto" or search.method != "silbo":
        return search.n_initial
    return min(n_initial_points(space.n_features_), max(search.n_iter // 2, 1))


def make_optimizer(search, space, random_state, n_initial):
    """Create the optimiser of a search, which knows its constraints and `initial_results`.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
    random_state : int, RandomState or None
    n_initial : int or "auto"
        Size of the initial design.

    Raises
    ------
    ValueError
        If an option is unknown or invalid, no candidate satisfies the constraints, or a candidate
        of `initial_results` is outside the space.
    """
    own = {name: getattr(search, name) for name in OWN} | {"n_initial": n_initial}
    others = _check_options(search)
    if search.method == "silbo":
        kind = ParEGO if search._goals else SILBO
        optimizer = kind(space, random_state=random_state, **own, **others)
    else:
        set_by_user = {k: v for k, v in own.items() if not (isinstance(v, str) and v == "auto")}
        optimizer = make_by_method(search.method, space, random_state, {**set_by_user, **others})
    if search.constraints is not None:
        optimizer.constrain(search.constraints)
        optimizer.cancel(optimizer.ask())  # raises if no candidate satisfies the constraints
    if search.initial_results is None:
        return optimizer
    params, scores = read_initial_results(search.initial_results, search.refit, space)
    if not params:
        return optimizer
    try:
        return optimizer.tell(params, [-score for score in scores])
    except ValueError as error:
        raise ValueError(
            "`initial_results` must be inside the search space. Remove other candidates or widen "
            f"the space. {error}"
        ) from error


def expected_score(search, params):
    """Predict the scores of candidates with the surrogate of a fitted search.

    Raises
    ------
    NotFittedError
        If no surrogate was fitted.
    ValueError
        If the search was multi-objective, or a candidate is outside the space.
    """
    optimizer = search.optimizer_
    if not isinstance(optimizer, EmbeddedOptimizer):
        raise NotFittedError(
            f"predict_score needs a model, which method={search.method!r} does not have. Use "
            "another method, such as 'silbo'."
        )
    if isinstance(optimizer, ParEGO):
        raise ValueError(
            "predict_score is not available for a multi-objective search, got "
            f"refit={search.refit!r}. Search for a single objective instead."
        )
    points, single = as_points(params, optimizer.space_)
    measured = {i: score for i, p in enumerate(points) for score in _measured(search, p)}
    rest = [i for i in range(len(points)) if i not in measured]
    values = np.zeros((3, len(points)))
    values[0], values[2] = [-measured.get(i, 0.0) for i in range(len(points))], 1.0
    if rest or not points:
        try:
            predicted = optimizer.predict([points[i] for i in rest])
        except NotFittedError:
            raise NotFittedError(
                "predict_score needs a fitted surrogate, but all "
                f"{len(optimizer.func_vals_)} candidates were initial ones. Increase n_iter, or "
                "reduce the number of initial candidates by initial_params='current'."
            ) from None
        values[:, rest] = predicted
    mean, *others = values
    return Prediction(*(float(v[0]) if single else v for v in (-mean, *others)))


def _measured(search, params):
    """Return a list with the observed score of a candidate outside the space, if there is one."""
    if not isinstance(params, Mapping) or is_point_of(params, search.optimizer_.space_):
        return []
    results = search.cv_results_
    metric = search.refit if isinstance(search.refit, str) else ""
    first = next(name for name in results if name.startswith("mean_test_"))
    scores = results.get(f"mean_test_{metric}", results[first])
    rows = zip(results["params"], scores, strict=True)
    return [float(score) for row, score in rows if is_same(row, params)][:1]


def search_in_html(search):
    """Return an HTML table of the default search space and the results of a search."""
    return _space_html(search) + _found_html(search)


def _space_html(search):
    """Return a table of the default search space, or "" if the user passed a space."""
    space = getattr(search, "space_", None)
    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `fit` issues the same warnings
        if space is None:
            space = fill_space(search.param_distributions, search.estimator, None, None)
        if isinstance(space, KnownSpace | KnownSpaces):
            return f"<details><summary>Space</summary><pre>{escape(repr(space))}</pre></details>"
    return ""  # `fit` reports an invalid space


def _found_html(search):
    if "optimizer_" not in vars(search) or "cv_results_" not in vars(search):
        return ""
    rows = {"Candidates": str(len(search.cv_results_["params"])), "Ended": search.stop_reason_}
    if hasattr(search, "best_params_"):
        best = {"Best parameters": search.best_params_}
        score = getattr(search, "best_score_", None)  # not set if refit is callable
        rows = ({} if score is None else {"Best score": float(score)}) | best | rows
    means = [v for name, v in search.cv_results_.items() if name.startswith("mean_test_")]
    # With one metric, also show candidates that are not used by the surrogate.
    values = means[0] if len(means) == 1 else -search.optimizer_.func_vals_
    return search_html("Search", rows, search.optimizer_, values, rises=True)


def _check_options(search):
    options = search.optimizer_options
    if options is None:
        return {}
    allowed = [name for name in engine_options(SILBO) if name not in OWN]
    is_dict = isinstance(options, Mapping)
    # other methods check their options themselves
    wrong = options.keys() & set(OWN) if is_dict and search.method != "silbo" else set()
    if not is_dict or wrong or (search.method == "silbo" and options.keys() - set(allowed)):
        raise ValueError(
            f"`optimizer_options` must be None or a dict with keys among {allowed}, got "
            f"{brief(options)}. {', '.join(OWN)} are parameters of the search itself."
        )
    return dict(options)


PICKLE_REMEDY = (
    'Remove open files, locks, generators and connections from it, use the backend "loky" for '
    'lambdas and nested functions, or set n_jobs=1 or the backend "threading".'
)


def read_settings(search, X, y):
    """Validate the settings of a search, and return its space and initial candidates.

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
    given = read_initial_params(search.initial_params, steps, space, search.n_iter, rule)
    require_options_that_fit(search, given)
    return space, constraints, given


def read_space(given, steps=()):
    """Convert `param_distributions` to a search space for the estimators in `steps`.

    Raises
    ------
    ValueError
        If the space is invalid.
    """
    is_list = isinstance(given, list)
    if is_list and not (given and all(isinstance(b, Mapping) for b in given)):
        raise ValueError(
            "`param_distributions` must be a dict, a non-empty list of dicts or a Space, got "
            f"{brief(given)}."
        )
    branches = [b for b in (given if is_list else [given]) if isinstance(b, Mapping)]
    prefixes = tuple(step.prefix for step in steps if none_is_default(step.estimator))
    own = {name for branch in branches for name in branch if name.startswith(prefixes)}
    return as_space(given, none_is_default=own)


def require_options_that_fit(search, given):
    """Check that the options of a search can be combined with each other and with the data.

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
    if len(given.due) > search.n_iter:
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
    if search.patience == "auto" and search.method == "random":
        raise ValueError(
            "`patience` must be None or an int with method='random', which has no model, got "
            "'auto'."
        )
    if search.patience == "auto" and search.n_splits_ < 2:
        raise ValueError(
            "`patience` must be None or an int if there is only one split, got 'auto'. Use more "
            "splits to estimate the standard error of a score."
        )
    n_workers = effective_n_jobs(search.n_jobs)
    read_pre_dispatch(search.pre_dispatch, n_workers)
    if n_workers > 1 or search.timeout is not None:
        _require_that_fits_can_be_sent(search, n_workers, kind_of_workers())


def _require_that_fits_can_be_sent(search, n_workers, kind):
    """Check that fits can be sent to the workers of joblib's backend and be stopped by `timeout`.

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
