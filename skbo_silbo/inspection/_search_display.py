"""Plots of a hyperparameter search: how fast it got where, and what mattered."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_choice, check_integer
from ._display import _given_axes
from ._search_panels import (
    ValueAxis,
    draw_convergence,
    draw_direction,
    draw_parallel,
    draw_relevance,
)
from ._search_relevance import held_out_share, parameter_relevance

KINDS = ("all", "convergence", "directions", "relevance", "parallel")


class SearchDisplay:
    """Convergence, score along the learnt directions, relevance, and parallel coordinates.

    Use :meth:`from_estimator`; the constructor takes what is drawn, which stay attributes of the
    same name.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Of the candidates in order, greater is better; NaN where one failed.
    values : dict of str to sequence of n values
        The parameters. Masked members are those that a candidate does not have.
    relevance : dict of str to float
        The share of the score's variance that each parameter takes part in.
    held_out : float
        The share of the variance of held-out scores that the model behind `relevance` explains.
    n_initial : int
        How many candidates came before the first model.
    directions : ndarray of shape (n, r), default=None
        The candidates along the learnt directions; None if all parameters were kept.
    random_scores : ndarray of shape (k,), default=None
        Scores of candidates drawn at random; None takes the initial ones.
    score_name : str, default="mean test score"

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The panels in the order drawn.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from skbo_silbo import SILBOSearchCV
    >>> from skbo_silbo.inspection import SearchDisplay
    >>> search = SILBOSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    >>> search = search.fit(*load_iris(return_X_y=True))
    >>> SearchDisplay.from_estimator(search)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        scores,
        values,
        relevance,
        held_out,
        n_initial,
        directions=None,
        random_scores=None,
        score_name="mean test score",
    ):
        self.scores = scores
        self.values = values
        self.relevance = relevance
        self.held_out = held_out
        self.n_initial = n_initial
        self.directions = directions
        self.random_scores = random_scores
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls, estimator, *, random_search=None, kind="all", ax=None, max_parameters=10
    ):
        """Draw a fitted search.

        Parameters
        ----------
        estimator : fitted SILBOSearchCV
        random_search : fitted RandomizedSearchCV, default=None
            Of the same estimator, space, splits and scoring. From its n candidates follows what
            random search reaches on average with 1, ..., n candidates, and the range of 80 % of
            such searches. None: from the initial candidates, which fill the space as random ones
            do, and only as far as these go.
        kind, ax, max_parameters
            As in :meth:`plot`.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        NotFittedError
            When the search is not fitted.
        ValueError
            When `random_search` has no such score.
        ImportError
            When matplotlib is missing.
        """
        check_is_fitted(estimator, "cv_results_")
        optimizer, results = estimator.optimizer_, estimator.cv_results_
        metric = _metric(estimator)
        scores = np.array(results[f"mean_test_{metric}"], dtype=float)
        X = optimizer.space_.encode(results["params"])
        embedding = optimizer.embedding_
        return cls(
            scores=scores,
            values={key[6:]: results[key] for key in results if key.startswith("param_")},
            relevance=parameter_relevance(optimizer.space_, embedding, X, scores),
            held_out=held_out_share(embedding, X, scores),
            n_initial=min(max(optimizer.n_initial_, int(np.sum(results["iter"] == 0))), len(X)),
            directions=None if embedding.is_identity else embedding.project(X),
            random_scores=None if random_search is None else _scores_of(random_search, metric),
            score_name=f"mean test {metric}",
        ).plot(kind=kind, ax=ax, max_parameters=max_parameters)

    def plot(self, *, kind="all", ax=None, max_parameters=10):
        """Draw the panels.

        Parameters
        ----------
        kind : {"all", "convergence", "directions", "relevance", "parallel"}, default="all"
            "convergence": the best score so far beside the expected one of random search.
            "directions": the scores along the first two learnt directions, or, where all parameters
            were kept, along the two most relevant ones; initial candidates are hollow.
            "relevance": the parameters by the share of the score's variance, according to a
            Gaussian process; its title says how far to trust that. "parallel": a line a candidate,
            the best tenth in colour.
        ax : matplotlib Axes or array of Axes, default=None
            One for each panel; None makes a figure.
        max_parameters : int, default=10
            Most parameters in the last two panels: the most relevant.

        Returns
        -------
        self
        """
        check_choice("kind", kind, KINDS)
        check_integer("max_parameters", max_parameters, 1)
        plt = _import_pyplot()
        ranked = dict(sorted(self.relevance.items(), key=lambda item: -item[1])[:max_parameters])
        panels = self._panels(kind, ranked)
        wide = kind in ("all", "parallel")
        self.axes_ = (
            _make_axes(plt, len(panels), wide) if ax is None else _given_axes(ax, len(panels))
        )
        self.figure_ = self.axes_[0].figure
        for draw, axes in zip(panels, self.axes_, strict=True):
            draw(axes)
        return self

    def _panels(self, kind, ranked):
        panels = {
            "convergence": [self._draw_convergence],
            "directions": [
                lambda axes, place=place: draw_direction(
                    axes, place, self.scores, self.n_initial, self.score_name
                )
                for place in self._direction_axes(ranked)
            ],
            "relevance": [lambda axes: draw_relevance(axes, ranked, self.held_out)],
            "parallel": [lambda axes: draw_parallel(axes, self._all_axes(ranked), self.scores)],
        }
        return [panel for name in panels if kind in ("all", name) for panel in panels[name]]

    def _draw_convergence(self, axes):
        given = self.random_scores is not None
        scores = self.random_scores if given else self.scores[: self.n_initial]
        source = "candidates of its own" if given else "initial candidates"
        name = f"random search, expected\n(from {len(scores)} {source})"
        draw_convergence(axes, self.scores, self.n_initial, scores, name, self.score_name)

    def _direction_axes(self, ranked):
        if self.directions is None:
            return self._value_axes(ranked)[:2]
        return [
            ValueAxis(f"direction {k + 1}", z, np.empty(0), [])
            for k, z in enumerate(self.directions.T[:2])
        ]

    def _value_axes(self, ranked):
        """Return the axes of the parameters, the most relevant first; those of `ranked` only."""
        axes = [ValueAxis.of(name, self.values[name]) for name in ranked if name in self.values]
        return [axis for axis in axes if not axis.is_constant]

    def _all_axes(self, ranked):
        scores = np.ma.masked_invalid(self.scores)
        # What is constant in each branch of a conditional space has no relevance of its own.
        rest = {name: 0.0 for name in self.values if name not in self.relevance}
        return [
            *self._value_axes({**rest, **ranked}),
            ValueAxis.of(self.score_name, scores, absent="failed"),
        ]


