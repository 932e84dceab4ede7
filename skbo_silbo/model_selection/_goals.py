"""Several goals of a search: the candidates that no other beats in all of them.

The model learns one number: with weights w drawn anew after each evaluation, and goals g scaled to
[0, 1], the augmented Chebyshev distance

    max_j w_j g_j + 0.05 sum_j w_j g_j                                                       (1)

(Knowles 2006, "ParEGO").
"""

from copy import copy
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar, cast

import numpy as np

from skbo_silbo._checks import brief, refuse_beside
from skbo_silbo._sklearn import BaseSearchCV
from skbo_silbo.optimizers import SILBO

TIME, SCORE = "fit_time", "score"  # goals that no metric need be named for
FEWEST, MOST = 2, 3
SHARE = 0.05  # of the sum in (1), that of Knowles
WHY_NOT = MappingProxyType(
    {
        "patience": "there is no single best score to wait for",
        "target": "there is no single score to reach",
        "initial_results": "they have one score a candidate",
    }
)


Kind = TypeVar("Kind")


class OfOneGoal(Generic[Kind]):
    """What a search has after a fit with one goal; without it the error says why."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, search: Any, owner: Any = None) -> Kind:
        if search is None:
            return cast(Kind, self)
        why = f"{type(search).__name__!r} object has no attribute {self.name!r}"
        if has_goals(search):
            why += (
                f": refit={search.refit!r} names several goals, which have no single best "
                "candidate. Fit one of the rows that pareto_front_ lists: "
                "search.choose(index, X, y)."
            )
        raise AttributeError(why)


class SeveralGoals(BaseSearchCV):
    """A search of scikit-learn whose `refit` may list goals; then nothing is refitted."""

    best_estimator_ = OfOneGoal[Any]()
    best_index_ = OfOneGoal[int]()
    best_params_ = OfOneGoal[dict[str, Any]]()
    best_score_ = OfOneGoal[float]()
    refit_time_ = OfOneGoal[float]()
    cv_results_: dict[str, Any]
    n_splits_: int
    optimizer_: SILBO
    refit: Any
    space_: Any
    stop_reason_: str
    _goals: tuple[str, ...] | None = None  # of the copy that is fitted

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and refit the best candidate on all data unless `refit` lists goals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        **params : dict
            For the ``fit`` of the estimator, the scorer and the splitter.

        Returns
        -------
        self : object
        """
        goals = read_goals(self)
        self.__dict__.pop("pareto_front_", None)
        if goals is None:
            return super().fit(X, y, **params)
        best = [name for name, part in vars(SeveralGoals).items() if isinstance(part, OfOneGoal)]
        for name in best:
            self.__dict__.pop(name, None)
        search = copy(self)  # a fit never changes a parameter
        search.refit, search._goals = False, goals
        try:
            super(SeveralGoals, search).fit(X, y, **params)
        finally:
            learnt = {name: value for name, value in vars(search).items() if name[-1] == "_"}
            self.__dict__.update({k: v for k, v in learnt.items() if k not in best})
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score of the best estimator on the given data, as in RandomizedSearchCV.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        **params : dict
            For the scorer.

        Returns
        -------
        score : float
        """
        if has_goals(self):
            return self.best_estimator_  # an AttributeError that says why there is none
        return super().score(X, y, **params)

    def _check_refit_for_multimetric(self, scores):
        goals = self.refit if has_goals(self) else self._goals
        if goals is None:
            super()._check_refit_for_multimetric(scores)
        else:
            require_metrics(goals, scores)


def has_goals(search):
    """Return whether the `refit` of a search lists goals."""
    return isinstance(vars(search).get("refit"), (list, tuple))


def read_goals(search):
    """Return the goals that the `refit` of a search lists, a tuple of names; None if none.

    Raises
    ------
    ValueError
        If they are no two or three names, or go with an option that cannot be honoured.
    """
    if not has_goals(search):
        return None
    goals = tuple(search.refit)
    distinct = {goal for goal in goals if isinstance(goal, str)}
    if not (FEWEST <= len(goals) <= MOST and len(distinct) == len(goals)):
        raise ValueError(
            f"refit must list {FEWEST} or {MOST} goals, different names: got {brief(search.refit)}"
            f". Name metrics of scoring, or {TIME!r}."
        )
    if isinstance(search.scoring, str):  # its column has no name of its own
        goals = tuple(SCORE if goal == search.scoring else goal for goal in goals)
    if search.scoring is None or isinstance(search.scoring, str):
        require_metrics(goals, [SCORE])
    refuse_beside(search, f"several goals, refit={search.refit!r}", WHY_NOT)
    return goals


def require_metrics(goals, metrics):
    """Refuse goals that are neither metrics nor the time.

    Raises
    ------
    ValueError
    """
    known = [*metrics, TIME]
    if unknown := [goal for goal in goals if goal not in known]:
        raise ValueError(
            f"refit must list goals among {known}: got {unknown}. Rename them, or add them to "
            "scoring."
        )


def goal_values(rows, goals, error_score):
    """Return the objectives of a candidate, to be minimised, (m,); NaN if a fit failed."""
    if has_failed(rows) or _has_no_scores(rows, error_score):
        return np.full(len(goals), np.nan)
    several = isinstance(rows[0]["test_scores"], dict)
    scores = [row["test_scores"] if several else {SCORE: row["test_scores"]} for row in rows]
    require_metrics(goals, scores[0])
    columns = ([r[TIME] for r in rows] if g == TIME else [-s[g] for s in scores] for g in goals)
    means = np.array([np.mean(column) for column in columns])
    return means if np.isfinite(means).all() else np.full(len(goals), np.nan)


def _has_no_scores(rows, error_score):
    """Whether a callable of several scores has raised in all folds: its scores are numbers then."""
    scores = [row["test_scores"] for row in rows]
    return not isinstance(scores[0], dict) and all(s != s or s == error_score for s in scores)


def has_failed(rows):
    """Return whether a fit of a candidate has failed, so that its times mean nothing."""
    return rows is None or any(row["fit_error"] for row in rows)


def pareto_front(table, observations, goals):
    """Return the rows of ``cv_results_`` that no other dominates, increasing.

    Times are measured: two that differ by less than their deviation over the folds are equal.
    """
    columns = [table["mean_fit_time"] if g == TIME else -table[f"mean_test_{g}"] for g in goals]
    Y = np.column_stack(columns)
    Y[
        [has_failed(observation.rows) for observation in observations] | ~np.isfinite(Y).all(axis=1)
    ] = np.nan
    deviations = [table["std_fit_time"] * (g == TIME) for g in goals]
    return np.flatnonzero(is_non_dominated(Y, np.column_stack(deviations)))


def is_non_dominated(Y, deviations=0.0):
    """Return which rows of Y, (n, m), no other dominates, (n,); none that has a NaN.

    A row dominates another if it is nowhere higher and somewhere lower, by more than the root of
    the sum of the squares of both `deviations`, (n, m).

    Examples
    --------
    >>> is_non_dominated(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [np.nan, 0.0]]))
    array([ True,  True, False, False])
    """
    deviations = np.broadcast_to(deviations, Y.shape)
    margin = np.hypot(deviations[:, None], deviations)
    lower = Y[:, None] < Y - margin  # no row with a NaN is, or is surpassed
    is_known = ~np.isnan(Y).any(axis=1)
    dominates = lower.any(axis=2) & ~lower.transpose(1, 0, 2).any(axis=2) & is_known[:, None]
    is_dominated = np.any(dominates, axis=0)
    return ~is_dominated & is_known


def chebyshev(goals, weights):
    """Return (1) for goals, (n, m), and weights, (m,): (n,), NaN where one is NaN."""
    known = goals[np.isfinite(goals).all(axis=1)]
    if not len(known):
        return np.full(len(goals), np.nan)
    spread = np.ptp(known, axis=0)
    parts = weights * (goals - known.min(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return parts.max(axis=1) + SHARE * parts.sum(axis=1)


class ParEGO(SILBO):
    """`SILBO` for several objectives: the model learns (1), with new weights after each value."""

    def tell(self, x, y, *, goals):
        """Record values and objectives.

        Parameters
        ----------
        x : dict or list of n dicts
        y : float or array-like of shape (n,)
            One value per point, shown as `func_vals_`.
        goals : array-like of shape (m,) or (n, m)
            Objectives to be minimised; NaN where the evaluation failed.
        """
        return self._tell(x, y, None, None, np.atleast_2d(goals))

    def _labelled(self):
        rows = super()._labelled()
        if not len(rows.X):
            return rows
        rng = self._rng(len(self._history), 7)
        return rows._replace(y=chebyshev(rows.goals, rng.dirichlet(np.ones(rows.goals.shape[1]))))
