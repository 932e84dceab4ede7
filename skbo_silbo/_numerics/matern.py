"""The Matern-5/2 kernel with one weight per input, as matrix products.

With weights ``w_k`` (inverse squared length scales) the scaled squared distance is
``q_ij = sum_k w_k (a_ik - b_jk)^2``; with ``s = sqrt(5 q)`` the correlation is
``(1 + s + s^2 / 3) exp(-s)``, and its derivative by q is ``-(5/6) (1 + s) exp(-s)``
(Rasmussen and Williams 2006, eq. 4.17). No array here is larger than ``(n_a, n_b)`` or its inputs.

=======  ============  ==================================================================
symbol   shape         meaning
=======  ============  ==================================================================
A, B     (n, d)        points
w        (d,)          weights, inverse squared length scales, >= 0
q        (n_a, n_b)    scaled squared distances, >= 0
P        (n, n)        symmetric sensitivities of a scalar to q
=======  ============  ==================================================================
"""

from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray


def scaled_squared_distances(A: FloatArray, B: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted squared distances ``q_ij = sum_k w_k (a_ik - b_jk)^2``.

    Parameters
    ----------
    A : ndarray of shape (n_a, d)
        Points from which the distances are computed, one per row.
    B : ndarray of shape (n_b, d)
        Points to which the distances are computed, one per row. If `B` is the same object as `A`,
        the diagonal of the result is exactly zero.
    weights : ndarray of shape (d,)
        Non-negative inverse squared length scale of each column.

    Returns
    -------
    q : ndarray of shape (n_a, n_b)
        Scaled squared distances, which are non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics.matern import scaled_squared_distances
    >>> A, B = np.array([[0.0, 0.0]]), np.array([[3.0, 1.0]])
    >>> scaled_squared_distances(A, B, np.array([1.0, 7.0]))
    array([[16.]])
    """
    q = DistancesTo(B, weights)(A)
    if A is B:
        np.fill_diagonal(q, 0.0)
    return q


class DistancesTo:
    """Function that computes weighted squared distances to a fixed set of points.

    Centring and scaling the fixed points once saves most of the cost when a search asks for the
    distances of one point after another.

    Parameters
    ----------
    B : ndarray of shape (n_b, d)
        The fixed points to which distances are computed, one per row.
    weights : ndarray of shape (d,) or (m, 1, d)
        Non-negative inverse squared length scales of each column. For m kernels with different
        weights, the distances have shape (m, n_a, n_b).
    """

    def __init__(self, B: FloatArray, weights: FloatArray) -> None:
        self._root = np.sqrt(weights)
        self._centre = B.mean(axis=0)  # |a|^2 + |b|^2 - 2 a'b loses digits far from the origin
        self._scaled = (B - self._centre) * self._root
        self._squares = np.einsum("...jk,...jk->...j", self._scaled, self._scaled)[..., None, :]

    def __call__(self, A: FloatArray) -> FloatArray:
        """Return the weighted squared distances from the rows of A to the fixed points."""
        a = (A - self._centre) * self._root
        q = a @ self._scaled.swapaxes(-1, -2)
        q *= -2.0
        q += np.einsum("...ik,...ik->...i", a, a)[..., None]
        q += self._squares
        return np.maximum(q, 0.0, out=q)


def matern52(q: FloatArray, *, derivative: bool = True) -> tuple[FloatArray, Any]:
    """Return the Matern-5/2 correlation ``(1 + s + s^2 / 3) exp(-s)`` and its derivative.

    Parameters
    ----------
    q : ndarray
        Non-negative scaled squared distances. In the formulas, s is ``sqrt(5 q)``.
    derivative : bool, default=True
        Whether to compute the derivative. If False, None is returned in its place.

    Returns
    -------
    correlation, derivative : ndarray of the shape of `q`
        The correlation, and its derivative with respect to `q`, which is ``-(5/6) (1 + s) exp(-s)``
        and therefore finite at zero.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics.matern import matern52
    >>> correlation, derivative = matern52(np.array([0.0]))
    >>> correlation, derivative
    (array([1.]), array([-0.83333333]))
    """
    s = np.sqrt(5.0 * q)
    decay = np.exp(-s)
    correlation = 1.0 + s
    slope = None
    if derivative:
        slope = (-5.0 / 6.0) * correlation
        slope *= decay
    s *= s
    s /= 3.0
    correlation += s
    correlation *= decay
    return correlation, slope


def gradient_by_weights(P: FloatArray, X: FloatArray) -> FloatArray:
    """Compute the gradient with respect to the weights of the inputs.

    The gradient is ``sum_ij P_ij (x_ik - x_jk)^2`` for weight w_k, where ``P_ij`` is the derivative
    with respect to the weighted squared distance ``q_ij``.

    Parameters
    ----------
    P : ndarray of shape (n, n)
        Symmetric matrix of the factors P_ij of the squared differences.
    X : ndarray of shape (n, d)
        Points, one per row. Centre them if they are far from the origin, because the two terms of
        the result would cancel there.

    Returns
    -------
    gradient : ndarray of shape (d,)
    """
    # expands the square: 2 (X * X)' (P 1) - 2 diag(X' P X)
    return 2.0 * ((X * X).T @ P.sum(axis=1) - np.einsum("ik,ik->k", X, P @ X))


def gradient_by_points(D, A, B, weights):
    """Compute the gradient ``sum_j D_tj dq_tj / da_t`` with respect to each point of `A`.

    Parameters
    ----------
    D : ndarray of shape (n_a, n_b) or (m, n_a, n_b)
        Derivative of a scalar function with respect to each distance ``q_tj``. Each row t may
        belong to a different function.
    A : ndarray of shape (n_a, d)
        Points with respect to which the gradients are computed, one per row.
    B : ndarray of shape (n_b, d)
        The fixed points to which distances are computed, one per row.
    weights : ndarray of shape (d,) or (m, 1, d)
        Non-negative inverse squared length scales of each column, for one kernel or for m kernels.

    Returns
    -------
    gradient : ndarray of shape (n_a, d) or (m, n_a, d)
        Gradient with respect to each point: ``2 w_k [a_tk (D 1)_t - (D B)_tk]``.
    """
    return 2.0 * weights * (A * D.sum(axis=-1)[..., None] - D @ B)
