"""Plots of fitted directions: what the response does along them, and what they are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skbo_silbo.sensitivity._subspace import count_directions

from .._checks import check_choice
from .._typing import ArrayLike, FloatArray
from ..decomposition import split_labelled
from ._bootstrap import DirectionBootstrap, input_names, refuse_pipeline
from ._evaluations import Dependence, ResultLike, read_evaluations
from ._panels import (
    AxesLike,
    PanelDisplay,
    draw_bars,
    draw_plane,
    draw_response,
    draw_spectrum,
    draw_words,
    new_figure,
)
from ._value_axis import LONGEST_NAME, short_and_distinct

KINDS = ("all", "summary", "spectrum", "loadings")
MAX_CATEGORY_VALUES = 6  # numbers with at most this many distinct values are drawn as categories
MAX_EIGENVALUES = 20
MAX_FEATURES = 15  # whose loadings are drawn


@dataclass(eq=False, repr=False, kw_only=True)
class SubspaceDisplay(PanelDisplay):
    """Sufficient summary plot, spectrum and loadings of fitted directions.

    Use :meth:`from_estimator` for a transformer and :meth:`from_result` for what an optimiser has
    learnt; the constructor takes the arrays to draw, which stay attributes of
    the same name.

    Parameters
    ----------
    scores : ndarray of shape (n, r)
        Labelled rows along the directions.
    response : ndarray of shape (n,)
        Numbers or categories. Numbers with at most six distinct values are drawn as categories.
    eigenvalues : ndarray of shape (p,)
        Falling, p >= r.
    loadings : ndarray of shape (r, d)
        Change of each score when a feature moves by one standard deviation, or as `loading_name`
        says.
    feature_names : sequence of d str
    unlabeled_scores : ndarray of shape (n_u, r), default=None
    loading_intervals : ndarray of shape (2, r, d), default=None
        Lower and upper ends, drawn over the loadings.
    response_name : str, default="y"
    eigenvalue_name, loading_name : str
        What the axes of these panels are called.
    dependences : list of r Dependence, default=None
        Curves drawn with the response.
    silence : str, default=None
        Why there is nothing to draw; written in place of all panels.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The panels in the order drawn (by row). Colour bars are not among them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skbo_silbo.decomposition import SemiSlicedInverseRegression
    >>> from skbo_silbo.inspection import SubspaceDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sir = SemiSlicedInverseRegression().fit(X, y)
    >>> SubspaceDisplay.from_estimator(sir, X, y)  # doctest: +SKIP
    """

    scores: FloatArray
    response: ArrayLike
    eigenvalues: FloatArray
    loadings: FloatArray
    feature_names: Sequence[str] | NDArray[Any]
    unlabeled_scores: FloatArray | None = None
    loading_intervals: FloatArray | None = None
    response_name: str = "y"
    eigenvalue_name: str = "eigenvalue"
    loading_name: str = "loading per standard deviation"
    dependences: Sequence[Dependence] | None = None
    silence: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        *,
        X_unlabeled: ArrayLike | None = None,
        kind: str = "all",
        ax: AxesLike | None = None,
        bootstrap: DirectionBootstrap | None = None,
        response_name: str | None = None,
    ) -> Self:
        """Draw a fitted transformer of this library, such as `SemiSlicedInverseRegression`.

        Parameters
        ----------
        estimator : fitted estimator
            With ``components_``, ``mean_`` and ``eigenvalues_``. Inside a Pipeline, pass the step
            and the rows that reach it.
        X : array-like of shape (n, d)
            The rows fitted, or others.
        y : array-like of shape (n,)
            NaN (None among categories) marks an unlabelled row. Of a censored response the time is
            drawn; of several responses, pass one.
        X_unlabeled : array-like of shape (n_u, d), default=None
            Further unlabelled rows, drawn faint.
        kind : {"all", "summary", "spectrum", "loadings"}, default="all"
            As in :meth:`plot`.
        ax : matplotlib Axes or array of Axes, default=None
            As in :meth:`plot`.
        bootstrap : DirectionBootstrap, default=None
            Of the same directions; its intervals are drawn over the loadings.
        response_name : str, default=None
            None takes the name of y where it has one, else "y".

        Returns
        -------
        SubspaceDisplay

        Raises
        ------
        ValueError
            For X or y that ``fit`` would refuse, or a `bootstrap` of other directions.
        NotFittedError
            When the estimator is not fitted.
        ImportError
            When matplotlib is missing.
        """
        refuse_pipeline(estimator)
        check_is_fitted(estimator)
        held = ("components_", "mean_", "eigenvalues_")
        if missing := [name for name in held if not hasattr(estimator, name)]:
            raise ValueError(
                f"estimator must have components_, directions in the features, and what else a "
                f"reduction of this library has: {estimator} has no {', '.join(missing)}. Pass the "
                "reducer_ of a regressor; of others plot the scores, transform(X), against y."
            )
        if not isinstance(bootstrap, DirectionBootstrap | None):
            raise ValueError(
                f"bootstrap must be None or what bootstrap_directions returned: got {bootstrap!r}."
            )
        rows = split_labelled(
            estimator, X, y, X_unlabeled, takes=("numeric", "categorical", "censored"), reset=False
        )
        B, deviation = estimator.components_, rows.X_labeled.std(axis=0)
        display = cls(
            scores=(rows.X_labeled - estimator.mean_) @ B.T,
            response=rows.y["time"] if rows.y.dtype.names else rows.y,
            eigenvalues=estimator.eigenvalues_,
            loadings=B * deviation,
            feature_names=input_names(estimator, X),
            unlabeled_scores=(rows.X_unlabeled - estimator.mean_) @ B.T,
            loading_intervals=_intervals(bootstrap, B, deviation),
            response_name=_response_name(y, response_name),
        )
        return display.plot(kind=kind, ax=ax)

    @classmethod
    def from_result(
        cls,
        result: ResultLike,
        *,
        kind: str = "all",
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw the directions that a search, an optimiser or a result of `minimize` has learnt.

        They are those of ``subspace_``, read from the same model of the values observed; where that
        says nothing of the inputs, words in place of the panels say so. Failed evaluations are
        drawn as unlabelled rows.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, or OptimizeResult
        kind, ax
            As in :meth:`plot`. The eigenvalues are shares of the squared slope, the loadings those
            in the cube, where every input has the range [-1, 1].

        Returns
        -------
        SubspaceDisplay

        Raises
        ------
        TypeError
            When the result is of another kind.
        NotFittedError
            When the search is not fitted.
        ImportError
            When matplotlib is missing.
        """
        evaluations = read_evaluations(result)
        model = evaluations.optimizer.input_model_
        components, importance = model.directions
        B = components[: max(count_directions(importance), 1)]
        Z, failed = evaluations.X @ B.T, np.isnan(evaluations.values)
        is_inside = np.isfinite(evaluations.X).all(axis=1)  # of the space
        display = cls(
            scores=Z[is_inside & ~failed],
            response=evaluations.values[is_inside & ~failed],
            eigenvalues=importance,
            loadings=B,
            feature_names=evaluations.optimizer.space_.feature_names_,
            unlabeled_scores=Z[is_inside & failed],
            response_name=evaluations.name,
            eigenvalue_name="share of the squared slope",
            loading_name="loading",
            dependences=[evaluations.dependence(b) for b in B[:2] if model.is_informative],
            silence=None if model.is_informative else model.shares.verdict,
        )
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "all", ax: AxesLike | None = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        kind : {"all", "summary", "spectrum", "loadings"}, default="all"
            "summary": the response against the first direction; with two or more also against the
            second, and both against each other, coloured by the response. "spectrum": the leading
            20 eigenvalues, those of the chosen directions filled. "loadings": of the first
            direction, or the first two, for the features with the longest.
        ax : matplotlib Axes or array of Axes, default=None
            One for each panel; None makes a figure.

        Returns
        -------
        self
        """
        check_choice("kind", kind, KINDS)
        if self.silence is not None:
            panels = [lambda axes: draw_words(axes, self.silence)]
            panels += [lambda axes: axes.set_axis_off()] * (np.asarray(ax, dtype=object).size - 1)
            return self._draw(panels, ax, lambda n: _make_axes(n, []))
        top = np.argsort(-np.linalg.norm(self.loadings[:2], axis=0), kind="stable")[:MAX_FEATURES]
        names = [] if kind in ("summary", "spectrum") else [self.feature_names[j] for j in top]
        panels = self._panels(kind, top, side_by_side=ax is None)
        return self._draw(panels, ax, lambda n: _make_axes(n, names))

    def _panels(self, kind, top, side_by_side):
        r, name = self.scores.shape[1], self.eigenvalue_name
        shown = max(MAX_EIGENVALUES, r)
        panels = {
            "summary": self._summary_panels(),
            "spectrum": [lambda axes: draw_spectrum(axes, self.eigenvalues, r, shown, name)],
            "loadings": self._loading_panels(top, side_by_side),
        }
        return [panel for one in panels if kind in ("all", one) for panel in panels[one]]

    def _summary_panels(self):
        Z = self.scores[:, :2]
        names = [f"direction {k + 1}" for k in range(Z.shape[1])]
        U = np.empty((0, 2)) if self.unlabeled_scores is None else self.unlabeled_scores[:, :2]
        response = _Response.of(self.response, self.response_name)
        curves = self.dependences or [None, None]
        panels = [
            lambda axes, k=k: draw_response(axes, Z[:, k], response, U[:, k], names[k], curves[k])
            for k in range(len(names))
        ]
        if len(names) == 2:
            panels.append(lambda axes: draw_plane(axes, Z, response, U, names))
        return panels

    def _loading_panels(self, top, side_by_side):
        """Bars of the features `top`; beside a panel that has their names others have none."""
        d, labels = self.loadings.shape[1], short_and_distinct([self.feature_names[j] for j in top])
        left_out = f" (top {len(top)} of {d})" if len(top) < d else ""

        def draw(axes, k):
            ends = None if self.loading_intervals is None else self.loading_intervals[:, k, top]
            names = [""] * len(top) if k and side_by_side else labels
            draw_bars(axes, self.loadings[k, top], ends, names)
            axes.axvline(0, color="0.4", lw=0.8)
            axes.set(xlabel=self.loading_name, title=f"direction {k + 1}{left_out}")

        return [partial(draw, k=k) for k in range(len(self.loadings[:2]))]


@dataclass(frozen=True, eq=False)
class _Response:
    """The response as drawn: values are numbers, or codes into `categories`."""

    values: np.ndarray
    categories: list
    name: str

    @classmethod
    def of(cls, y, name):
        y = np.asarray(y)
        categories, codes = np.unique(y, return_inverse=True)
        if y.dtype.kind in "fiu":
            if len(categories) > MAX_CATEGORY_VALUES:
                return cls(y, [], name)
            return cls(codes, [f"{value:g}" for value in categories], name)
        return cls(codes, [str(value) for value in categories], name)


def _make_axes(n_panels, names):
    """Panels in rows of three at most, wider where feature names are long."""
    columns = min(n_panels, 3)
    height = -(-n_panels // columns)
    longest = min(max((len(str(name)) for name in names), default=0), LONGEST_NAME)
    width = 4.2 * columns + 0.08 * max(longest - 6, 0)
    figure = new_figure("SubspaceDisplay", width, 3.6 * height)
    return figure.subplots(height, columns, squeeze=False).ravel()


def _response_name(y, given):
    if given is not None:
        return given
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def _intervals(bootstrap, components, deviation):
    if bootstrap is None:
        return None
    invisible = 1e-3 * np.abs(components).max()
    same = bootstrap.components.shape == components.shape
    if not same or np.abs(bootstrap.components - components).max() > invisible:
        raise ValueError(
            "bootstrap must be of the directions that the estimator has: its components differ. "
            "Pass the same rows to fit and to bootstrap_directions, and an int as random_state."
        )
    return np.stack([bootstrap.low, bootstrap.high]) * deviation
