"""Common representation of the evaluations of a search, an optimiser or a study."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._typing import FloatArray
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.space import SpaceUnion, parameter_domains

SCORE_NAME = "mean test "
LARGEST_DRAWN = 1e100  # penalties such as 1e300 are clipped: margins and squares must not overflow
N_POINTS = 256  # sample of the other inputs to average over
N_GRID_VALUES = 21  # number of grid values along a continuous input
N_BINS = 16  # number of bins along a direction
POINTS_PER_BIN = 64


class StudyLike(Protocol):
    """An Optuna study."""

    sampler: Any


ResultLike: TypeAlias = AskTellOptimizer | OptimizeResult | BaseEstimator | StudyLike


@dataclass(frozen=True, eq=False)
class Evaluations:
    """Evaluated points and observed values in the order of evaluation.

    Attributes
    ----------
    label : str
        Name of the class of the search or optimiser, used in legends.
    optimizer : AskTellOptimizer or None
        Optimiser that proposed the points, or None for a search of another library.
    points : list of dict, or ndarray of shape (n, d)
        Evaluated points.
    values : ndarray of shape (n,)
        Observed values of the points, NaN for failed evaluations. Huge values are clipped.
    name : str
        Name of the observed values, for axis labels.
    greater_is_better : bool
        Whether the values are maximised.
    n_initial : int
        Number of evaluations before the first model was fitted. For random search, it is the number
        of all evaluations. It is 0 if unknown, as for a study of another sampler than
        `SILBOSampler`.
    metric : str or None
        Name of the metric if the values are mean test scores, or None for an optimiser.
    scoring : object, default=None
        The parameter `scoring` of the search. None for an optimiser.
    best_name : str, default=""
        Attribute of the result that holds the best observed point, if there is one.
    """

    label: str
    optimizer: Any
    points: Any
    values: FloatArray
    name: str
    greater_is_better: bool
    n_initial: int
    metric: str | None = None
    scoring: Any = None
    best_name: str = ""

    def __post_init__(self):
        """Clip the values to a range that matplotlib can draw."""
        drawn = np.clip(self.values, -LARGEST_DRAWN, LARGEST_DRAWN)
        object.__setattr__(self, "values", drawn)  # the record is frozen

    @property
    def sign(self) -> float:
        """Sign of improvement: 1 if greater values are better, otherwise -1."""
        return 1.0 if self.greater_is_better else -1.0

    @cached_property
    def X(self):
        """Evaluated points, encoded, with NaN in the rows of points outside the search space."""
        space = self.optimizer.space_
        with suppress(ValueError):
            return space.encode(self.points)
        X = np.full((len(self.points), space.n_features_), np.nan)
        for i, point in enumerate(self.points):
            with suppress(ValueError):
                X[i] = space.encode([point])[0]
        return X

    @property
    def parameters(self):
        """Evaluated values of each parameter, as a dict of sequences.

        Entries are masked for candidates that lack the parameter and for values of a numerical
        parameter that are not numbers, such as the default ``gamma="scale"``. For a conditional
        space, the choice of the branch is included as a parameter.
        """
        space = self.optimizer.space_
        if not space.is_dict:
            columns = np.reshape(self.points, (len(self.values), -1)).T
            return {f"x{j}": x for j, x in enumerate(columns) if space.lower[j] < space.upper[j]}
        names = dict.fromkeys(name for point in self.points for name in point)
        domains = parameter_domains(space)
        columns = {name: _column(name, self.points, domains.get(name)) for name in names}
        if isinstance(space, SpaceUnion):
            return {space.choice_name: self._choices(space)} | columns
        return columns

    def _choices(self, space):
        is_inside = np.isfinite(self.X).all(axis=1)
        choices = np.ma.masked_all(len(self.points), dtype=object)
        rows = zip(np.flatnonzero(is_inside), space.choices(self.X[is_inside]), strict=True)
        for i, choice in rows:
            choices[i] = choice
        return choices

    def dependence(self, along):
        """Return the partial dependence of the objective on a parameter or direction.

        Parameters
        ----------
        along : str or ndarray of shape (m,)
            Name of a parameter, or a direction. For a parameter, the result is the partial
            dependence (Friedman 2001, section 8.2). For a direction, the model is averaged over
            points with similar scores.

        Returns
        -------
        dependence : Dependence
        """
        model = self.optimizer.input_model_
        points_along = _points_along_input if isinstance(along, str) else _points_along_direction
        x, blocks = points_along(model, along)
        return Dependence(x, *(-self.sign * values for values in model.dependence(blocks)))


def read_evaluations(result: ResultLike, *, any_search: bool = False) -> Evaluations:
    """Convert the result of a search or optimiser to `Evaluations`.

    Parameters
    ----------
    result : fitted SILBOSearchCV, AskTellOptimizer, OptimizeResult of `minimize` or optuna.Study
        The result to convert. If a study has another sampler than `SILBOSampler`, the default model
        of `SILBOSampler` is fitted to its trials.
    any_search : bool, default=False
        Whether to accept other fitted searches of scikit-learn, which have no model.

    Returns
    -------
    evaluations : Evaluations

    Raises
    ------
    TypeError
        If the result is of an unsupported type.
    NotFittedError
        If a search is not fitted or an optimiser has no evaluations.
    """
    if isinstance(result, AskTellOptimizer):
        return _read_optimizer(result)
    if isinstance(result, OptimizeResult) and "optimizer" in result:
        return replace(_read_optimizer(result.optimizer), best_name="x")
    if isinstance(result, BaseEstimator):
        check_is_fitted(result, "cv_results_")
        if any_search or "optimizer_" in vars(result):
            return _read_search(result)
    if hasattr(result, "sampler"):
        return _read_study(result)
    raise TypeError(
        "result must be a fitted SILBOSearchCV, an optimiser such as SILBO, a result of minimize, "
        f"or an Optuna study, got {type(result).__name__}."
    )


def read_values_like(evaluations: Evaluations, result: ResultLike, name: str) -> FloatArray:
    """Return the observed values of a result that is to be compared with another one.

    Parameters
    ----------
    evaluations : Evaluations
        Evaluations to compare with. If they come from a search, `result` may be any fitted search
        of scikit-learn.
    result : object
        The other result, whose values are returned.
    name : str
        Name of the argument, used in error messages.

    Returns
    -------
    values : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If one result is minimised and the other maximised, or if the searches use different
        metrics.
    """
    if not isinstance(result, BaseEstimator):
        other = read_evaluations(result)
        if other.greater_is_better == evaluations.greater_is_better:
            return other.values
    elif evaluations.metric is not None:
        check_is_fitted(result, "cv_results_")
        ours, theirs = evaluations.scoring, result.scoring
        if ours != theirs and isinstance(ours, str) and isinstance(theirs, str):
            raise ValueError(
                f"{name} must be scored by {ours!r} like result, got a {type(result).__name__} "
                f"scored by {theirs!r}. Use the same scoring for both searches."
            )
        return _scores(result, evaluations.metric, name)
    raise ValueError(
        f"{name} must be of the same kind as result, either a search with scores or an optimiser "
        f"with values to minimise, got a {type(result).__name__}."
    )


def score_name(metric, scoring, n_objectives=0):
    """Return the display name of the scores in a column of ``cv_results_``."""
    metric = scoring if metric == "score" and isinstance(scoring, str) else metric
    return f"{SCORE_NAME}{metric}" + (f" (of {n_objectives} objectives)" if n_objectives else "")


def _scores(search, metric, name):
    key = f"mean_test_{metric}"
    if key not in search.cv_results_:
        available = [k for k in search.cv_results_ if k.startswith("mean_test_")]
        raise ValueError(
            f"{name} must have {key!r} in its cv_results_, got {available}. "
            "Use the same scoring for both searches."
        )
    return np.array(search.cv_results_[key], dtype=float)[_comparable_candidates(search)]


def _comparable_candidates(search):
    """Return the indices of the candidates evaluated with the largest resource."""
    results = search.cv_results_
    used = np.asarray(results.get("n_resources", np.zeros(len(results["params"]))))
    return np.flatnonzero(used == used.max())


def _search_metric(search):
    """Return the name of the optimised metric in ``cv_results_``."""
    if not search.multimetric_:
        return "score"
    if isinstance(search.refit, str):
        return search.refit
    names = [k.removeprefix("mean_test_") for k in search.cv_results_ if k.startswith("mean_test_")]
    return names[0]


def _read_optimizer(optimizer):
    y = optimizer.func_vals_
    if not len(y):
        raise NotFittedError(
            f"result must contain evaluations, but this {type(optimizer).__name__} has none. Call "
            "tell first."
        )
    counts = np.isfinite(y) & optimizer.feasible_
    values = np.where(counts, y, np.nan)
    n_initial, maximize = _count_initial(optimizer, 0, len(y)), optimizer.maximize
    label = type(optimizer).__name__
    observed = optimizer.x_iters_, values, "value", maximize, n_initial
    return Evaluations(label, optimizer, *observed, best_name="best_x_")


def _read_study(study):
    from skbo_silbo.integrations._optuna_trials import observed_states

    sampler = study.sampler
    if not hasattr(sampler, "optimizer_of"):
        from skbo_silbo.integrations import SILBOSampler

        sampler = SILBOSampler(seed=0)
    evaluations = _read_optimizer(sampler.optimizer_of(study))
    is_pruned = np.array([state == "PRUNED" for state in observed_states(study).values()])
    values = np.where(is_pruned, np.nan, evaluations.values)  # an intermediate value is no result
    n_initial = evaluations.n_initial if sampler is study.sampler else 0
    changed = {"label": type(study.sampler).__name__, "n_initial": n_initial, "best_name": ""}
    return replace(evaluations, values=values, **changed)


def _read_search(search):
    results, metric = search.cv_results_, _search_metric(search)
    points = [results["params"][i] for i in _comparable_candidates(search)]
    scores = _scores(search, metric, "result")
    optimizer, n_initial, n_objectives = vars(search).get("optimizer_"), 0, 0
    if optimizer is not None:
        n_initial = _count_initial(optimizer, int(np.sum(results["iter"] == 0)), len(scores))
        sources = list(results["source"])
        if "model" in sources and "resumed" not in sources:  # others may lie outside the space
            n_initial = sources.index("model")
        if isinstance(search.refit, (list, tuple)):
            n_objectives = len(search.refit)
    name = score_name(metric, search.scoring, n_objectives)
    observed = optimizer, points, scores, name, True, n_initial
    is_best = len(scores) and getattr(search, "best_index_", None) == np.argmax(scores)
    best_name = "best_params_" if is_best else ""
    return Evaluations(type(search).__name__, *observed, metric, search.scoring, best_name)


def _count_initial(optimizer, n_first, n):
    if isinstance(optimizer, RandomSearch):
        return n
    return min(max(optimizer.n_initial_, n_first), n)


def _column(name, points, domain):
    """Return the evaluated values of one parameter, masked where they cannot be drawn."""
    values = np.empty(len(points), dtype=object)
    for i, point in enumerate(points):  # a single assignment would unpack values that are sequences
        values[i] = point.get(name)
    numeric = domain is not None and domain.is_numeric
    mask = [name not in p or (numeric and not isinstance(p[name], Real)) for p in points]
    return np.ma.array(values, mask=mask)


@dataclass(frozen=True, eq=False)
class Dependence:
    """Partial dependence curve with intervals, in the units of the observed values.

    Attributes
    ----------
    x : sequence of length k
        Values of the parameter, or scores along the direction, at which the curve is given.
    mean, low, high : ndarray of shape (k,)
        Average prediction of the model, and lower and upper bound of its interval.
    """

    x: Sequence[Any] | NDArray[Any]
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def take(self, indices):
        """Return the parts of the curve with the given indices."""
        x = [self.x[i] for i in indices]
        return Dependence(x, self.mean[indices], self.low[indices], self.high[indices])


def _points_along_input(model, name):
    """Return a grid of values of a parameter, and the points to average over at each value."""
    values = parameter_domains(model.space)[name].grid(N_GRID_VALUES)
    base = model.points(N_POINTS)
    blocks = [model.space.with_value(base, name, value) for value in values]
    kept = [i for i, X in enumerate(blocks) if len(X)]
    return [values[i] for i in kept], [blocks[i] for i in kept]


def _points_along_direction(model, direction):
    """Return the mean score of each bin along a direction, and the points in each bin."""
    X = model.space.round(model.points(N_BINS * POINTS_PER_BIN))
    order = np.argsort(X @ direction, kind="stable")
    bins = order.reshape(N_BINS, POINTS_PER_BIN)
    return (X @ direction)[bins].mean(axis=1), [X[rows] for rows in bins]
