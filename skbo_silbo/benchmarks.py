"""Comparison of optimisation methods on a user-defined function.

The benchmarks of this project itself are in doc/benchmarks and are not installed.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skbo_silbo._checks import check_integer, warn_user
from skbo_silbo._typing import BoundsLike, FloatArray
from skbo_silbo.evaluation import FirstPointsOnlyWarning
from skbo_silbo.inspection._panels import AxesLike, PanelDisplay
from skbo_silbo.inspection._search_panels import draw_comparison
from skbo_silbo.minimization import minimize
from skbo_silbo.minimization.methods import make_optimizer
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer
from skbo_silbo.problems import NoisyProblem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare"]


@dataclass(eq=False, repr=False)
class Comparison(PanelDisplay):
    """Best values found by several optimisation methods, returned by `compare`.

    Attributes
    ----------
    best : dict of str to ndarray of shape (n_seeds, n_calls)
        Best value so far after each evaluation, for each method. NaN before the first value.
    seeds : list of int
        Seeds of the runs.
    figure_ : matplotlib Figure
        Figure containing the curves, set by :meth:`plot`.
    axes_ : ndarray of matplotlib Axes
        The single Axes of the figure, in an array.
    """

    best: dict[str, FloatArray]
    seeds: list[int]

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas DataFrame with one row per evaluation of each run.

        Returns
        -------
        frame : DataFrame
            Table with the columns "method", "seed", "evaluation", counted from 1, and "best", the
            lowest value so far.
        """
        import pandas as pd

        runs = [
            pd.DataFrame({"method": name, "seed": seed, "best": run})
            for name, values in self.best.items()
            for seed, run in zip(self.seeds, values, strict=True)
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

    def __repr__(self) -> str:
        width = max(map(len, ["method", *self.best]))
        means = {name: values[:, -1].mean() for name, values in self.best.items()}
        lines = [f"{'method':{width}}  mean (standard deviation), {len(self.seeds)} runs"]
        for name in sorted(means, key=means.__getitem__):
            spread = self.best[name][:, -1].std(ddof=min(1, len(self.seeds) - 1))
            lines.append(f"{name:{width}}  {means[name]:.4g} ({spread:.2g})")
        return "\n".join(lines)


def compare(
    func: Callable[[Any], float],
    bounds: BoundsLike,
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
        is not 1. The values of a :class:`~skbo_silbo.problems.NoisyProblem` are compared without
        their noise.
    bounds : array-like of shape (d, 2), dict or Space
        Lower and upper bounds of the inputs, or the search space, as in
        :func:`~skbo_silbo.minimize`.
    methods : list of str or dict, default=("silbo", "random")
        Methods of :func:`~skbo_silbo.minimize`. A dict maps labels to methods, which may be
        callables as in :func:`~skbo_silbo.minimize`.
    seeds : int or list of int, default=5
        Seeds of the runs, or their number.
    n_calls : int, default=100
        Number of evaluations per run.
    n_jobs : int or None, default=None
        Number of runs that are executed in parallel, as in joblib.

    Returns
    -------
    comparison : Comparison
        The best values, with ``to_frame`` and ``plot``.

    Raises
    ------
    ValueError
        If a method is unknown or cannot handle the search space. No function is called then.

    Warns
    -----
    FirstPointsOnlyWarning
        If a method only evaluated its initial design.

    Examples
    --------
    >>> from skbo_silbo.benchmarks import compare
    >>> def bowl(x):
    ...     return (x[0] - 0.3) ** 2 + (x[1] + 0.2) ** 2
    >>> comparison = compare(bowl, [(-1, 1)] * 5, ["silbo", "random"], seeds=2, n_calls=12)
    >>> comparison.best["silbo"].shape
    (2, 12)
    >>> comparison.to_frame().columns.tolist()
    ['method', 'seed', 'evaluation', 'best']
    >>> comparison.plot()  # doctest: +SKIP
    """
    check_integer("n_calls", n_calls, 1)
    named = methods if isinstance(methods, Mapping) else {name: name for name in methods}
    for method in named.values():
        make_optimizer(method, bounds, 0, {})
    seeds = list(range(seeds) if isinstance(seeds, int | np.integer) else seeds)
    if not named or not seeds:
        raise ValueError(
            f"methods and seeds must not be empty, got methods={list(named)} and seeds={seeds}. "
            "Pass for example methods=['silbo', 'random'] and seeds=5."
        )
    runs = Parallel(n_jobs=n_jobs)(
        delayed(_run)(func, bounds, n_calls, method, seed)
        for method in named.values()
        for seed in seeds
    )
    per_method = [runs[i : i + len(seeds)] for i in range(0, len(runs), len(seeds))]
    results = dict(zip(named, per_method, strict=True))
    if idle := [name for name, own in results.items() if not any(modelled for _, modelled in own)]:
        warn_user(
            f"n_calls must be greater than the initial design of {idle} for their models to "
            f"propose points, got {n_calls}. Increase n_calls or remove these methods.",
            FirstPointsOnlyWarning,
        )
    best = {name: np.array([values for values, _ in own]) for name, own in results.items()}
    return Comparison(best, seeds)


def _run(func, bounds, n_calls, method, seed):
    """Return the best value after each call, and False if the method's model proposed no point."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FirstPointsOnlyWarning)  # `compare` warns of all methods
        result = minimize(func, bounds, method=method, n_calls=n_calls, random_state=seed)
    if result.stop_reason == "interrupted":
        raise KeyboardInterrupt
    observed, best, values = np.inf, np.nan, np.full(n_calls, np.nan)
    for i, (x, value) in enumerate(zip(result.x_iters, result.func_vals, strict=True)):
        if value < observed:
            observed = value
            best = func.truth(x) if isinstance(func, NoisyProblem) else value
        values[i:] = best
    has_model = isinstance(result.optimizer, EmbeddedOptimizer)
    return values, not has_model or "model" in result.sources
