"""A problem: a function on a box, everything that is known of it, and noise on top of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from skbo_silbo._typing import ArrayLike, FloatArray, RandomState

N_RANDOM_POINTS = 1000  # their median is the 1 of `regret`
TOLERANCE = 1e-9  # of the optimum's value, relative to 1 + |optimum|


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A function to minimise on a box, with what is known of its optimum.

    Parameters
    ----------
    name : str
        What reports call it.
    function : callable
        From an ndarray of shape (n, d) inside the bounds to n values, without noise. Make it
        picklable (no lambda) if the problem is to travel to worker processes.
    bounds : array-like of shape (d, 2)
        Lower and upper bound of every input, in the input's own unit.
    optimum : float or None, default=None
        The least value in the box, if it is known.
    optimisers : array-like of shape (m, d) or None, default=None
        Points of the box where `function` is `optimum`: one at least where `optimum` is given, not
        necessarily all.
    active_directions : array-like of shape (k, d) or None, default=None
        Orthonormal rows, in coordinates where the box is ``[-1, 1]^d``: the function depends on x
        only through its products with these rows. None where that is not known.

    Attributes
    ----------
    n_dims : int
        Number of inputs d.

    Raises
    ------
    ValueError
        If shapes do not agree, bounds are not finite and increasing, an optimiser lies outside
        the bounds, or only one of `optimum` and `optimisers` is given.

    Notes
    -----
    All arrays are copied and read-only. Values are always minimised.

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
    bounds: Any  # arrays, made of what is like one
    optimum: float | None = None
    optimisers: Any = None
    active_directions: Any = None

    def __post_init__(self):
        set_ = object.__setattr__  # the record is frozen
        set_(self, "bounds", bounds := _check_rows("bounds", self.bounds, 2))
        if not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
            raise ValueError(
                f"bounds must be finite with lower < upper: got {bounds.tolist()}. Give a finite "
                "range."
            )
        if (self.optimum is None) != (self.optimisers is None):
            raise ValueError(
                f"optimum and optimisers of {self.name} must be given together: got "
                f"optimum={self.optimum!r}, optimisers={self.optimisers!r}. Give both or neither."
            )
        for name in ("optimisers", "active_directions"):
            if getattr(self, name) is not None:
                set_(self, name, _check_rows(name, getattr(self, name), self.n_dims))
        if self.optimum is not None:
            set_(self, "optimum", float(self.optimum))
            self._check_inside("optimisers", self.optimisers)

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, n_dims={self.n_dims})"

    @property
    def n_dims(self) -> int:
        """Number of inputs d."""
        return len(self.bounds)

    def __call__(self, x: ArrayLike) -> float:
        """Return the value at one point, as an optimiser sees it (with noise, if there is any).

        Parameters
        ----------
        x : array-like of shape (d,)
            A point inside the bounds.

        Returns
        -------
        value : float
            To be minimised.

        Raises
        ------
        ValueError
            If x has another shape, or is NaN or outside the bounds somewhere.
        """
        return float(self.evaluate(np.asarray(x)[None])[0])

    def evaluate(self, X: ArrayLike) -> FloatArray:
        """Return the values at several points, as an optimiser sees them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points inside the bounds; not changed.

        Returns
        -------
        values : ndarray of shape (n,)
            To be minimised.

        Raises
        ------
        ValueError
            If X has another shape, or is NaN or outside the bounds somewhere.
        """
        return self.evaluate_truth(X)

    def truth(self, x: ArrayLike) -> float:
        """Return the value at one point without noise; see `__call__`."""
        return float(self.evaluate_truth(np.asarray(x)[None])[0])

    def evaluate_truth(self, X: ArrayLike) -> FloatArray:
        """Return the values at several points without noise; see `evaluate`."""
        X = np.array(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != self.n_dims:
            raise ValueError(
                f"X must have shape (n, {self.n_dims}) for {self.name}: got {X.shape}. Give one "
                "row per point, or call the problem itself with one point."
            )
        self._check_inside("X", X)
        return np.asarray(self.function(X), dtype=float)

    def sample(self, n: int, random_state: RandomState = None) -> FloatArray:
        """Draw points uniformly in the box.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        X : ndarray of shape (n, d)
            In the inputs' own units.
        """
        return as_generator(random_state).uniform(*self.bounds.T, size=(n, self.n_dims))

    def regret_scale(self, random_state: RandomState = 0) -> float:
        """Return the median true value of 1000 random points minus the optimum.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None, default=0
            Seed of the random points.

        Returns
        -------
        scale : float
            In the unit of the function.

        Raises
        ------
        ValueError
            If the optimum is not known.
        """
        optimum = self.known_optimum()
        points = self.sample(N_RANDOM_POINTS, random_state)
        return float(np.median(self.evaluate_truth(points)) - optimum)

    def regret(self, values: ArrayLike, random_state: RandomState = 0) -> Any:
        """Return how far values are from the optimum, as a share of `regret_scale`.

        Parameters
        ----------
        values : float or array-like
            True values, for example the best found so far.
        random_state : int, RandomState, Generator or None, default=0
            Seed of `regret_scale`.

        Returns
        -------
        regret : float or ndarray
            0 at the optimum, about 1 for a random point; "within 1 %" means at most .01.

        Raises
        ------
        ValueError
            If the optimum is not known.
        """
        scale = self.regret_scale(random_state)
        return (np.asarray(values, dtype=float) - self.known_optimum()) / scale

    def check_optimum(
        self, *, n_points: int = 1000, n_polished: int = 5, random_state: RandomState = 0
    ) -> None:
        """Check that the stated optimum is attained, and is beaten nowhere tried.

        Parameters
        ----------
        n_points : int, default=1000
            Random points that must not be better.
        n_polished : int, default=5
            How many of the best of them, beside the optimisers, start a local search (L-BFGS-B),
            which must not end lower either.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the points.

        Raises
        ------
        ValueError
            If the optimum is unknown or one of the checks fails; the message says which and where.
        """
        optimum = self.known_optimum()
        allowed = TOLERANCE * (1.0 + abs(optimum))
        values = self.evaluate_truth(self.optimisers)
        for x, value in zip(self.optimisers, values, strict=True):
            if not abs(value - optimum) <= allowed:
                raise ValueError(_message(self, "must be attained at every optimiser", value, x))
        X = self.sample(n_points, random_state)
        best = X[np.argsort(self.evaluate_truth(X))[:n_polished]]
        polished = [_polish(self, start) for start in (*self.optimisers, *best)]
        X = np.vstack([X, *polished])
        values = self.evaluate_truth(X)
        if values.min() < optimum - allowed:
            at = values.argmin()
            raise ValueError(_message(self, "must be the least value", values[at], X[at]))

    def known_optimum(self) -> float:
        """Return the optimum after refusing a problem of which none is known."""
        if self.optimum is None:
            raise ValueError(
                f"optimum of {self.name} must be known: got None. Use a problem whose optimum is."
            )
        return self.optimum

    def _check_inside(self, what, points):
        lower, upper = self.bounds.T
        inside = (points >= lower) & (points <= upper)
        if not inside.all():
            row, j = np.argwhere(~inside)[0]
            raise ValueError(
                f"{what} must lie inside the bounds [{lower[j]}, {upper[j]}] of input {j} of "
                f"{self.name}: got {points[row, j]} in row {row}. Clip the point to the bounds."
            )


def _check_rows(name, rows, n_columns):
    rows = np.array(rows, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != n_columns or len(rows) == 0:
        raise ValueError(
            f"{name} must have shape (m, {n_columns}) with m >= 1: got {rows.shape}. Give a pair "
            "(lower, upper) for every input as bounds, and a column for every pair in the others."
        )
    rows.setflags(write=False)
    return rows


def as_generator(random_state):
    """Return a `numpy.random.Generator`; a Generator given is used (and advanced) itself."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))


