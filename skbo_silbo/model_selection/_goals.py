"""Multi-objective search and Pareto fronts.

The objectives g are scaled to [0, 1] and combined by the augmented Chebyshev distance, with
weights w that are redrawn after each evaluation:

    max_j w_j g_j + 0.05 sum_j w_j g_j                                                       (1)

(Knowles 2006, "ParEGO").
"""

from collections.abc import Iterable, Sequence
from copy import copy
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._sklearn import BaseSearchCV
from skbo_silbo._typing import ArrayLike, FloatArray, IntArray, Rows
from skbo_silbo.evaluation.trial import Observation
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers.history import Labelled

TIME, SCORE = "fit_time", "score"  # objectives that need not be metrics in `scoring`
FEWEST, MOST = 2, 3
SHARE = 0.05  # coefficient of the sum in (1), as in Knowles (2006)
INCOMPATIBLE = MappingProxyType(
    {
        "patience": "there is no single best score",
        "target": "there is no single best score",
        "initial_results": "they have only one score per candidate",
    }
)


# Attributes that are only available after a single-objective search
OF_ONE_GOAL = ("best_estimator_", "best_index_", "best_params_", "best_score_", "refit_time_")


class SeveralGoals(BaseSearchCV):
    """Base class of hyperparameter searches with one or several objectives.

    Multi-objective searches do not refit a candidate.
    """

    best_estimator_: Any
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    refit_time_: float
    cv_results_: dict[str, Any]
    n_splits_: int
    optimizer_: SILBO
    refit: Any
    space_: Any
    stop_reason_: str
    _goals: tuple[str, ...] | None = None  # only set on the copy that is fitted

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Run the search and refit the best candidate, unless there are several objectives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training samples, one per row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target values.
        **params : dict
            Additional parameters for the ``fit`` method of the estimator, the scorer and the
            splitter.

        Returns
        -------
        self : object
            The fitted search.
        """
        goals = read_goals(self)
        self.__dict__.pop("pareto_front_", None)
        if goals is None:
            return super().fit(X, y, **params)
        for name in OF_ONE_GOAL:
            self.__dict__.pop(name, None)
        search = copy(self)  # a fit never changes a parameter
        search.refit, search._goals = False, goals
        try:
            super(SeveralGoals, search).fit(X, y, **params)
        finally:
            learnt = {name: value for name, value in vars(search).items() if name[-1] == "_"}
            self.__dict__.update({k: v for k, v in learnt.items() if k not in OF_ONE_GOAL})
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the best estimator on the given data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Test samples, one per row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target values.
        **params : dict
            Additional parameters that are passed to the scorer.

        Returns
        -------
        score : float
        """
        if has_goals(self):
            raise no_single_best(self, "score")
        return super().score(X, y, **params)

    def __getattr__(self, name: str) -> Any:
        if name in OF_ONE_GOAL and has_goals(self):
            raise no_single_best(self, name)
        return object.__getattribute__(self, name)  # raises its own error

    def _check_refit_for_multimetric(self, scores: Any) -> None:
        goals = self.refit if has_goals(self) else self._goals
        if goals is None:
            super()._check_refit_for_multimetric(scores)
        else:
            require_metrics(goals, scores)


def no_single_best(search: Any, name: str) -> AttributeError:
    """Return the error for an attribute that only a single-objective search has."""
    return AttributeError(
        f"{name} requires a search with one objective, got refit={search.refit!r}. Fit a row of "
        "pareto_front_ by search.choose(row, X, y), and use this model."
    )


def has_goals(search: Any) -> bool:
    """Return whether a search is multi-objective, that is, whether `refit` is a list or tuple."""
    return isinstance(vars(search).get("refit"), (list, tuple))


def read_goals(search: Any) -> tuple[str, ...] | None:
    """Return the names of a search's objectives, or None for a single-objective search.

    Raises
    ------
    ValueError
        If the objectives are invalid or cannot be combined with another parameter of the search.
    """
    if not has_goals(search):
        return None
    goals = tuple(search.refit)
    distinct = {goal for goal in goals if isinstance(goal, str)}
    if not (FEWEST <= len(goals) <= MOST and len(distinct) == len(goals)):
        raise ValueError(
            f"`refit` must list {FEWEST} or {MOST} different objectives, got {brief(search.refit)}."
            f" Use the names of metrics in `scoring` or {TIME!r}."
        )
    if isinstance(search.scoring, str):  # its column is always called "score"
        goals = tuple(SCORE if goal == search.scoring else goal for goal in goals)
    if search.scoring is None or isinstance(search.scoring, str):
        require_metrics(goals, [SCORE])
    for name, reason in INCOMPATIBLE.items():
        if getattr(search, name) is not None:
            raise ValueError(
                f"`{name}` cannot be combined with multi-objective search "
                f"(refit={search.refit!r}): {reason}."
            )
    return goals


