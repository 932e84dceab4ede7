"""What was evaluated, read alike from whatever did it, and what the model of all inputs says."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skbo_silbo.baselines import RandomSearch
from skbo_silbo.optimizers import AskTellOptimizer

from .._typing import FloatArray
from ..space import SpaceUnion, parameter_domains

SCORE_NAME = "mean test "
LARGEST_DRAWN = 1e100  # penalties of 1e300 are drawn as this: room for margins and squares
N_POINTS = 256  # over which the other inputs are averaged
N_PLACES = 21  # along a continuous input
N_BINS = 16  # along a direction
POINTS_A_BIN = 64


class SearchLike(Protocol):
    """A fitted search in the manner of scikit-learn."""

    @property
    def cv_results_(self) -> Mapping[str, Any]:
        """A column for every score and parameter."""


class StudyLike(Protocol):
    """An Optuna study whose sampler is a `SILBOSampler`."""

    sampler: Any


ResultLike: TypeAlias = AskTellOptimizer | OptimizeResult | SearchLike | StudyLike


@dataclass(frozen=True, eq=False)
class Evaluations:
    """What was evaluated, in order.

    Attributes
    ----------
    optimizer : AskTellOptimizer or None
        None of another search than ours.
    points : list of n dicts, or ndarray of shape (n, d)
    values : ndarray of shape (n,)
        NaN where an evaluation failed; at most `LARGEST_DRAWN` in size.
    name : str
        Of the values.
    greater_is_better : bool
    n_initial : int
        How many came before the first model; all, of random search.
    metric : str or None
        Of a search whose mean test scores the values are.
    scoring : object, default=None
        What that search was given.
    """

    optimizer: Any
    points: Any
    values: FloatArray
    name: str
    greater_is_better: bool
    n_initial: int
    metric: str | None = None
    scoring: Any = None

    def __post_init__(self):
        """Bring the values into the range that can be drawn."""
        drawn = np.clip(self.values, -LARGEST_DRAWN, LARGEST_DRAWN)
        object.__setattr__(self, "values", drawn)  # the record is frozen

    @cached_property
    def X(self):
        """The points in the cube, (n, m); NaN in the rows of those outside the space."""
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
        """The values of every parameter: dict of str to sequence of n, absent ones masked.

        So is what is no number, ``gamma="scale"`` of an estimator as it was, where numbers are
        searched. With them the choice between the branches of a conditional space.
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
        """Return the `Dependence` of these values, by the model of the optimiser.

        Parameters
        ----------
        along : str or ndarray of shape (m,)
            A parameter (Friedman 2001, section 8.2); or a direction, along which the mean of the
            model is over evenly spread points of nearly the same score.
        """
        model, sign = self.optimizer.input_model_, -1.0 if self.greater_is_better else 1.0
        places, blocks = (_along_input if isinstance(along, str) else _in_bins)(model, along)
        return Dependence(places, *(sign * values for values in model.dependence(blocks)))


def read_evaluations(result: ResultLike, *, any_search: bool = False) -> Evaluations:
    """Return the `Evaluations` of a result.

    Parameters
    ----------
    result : fitted SILBOSearchCV, AskTellOptimizer, OptimizeResult of `minimize` or optuna.Study
        A study by its sampler, which must be a `SILBOSampler`.
    any_search : bool, default=False
        Whether other fitted searches of scikit-learn, which have learnt nothing, are read too.

    Raises
    ------
    TypeError
        When it is something else.
    NotFittedError
        When it is a search that is not fitted, or an optimiser that has no evaluations.
    """
    if isinstance(result, AskTellOptimizer):
        return _of_optimizer(result)
    if isinstance(result, OptimizeResult) and "optimizer" in result:
        return _of_optimizer(result.optimizer)
    if isinstance(result, BaseEstimator):
        check_is_fitted(result, "cv_results_")
        if any_search or "optimizer_" in vars(result):
            return _of_search(result)
    sampler: Any = getattr(result, "sampler", None)
    if hasattr(sampler, "optimizer_of"):
        return _of_optimizer(sampler.optimizer_of(result))
    raise TypeError(
        "result must be a fitted SILBOSearchCV, an optimiser such as SILBO, what minimize "
        f"returned, or an Optuna study of SILBOSampler: got {type(result).__name__}. Of another "
        "study give SILBOSampler().optimizer_of(study)."
    )