def _metric(search):
    """Return the name in ``cv_results_`` of the metric that was searched."""
    if not search.multimetric_:
        return "score"
    if isinstance(search.refit, str):
        return search.refit
    names = [k.removeprefix("mean_test_") for k in search.cv_results_ if k.startswith("mean_test_")]
    return names[0]


def _scores_of(search, metric):
    check_is_fitted(search, "cv_results_")
    key = f"mean_test_{metric}"
    if key not in search.cv_results_:
        known = [k for k in search.cv_results_ if k.startswith("mean_test_")]
        raise ValueError(
            f"random_search must have {key!r} in its cv_results_: got {known}. "
            "Give both searches the same scoring."
        )
    return np.array(search.cv_results_[key], dtype=float)


def _import_pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "SearchDisplay requires matplotlib. Install it with: pip install 'skbo_silbo[plot]'"
        ) from error
    return plt


def _make_axes(plt, n_panels, wide):
    """Panels in a row; below them, if `wide`, the last one across the figure."""
    n_above = n_panels - wide
    height = 3.4 * (n_above > 0) + 3.6 * wide
    width = max(3.9 * n_above, 9.0 * wide)
    figure = plt.figure(figsize=(width, height), layout="constrained")
    grid = figure.add_gridspec((n_above > 0) + wide, max(n_above, 1))
    axes = [figure.add_subplot(grid[0, i]) for i in range(n_above)]
    return np.array(axes + ([figure.add_subplot(grid[-1, :])] if wide else []), dtype=object)
