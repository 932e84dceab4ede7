"""Several optimisers side by side on a function, each with several seeds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import Parallel, delayed

from skbo_silbo._checks import check_integer, warn_user
from skbo_silbo.benchmarks._compare import PEERS, check_installed, measure
from skbo_silbo.benchmarks._results import (
    comparison_table,
    incumbent_values,
    is_design_only,
    render_text,
)
from skbo_silbo.evaluation import FirstPointsOnlyWarning
from skbo_silbo.inspection._panels import AxesLike, PanelDisplay
from skbo_silbo.inspection._search_panels import draw_comparison
from skbo_silbo.minimization.methods import make_optimizer
from skbo_silbo.optimizers import AskTellOptimizer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(eq=False, repr=False)
class Comparison(PanelDisplay):
    """Results of several optimisation methods, returned by `compare`.

    Attributes
    ----------
    results : list of dict
        One entry per run, with the keys "method", "seed" and "steps". "steps" contains a pair
        [number of evaluations, value] for each new incumbent.
    figure_ : matplotlib Figure
        Figure containing the curves, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The single Axes of the figure, in an array.
    """

    results: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any]:
        """Best value so far of each method, as arrays of shape (n_seeds, n_calls)."""
        methods = dict.fromkeys(r["method"] for r in self.results)
        runs = {name: [r for r in self.results if r["method"] == name] for name in methods}
        return {name: incumbent_values(own) for name, own in runs.items()}

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas DataFrame with one row per evaluation of each run.

        Returns
        -------
        frame : DataFrame
            Table with the columns "method", "seed", "evaluation", counted from 1, and "best", the
            lowest value so far with six digits, which is NaN before the first value.
        """
        import pandas as pd

        runs = [
            pd.DataFrame({"method": r["method"], "seed": r["seed"], "best": values})
            for r in self.results
            for values in incumbent_values([r])
        ]
        frame = pd.concat(runs)
        frame.insert(2, "evaluation", frame.index + 1)
        return frame.reset_index(drop=True)

    def plot(self, *, ax: AxesLike | None = None) -> Self:
        """Plot the mean best value so far of each method, with the range over the seeds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        self : object
            The comparison itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return self._draw([lambda axes: draw_comparison(axes, self.best)], ax, 5.2, 3.6)

    def __repr__(self):
        n_calls = self.results[0]["problem"]["n"]
        return render_text([comparison_table(self.results, f"{n_calls} evaluations")]).rstrip()


def compare(
    func: Callable[[Any], float],
    bounds: Any,
    methods: Sequence[str] | Mapping[str, str | Callable[..., AskTellOptimizer]] = (
        "silbo",
        "random",
    ),
    seeds: int | Sequence[int] = 5,
    *,
    n_calls: int = 100,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare optimisation methods on a function, with several seeds per method.

    Parameters
    ----------
    func : callable
        Function to minimise, as in :func:`~skbo_silbo.minimize`. It must be picklable if `n_jobs`
        is not 1.
    bounds : array-like of shape (d, 2), dict or Space
        Lower and upper bounds of the inputs, or the search space, as in
        :func:`~skbo_silbo.minimize`.
    methods : list of str or dict, default=("silbo", "random")
        Methods of :func:`~skbo_silbo.minimize`, and "sobol" (a Sobol sequence), "cma" (CMA-ES of
        the package cma) and "optuna-tpe" (TPE of Optuna), which need numerical bounds. A dict maps
        labels to methods, which may be callables as in :func:`~skbo_silbo.minimize`.
    seeds : int or list of int, default=5
        Seeds of the runs, or their number.
    n_calls : int, default=100
        Number of evaluations per run.
    n_jobs : int or None, default=None
        Number of runs that are executed in parallel, as in joblib.

    Returns
    -------
    comparison : Comparison
        The runs, with ``to_frame`` and ``plot``.

    Raises
    ------
    ValueError
        If a method is unknown, its library is not installed or it cannot handle the search space.
        No function is called then.

    Warns
    -----
    FirstPointsOnlyWarning
        If a method only evaluated its initial design. The table marks it.

    Examples
    --------
    >>> from skbo_silbo.benchmarks import compare
    >>> def bowl(x):
    ...     return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2
    >>> comparison = compare(bowl, [(-1, 1)] * 5, ["silbo", "random"], seeds=2, n_calls=20)
    >>> comparison.best["silbo"].shape
    (2, 20)
    >>> comparison.to_frame().columns.tolist()
    ['method', 'seed', 'evaluation', 'best']
    >>> comparison.plot()  # doctest: +SKIP
    """
    check_integer("n_calls", n_calls, 1)
    named = methods if isinstance(methods, Mapping) else {name: name for name in methods}
    check_installed([method for method in named.values() if isinstance(method, str)])
    for method in named.values():
        _check_method(method, bounds)
    seeds = list(range(seeds) if isinstance(seeds, int | np.integer) else seeds)
    if not named or not len(seeds):
        raise ValueError(
            f"methods and seeds must not be empty, got methods={list(named)} and "
            f"seeds={list(seeds)}. Pass for example methods=['silbo', 'random'] and seeds=5."
        )
    runs = [(label, seed) for seed in seeds for label in named]
    summaries = Parallel(n_jobs=n_jobs)(
        delayed(measure)(func, bounds, n_calls, named[label], seed) for label, seed in runs
    )
    results = [
        {"problem": {"n": n_calls}, "method": label, "seed": seed, **summary}
        for (label, seed), summary in zip(runs, summaries, strict=True)
    ]
    if idle := [m for m in named if is_design_only([r for r in results if r["method"] == m])]:
        warn_user(
            f"n_calls must be greater than the initial design of {idle} for their models to "
            f"propose points, got {n_calls}. Increase n_calls or remove these methods.",
            FirstPointsOnlyWarning,
        )
    return Comparison(results)


def _check_method(method, bounds):
    """Raise a ValueError if a method is unknown or does not support the bounds."""
    if not isinstance(method, str) or method not in PEERS:
        make_optimizer(method, bounds, 0, {}, [])
    elif isinstance(bounds, Mapping) or np.ndim(bounds) != 2:
        raise ValueError(
            f"methods must not include {method!r} unless bounds is an array of shape (d, 2), got "
            f"a {type(bounds).__name__}. Compare methods of minimize on this search space."
        )