def require_metrics(goals: Iterable[str], metrics: Iterable[str]) -> None:
    """Check that each objective is the name of a metric or the fit time.

    Raises
    ------
    ValueError
    """
    allowed = [*metrics, TIME]
    if unknown := [goal for goal in goals if goal not in allowed]:
        raise ValueError(
            f"`refit` must list objectives among {allowed}, got {unknown}. Rename them or add them "
            "to `scoring`."
        )


def goal_values(rows: Rows | None, goals: Sequence[str], error_score: Any) -> FloatArray:
    """Return a candidate's objective values, to be minimised, or NaN if a fit failed."""
    unknown = np.full(len(goals), np.nan)
    if rows is None or has_failed(rows):
        return unknown
    scores = [row["test_scores"] for row in rows]
    if not isinstance(scores[0], dict):
        if all(s != s or s == error_score for s in scores):  # a callable of several metrics failed
            return unknown
        scores = [{SCORE: score} for score in scores]
    require_metrics(goals, scores[0])
    columns = ([r[TIME] for r in rows] if g == TIME else [-s[g] for s in scores] for g in goals)
    means = np.array([np.mean(column) for column in columns])
    return means if np.isfinite(means).all() else unknown


def has_failed(rows: Rows | None) -> bool:
    """Return whether any fit of a candidate failed."""
    return rows is None or any(row["fit_error"] for row in rows)


def pareto_front(
    table: dict[str, Any], observations: Iterable[Observation], goals: Sequence[str]
) -> IntArray:
    """Return the rows of ``cv_results_`` with non-dominated candidates, sorted."""
    columns = [table["mean_fit_time"] if g == TIME else -table[f"mean_test_{g}"] for g in goals]
    Y = np.column_stack(columns)
    failed = np.array([has_failed(observation.rows) for observation in observations])
    Y[failed | ~np.isfinite(Y).all(axis=1)] = np.nan
    return non_dominated_rows(Y, goals, table["std_fit_time"])


def non_dominated_rows(Y: FloatArray, goals: Sequence[str], std_fit_time: FloatArray) -> IntArray:
    """Return the sorted indices of the non-dominated rows of Y, which is minimised.

    A row dominates another row if it is lower in at least one column and higher in no column. Fit
    times count as equal if they differ by less than the standard deviation of their difference,
    computed from the deviations over the folds. Rows that contain NaN are left out.

    Examples
    --------
    >>> Y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [np.nan, 0.0]])
    >>> non_dominated_rows(Y, ["score", "fit_time"], np.zeros(4))
    array([0, 1])
    """
    deviations = np.column_stack([std_fit_time * (goal == TIME) for goal in goals])
    margin = np.hypot(deviations[:, None], deviations)
    lower = Y[:, None] < Y - margin  # comparisons with NaN are False
    is_known = ~np.any(np.isnan(Y), axis=1)
    dominates = lower.any(axis=2) & ~lower.transpose(1, 0, 2).any(axis=2) & is_known[:, None]
    return np.flatnonzero(~dominates.any(axis=0) & is_known)


def chebyshev(goals: FloatArray, weights: FloatArray) -> FloatArray:
    """Combine objective values into one by the augmented Chebyshev norm, eq. (1)."""
    finite = goals[np.isfinite(goals).all(axis=1)]
    if not len(finite):
        return np.full(len(goals), np.nan)
    spread = np.ptp(finite, axis=0)
    terms = weights * (goals - finite.min(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return terms.max(axis=1) + SHARE * terms.sum(axis=1)


class ParEGO(SILBO):
    """Multi-objective `SILBO` that minimises random combinations of the objectives."""

    def tell(  # type: ignore[override]
        self, x: Any, y: ArrayLike, *, goals: ArrayLike
    ) -> Self:
        """Record the values of all objectives at evaluated points.

        Parameters
        ----------
        x : dict or list of n dicts
        y : float or array-like of shape (n,)
            Value of each point, which determines the best point and is stored in `func_vals_`.
        goals : array-like of shape (m,) or (n, m)
            Values of the m objectives at each point, to be minimised. They are NaN if the
            evaluation failed.
        """
        return self._tell(x, y, None, None, np.atleast_2d(goals))

    def _labelled(self) -> Labelled:
        rows = super()._labelled()
        if not len(rows.X):
            return rows
        rng = self._rng(len(self._history), 7)
        return rows._replace(y=chebyshev(rows.goals, rng.dirichlet(np.ones(rows.goals.shape[1]))))
