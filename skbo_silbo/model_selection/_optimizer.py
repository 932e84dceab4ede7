"""The optimiser of a search, and what the search is refused for before anything is evaluated."""

import warnings
from collections.abc import Mapping
from contextlib import suppress
from html import escape

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import brief, check_nonnegative, check_picklable
from skbo_silbo._joblib import loky_dumps
from skbo_silbo.model_selection._cross_validation import read_pre_dispatch
from skbo_silbo.model_selection._given import (
    is_point_of,
    is_same,
    read_initial_params,
    read_initial_results,
)
from skbo_silbo.model_selection._goals import ParEGO
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers._configuration import n_initial_points
from skbo_silbo.optimizers._history import as_points
from skbo_silbo.optimizers._html import search_html
from skbo_silbo.optimizers._predictions import Prediction
from skbo_silbo.optimizers._state import engine_options
from skbo_silbo.space._filled_space import as_known_space
from skbo_silbo.space._known_space import KnownSpace, KnownSpaces, steps_of
from skbo_silbo.space._read import as_space
from skbo_silbo.workers._joblib import DASK, PROCESSES, THREADS, kind_of_workers

OWN = ("embedding", "n_components", "n_initial", "surrogate")  # parameters of the search


def n_first_candidates(search, space):
    """Return how many candidates come before the first model, at most half of `n_iter` by default.

    At 10 candidates the mean of eight tuning tasks was higher so by 0.14 ± 0.04 of the gap
    (doc/search_log.rst).
    """
    if search.n_initial != "auto":
        return search.n_initial
    return min(n_initial_points(space.n_features_), max(search.n_iter // 2, 1))


def make_optimizer(search, space, random_state, n_initial=None):
    """Return the optimiser of a search, before it is told anything.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
    random_state : int, RandomState or None
    n_initial : int or None, default=None
        With which its journal began; None without one.

    Raises
    ------
    ValueError
        If an option or a constraint is unknown or invalid.
    """
    own = {name: getattr(search, name) for name in OWN}
    own["n_initial"] = n_first_candidates(search, space) if n_initial is None else n_initial
    others = _checked(search.optimizer_options)
    kind = ParEGO if search._goals else SILBO
    optimizer = kind(space, random_state=random_state, **own, **others)
    return optimizer.constrain(search.constraints)


def tell_initial_results(search, optimizer, space):
    """Return an optimiser, told the `initial_results` of a search.

    Raises
    ------
    ValueError
        If they are not of this space.
    """
    if search.initial_results is None:
        return optimizer
    params, scores = read_initial_results(search.initial_results, search.refit, space)
    if not params:
        return optimizer
    try:
        return optimizer.tell(params, [-score for score in scores])
    except ValueError as error:
        raise ValueError(
            f"initial_results must be candidates of this space: {error} Leave out those that "
            "are not, or widen the space."
        ) from error


def expected_score(search, params):
    """Return what the model of a fitted search expects of parameters: a `Prediction`.

    Raises
    ------
    NotFittedError
        If there is no model.
    ValueError
        If the search had several goals, or the parameters are not of its space.
    """
    optimizer = search.optimizer_
    if isinstance(optimizer, ParEGO):
        raise ValueError(
            f"predict_score needs a search of one goal: got refit={search.refit!r}, whose models "
            "are of another mixture of the goals at every candidate. Search one of them."
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
                "predict_score needs a model, which the first candidate after the given, known and "
                f"initial ones makes: got {len(optimizer.func_vals_)} candidates, none of them "
                "after these. Set n_iter higher, or initial_params='current' for no known ones."
            ) from None
        values[:, rest] = predicted
    mean, *others = values
    return Prediction(*(float(v[0]) if single else v for v in (-mean, *others)))


def _measured(search, params):
    """Return the score of a candidate that was evaluated outside of the space, in a list."""
    if not isinstance(params, Mapping) or is_point_of(params, search.optimizer_.space_):
        return []
    results = search.cv_results_
    metric = search.refit if isinstance(search.refit, str) else ""
    first = next(name for name in results if name.startswith("mean_test_"))
    scores = results.get(f"mean_test_{metric}", results[first])
    rows = zip(results["params"], scores, strict=True)
    return [float(score) for row, score in rows if is_same(row, params)][:1]


def search_in_html(search):
    """Return what is searched, where "auto" stands for it, and what was found, in HTML."""
    return _space_html(search) + _found_html(search)


def _space_html(search):
    """Return the table of a space that nobody wrote; before the fit, that without data."""
    space = getattr(search, "space_", None)
    with suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown steps: the fit says so
        if space is None:
            space = as_known_space(search.param_distributions, search.estimator, None, None)
        if isinstance(space, KnownSpace | KnownSpaces):
            return f"<details><summary>Space</summary><pre>{escape(repr(space))}</pre></details>"
    return ""  # a space that cannot be read is refused by the fit


def _found_html(search):
    if "optimizer_" not in vars(search) or "cv_results_" not in vars(search):
        return ""
    rows = {"Candidates": str(len(search.cv_results_["params"])), "Ended": search.stop_reason_}
    if hasattr(search, "best_params_"):
        best = {"Best parameters": search.best_params_}
        score = getattr(search, "best_score_", None)  # none where refit is a callable
        rows = ({} if score is None else {"Best score": float(score)}) | best | rows
    means = [v for name, v in search.cv_results_.items() if name.startswith("mean_test_")]
    # those of no use to the model too; of several metrics the one that is searched
    values = means[0] if len(means) == 1 else -search.optimizer_.func_vals_
    return search_html("Search", rows, search.optimizer_, values, rises=True)


def _checked(options):
    if options is None:
        return {}
    known = [name for name in engine_options(SILBO) if name not in OWN]
    if not isinstance(options, Mapping) or options.keys() - set(known):
        raise ValueError(
            f"optimizer_options must be None or a dict of arguments of SILBO among {known}: got "
            f"{brief(options)}. Write {{'acquisition': 'ucb'}}; {', '.join(OWN)} are parameters of "
            "the search itself."
        )
    return dict(options)


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
    rule = trial._known.violation
    given = read_initial_params(search.initial_params, steps, space, search.n_iter, rule)
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
            f"{brief(given)}. Name every parameter."
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
    check_nonnegative("timeout", search.timeout, "None")  # True is no number
    check_nonnegative("max_time", search.max_time, "None")
    if len(given.due) > search.n_iter:
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
    read_pre_dispatch(search.pre_dispatch, n_workers)
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
    for name in ("estimator", "param_distributions", "scoring"):
        part = getattr(search, name)
        check_picklable(name, part, loky_dumps, f"joblib's {kind}", SENT)
