"""Expected improvement of the hypervolume, for two or three objectives that are all minimised.

The hypervolume is the volume of what a set of values dominates below a reference (Zitzler and
Thiele 1999). What they do not dominate is cut into boxes ``[l_k, u_k]``. A point of independent
normal values Y_j adds of a box what of it lies above them, which in objective j is

    E[(u - max(Y, l))+] = EI(u) - EI(l),                                                     (1)

the difference of two expected improvements, and in all the sum over boxes of the products over
objectives (Emmerich, Deutz and Klinkenberg 2011; Yang, Emmerich, Deutz and Bäck 2019). It is exact.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.acquisition._functions import AcquisitionSurface
from skbo_silbo.surrogate import Surrogate

LARGEST_BLOCK = 10**6  # products of points and boxes computed at once
LEAST = 1e-200  # improvement whose logarithm is taken where it underflows
_ROOT_TWO_PI = np.sqrt(2.0 * np.pi)


def is_non_dominated(Y: FloatArray) -> BoolArray:
    """Return which rows of Y, (n, m), no other dominates, (n,); none that has a NaN.

    A row dominates another if it is nowhere higher and somewhere lower.

    Examples
    --------
    >>> is_non_dominated(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [np.nan, 0.0]]))
    array([ True,  True, False, False])
    """
    nowhere_higher = np.all(Y[:, None] <= Y, axis=2)
    is_dominated = np.any(nowhere_higher & ~nowhere_higher.T, axis=0)
    return ~is_dominated & ~np.isnan(Y).any(axis=1)


def boxes_left(Y: FloatArray, reference: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return disjoint boxes of all that is below a reference and that no row of Y dominates.

    Parameters
    ----------
    Y : ndarray of shape (n, m)
    reference : ndarray of shape (m,)

    Returns
    -------
    low, high : ndarray of shape (k, m)
        Their corners; `low` is -inf in places.
    """
    Y = Y[np.all(reference > Y, axis=1)]
    if reference.size == 1:
        return np.array([[-np.inf]]), np.array([[Y.min(initial=reference[0])]])
    edges = np.concatenate([[-np.inf], np.unique(Y[:, -1]), reference[-1:]])
    low: list[FloatArray] = []
    high: list[FloatArray] = []
    for below, above in pairwise(edges):  # slabs of the last objective
        corners = boxes_left(Y[Y[:, -1] <= below, :-1], reference[:-1])
        for side, corner, edge in zip((low, high), corners, (below, above), strict=True):
            side.append(np.column_stack([corner, np.full(len(corner), edge)]))
    return np.vstack(low), np.vstack(high)


@dataclass(frozen=True, eq=False)
class HypervolumeSurface(AcquisitionSurface):
    """The log of the expected improvement of the hypervolume.

    Attributes
    ----------
    objectives : tuple of Surrogate
        One for each, in the coordinates of the embedding; taken to be independent.
    low, high : ndarray of shape (k, m)
        The boxes that are not dominated.
    """

    objectives: tuple[Surrogate, ...] = ()
    low: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    high: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def values(self, X: FloatArray) -> FloatArray:
        """Return the acquisition at the rows of X, (n,)."""
        return self.values_at(self.embedding.project(X))

    def values_at(self, Z: FloatArray) -> FloatArray:
        """Return the same at coordinates Z, (n, r)."""
        step = max(LARGEST_BLOCK // len(self.low), 1)
        parts = (Z[i : i + step] for i in range(0, len(Z), step))
        return np.concatenate([self._log_improvement(part) for part in parts])

    @property
    def relevance(self) -> FloatArray:
        """How much each input matters to the objective that it matters most to, (d,)."""
        basis = self.embedding.basis
        by_z = [s.relevance_ / max(s.relevance_.max(), LEAST) for s in self.objectives]
        highest = np.max(by_z, axis=0)
        return highest if basis is None else np.sqrt(basis**2 @ highest**2)

    def value_and_gradient(self, x: FloatArray, sign: float = 1.0) -> tuple[float, FloatArray]:
        """Return the acquisition at one point x, (d,), and its gradient, (d,), times `sign`."""
        Z = self.embedding.project(x[None])
        predicted = [s.predict_gradient(Z) for s in self.objectives]
        sides = [self._side(j, mean, std)[0] for j, (mean, std, *_) in enumerate(predicted)]
        by_z = np.zeros(Z.shape)
        for j, (mean, std, mean_by_z, std_by_z) in enumerate(predicted):
            others = np.prod([s for i, s in enumerate(sides) if i != j], axis=0)
            u, v = (self.high[:, j] - mean) / std, (self.low[:, j] - mean) / std
            by_mean, by_std = ndtr(v) - ndtr(u), _density(u) - _density(v)  # of (1)
            by_z += (others @ by_mean) * mean_by_z + (others @ by_std) * std_by_z
        total = max(float(np.prod(sides, axis=0).sum()), LEAST)
        gradient = self.embedding.pull_back(by_z / total)[0]
        return sign * float(np.log(total)), sign * gradient

    def _log_improvement(self, Z):
        product = np.ones((len(Z), len(self.low)))
        for j, surrogate in enumerate(self.objectives):
            product *= self._side(j, *surrogate.predict(Z))
        return np.log(np.maximum(product.sum(axis=1), LEAST))

    def _side(self, j, mean, std):
        """Return (1) of objective j for points and boxes, (n, k)."""
        ends = np.column_stack([self.low[:, j], self.high[:, j]])
        edges, places = np.unique(ends, return_inverse=True)  # of many boxes few are others
        u = (edges - mean[:, None]) / std[:, None]
        improvement = std[:, None] * (_density(u) + np.where(np.isinf(u), 0.0, u) * ndtr(u))
        below, above = places.reshape(ends.shape).T
        return np.maximum(improvement[:, above] - improvement[:, below], 0.0)


def _density(u):
    return np.exp(-0.5 * u**2) / _ROOT_TWO_PI
