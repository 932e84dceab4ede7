"""Common representation of the evaluations of a search, an optimiser or a study."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from numbers import Real
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._typing import FloatArray
from skbo_silbo.inspection._pareto_display import ParetoDisplay, read_front
from skbo_silbo.journal.records import PointFormat
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.space import SpaceUnion, parameter_domains

SCORE_NAME = "mean test "
LARGEST_DRAWN = 1e100  # penalties such as 1e300 are clipped: margins and squares must not overflow
N_POINTS = 256  # sample of the other inputs to average over
N_GRID_VALUES = 21  # number of grid values along a continuous input
N_BINS = 16  # number of bins along a direction
POINTS_PER_BIN = 64
ENDED = MappingProxyType(
    {
        "budget": "all n_iter candidates were evaluated",
        "max_time": "max_time was reached",
        "target": "the score reached target",
        "patience": "there was no improvement for as long as patience allows",
        "callback": "a callback ended the search",
        "exhausted": "the search space has no other candidate",
    }
)


class StudyLike(Protocol):
    """An Optuna study."""

    sampler: Any


ResultLike: TypeAlias = AskTellOptimizer | OptimizeResult | BaseEstimator | StudyLike


@dataclass(eq=False, kw_only=True)
class Evaluations:
    """Evaluations of a search, an optimiser, a study or a journal, in the order of evaluation.

    Attributes
    ----------
    label : str
        Name of the class of the search or optimiser, used in legends.
    optimizer : AskTellOptimizer or None
        Optimiser that proposed the points, or None for a search of another library.
    points : list of dict, or ndarray of shape (n, d)
        Evaluated points.
    values : ndarray of shape (n,)
        Observed values of the points, NaN for failed evaluations. Values too large to plot are
        clipped.
    table : dict of str to list, default={}
        Columns of the table of all evaluations.
    facts : dict of str to str, default={}
        Rows of the report's summary, such as the budget and the reason for stopping.
    title : str, default=""
        Name of the objective or estimator, and the size of the problem.
    name : str, default="value"
        Name of the observed values, for axis labels.
    greater_is_better : bool, default=True
        Whether the values are maximised.
    n_initial : int, default=0
        Number of evaluations before the first model was fitted. For random search, it is the number
        of all evaluations. It is 0 if unknown, as for a study of another sampler than
        `SILBOSampler`.
    metric : str or None
        Name of the metric if the values are mean test scores, or None for an optimiser.
    scoring : object, default=None
        The parameter `scoring` of the search. None for an optimiser.
    initial_params : object, default=None
        The parameter `initial_params` of the search, a string if it begins with the untuned model.
    stop_reason : str, default=""
        Why a search or `minimize` ended, or "" if it has not.
    best_name : str, default=""
        Attribute of the result that holds the best observed point, if there is one.
    front : ParetoDisplay or None, default=None
        Objectives and Pareto front of a multi-objective search.
    n_open : int, default=0
        Number of evaluations that have begun but not ended.
    row_name : str, default="row"
        Word that precedes the number of an evaluation in the report.
    numbers : sequence of int, default=()
        Number of each evaluation if they are not counted from 0, as for the trials of a study.
    """

    label: str
    optimizer: Any
    points: Any
    values: FloatArray
    table: dict[str, list[Any]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    title: str = ""
    name: str = "value"
    greater_is_better: bool = True
    n_initial: int = 0
    metric: str | None = None
    scoring: Any = None
    initial_params: Any = None
    stop_reason: str = ""
    best_name: str = ""
    front: ParetoDisplay | None = None
    n_open: int = 0
    row_name: str = "row"
    numbers: Sequence[int] = ()

    def __post_init__(self):
        """Clip the values to a range that matplotlib can draw."""
        self.values = np.clip(self.values, -LARGEST_DRAWN, LARGEST_DRAWN)
        self.numbers = self.numbers or range(len(self.values))

    @property
    def sign(self) -> float:
        """Sign of improvement: 1 if greater values are better, otherwise -1."""
        return 1.0 if self.greater_is_better else -1.0

    @cached_property
    def is_noisy(self) -> bool:
        """Whether values are known to be noisy: they are scores, or a point has several values."""
        counted = np.isfinite(self.values)
        points = [x.tobytes() for x in self.X[counted]]
        observed = zip(points, self.values[counted], strict=True)
        return self.name.startswith(SCORE_NAME) or len(set(observed)) > len(set(points))

    @cached_property
    def is_inside(self):
        """Mask of the points inside the search space."""
        points = PointFormat(self.optimizer.space_)
        return np.array([points.is_inside(point) for point in self.points], dtype=bool)

    @cached_property
    def X(self):
        """Evaluated points, encoded, with NaN in the rows of points outside the search space."""
        space = self.optimizer.space_
        X = np.full((len(self.points), space.n_features_), np.nan)
        if self.is_inside.any():
            X[self.is_inside] = space.encode(list(compress(self.points, self.is_inside)))
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
            columns = np.reshape(self.points, (len(self.values), len(space.lower))).T
            return {f"x{j}": x for j, x in enumerate(columns) if space.lower[j] < space.upper[j]}
        points, names, domains = list(self.points), {}, parameter_domains(space)
        if isinstance(space, SpaceUnion):
            names = {space.choice_name: None}
            choices = space.choices(self.X[self.is_inside])
            for i, choice in zip(np.flatnonzero(self.is_inside), choices, strict=True):
                points[i] = {space.choice_name: choice, **points[i]}
        names |= dict.fromkeys(name for point in points for name in point)
        return {name: _column(name, points, domains.get(name)) for name in names}

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


def read_evaluations(
    result: ResultLike,
    *,
    any_search: bool = False,
    metric: str | None = None,
    argument: str = "result",
) -> Evaluations:
    """Convert the result of a search or optimiser to `Evaluations`.

    Parameters
    ----------
    result : fitted SILBOSearchCV, AskTellOptimizer, OptimizeResult of `minimize` or optuna.Study
        The result to convert. If a study has another sampler than `SILBOSampler`, the default model
        of `SILBOSampler` is fitted to its trials.
    any_search : bool, default=False
        Whether to accept other fitted searches of scikit-learn, which have no model.
    metric : str or None, default=None
        Name of the metric to read from a search. If None, it is the optimised one.
    argument : str, default="result"
        Name of the argument, used in error messages.

    Returns
    -------
    evaluations : Evaluations

    Raises
    ------
    TypeError
        If the result is of an unsupported type.
    ValueError
        If a search does not have the metric.
    NotFittedError
        If a search is not fitted or an optimiser has no evaluations.
    """
    if isinstance(result, AskTellOptimizer):
        return _read_optimizer(result)
    if isinstance(result, OptimizeResult) and "optimizer" in result:
        evaluations = _read_optimizer(result.optimizer)
        facts = {"Source": type(result).__name__, "Ended": result.message}
        title = f"{result.objective}, {n_inputs(result.optimizer)}"
        more = {"table": result.evaluation_table(), "facts": facts, "title": title}
        return replace(evaluations, **more, stop_reason=result.stop_reason, best_name="x")
    if isinstance(result, BaseEstimator):
        check_is_fitted(result, "cv_results_")
        if any_search or "optimizer_" in vars(result):
            return _read_search(result, metric, argument)
    if hasattr(result, "sampler"):
        return _read_study(result)
    raise TypeError(
        "result must be a fitted SILBOSearchCV, an optimiser such as SILBO, a result of minimize, "
        f"or an Optuna study, got {type(result).__name__}."
    )


def read_values_like(evaluations: Evaluations, result: ResultLike, argument: str) -> FloatArray:
    """Return the observed values of a result, to compare them with other evaluations.

    Parameters
    ----------
    evaluations : Evaluations
        Evaluations to compare with. If they come from a search, `result` may be any fitted search
        of scikit-learn.
    result : object
        The other result, whose values are returned.
    argument : str
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
    other = read_evaluations(result, any_search=True, metric=evaluations.metric, argument=argument)
    kind, other_kind = ((e.metric is None, e.greater_is_better) for e in (evaluations, other))
    if kind != other_kind:
        raise ValueError(
            f"{argument} must be of the same kind as result, either a search with scores or an "
            f"optimiser with values to minimise, got a {type(result).__name__}."
        )
    ours, theirs = evaluations.scoring, other.scoring
    if ours != theirs and isinstance(ours, str) and isinstance(theirs, str):
        raise ValueError(
            f"{argument} must be scored by {ours!r} like result, got a {type(result).__name__} "
            f"scored by {theirs!r}. Use the same scoring for both searches."
        )
    return other.values


