"""Preimages of projections: the points of a box with a given projection nearest to a centre.

Solves, for many targets at once, over the box ``[-1, 1]^d``,

    minimise  1/2 ||x - x0||^2 + 1/(2 eps) ||B' x - z||^2 ,                             (1)

whose solution for small eps has ``B' x`` nearest z and, among all such x, is nearest x0. The
optimality conditions of (1) give the dual form ``x = clip(x0 + B mu)`` with ``eps mu = z - B' x``:
only r numbers are unknown. They minimise the convex, piecewise quadratic

    phi(mu) = eps/2 ||mu||^2 - z' mu + sum_i H(x0_i + (B mu)_i),    H' = clip to [-1, 1],     (2)

by Newton steps on the current piece, each with an exact line search.

=========  ========  ==================================================================
symbol     shape     meaning
=========  ========  ==================================================================
B          (d, r)    orthonormal columns, ``z = x B``
Z          (m, r)    targets
X0         (m, d)    centres, one for each target
M          (m, r)    dual variables mu
=========  ========  ==================================================================
"""

import numpy as np

from skbo_silbo._typing import FloatArray

EPS_PATH = (1e-2, 1e-4, 1e-6, 1e-9)  # each solution is the start of the next
MAX_NEWTON_STEPS = 60
GRADIENT_TOLERANCE = 1e-11
ROUNDING = 8 * np.finfo(float).eps


def nearest_preimages(Z: FloatArray, B: FloatArray, centre: FloatArray) -> FloatArray:
    """Return, for each target, the preimage in a box that is nearest to a centre.

    If a target has no preimage in the box, the points whose projection is nearest to it are used.

    Parameters
    ----------
    Z : ndarray of shape (m, r)
        Coordinates whose preimages are computed, one target per row. Targets may lie outside the
        image of the box.
    B : ndarray of shape (d, r)
        Matrix of the embedding, whose columns are orthonormal.
    centre : ndarray of shape (d,) or (m, d)
        Point to which the preimages should be as close as possible, or one such point per target.
        It may lie outside the box.

    Returns
    -------
    X : ndarray of shape (m, d)
        The preimages, which are points of the box ``[-1, 1]^d``. Each takes O(d r^2) time per
        Newton step.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics.preimages import nearest_preimages
    >>> B = np.array([[0.6], [0.8]])
    >>> nearest_preimages(np.array([[0.5], [9.0]]), B, np.zeros(2)).round(6)
    array([[0.3, 0.4],
           [1. , 1. ]])
    """
    X0 = np.broadcast_to(np.asarray(centre, dtype=float), (Z.shape[0], B.shape[0]))
    M = np.zeros_like(Z, dtype=float)
    previous = EPS_PATH[0]
    for eps in EPS_PATH:
        M = _rescale(M, Z, B, X0, previous, eps)
        M = _minimise_dual(M, Z, B, X0, eps)
        previous = eps
    return np.clip(X0 + M @ B.T, -1.0, 1.0)


def _rescale(M, Z, B, X0, previous, eps):
    """Scale the starting points of Newton's method for a smaller eps."""
    grown = M * (previous / eps)
    keep = _dual_value(M, Z, B, X0, eps) <= _dual_value(grown, Z, B, X0, eps)
    return np.where(keep[:, None], M, grown)


def _dual_value(M, Z, B, X0, eps):
    T = np.abs(X0 + M @ B.T)
    huber = np.where(T <= 1.0, 0.5 * T * T, T - 0.5)
    return 0.5 * eps * (M * M).sum(axis=1) - (Z * M).sum(axis=1) + huber.sum(axis=1)  # (2)


def _minimise_dual(M, Z, B, X0, eps):
    """Minimise eq. (2) by Newton's method for all targets that have not converged yet."""
    M = M.copy()
    active = np.arange(M.shape[0])
    for _ in range(MAX_NEWTON_STEPS):
        T = X0[active] + M[active] @ B.T
        gradient = eps * M[active] + np.clip(T, -1.0, 1.0) @ B - Z[active]
        tolerance = GRADIENT_TOLERANCE * (1.0 + np.abs(Z[active]).max(axis=1))
        tolerance += ROUNDING * np.abs(M[active]).max(axis=1)  # rounding error of T
        open_ = np.abs(gradient).max(axis=1) > tolerance
        if not open_.any():
            break
        active, T, gradient = active[open_], T[open_], gradient[open_]
        step = _newton_step(T, gradient, B, eps)
        M[active] += _exact_line_search(step, T, gradient, B, eps)[:, None] * step
    return M


def _newton_step(T, gradient, B, eps):
    inside = (np.abs(T) < 1.0).astype(float)
    hessian = np.einsum("mi,ij,ik->mjk", inside, B, B, optimize=True)
    hessian += eps * np.eye(B.shape[1])
    return -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]


def _exact_line_search(step, T, gradient, B, eps):
    """Return the step length that minimises ``phi(mu + t step)`` for each target.

    The derivative along the step is increasing and piecewise linear. Its slope changes by
    ``(B step)_i^2`` where coordinate i enters or leaves the open interval.
    """
    direction = step @ B.T
    with np.errstate(divide="ignore", invalid="ignore"):
        enter, leave = (-np.sign(direction) - T) / direction, (np.sign(direction) - T) / direction
    moving = direction != 0.0
    breaks = np.concatenate(
        [np.where(moving, enter, np.inf), np.where(moving, leave, np.inf)], axis=1
    )
    jumps = np.concatenate([direction**2, -(direction**2)], axis=1)
    base = eps * (step * step).sum(axis=1)
    inside_now = (breaks[:, : T.shape[1]] <= 0.0) & (breaks[:, T.shape[1] :] > 0.0)
    slope = base + (jumps[:, : T.shape[1]] * inside_now).sum(axis=1)
    breaks[breaks <= 0.0] = np.inf  # already in the slope
    order = np.argsort(breaks, axis=1)
    breaks, jumps = np.take_along_axis(breaks, order, 1), np.take_along_axis(jumps, order, 1)
    return _zero_of_increasing(breaks, jumps, (gradient * step).sum(axis=1), slope, base)


def _zero_of_increasing(breaks, jumps, value, slope, least_slope):
    """Return the zero of each of several increasing, piecewise linear functions.

    At 0, a function has the given `value`, which is negative, and the given `slope`. The slope
    changes by `jumps` at the sorted `breaks`.
    """
    usable = np.isfinite(breaks)
    breaks = np.where(usable, breaks, 0.0)
    slopes = slope[:, None] + np.cumsum(np.where(usable, jumps, 0.0), axis=1)
    slopes = np.maximum(np.column_stack([slope, slopes]), least_slope[:, None])  # rounding
    starts = np.column_stack([np.zeros_like(value), breaks])
    lengths = np.diff(starts, axis=1)
    values = value[:, None] + np.cumsum(np.where(usable, lengths * slopes[:, :-1], 0.0), axis=1)
    values = np.column_stack([value, np.where(usable, values, np.inf)])
    last = (values < 0.0).sum(axis=1) - 1  # the piece that holds the zero
    rows = np.arange(value.size)
    return starts[rows, last] - values[rows, last] / slopes[rows, last]
