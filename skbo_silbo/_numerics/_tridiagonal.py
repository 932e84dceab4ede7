"""All eigenvalues and few eigenvectors of a symmetric matrix, from one reduction.

LAPACK's drivers give either all vectors or a range of values; the reduction to a tridiagonal matrix
is most of their cost, and both questions need it only once.
"""

import numpy as np
from scipy import linalg

SMALL = 64  # order below which all vectors cost no more than a second call


def eigenvalues_and_leading_vectors(A, k):
    """Eigenvalues (q,) of a symmetric A (q, q), falling, and the vectors (q, k) of the largest."""
    k = min(k, len(A))
    if len(A) < SMALL or 4 * k > len(A):
        eigenvalues, V = linalg.eigh(A, driver="evd", check_finite=False)
        return eigenvalues[::-1], V[:, ::-1][:, :k]
    reflectors, diagonal, beside, scales = _tridiagonal(A)
    eigenvalues = linalg.eigvalsh_tridiagonal(diagonal, beside, check_finite=False)
    leading = (len(A) - k, len(A) - 1)
    S = linalg.eigh_tridiagonal(
        diagonal, beside, select="i", select_range=leading, check_finite=False
    )[1]
    # the reflectors leave the first coordinate alone
    rest, _, _ = linalg.lapack.dormqr("L", "N", reflectors[1:, :-1], scales, S[1:], lwork=SMALL * k)
    return eigenvalues[::-1], np.concatenate([S[:1], rest])[:, ::-1]


def _tridiagonal(A):
    """Householder reflectors, diagonal, off-diagonal and the reflectors' scales."""
    lwork = int(linalg.lapack.dsytrd_lwork(len(A), lower=1)[0])
    return linalg.lapack.dsytrd(A, lower=1, lwork=lwork)[:4]