def read_values_like(evaluations: Evaluations, result: ResultLike, name: str) -> FloatArray:
    """Return the values of another result, (n,), to be compared with those observed.

    Also of any other fitted search of scikit-learn, where those observed are scores of a search.

    Parameters
    ----------
    evaluations : Evaluations
    result : object
    name : str
        Of the argument, for messages.

    Raises
    ------
    ValueError
        When one is to be minimised and the other not, or a search has no scores of that metric, or
        was given another name of a metric as `scoring`.
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
                f"{name} must be scored as result is, by {ours!r}: got a {type(result).__name__} "
                f"scored by {theirs!r}. Give both searches the same scoring."
            )
        return _scores(result, evaluations.metric, name)
    raise ValueError(
        f"{name} must be of the same kind as result, a search with scores or an optimiser with "
        f"values to be minimised: got a {type(result).__name__}. Compare like with like."
    )


def _scores(search, metric, name):
    key = f"mean_test_{metric}"
    if key not in search.cv_results_:
        known = [k for k in search.cv_results_ if k.startswith("mean_test_")]
        raise ValueError(
            f"{name} must have {key!r} in its cv_results_: got {known}. "
            "Give both searches the same scoring."
        )
    return np.array(search.cv_results_[key], dtype=float)[_alike(search)]


def _alike(search):
    """Return the candidates whose scores can be compared: those with the most of a resource."""
    results = search.cv_results_
    used = np.asarray(results.get("n_resources", np.zeros(len(results["params"]))))
    return np.flatnonzero(used == used.max())


def _metric_of(search):
    """Return the name in ``cv_results_`` of the metric that was searched."""
    if not search.multimetric_:
        return "score"
    if isinstance(search.refit, str):
        return search.refit
    names = [k.removeprefix("mean_test_") for k in search.cv_results_ if k.startswith("mean_test_")]
    return names[0]


def _of_optimizer(optimizer):
    y = optimizer.func_vals_
    if not len(y):
        raise NotFittedError(
            f"result must hold evaluations: this {type(optimizer).__name__} has none. Tell it "
            "some, then draw."
        )
    counts = np.isfinite(y) & optimizer.feasible_
    values = np.where(counts, y, np.nan)
    n_initial, maximize = _n_initial(optimizer, 0, len(y)), optimizer.maximize
    return Evaluations(optimizer, optimizer.x_iters_, values, "value", maximize, n_initial)


def _of_search(search):
    results, metric = search.cv_results_, _metric_of(search)
    points = [results["params"][i] for i in _alike(search)]
    scores = _scores(search, metric, "result")
    optimizer, name, n_initial = vars(search).get("optimizer_"), f"{SCORE_NAME}{metric}", 0
    if optimizer is not None:
        n_initial = _n_initial(optimizer, int(np.sum(results["iter"] == 0)), len(scores))
        if isinstance(search.refit, (list, tuple)):
            name += f" (of {len(search.refit)} goals)"
    return Evaluations(optimizer, points, scores, name, True, n_initial, metric, search.scoring)


def _n_initial(optimizer, n_first, n):
    if isinstance(optimizer, RandomSearch):
        return n
    return min(max(optimizer.n_initial_, n_first), n)


def _column(name, points, domain):
    """Return the values of one parameter, masked where a point has none that can be drawn."""
    values = np.empty(len(points), dtype=object)  # filled one by one: a value may be a sequence
    for i, point in enumerate(points):
        values[i] = point.get(name)
    numeric = domain is not None and domain.is_numeric
    mask = [name not in p or (numeric and not isinstance(p[name], Real)) for p in points]
    return np.ma.array(values, mask=mask)


@dataclass(frozen=True, eq=False)
class Dependence:
    """A partial dependence curve with its interval, in the units of the values observed.

    Attributes
    ----------
    places : sequence of k values of the parameter, or ndarray of k scores of the direction
    mean, low, high : ndarray of shape (k,)
    """

    places: Sequence[Any] | NDArray[Any]
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def rows(self, rows):
        """Return the curve at some of its places, in the order of the rows."""
        places = [self.places[i] for i in rows]
        return Dependence(places, self.mean[rows], self.low[rows], self.high[rows])


def _along_input(model, name):
    """Return values of one parameter, and the points that have each, all else spread evenly."""
    places = parameter_domains(model.space)[name].places(N_PLACES)
    base = model.points(N_POINTS)
    blocks = [model.space.with_value(base, name, value) for value in places]
    kept = [i for i, X in enumerate(blocks) if len(X)]
    return [places[i] for i in kept], [blocks[i] for i in kept]


def _in_bins(model, direction):
    """Return mean scores of bins of the direction (m,), and the points of each."""
    X = model.space.round(model.points(N_BINS * POINTS_A_BIN))
    order = np.argsort(X @ direction, kind="stable")
    bins = order.reshape(N_BINS, POINTS_A_BIN)
    return (X @ direction)[bins].mean(axis=1), [X[rows] for rows in bins]
