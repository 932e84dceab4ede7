"""Plots of fitted directions: response along each direction, eigenvalues and loadings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skbo_silbo._checks import check_choice
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.decomposition import split_labelled
from skbo_silbo.inspection._bootstrap import (
    DirectionBootstrap,
    direction_frame,
    input_names,
    reject_pipeline,
)
from skbo_silbo.inspection._evaluations import Dependence, ResultLike, read_evaluations
from skbo_silbo.inspection._panels import (
    AxesLike,
    PanelDisplay,
    draw_bars,
    draw_plane,
    draw_response,
    draw_spectrum,
    draw_text,
)
from skbo_silbo.inspection._value_axis import LONGEST_NAME, shorten_distinct
from skbo_silbo.sensitivity._subspace import count_directions

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("all", "summary", "spectrum", "loadings")
MAX_CATEGORY_VALUES = 6  # numbers with at most this many distinct values are drawn as categories
MAX_EIGENVALUES = 20
MAX_FEATURES = 15  # loadings per direction


@dataclass(eq=False, repr=False, kw_only=True)
class SubspaceDisplay(PanelDisplay):
    """Sufficient summary plot, eigenvalue spectrum and loadings of fitted directions.

    It is recommended to use :meth:`from_estimator` for a transformer and :meth:`from_result` for
    the directions learnt by an optimiser. All parameters are stored as attributes.

    Parameters
    ----------
    scores : ndarray of shape (n, r)
        Projections of the labelled rows onto the directions.
    response : ndarray of shape (n,)
        Numerical or categorical response. Numbers with at most six distinct values are drawn as
        categories.
    eigenvalues : ndarray of shape (p,)
        At least r eigenvalues, in decreasing order.
    loadings : ndarray of shape (r, d)
        Contribution of each feature to each direction. By default, the change of the score when the
        feature increases by one standard deviation.
    feature_names : sequence of str, of length d
        Names of the features.
    unlabeled_scores : ndarray of shape (n_u, r), default=None
        Projections of the unlabelled rows.
    loading_intervals : ndarray of shape (2, r, d), default=None
        Lower and upper bounds of the confidence intervals for the loadings.
    response_name : str, default="y"
        Name of the response.
    eigenvalue_name, loading_name : str
        Axis labels for the eigenvalues and the loadings.
    dependences : list of Dependence, default=None
        Predictions of the model along each direction, drawn as curves over the response.
    silence : str, default=None
        Message to show instead of the plots if no directions could be estimated.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure containing the panels, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        Axes of the panels in row-major order, without colour bars.

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
        """Plot the directions of a fitted transformer of this library.

        Parameters
        ----------
        estimator : fitted estimator
            Transformer with ``components_``, ``mean_`` and ``eigenvalues_``, such as
            `SemiSlicedInverseRegression`. For a step of a Pipeline, pass the step itself and the
            transformed rows that it receives.
        X : array-like of shape (n, d)
            Rows to project onto the directions, from the training data or new.
        y : array-like of shape (n,)
            Values of a single response. NaN, or None for categories, marks an unlabelled row. For a
            censored response, the plot shows the times.
        X_unlabeled : array-like of shape (n_u, d), default=None
            Additional unlabelled rows, drawn in a faint colour.
        kind : {"all", "summary", "spectrum", "loadings"}, default="all"
            Which panels to draw, see :meth:`plot`.
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, see :meth:`plot`.
        bootstrap : DirectionBootstrap, default=None
            Bootstrap of the same estimator on the same data, whose intervals are added to the
            loadings.
        response_name : str, default=None
            Name of the response. If None, use the name of `y` if it has one and "y" otherwise.

        Returns
        -------
        display : SubspaceDisplay
            The display, already plotted.

        Raises
        ------
        ValueError
            If ``fit`` would reject X or y, or if `bootstrap` was computed for other directions.
        NotFittedError
            If the estimator is not fitted.
        ImportError
            If matplotlib is not installed.
        """
        reject_pipeline(estimator)
        check_is_fitted(estimator)
        required = ("components_", "mean_", "eigenvalues_")
        if missing := [name for name in required if not hasattr(estimator, name)]:
            raise ValueError(
                f"estimator must have the fitted attributes {', '.join(required)}, but {estimator} "
                f"has no {', '.join(missing)}. Pass the reducer_ of a regressor. For other "
                "estimators, plot transform(X) against y."
            )
        if not isinstance(bootstrap, DirectionBootstrap | None):
            raise ValueError(
                f"bootstrap must be None or a result of bootstrap_directions, got {bootstrap!r}."
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
            loading_intervals=_loading_intervals(bootstrap, B, deviation),
            response_name=response_name or str(getattr(y, "name", None) or "y"),
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
        """Plot the directions learnt by a search, an optimiser or `minimize`.

        These are the directions of ``subspace_``. If the observed values do not show which inputs
        matter, a message is shown instead. Failed evaluations are drawn as unlabelled rows.

        Parameters
        ----------
        result : fitted SILBOSearchCV, optimiser such as SILBO, or OptimizeResult
            The result to plot.
        kind : {"all", "summary", "spectrum", "loadings"}, default="all"
            Which panels to draw, see :meth:`plot`. Eigenvalues are shares of the mean squared
            gradient. Loadings refer to inputs scaled to [-1, 1].
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, see :meth:`plot`.

        Returns
        -------
        display : SubspaceDisplay
            The display, already plotted.

        Raises
        ------
        TypeError
            If the result is of an unsupported type.
        NotFittedError
            If the search is not fitted.
        ImportError
            If matplotlib is not installed.
        """
        evaluations = read_evaluations(result)
        model = evaluations.optimizer.input_model_
        components, importance = model.directions
        B = components[: max(count_directions(importance), 1)]
        Z, failed = evaluations.X @ B.T, np.isnan(evaluations.values)
        is_inside = evaluations.is_inside
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

    def to_frame(self) -> "pd.DataFrame":
        """Return the loadings as a pandas DataFrame with one row per direction and feature.

        Returns
        -------
        frame : DataFrame
            Columns "loading" and, if there are intervals, "low" and "high". The index has the
            levels "direction", counted from 0, and "feature".
        """
        tables = {"loading": self.loadings}
        if self.loading_intervals is not None:
            tables |= zip(("low", "high"), self.loading_intervals, strict=True)
        return direction_frame(tables, self.feature_names)

    def plot(self, *, kind: str = "all", ax: AxesLike | None = None) -> Self:
        """Draw the plots of the display.

        Parameters
        ----------
        kind : {"all", "summary", "spectrum", "loadings"}, default="all"
            Which panels to draw.

            - "summary": the response against each of the first two directions. With two or more
              directions, also a scatter plot of the first two, coloured by the response.
            - "spectrum": up to 20 leading eigenvalues. Markers of the selected directions are
              filled.
            - "loadings": the largest loadings of the first two directions.
            - "all": all of these.
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, one per panel. If None, a new figure is created.

        Returns
        -------
        self : object
            The display itself.
        """
        check_choice("kind", kind, KINDS)
        if self.silence is not None:
            panels = [lambda axes: draw_text(axes, self.silence)]
            panels += [lambda axes: axes.set_axis_off()] * (np.asarray(ax, dtype=object).size - 1)
            return self._draw(panels, ax, 4.2, 3.6)
        top = np.argsort(-np.linalg.norm(self.loadings[:2], axis=0), kind="stable")[:MAX_FEATURES]
        names = [str(self.feature_names[j]) for j in top]
        r = self.scores.shape[1]
        spectrum = self.eigenvalues, r, max(MAX_EIGENVALUES, r), self.eigenvalue_name
        kinds = {
            "summary": self._summary_panels(),
            "spectrum": [lambda axes: draw_spectrum(axes, *spectrum)],
            "loadings": self._loading_panels(top, names, side_by_side=ax is None),
        }
        panels = [panel for one in kinds if kind in ("all", one) for panel in kinds[one]]
        columns, n_rows = min(len(panels), 3), -(-len(panels) // 3)
        longest = 0 if kind in ("summary", "spectrum") else max(map(len, names), default=0)
        width = 4.2 * columns + 0.08 * max(min(longest, LONGEST_NAME) - 6, 0)
        return self._draw(
            panels, ax, width, 3.6 * n_rows, lambda figure: figure.subplots(n_rows, columns)
        )

    def _summary_panels(self):
        Z = self.scores[:, :2]
        names = [f"direction {k + 1}" for k in range(Z.shape[1])]
        U = np.empty((0, 2)) if self.unlabeled_scores is None else self.unlabeled_scores[:, :2]
        response = self._categorised_response()
        curves = self.dependences or [None, None]
        panels = [
            lambda axes, k=k: draw_response(axes, Z[:, k], response, U[:, k], names[k], curves[k])
            for k in range(len(names))
        ]
        if len(names) == 2:
            panels.append(lambda axes: draw_plane(axes, Z, response, U, names))
        return panels

    def _categorised_response(self):
        y, name = np.asarray(self.response), self.response_name
        categories, codes = np.unique(y, return_inverse=True)
        if y.dtype.kind not in "fiu":
            return _Response(codes, list(map(str, categories)), name)
        if len(categories) > MAX_CATEGORY_VALUES:
            return _Response(y, [], name)
        return _Response(codes, [f"{value:g}" for value in categories], name)

    def _loading_panels(self, top, names, side_by_side):
        """Return one bar plot of loadings per direction, for the most important features.

        Panels that share a row show the feature names only once.
        """
        d, labels = self.loadings.shape[1], shorten_distinct(names)
        left_out = f" (top {len(top)} of {d})" if len(top) < d else ""

        def draw(axes, k):
            ends = None if self.loading_intervals is None else self.loading_intervals[:, k, top]
            shown = [""] * len(top) if k and side_by_side else labels
            draw_bars(axes, self.loadings[k, top], ends, shown)
            axes.axvline(0, color="0.4", lw=0.8)
            axes.set(xlabel=self.loading_name, title=f"direction {k + 1}{left_out}")

        return [partial(draw, k=k) for k in range(len(self.loadings[:2]))]


class _Response(NamedTuple):
    """Response to plot: numbers, or integer codes that index `categories`."""

    values: NDArray[Any]
    categories: list[str]
    name: str


def _loading_intervals(bootstrap, components, deviation):
    if bootstrap is None:
        return None
    tolerance = 1e-3 * np.abs(components).max()  # not visible in a plot
    has_same_shape = bootstrap.components.shape == components.shape
    if not has_same_shape or np.abs(bootstrap.components - components).max() > tolerance:
        raise ValueError(
            "bootstrap must have the same directions as the estimator, but its components differ. "
            "Pass the same data to fit and bootstrap_directions, and an int as random_state."
        )
    return np.stack([bootstrap.low, bootstrap.high]) * deviation
