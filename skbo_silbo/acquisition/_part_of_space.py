"""A part of a space: parameters fixed by the user, and constraints that are known.

Places are those of the whole space, so that what proposes in the whole proposes in the part. Random
points near others, and which spaces are small enough to list, are for both.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import Generator

from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.space import Box, SpaceExhausted, SpaceUnion
from skbo_silbo.space._keys import first_rows
from skbo_silbo.space._read import AnySpace

N_BEST = 5  # points that candidates are drawn round
LOG_STEPS = (-3.5, -0.3)  # decimal logarithms of the steps: from rounding to half the cube
# Points of a discrete space that are all evaluated, and these times the square of the values. A
# proposal then takes 0.2 s with 50 values, 1.5 s with 300 (one run each).
MOST_LEFT, MOST_WORK = 10**5, 10**10


def can_be_listed(n_points: float, n: int) -> bool:
    """Return whether so many points are few enough to look at all, n values being known."""
    return n_points - n <= MOST_LEFT and n_points * n**2 <= MOST_WORK


def steps_near(n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Return n normal steps, (n, r), each of its own size, in units of the half widths."""
    sizes = 10.0 ** rng.uniform(*LOG_STEPS, (n, 1)) * widths
    return sizes * rng.standard_normal((n, widths.size))


def points_near(centres: FloatArray, n: int, widths: FloatArray, rng: Generator) -> FloatArray:
    """Return n points of the box, (n, r), near rows of `centres`, (k, r)."""
    near = centres[rng.integers(len(centres), size=n)] + steps_near(n, widths, rng)
    return np.clip(near, -widths, widths)


def draw_moved(n: int, relevance: FloatArray, rng: Generator) -> BoolArray:
    """Return which coordinates n candidates shall differ in, bool of shape (n, d).

    From one to all of them, on average and before the probabilities are cut at 1; the more
    relevant ones more often.
    """
    expected = relevance.size ** rng.uniform(0.0, 1.0, (n, 1))
    share = relevance / relevance.mean() / relevance.size
    return rng.random((n, relevance.size)) < expected * share


# Not tuned: with these a part of 1e-8 of the cube is found (tests/optimizers).
N_DRAWN, N_NEAR = 512, 256  # candidates over the whole part, and in every round near the best
MOST_ROUNDS = 60  # without a new point of the part
CLOSE = 1e-10  # relative to the range of the inputs: below `TOLERANCE` with the grid's rounding
MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class Equations:
    """``matrix @ x = target`` for points x of a box.

    Attributes
    ----------
    matrix : ndarray of shape (k, d)
    target : ndarray of shape (k,)
    """

    matrix: FloatArray
    target: FloatArray

    def project(self, X: FloatArray, box: Box, held: BoolArray) -> FloatArray:
        """Return places in the cube of a box, (n, d), moved to where the equations hold.

        Columns that are held, (d,), stay.

        By alternating projections to the affine set and the cube (von Neumann; Bauschke and
        Borwein 1996): they meet in a point of both, where there is one.
        """
        is_free, half = box.lower < box.upper, (box.upper - box.lower) / 2.0
        matrix = (self.matrix * half)[:, is_free]
        target = self.target - self.matrix @ (box.lower + half)
        back = np.linalg.pinv(np.where(held, 0.0, matrix)).T
        close = CLOSE * np.abs(matrix).sum(axis=1)
        for _ in range(MOST_STEPS):
            missed = X @ matrix.T - target
            if (np.abs(missed) <= close).all():
                break
            X = np.where(held, X, np.clip(X - missed @ back, -1.0, 1.0))
        return X


