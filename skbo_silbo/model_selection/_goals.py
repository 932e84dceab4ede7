"""Several goals of a search: the candidates that no other beats in all of them.

After the design two kinds of proposals take turns. One has the largest expected improvement of the
hypervolume, by a process of each goal on values whose bad half is compressed (`HalfLog`); the
reference is a tenth of their range beyond the worst, so that the ends of the front are worth
finding. The other is the engine's own, for one number: with weights w drawn anew after each
evaluation, and goals g scaled to [0, 1], the augmented Chebyshev distance

    max_j w_j g_j + 0.05 sum_j w_j g_j                                                       (1)

(Knowles 2006, "ParEGO"). The engine learns embedding and scale from this number. Together they did
well where either alone did not (experiment "goals").
"""

from types import MappingProxyType
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import refuse_beside
from skbo_silbo._sklearn import BaseSearchCV
from skbo_silbo.acquisition._hypervolume import (
    HypervolumeSurface,
    boxes_left,
    is_non_dominated,
)
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers._history import impute_failures
from skbo_silbo.space._keys import keys_of
from skbo_silbo.surrogate._process import refit
from skbo_silbo.surrogate._warps import HalfLog

TIME, SCORE = "fit_time", "score"  # goals that no metric need be named for
FEWEST, MOST = 2, 3
SHARE = 0.05  # of the sum in (1), that of Knowles
MARGIN = 0.1  # of the range of a goal, from its worst value to the reference
WHY_NOT = MappingProxyType(
    {
        "patience": "there is no single best score to wait for",
        "resource": "which candidates go on is decided by one score",
        "racing": "a candidate that loses in one goal may win in another",
        "time_aware": "time can be a goal itself, 'fit_time'",
        "fold_noise": "the deviation of one score is not that of the others",
        "initial_results": "they have one score a candidate",
    }
)


class OfOneGoal:
    """What a search has after a fit with one goal; without it the error says why."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, search, owner=None):
        if search is None:
            return self
        why = f"{type(search).__name__!r} object has no attribute {self.name!r}"
        if has_goals(search):
            why += (
                f": refit={search.refit!r} names several goals, which have no single best "
                "candidate. Choose one of the rows of cv_results_ that pareto_front_ lists, and "
                "fit the estimator with its params."
            )
        raise AttributeError(why)


class SeveralGoals(BaseSearchCV):
    """A search of scikit-learn whose `refit` may list goals; then nothing is refitted."""

    best_estimator_ = OfOneGoal()
    best_index_ = OfOneGoal()
    best_params_ = OfOneGoal()
    best_score_ = OfOneGoal()
    refit_time_ = OfOneGoal()
    refit: Any
    _goals: tuple[str, ...] | None = None  # while it fits

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
        self._goals = read_goals(self)
        self.__dict__.pop("pareto_front_", None)
        if self._goals is None:
            return super().fit(X, y, **params)
        best = [name for name, part in vars(SeveralGoals).items() if isinstance(part, OfOneGoal)]
        goals, self.refit = self.refit, False
        try:
            return super().fit(X, y, **params)
        finally:
            self.refit, self._goals = goals, None
            for name in best:  # of one metric scikit-learn says which is best without a refit too
                self.__dict__.pop(name, None)

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
            f"refit must list {FEWEST} or {MOST} goals, different names: got {search.refit!r}. "
            f"Name metrics of scoring, or {TIME!r}."
        )
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


def goal_values(candidate, goals):
    """Return the values of a candidate, to be minimised, (m,); NaN if a fit of it failed."""
    rows = candidate.rows
    if has_failed(candidate):
        return np.full(len(goals), np.nan)
    several = isinstance(rows[0]["test_scores"], dict)
    scores = [row["test_scores"] if several else {SCORE: row["test_scores"]} for row in rows]
    require_metrics(goals, scores[0])
    columns = ([r[TIME] for r in rows] if g == TIME else [-s[g] for s in scores] for g in goals)
    means = np.array([np.mean(column) for column in columns])
    return means if np.isfinite(means).all() else np.full(len(goals), np.nan)


def has_failed(candidate):
    """Return whether a fit of a candidate has failed, so that its times say nothing."""
    return candidate.rows is None or any(row["fit_error"] for row in candidate.rows)


def pareto_front(table, candidates, goals):
    """Return the rows of ``cv_results_`` that no other dominates, increasing."""
    columns = [table["mean_fit_time"] if g == TIME else -table[f"mean_test_{g}"] for g in goals]
    Y = np.column_stack(columns)
    Y[[has_failed(candidate) for candidate in candidates] | ~np.isfinite(Y).all(axis=1)] = np.nan
    return np.flatnonzero(is_non_dominated(Y))


def chebyshev(goals, weights):
    """Return (1) for goals, (n, m), and weights, (m,): (n,), NaN where one is NaN."""
    known = goals[np.isfinite(goals).all(axis=1)]
    if not len(known):
        return np.full(len(goals), np.nan)
    spread = np.ptp(known, axis=0)
    parts = weights * (goals - known.min(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return parts.max(axis=1) + SHARE * parts.sum(axis=1)


class GoalsSILBO(SILBO):
    """`SILBO` of several goals, whose values it is told by `note_goals`."""

    _fitted: tuple[Any, Any] = None, None  # the model, and what `_fit_goals` returned beside it

    def note_goals(self, params, values):
        """Take note of the values of goals, (m,), of a candidate; the first time counts."""
        [key] = keys_of(self.space_.encode([params]))
        vars(self).setdefault("_values_by_key", {}).setdefault(key, values)

    def _goals_at(self, X):
        return np.array([self._values_by_key[key] for key in keys_of(X)])

    def _labelled(self):
        rows = super()._labelled()
        if not len(rows.X):
            return rows
        goals, rng = self._goals_at(rows.X), self._rng(len(self._history), 7)
        return rows._replace(y=chebyshev(goals, rng.dirichlet(np.ones(goals.shape[1]))))

    def _surface(self, part=None):
        surface = super()._surface(part)
        return surface if self._n_known % 2 else self._hypervolume_surface(surface)

    def _hypervolume_surface(self, surface):
        embedding = self._model.embedding
        if self._fitted[0] is not self._model:
            self._fitted = self._model, self._fit_goals()
        processes, known, reference = self._fitted[1]
        if self._pending:
            Z, _ = self._coordinates(np.array(list(self._pending.values())), embedding)
            processes = [p.with_points(Z, p.predict(Z)[0]) for p in processes]
            known = np.vstack([known, Z])
        means = np.column_stack([p.predict(known)[0] for p in processes])  # noise makes low values
        low, high = boxes_left(means[is_non_dominated(means)], reference)
        objectives = tuple(processes)
        return HypervolumeSurface(**vars(surface), objectives=objectives, low=low, high=high)

    def _fit_goals(self):
        """Return a process of each goal, the coordinates of what succeeded, and the reference."""
        X = self._labelled().X
        Z, source = self._coordinates(X, self._model.embedding)
        goals = self._goals_at(X)[source]
        values = np.column_stack([HalfLog()(impute_failures(goal)) for goal in goals.T])
        template, rng = self._configuration.surrogate, self._rng(len(Z), 6)
        noise = np.zeros(len(Z))
        processes = [refit(template, None, Z, y, noise, rng=rng)[0] for y in values.T]
        succeeded = np.isfinite(goals).all(axis=1)
        reference = values.max(axis=0) + MARGIN * np.ptp(values, axis=0)
        return processes, Z[succeeded] if succeeded.any() else Z, reference