@dataclass(frozen=True, eq=False, repr=False)
class NoisyProblem(Problem):
    """A problem whose evaluations carry Gaussian noise; made by `noisy`.

    `__call__` and `evaluate` are noisy; `truth`, `evaluate_truth`, `regret`, `optimum` and
    `check_optimum` are about the function without noise.

    Parameters
    ----------
    name, function, bounds, optimum, optimisers, active_directions
        See `Problem`.
    sd : float
        Standard deviation of the noise, in the unit of the function.
    generator : numpy.random.Generator
        Source of the noise; every evaluation advances it.

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
        """Return the values at several points, each with noise of its own; see `Problem`."""
        truth = self.evaluate_truth(X)
        return truth + self.sd * self.generator.standard_normal(truth.shape)


def noisy(problem: Problem, sd: float, random_state: RandomState = None) -> NoisyProblem:
    """Return the problem with independent Gaussian noise on every evaluation.

    Parameters
    ----------
    problem : Problem
        Without noise.
    sd : float
        Standard deviation, in the unit of the function; 0 is allowed.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the noise. The i-th evaluation of two problems with the same seed has the same
        noise, whatever the point.

    Returns
    -------
    problem : NoisyProblem
        The same function and optimum.

    Raises
    ------
    ValueError
        If `sd` is negative or not finite, or the problem is noisy already.

    Examples
    --------
    >>> from skbo_silbo.problems import branin, noisy
    >>> noisy(branin(), sd=0.1, random_state=0)
    NoisyProblem('noisy(branin, sd=0.1)', n_dims=2)
    """
    refuse_noise(problem)
    if not isinstance(sd, Real) or isinstance(sd, bool) or not 0 <= sd < np.inf:
        raise ValueError(f"sd must be a finite number >= 0: got {sd!r}. Use sd=0 for no noise.")
    known = {f.name: getattr(problem, f.name) for f in fields(problem)}
    known["name"] = f"noisy({problem.name}, sd={sd:g})"
    return NoisyProblem(**known, sd=float(sd), generator=as_generator(random_state))


def refuse_noise(problem):
    """Refuse a problem with noise, which comes last and once."""
    if isinstance(problem, NoisyProblem):
        raise ValueError(
            f"problem must be without noise: got {problem!r}. Embed first, then call noisy, once."
        )


def _polish(problem, start):
    """Return where L-BFGS-B, in coordinates with unit ranges, ends from `start`."""
    lower, upper = problem.bounds.T

    def to_box(u):
        return np.clip(lower + u * (upper - lower), lower, upper)

    unit = [(0.0, 1.0)] * problem.n_dims
    start = (start - lower) / (upper - lower)
    return to_box(minimize(lambda u: problem.truth(to_box(u)), start, bounds=unit).x)


def _message(problem, rule, value, x):
    return (
        f"optimum of {problem.name} {rule}: got optimum={problem.optimum}, but the value is "
        f"{value} at {x}. State the least value and points where it is attained."
    )
