"""A search space restricted by fixed parameters and known constraints.

Points of the restricted space use the encoding of the full space.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.acquisition.searches import N_BEST, can_be_listed, draw_moved, points_near
from skbo_silbo.space import Box, SpaceExhausted, SpaceUnion
from skbo_silbo.space.any_space import AnySpace
from skbo_silbo.space.keys import first_rows

# Not tuned: these find a feasible region of 1e-8 of the cube (tests/optimizers).
N_DRAWN, N_NEAR = 512, 256  # candidates in the first round, and near the best in later rounds
MOST_ROUNDS = 60  # maximum number of rounds without a new feasible point


class RestrictedSpace:
    """Search space restricted by fixed parameters and known constraints.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
        The full search space, to which the restrictions are applied.
    fixed : mapping
        Values of the fixed parameters, by name, or by index for the inputs of a box.
    violations : callable or None
        Function that maps a list of n points to their constraint violations, an array of shape
        (n,). A violation is 0 if all constraints hold. None means that there are no such
        constraints.

    Raises
    ------
    ValueError
        If `fixed` has an unknown parameter or a value outside the space.
    """

    def __init__(
        self,
        space: AnySpace,
        fixed: Mapping[Any, Any],
        violations: Callable[[Any], FloatArray] | None = None,
    ) -> None:
        self._within = within = space.pinned(fixed)
        self.n_points = within.n_points
        self._space, self._violations = space, violations
        first = within.branches[0] if isinstance(within, SpaceUnion) else within
        self._fixed: dict[Any, Any]
        if isinstance(first, Box):
            self._fixed = {int(j): float(value) for j, value in fixed.items()}
            self._held = {f"x{j}": value for j, value in self._fixed.items()}
        else:  # use the object from the list of values rather than one that is equal
            self._fixed = {p.name: p.values[0] for p in first.parameters if p.name in fixed}
            self._held = self._fixed
        groups = space.column_groups()
        self.held_columns: BoolArray = np.zeros(space.n_features_, dtype=bool)
        self.held_columns[[j for name in self._held for j in groups.get(name, ())]] = True

    def every_point(self) -> FloatArray:
        """Return the encodings of all points of a finite space, feasible or not."""
        points: Any = self._within.decode(self._within.every_point())
        return self._space.encode(points)

    def round(self, X: FloatArray) -> FloatArray:
        """Round encoded points to the restricted space, with the fixed values inserted."""
        return self._space.round(self._space.with_values(X, self._held))

    def decode(self, X: FloatArray) -> Any:
        """Decode rounded points, using the exact values of fixed parameters."""
        points = self._space.decode(X)
        for point in points:
            for name, value in self._fixed.items():
                point[name] = value
        return points

    def violation(self, X: FloatArray) -> FloatArray:
        """Return the constraint violation at each encoded point."""
        if self._violations is None or not len(X):
            return np.zeros(len(X))
        return self._violations(self.decode(X))

    def admitted(self, X: FloatArray) -> FloatArray:
        """Return the points in X that satisfy the known constraints."""
        return X[self.violation(X) == 0.0]

    def near(self, centres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw points near the given points; in every second one, some columns are drawn anew."""
        ones = np.ones(centres.shape[1])
        X = points_near(centres, N_NEAR, ones, rng)
        anew = draw_moved(N_NEAR, ones, rng)
        anew[::2] = False
        return self.round(np.where(anew, rng.uniform(-1.0, 1.0, X.shape), X))

    def draw(
        self, seen: Collection[bytes], centres: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw a random feasible point that has not been evaluated or proposed before.

        Random points are drawn first. If none is feasible, further candidates are drawn near the
        points with the least violation. If the space has few points, all points are compared.

        Parameters
        ----------
        seen : set of bytes
            Keys of the evaluated and pending points, as returned by `key_of`.
        centres : ndarray of shape (k, m)
            Points to consider in addition to random points, such as the best evaluated points.
        rng : numpy.random.Generator

        Raises
        ------
        SpaceExhausted
            If no candidate is new.
        ValueError
            If no candidate satisfies the constraints.
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
        if violation.min() > 0.0:
            is_measured = (violation != 1.0).any()  # 1 if a function returns False
            why = f"The smallest violation is {violation.min():.3g}. " if is_measured else ""
            if np.isinf(violation.min()):
                why = "Their functions return NaN or an infinite value for all of these. "
            raise ValueError(
                "`constraints` must be possible to satisfy: none of the "
                f"{len(violation)} candidates does. {why}Check the constraints, or pass feasible "
                "points as x0 (minimize) or initial_params (SILBOSearchCV)."
            )
        raise SpaceExhausted(
            f"no new point among {len(violation)} candidates of the restricted space. Stop the "
            "search, or fix fewer parameters."
        )