def score_name(metric, scoring, n_objectives=0):
    """Return the display name of the scores in a column of ``cv_results_``."""
    metric = scoring if metric == "score" and isinstance(scoring, str) else metric
    return f"{SCORE_NAME}{metric}" + (f" (of {n_objectives} objectives)" if n_objectives else "")


def _read_optimizer(optimizer):
    y, label = optimizer.func_vals_, type(optimizer).__name__
    if not len(y):
        raise NotFittedError(
            f"result must contain evaluations, but this {label} has none. Call tell first."
        )
    return Evaluations(
        label=label,
        optimizer=optimizer,
        points=optimizer.x_iters_,
        values=np.where(np.isfinite(y) & optimizer.feasible_, y, np.nan),
        table=optimizer.evaluation_table(),
        facts={"Source": label},
        title=f"{label}, {n_inputs(optimizer)}",
        greater_is_better=optimizer.maximize,
        n_initial=_count_initial(optimizer, 0, len(y)),
        best_name="best_x_",
    )


def _read_study(study):
    from skbo_silbo.integrations import SILBOSampler
    from skbo_silbo.integrations._optuna_trials import common_space, see_trials

    is_ours = hasattr(study.sampler, "optimizer_of")
    sampler = study.sampler if is_ours else SILBOSampler(seed=0)
    evaluations = _read_optimizer(sampler.optimizer_of(study))
    trials = see_trials(study, -1, common_space(study)).observed
    is_pruned = [trial.state.name == "PRUNED" for trial in trials.values()]
    table = evaluations.table
    for name in evaluations.optimizer.space_.parameter_names:  # blank if inactive
        rows = zip(table[name], trials.values(), strict=True)
        table[name] = [value if name in trial.params else None for value, trial in rows]
    *_, status = table
    value = list(table)[len(evaluations.optimizer.space_.parameter_names)]
    for name, text in ((value, None), (status, "pruned")):  # intermediate values do not count
        rows = zip(table[name], is_pruned, strict=True)
        table[name] = [text if pruned else known for known, pruned in rows]
    return replace(
        evaluations,
        label=type(study.sampler).__name__,
        values=np.where(is_pruned, np.nan, evaluations.values),
        table=table,
        row_name="trial",
        numbers=list(trials),
        facts={"Source": type(study).__name__},
        title=f"{type(study).__name__} {study.study_name}",
        n_initial=evaluations.n_initial if is_ours else 0,
        best_name="",
    )


