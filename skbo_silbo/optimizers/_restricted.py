"""Proposals in a part of the space: parameters fixed by the user, and constraints that are known.

The loop proposes anywhere; what it proposes is taken where it lies in the part. Otherwise
candidates are drawn in the part, and followed by others round the best of them: by acquisition
where there is a model, and before that by how little they violate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skbo_silbo.acquisition._candidates import N_BEST, steps_near
from skbo_silbo.space import SpaceExhausted, SpaceUnion, key_of
from skbo_silbo.space._keys import keys_of
from skbo_silbo.space._read import AnySpace

N_DRAWN = 512  # candidates over the whole part
N_NEAR = 256  # candidates round the best, in every round
SHARE_OF_UNION = 0.25  # of these, in a union of spaces: its points are read one by one
N_ROUNDS = 4
MOST_ROUNDS = 60  # where none satisfies the constraints yet, or none is new


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a space: some parameters are fixed, or there are constraints, or both.

    Attributes
    ----------
    space : Space, SpaceUnion or Box
        The whole.
    within : Space, SpaceUnion or Box
        The whole, some parameters being constants.
    violation : callable or None
        Of a point: how far it is from satisfying the constraints; 0 if it does.
    """

    space: AnySpace
    within: AnySpace
    violation: Callable[[Any], float] | None = None

    def look(self, U):
        """Return points, places in the whole, (n, m), and violations, (n,), of rows of `within`."""
        points = self.within.decode(U)
        violated = np.zeros(len(U))
        if self.violation is not None:
            violated = np.array([self.violation(point) for point in points])
        return points, self.space.encode(points), violated

    def admits(self, x):
        """Return whether a place of the whole, (m,), lies in the part."""
        if self.within is not self.space:
            return False  # a coincidence, and its constants would not be exact
        return self.violation(self.space.decode(x[None])[0]) == 0.0

    def carried(self, X):
        """Return places of the whole as rows of `within`, its constants put in, as far as can."""
        if self.within is self.space:
            return X
        rows = [row for point in self.space.decode(X) if (row := self._carry(point)) is not None]
        return np.array(rows).reshape(len(rows), self.within.n_features_)

    def _carry(self, point):
        if self.space.is_dict:
            is_union = isinstance(self.within, SpaceUnion)
            branches = self.within.branches if is_union else [self.within]
            fitting = [b for b in branches if set(b.parameter_names) == set(point)]
            rows = (self._with_constants_of(branch, point) for branch in fitting)
            return next((row for row in rows if row is not None), None)
        return self.within.encode([np.clip(point, self.within.lower, self.within.upper)])[0]

    def _with_constants_of(self, branch, point):
        """Return the row; None where a value of another branch is none of this one."""
        constants = {p.name: p.values[0] for p in branch.parameters if not p.n_columns}
        try:
            return self.within.encode([{**point, **constants}])[0]
        except ValueError:
            return None


def propose_in(part, centres, rank, seen, rng):
    """Return the best new point of a part.

    Parameters
    ----------
    part : Part
    centres : ndarray of shape (k, m)
        Places of the whole round which to look as well, such as the best ones evaluated.
    rank : callable
        Of places, (n, m): their acquisition, (n,); zeros where there is no model.
    seen : set
        Keys of the places told or pending.
    rng : numpy.random.Generator

    Returns
    -------
    x : ndarray of shape (m,)
        Its place.
    point : ndarray of shape (d,) or dict

    Raises
    ------
    SpaceExhausted
        When no candidate is new.
    ValueError
        When none satisfies the constraints.
    """
    found = _Found(part, rank, seen)
    r = part.within.n_features_
    share = SHARE_OF_UNION if isinstance(part.space, SpaceUnion) else 1.0
    n_drawn, n_near = int(share * N_DRAWN), int(share * N_NEAR)
    found.add(rng.uniform(-1.0, 1.0, (n_drawn if r else 1, r)))
    if len(centres):
        found.add(part.carried(np.asarray(centres)))
    for round_ in range(MOST_ROUNDS):
        if round_ >= N_ROUNDS and found.best() is not None:
            break
        if len(found.keys) >= part.within.n_points:
            break
        found.add(_near(found.leaders(), n_near, rng))
    best = found.best()
    if best is None:
        raise found.why_none()
    return best


class _Found:
    """Candidates so far, each place once."""

    def __init__(self, part, rank, seen):
        self.part, self.rank, self.seen = part, rank, seen
        self.keys = set()
        self.rows, self.points = [], []
        self.X, self.violated, self.values = [], [], []

    def add(self, U):
        """Look at rows of the part."""
        if not len(U):
            return
        points, X, violated = self.part.look(np.clip(U, -1.0, 1.0))
        new = []
        for i, key in enumerate(keys_of(X)):
            if key not in self.keys:
                self.keys.add(key)
                new.append(i)
        if new:
            self.values.extend(np.where(violated[new] > 0.0, -np.inf, self.rank(X[new])))
            self.rows.extend(U[new])
            self.X.extend(X[new])
            self.points.extend(points[i] for i in new)
            self.violated.extend(violated[new])

    def _order(self):
        return np.lexsort([-np.array(self.values), self.violated])

    def leaders(self):
        """Return the rows that violate least and, among those that do not, rank best."""
        return np.array(self.rows)[self._order()[:N_BEST]]

    def best(self):
        """Return place and point of the best that is new and satisfies all; None without one."""
        for i in self._order():
            if self.violated[i] == 0.0 and key_of(self.X[i]) not in self.seen:
                return self.X[i], self.points[i]
        return None

    def why_none(self):
        """Return the error that says why there is none."""
        if min(self.violated) > 0.0:
            return ValueError(
                f"constraints must be possible to satisfy: none of {len(self.keys)} candidates "
                f"does; the least violation is {min(self.violated):.3g}. Check them, or give "
                "points that satisfy them as x0."
            )
        return SpaceExhausted(
            f"no new point among {len(self.keys)} candidates of this part of the space. End the "
            "search, or fix less."
        )


def _near(rows, n, rng):
    """Return n rows at random distances from the best, some coordinates drawn anew."""
    chosen = rows[rng.integers(len(rows), size=n)]
    moved = np.clip(chosen + steps_near(n, np.ones(chosen.shape[1]), rng), -1.0, 1.0)
    anew = rng.random(chosen.shape) < rng.random((n, 1)) * 0.5
    some = rng.random((n, 1)) < 0.5
    return np.where(anew & some, rng.uniform(-1.0, 1.0, chosen.shape), moved)
