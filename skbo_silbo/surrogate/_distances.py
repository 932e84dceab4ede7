"""Scaled squared distances to a fixed set of points, its share of the work done once.

A search asks for the distances of one point after another: centring and scaling the n fixed
points anew for each costs more than the distances themselves.
"""

import numpy as np


class DistancesTo:
    """Distances ``q_ij = sum_k w_k (a_ik - b_jk)^2`` to the fixed rows b_j.

    Bit for bit those of `skbo_silbo._numerics._matern.scaled_squared_distances`.

    Parameters
    ----------
    B : ndarray of shape (n, d)
        The fixed points.
    weights : ndarray of shape (d,)
        Inverse squared length scales.
    """

    def __init__(self, B, weights):
        self._root = np.sqrt(weights)
        self._centre = B.mean(axis=0)  # |a|^2 + |b|^2 - 2 a'b loses digits far from the origin
        self._scaled = (B - self._centre) * self._root
        self._squares = np.einsum("jk,jk->j", self._scaled, self._scaled)

    def __call__(self, A):
        """Return the distances of the rows of A, of shape (m, n)."""
        a = (A - self._centre) * self._root
        q = a @ self._scaled.T
        q *= -2.0
        q += np.einsum("ik,ik->i", a, a)[:, None]
        q += self._squares
        return np.maximum(q, 0.0, out=q)
