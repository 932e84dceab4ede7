"""Objective functions on a box with known optima, with or without noise."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from skbo_silbo._checks import check_nonnegative
from skbo_silbo._typing import ArrayLike, FloatArray, RandomState

N_RANDOM_POINTS = 1000  # for `regret_scale`
N_POLISHED = 5  # best random points from which `check_optimum` starts a local search
TOLERANCE = 1e-9  # of the optimum, relative to 1 + |optimum|


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Benchmark problem: a function to minimise on a box, with its optimum if known.

    Parameters
    ----------
    name : str
        Name of the problem, used in reports.
    function : callable
        Noise-free function that maps an ndarray of shape (n, d) to n values. It must be picklable
        (not a lambda) to be evaluated in worker processes.
    bounds : array-like of shape (d, 2)
        Lower and upper bound of each input.
    optimum : float or None, default=None
        Minimum of the function in the box. None if it is unknown.
    optimisers : array-like of shape (m, d) or None, default=None
        Points at which the minimum is attained, not necessarily all. Required if `optimum` is
        given.
    active_directions : array-like of shape (k, d) or None, default=None
        Orthonormal basis of the active subspace, one vector per row, for inputs scaled to [-1, 1].
        The function does not change in orthogonal directions. None if unknown.

    Attributes
    ----------
    n_dims : int
        Number of inputs d.

    Raises
    ------
    ValueError
        If shapes do not match, bounds are not finite and increasing, an optimiser lies outside the
        bounds, or only one of `optimum` and `optimisers` is given.

    Notes
    -----
    Array parameters are copied and made read-only.

    Examples
    --------
    >>> from skbo_silbo.problems import Problem
    >>> def bowl(X):
    ...     return (X**2).sum(axis=1)
    >>> problem = Problem("bowl", bowl, [(-1, 2), (-1, 1)], optimum=0.0, optimisers=[[0, 0]])
    >>> problem([1.0, -1.0])
    2.0
    >>> problem.check_optimum()
    """

    name: str
    function: Callable[[FloatArray], ArrayLike]
    bounds: Any  # array-like, converted to an array
    optimum: float | None = None
    optimisers: Any = None
    active_directions: Any = None

    def __post_init__(self) -> None:
        for name in ("bounds", "optimisers", "active_directions"):
            if (given := getattr(self, name)) is not None:
                rows = _check_rows(name, given, 2 if name == "bounds" else self.n_dims)
                object.__setattr__(self, name, rows)  # the dataclass is frozen
        if not (np.isfinite(self.bounds).all() and (self.bounds[:, 0] < self.bounds[:, 1]).all()):
            raise ValueError(
                f"bounds must be finite with lower < upper, got {self.bounds.tolist()}."
            )
        if (self.optimum is None) != (self.optimisers is None):
            raise ValueError(
                f"optimum and optimisers of {self.name} must be given together, got "
                f"optimum={self.optimum!r} and optimisers={self.optimisers!r}."
            )
        if self.optimum is not None:
            object.__setattr__(self, "optimum", float(self.optimum))
            self._check_inside("optimisers", self.optimisers)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, n_dims={self.n_dims})"

    @property
    def n_dims(self) -> int:
        """Number of inputs of the problem."""
        return len(self.bounds)

    def __call__(self, x: ArrayLike) -> float:
        """Evaluate the objective at one point, including noise.

        Parameters
        ----------
        x : array-like of shape (d,)
            Point inside the bounds, in the original units.

        Returns
        -------
        value : float
            Value of the function, to be minimised.

        Raises
        ------
        ValueError
            If x has the wrong shape, contains NaN or lies outside the bounds.
        """
        return float(self.evaluate(np.asarray(x)[None])[0])

    def evaluate(self, X: ArrayLike) -> FloatArray:
        """Evaluate the objective at several points, including noise.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points inside the bounds, one per row.

        Returns
        -------
        values : ndarray of shape (n,)
            Values of the function, to be minimised.

        Raises
        ------
        ValueError
            If X has the wrong shape, contains NaN or lies outside the bounds.
        """
        return self.evaluate_truth(X)

    def truth(self, x: ArrayLike) -> float:
        """Evaluate the noise-free objective at one point."""
        return float(self.evaluate_truth(np.asarray(x)[None])[0])

    def evaluate_truth(self, X: ArrayLike) -> FloatArray:
        """Evaluate the noise-free objective at several points."""
        X = np.array(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.n_dims:
            raise ValueError(
                f"X must have shape (n, {self.n_dims}) for {self.name}, got {X.shape}. Pass one "
                "row per point, or call the problem with a single point."
            )
        self._check_inside("X", X)
        return np.asarray(self.function(X), dtype=float)

    def sample(self, n: int, random_state: RandomState = None) -> FloatArray:
        """Draw random points uniformly from the box of the problem.

        Parameters
        ----------
        n : int
            Number of points.
        random_state : int, RandomState, Generator or None, default=None
            Controls the sampling.

        Returns
        -------
        X : ndarray of shape (n, d)
            Sampled points.
        """
        lower, upper = self.bounds.T
        return as_generator(random_state).uniform(lower, upper, (n, self.n_dims))

    def regret_scale(self, random_state: RandomState = 0) -> float:
        """Return the median regret of random points, which scales the values of `regret`.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None, default=0
            Controls the sampling of the points.

        Returns
        -------
        scale : float
            Regret of a typical random point, in the units of the function.

        Raises
        ------
        ValueError
            If the optimum is unknown.
        """
        values = self.evaluate_truth(self.sample(N_RANDOM_POINTS, random_state))
        return float(np.median(values) - self.known_optimum())

    def regret(self, values: ArrayLike, random_state: RandomState = 0) -> Any:
        """Return the regret of noise-free values, relative to `regret_scale`.

        Parameters
        ----------
        values : float or array-like
            Noise-free values, for example the best value found so far.
        random_state : int, RandomState, Generator or None, default=0
            Controls the sampling in `regret_scale`.

        Returns
        -------
        regret : float or ndarray
            Regret of each value, which is 0 at the optimum and about 1 for a random point.

        Raises
        ------
        ValueError
            If the optimum is unknown.
        """
        gaps = np.asarray(values, dtype=float) - self.known_optimum()
        return gaps / self.regret_scale(random_state)

    def check_optimum(self, *, n_points: int = 1000, random_state: RandomState = 0) -> None:
        """Check that the stated optimum is attained and that no lower value is found.

        Local searches (L-BFGS-B) start from the optimisers and from the five best random points.

        Parameters
        ----------
        n_points : int, default=1000
            Number of random points to compare with the optimum.
        random_state : int, RandomState, Generator or None, default=0
            Controls the sampling of the points.

        Raises
        ------
        ValueError
            If the optimum is unknown or a check fails.
        """
        optimum = self.known_optimum()
        allowed = TOLERANCE * (1.0 + abs(optimum))
        X = self.sample(n_points, random_state)
        best = X[np.argsort(self.evaluate_truth(X))[:N_POLISHED]]
        starts = (*self.optimisers, *best)
        polished = [minimize(self.truth, x, bounds=self.bounds).x for x in starts]
        X = np.vstack([self.optimisers, X, *polished])
        values = self.evaluate_truth(X)
        is_wrong = values < optimum - allowed
        m = len(self.optimisers)
        is_wrong[:m] = ~(np.abs(values[:m] - optimum) <= allowed)
        if is_wrong.any():
            row = np.flatnonzero(is_wrong)[0]
            raise ValueError(
                f"optimum of {self.name} must be the lowest value and the value at every "
                f"optimiser, got optimum={optimum}, but the value is {values[row]} at {X[row]}. "
                "Correct optimum and optimisers."
            )

    def known_optimum(self) -> float:
        """Return the minimum of the problem, or raise a ValueError if it is unknown."""
        if self.optimum is None:
            raise ValueError(f"optimum of {self.name} must be known, got None.")
        return self.optimum

    def _check_inside(self, name: str, points: FloatArray) -> None:
        lower, upper = self.bounds.T
        inside = (points >= lower) & (points <= upper)
        if not inside.all():
            row, j = np.argwhere(~inside)[0]
            raise ValueError(
                f"{name} must lie inside the bounds [{lower[j]}, {upper[j]}] of input {j} of "
                f"{self.name}, got {points[row, j]} in row {row}."
            )


def _check_rows(name: str, rows: Any, n_columns: int) -> FloatArray:
    rows = np.array(rows, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != n_columns or len(rows) == 0:
        raise ValueError(
            f"{name} must have shape (m, {n_columns}) with m >= 1, got {rows.shape}. bounds "
            "needs one row (lower, upper) per input, other arrays one column per input."
        )
    rows.setflags(write=False)
    return rows


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Convert `random_state` to a NumPy Generator."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))


@dataclass(frozen=True, eq=False, repr=False)
class NoisyProblem(Problem):
    """Problem with Gaussian noise in each evaluation, created by `noisy`.

    `__call__` and `evaluate` add noise. `truth`, `evaluate_truth`, `regret`, `optimum` and
    `check_optimum` refer to the noise-free function.

    Parameters
    ----------
    name, function, bounds, optimum, optimisers, active_directions
        See `Problem`.
    sd : float
        Standard deviation of the noise, in the units of the function.
    generator : numpy.random.Generator
        Random number generator of the noise. Each evaluation advances it.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, noisy
    >>> problem = noisy(branin(), sd=0.5, random_state=0)
    >>> problem([0.0, 0.0]) == problem([0.0, 0.0])
    False
    >>> problem.truth([0.0, 0.0]) == branin()([0.0, 0.0])
    True
    """

    sd: float = field(kw_only=True)
    generator: np.random.Generator = field(kw_only=True)

    def evaluate(self, X: ArrayLike) -> FloatArray:
        """Evaluate the objective at several points, with independent noise."""
        truth = self.evaluate_truth(X)
        return truth + self.sd * self.generator.standard_normal(truth.shape)


def noisy(problem: Problem, sd: float, random_state: RandomState = None) -> NoisyProblem:
    """Return a copy of a problem with Gaussian noise in each evaluation.

    Parameters
    ----------
    problem : Problem
        Problem without noise, whose values are to be perturbed.
    sd : float
        Standard deviation of the noise, in the units of the function. It can be 0.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the noise. Problems with the same seed have the same noise in their i-th evaluation,
        whatever the point.

    Returns
    -------
    noisy : NoisyProblem
        Problem with the same function and optimum.

    Raises
    ------
    ValueError
        If `sd` is negative or not finite, or if the problem is already noisy.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, noisy
    >>> noisy(branin(), sd=0.1, random_state=0)
    NoisyProblem('noisy(branin, sd=0.1)', n_dims=2)
    """
    check_noiseless(problem)
    check_nonnegative("sd", sd)
    given = vars(problem) | {"name": f"noisy({problem.name}, sd={sd:g})"}
    return NoisyProblem(**given, sd=float(sd), generator=as_generator(random_state))


def check_noiseless(problem: Problem) -> None:
    """Raise a ValueError if the problem is noisy."""
    if isinstance(problem, NoisyProblem):
        raise ValueError(
            f"problem must be without noise, got {problem!r}. Embed first, then call noisy once."
        )
