"""Conjugate gradients for many right-hand sides at once, so that every product is a block."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._checks import warn_user


def conjugate_gradients(apply, B, *, diagonal, tol=1e-10, max_iter=1000):
    """Solve ``T X = B`` column by column, in step, with a diagonal preconditioner.

    Parameters
    ----------
    apply : callable
        V (d, p) to T V; T symmetric, positive semi-definite.
    B : ndarray of shape (d, p)
        In the range of T.
    diagonal : ndarray of shape (d,)
        Diagonal of T; where it is zero, so is the solution.
    tol : float, default=1e-10
        Largest residual relative to the column of B, both in the preconditioner's norm.
    max_iter : int, default=1000

    Returns
    -------
    X : ndarray of shape (d, p)

    Warns
    -----
    ConvergenceWarning
        At `max_iter`, with the residual reached.
    """
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)[:, None]
    X, R = np.zeros_like(B), B.copy()
    Z = inverse * R
    direction, rho = Z, _dots(R, Z)
    target = tol**2 * rho
    for _ in range(max_iter):
        if (rho <= target).all():
            return X
        image = apply(direction)
        step = _ratio(rho, _dots(direction, image))
        X += step * direction
        R -= step * image
        Z = inverse * R
        rho, previous = _dots(R, Z), rho
        direction = Z + _ratio(rho, previous) * direction
    reached = np.sqrt(_ratio(rho, target).max()) * tol
    warn_user(
        f"Conjugate gradients stopped at {max_iter} iterations with relative residual "
        f"{reached:.1e}, above {tol:.1e}. Raise ridge, or use solver='dense' or 'dual'.",
        ConvergenceWarning,
    )
    return X


def _dots(A, B):
    return np.einsum("ij,ij->j", A, B)


def _ratio(numerator, denominator):
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
