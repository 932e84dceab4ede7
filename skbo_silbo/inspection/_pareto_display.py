"""Pareto plot of a multi-objective search."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray
from skbo_silbo.inspection._panels import COLOURS, AxesLike, PanelDisplay, draw_legend, hide_frame


@dataclass(eq=False, repr=False)
class ParetoDisplay(PanelDisplay):
    """Scatter plots of all pairs of objectives with the Pareto front highlighted.

    It is recommended to use :meth:`from_result` to create a `ParetoDisplay`. All parameters are
    stored as attributes.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Values of the m objectives for each candidate. They are NaN if the candidate failed.
    front : ndarray of int
        Indices of the non-dominated candidates.
    names : tuple of str
        Names of the objectives.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Figure containing the panels, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        Axes of the panels, one per pair of objectives.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import ParetoDisplay
    >>> values = np.array([[0.9, 0.5], [0.7, 0.8], [0.6, 0.6]])
    >>> ParetoDisplay(values, np.array([0, 1]), ("precision", "recall")).plot()  # doctest: +SKIP
    """

    values: FloatArray
    front: IntArray
    names: tuple[str, ...]

    @classmethod
    def from_result(cls, result: Any, *, ax: AxesLike | None = None) -> Self:
        """Plot the candidates of a multi-objective search.

        Parameters
        ----------
        result : fitted SILBOSearchCV
            Search whose `refit` lists the objectives.
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, one per pair of objectives. If None, a new figure is created.

        Returns
        -------
        display : ParetoDisplay
            The display, already plotted.

        Raises
        ------
        ValueError
            If the result has no `pareto_front_`.
        ImportError
            If matplotlib is not installed.
        """
        if not hasattr(result, "pareto_front_"):
            raise ValueError(
                "result must be a fitted multi-objective SILBOSearchCV, got a "
                f"{type(result).__name__} without pareto_front_. Set refit to a list of two or "
                "three objectives and fit the search."
            )
        read = read_front(result)
        return cls(read.values, read.front, read.names).plot(ax=ax)

    def plot(self, *, ax: AxesLike | None = None) -> Self:
        """Draw a scatter plot for each pair of objectives.

        The candidates of the front are labelled with their index, to pass to ``search.choose``.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, default=None
            Axes to draw on, one per pair of objectives. If None, a new figure is created.

        Returns
        -------
        self : object
            The display itself.
        """
        pairs = combinations(range(len(self.names)), 2)
        panels = [partial(self._draw_pair, *pair) for pair in pairs]
        self._draw(panels, ax, 0.6 + 4 * len(panels), 3.6)
        draw_legend(self.axes_[0])
        return self

    def _draw_pair(self, i, j, axes):
        axes.scatter(*self.values[:, [i, j]].T, s=18, color="0.7", label="candidates")
        rows = self.front[np.argsort(self.values[self.front, i], kind="stable")]
        front = self.values[rows][:, [i, j]]
        for row, point in zip(rows, front, strict=True):
            style = {"textcoords": "offset points", "fontsize": "x-small", "color": "0.3"}
            axes.annotate(f"{row}", point, (3, 3), **style)
        # with three objectives, the front projected onto two of them is not a curve
        line = "-" if len(self.names) == 2 else ""
        axes.plot(*front.T, marker="o", ls=line, lw=1.0, color=COLOURS[0], label="not dominated")
        labels = {"fit_time": "fit time, seconds (less is better)"}
        x_name, y_name = self.names[i], self.names[j]
        axes.set(xlabel=labels.get(x_name, x_name), ylabel=labels.get(y_name, y_name))
        hide_frame(axes)


def read_front(search: Any) -> ParetoDisplay:
    """Return the objectives and the Pareto front of a multi-objective search."""
    names = ["score" if name == search.scoring else name for name in search.refit]
    columns = ["mean_fit_time" if n == "fit_time" else f"mean_test_{n}" for n in names]
    values = np.column_stack([search.cv_results_[column] for column in columns])
    return ParetoDisplay(values, search.pareto_front_, tuple(search.refit))
