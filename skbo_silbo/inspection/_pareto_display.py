"""The candidates of a search of several goals, and those that no other dominates."""

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ._panels import COLOURS, AxesLike, PanelDisplay, new_figure, tidy


@dataclass(eq=False, repr=False)
class ParetoDisplay(PanelDisplay):
    """Two goals a panel: all candidates, and in colour those that no other dominates.

    Use :meth:`from_result`; the constructor takes what is drawn, which stay attributes of the same
    name.

    Parameters
    ----------
    values : ndarray of shape (n, m)
        Of m goals for every candidate, NaN where it failed.
    front : ndarray of int
        The rows of `values` that no other dominates.
    names : tuple of str
        Of the goals.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        One for each pair of goals.

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
        """Draw a search whose `refit` lists goals.

        Parameters
        ----------
        result : fitted SILBOSearchCV
        ax : matplotlib Axes or array of them, default=None
            One for each pair of goals; None makes a figure.

        Returns
        -------
        ParetoDisplay

        Raises
        ------
        ValueError
            When it has no `pareto_front_`.
        ImportError
            When matplotlib is missing.
        """
        if not hasattr(result, "pareto_front_"):
            raise ValueError(
                "result must be a fitted SILBOSearchCV with several goals: got "
                f"{type(result).__name__} without pareto_front_. Give it a refit that lists two or "
                "three goals, and fit it."
            )
        names, results = tuple(result.refit), result.cv_results_
        columns = ["mean_fit_time" if name == "fit_time" else f"mean_test_{name}" for name in names]
        values = np.column_stack([results[column] for column in columns])
        return cls(values, result.pareto_front_, names).plot(ax=ax)

    def plot(self, *, ax: AxesLike | None = None) -> Self:
        """Draw the candidates.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            One for each pair of goals; None makes a figure.

        Returns
        -------
        self
        """
        pairs = combinations(range(len(self.names)), 2)
        panels = [partial(self._draw_pair, *pair) for pair in pairs]
        self._draw(
            panels, ax, lambda n: new_figure("ParetoDisplay", 0.6 + 4 * n, 3.6).subplots(1, n)
        )
        self.axes_[0].legend(fontsize="small", loc="best", framealpha=0.85, edgecolor="none")
        return self

    def _draw_pair(self, i, j, axes):
        axes.scatter(*self.values[:, [i, j]].T, s=18, color="0.7", label="candidates")
        front = self.values[self.front][:, [i, j]]
        front = front[np.argsort(front[:, 0], kind="stable")]
        line = "-" if len(self.names) == 2 else ""  # of three goals two are no front
        axes.plot(*front.T, marker="o", ls=line, lw=1.0, color=COLOURS[0], label="not dominated")
        time = {"fit_time": "fit time, seconds (less is better)"}
        labels = [time.get(self.names[place], self.names[place]) for place in (i, j)]
        axes.set(xlabel=labels[0], ylabel=labels[1])
        tidy(axes)