class Part:
    """The points of a space in which some parameters are fixed and constraints hold.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
        The whole.
    fixed : mapping
        Values by name, or by index in a box.
    violation : callable or None
        Of a point: how far it is from satisfying the constraints; 0 if it does.
    equations : Equations or None
        Of a box: those of the constraints, to which places are projected.

    Raises
    ------
    ValueError
        If `fixed` names no parameter, or a value outside the space.
    """

    def __init__(
        self,
        space: AnySpace,
        fixed: Mapping[Any, Any],
        violation: Callable[[Any], float] | None = None,
        equations: Equations | None = None,
    ) -> None:
        self._within = within = space.pinned(fixed)
        self.n_points = within.n_points
        self._space, self._violation, self._equations = space, violation, equations
        first = within.branches[0] if isinstance(within, SpaceUnion) else within
        self._fixed: dict[Any, Any]
        if isinstance(first, Box):
            self._fixed = {int(j): float(value) for j, value in fixed.items()}
            self._held = {f"x{j}": value for j, value in self._fixed.items()}
        else:  # a list's own member, not one that is equal to it
            self._fixed = {p.name: p.values[0] for p in first.parameters if p.name in fixed}
            self._held = self._fixed
        groups = space.column_groups()
        self.held_columns: BoolArray = np.zeros(space.n_features_, dtype=bool)
        self.held_columns[[j for name in self._held for j in groups.get(name, ())]] = True

    def every_point(self) -> FloatArray:
        """Return all places of a finite part, (n_points, m), whether constraints hold or not."""
        points: Any = self._within.decode(self._within.every_point())
        return self._space.encode(points)

    def round(self, X: FloatArray) -> FloatArray:
        """Return places, (n, m), with the fixed values, on the equations, rounded to the space."""
        X = self._space.with_values(X, self._held)
        if self._equations is not None:
            X = self._equations.project(X, cast(Box, self._space), self.held_columns)
        return self._space.round(X)

    def decode(self, X: FloatArray) -> Any:
        """Return the points at rounded places, (n, m), with the fixed values to the last bit."""
        points = self._space.decode(X)
        for point in points:
            for name, value in self._fixed.items():
                point[name] = value
        return points

    def violation(self, X: FloatArray) -> FloatArray:
        """Return how far rounded places, (n, m), are from satisfying the constraints, (n,)."""
        if self._violation is None:
            return np.zeros(len(X))
        return np.array([self._violation(point) for point in self.decode(X)])

    def admitted(self, X: FloatArray) -> FloatArray:
        """Return the rounded places of X, (n, m), that satisfy the constraints."""
        return X[self.violation(X) == 0.0]

    def near(self, centres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return rounded places near some, (k, m), half of them with some columns drawn anew."""
        ones = np.ones(centres.shape[1])
        X = points_near(centres, N_NEAR, ones, rng)
        anew = draw_moved(N_NEAR, ones, rng)
        anew[::2] = False
        return self.round(np.where(anew, rng.uniform(-1.0, 1.0, X.shape), X))

    def draw(
        self, seen: Collection[bytes], centres: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return a random place of the part that is not in `seen`.

        Where a random place does not satisfy the constraints, the next are near those that
        violate them least, or all where a discrete part is small.

        Parameters
        ----------
        seen : set of bytes
            The `key_of` every known point.
        centres : ndarray of shape (k, m)
            Places to look at as well in the beginning, such as the best ones evaluated.
        rng : numpy.random.Generator

        Raises
        ------
        SpaceExhausted
            When no candidate is new.
        ValueError
            When none satisfies the constraints.
        """
        X, violation = np.empty((0, self._space.n_features_)), np.empty(0)
        drawn = np.vstack([rng.uniform(-1.0, 1.0, (N_DRAWN, X.shape[1])), centres])
        drawn = self.round(drawn)
        for _ in range(MOST_ROUNDS):
            X = np.vstack([X, drawn])
            violation = np.append(violation, self.violation(drawn))
            rows = first_rows(X)
            X, violation = X[rows], violation[rows]
            new = first_rows(X[violation == 0.0], seen)
            if new:
                return X[violation == 0.0][new[0]]
            if len(X) >= self.n_points:
                break
            if can_be_listed(self.n_points, 0):
                drawn = self.every_point()
            else:
                drawn = self.near(X[np.argsort(violation, kind="stable")[:N_BEST]], rng)
        raise _none_found(violation)


def _none_found(violations):
    """Return the error that says why no candidate will do."""
    if violations.min() > 0.0:
        return ValueError(
            f"constraints must be possible to satisfy: none of {len(violations)} candidates does; "
            f"the least violation is {violations.min():.3g}. Check them, or give points that "
            "satisfy them (x0 of minimize, initial_params of a search)."
        )
    return SpaceExhausted(
        f"no new point among {len(violations)} candidates of this part of the space. End the "
        "search, or fix less."
    )