def _read_search(search, metric, argument):
    results, label, objectives = search.cv_results_, type(search).__name__, search.refit
    metrics = [k.removeprefix("mean_test_") for k in results if k.startswith("mean_test_")]
    metric = metric or (objectives if objectives in metrics else metrics[0])
    if metric not in metrics:
        raise ValueError(
            f"{argument} must have 'mean_test_{metric}' in its cv_results_, got "
            f"{[f'mean_test_{name}' for name in metrics]}. Use the same scoring for both searches."
        )
    # scores with different resources, as in successive halving, cannot be compared
    used = np.asarray(results.get("n_resources", np.zeros(len(results["params"]))))
    rows = np.flatnonzero(used == used.max())
    scores = np.array(results[f"mean_test_{metric}"], dtype=float)[rows]
    optimizer, n_initial, more = vars(search).get("optimizer_"), 0, {}
    if optimizer is not None:
        n_initial = _count_initial(optimizer, int(np.sum(results["iter"] == 0)), len(scores))
        sources = list(results["source"])
        if "model" in sources:  # others may lie outside the space
            n_initial = sources.index("model")
        ended = ENDED.get(search.stop_reason_, search.stop_reason_)
        source = f"{label} of {type(search.estimator).__name__}"
        more = {
            "table": search.evaluation_table(),
            "facts": {"Source": source, "Ended": ended, "Time": _time_shares(search)},
            "initial_params": search.initial_params,
            "stop_reason": search.stop_reason_,
            "title": f"{source}, {_data_size(search)}",
            "front": read_front(search) if hasattr(search, "pareto_front_") else None,
        }
    n_objectives = len(objectives) if isinstance(objectives, (list, tuple)) else 0
    is_best = len(scores) and getattr(search, "best_index_", None) == np.argmax(scores)
    return Evaluations(
        label=label,
        optimizer=optimizer,
        points=[results["params"][i] for i in rows],
        values=scores,
        name=score_name(metric, search.scoring, n_objectives),
        n_initial=n_initial,
        metric=metric,
        scoring=search.scoring,
        best_name="best_params_" if is_best else "",
        **more,
    )


def n_inputs(optimizer):
    """Return the number of inputs of an optimiser as text."""
    n = len(parameter_domains(optimizer.space_))
    return f"{n} input{'s' * (n != 1)}"


def _time_shares(search):
    """Return how the time of a search is divided between fits, proposals and the refit."""
    results = search.cv_results_
    fits = np.nansum(results["mean_fit_time"] + results["mean_score_time"]) * search.n_splits_
    seconds = {
        "fits and scores": fits,
        "proposals": np.nansum(results["proposal_time"]),
        "the refit": getattr(search, "refit_time_", 0.0),
    }
    total = sum(seconds.values()) or 1.0
    return ", ".join(f"{100.0 * part / total:.0f} % {name}" for name, part in seconds.items())


def _data_size(search):
    n_features = getattr(search, "n_features_in_", None)  # known after a refit
    features = "" if n_features is None else f" of {n_features} features"
    n_splits = f"{search.n_splits_} split{'s' * (search.n_splits_ != 1)}"
    return f"{search.n_samples_fit_} samples{features}, {n_splits}"


def _count_initial(optimizer, n_first, n):
    """Count the evaluations before the first model; in random search, all evaluations."""
    return min(max(getattr(optimizer, "n_initial_", n), n_first), n)


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
        """Return the curve at the points with the given indices."""
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
