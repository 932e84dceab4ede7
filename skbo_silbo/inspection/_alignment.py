"""Comparing two sets of r directions through their scores on the same rows.

==========  ==========  ==============================================
symbol      shape       meaning
==========  ==========  ==============================================
Z, W        (n, r)      centred scores of the two sets
Q           (r, r)      orthogonal: the turn that brings Z nearest W
==========  ==========  ==============================================

Scores do not depend on the units of the features, so neither does what is computed here.
"""

import numpy as np


def nearest_rotation(Z, W):
    """Orthogonal Q (reflections included) that minimises ``||Z Q - W||`` (Schoenemann 1966).

    With one column it is the sign of their correlation.
    """
    U, _, Vt = np.linalg.svd(Z.T @ W)
    return U @ Vt


def squared_trace_correlation(Z, W):
    """Mean squared canonical correlation of Z and W (Hooper 1959): 1 where they span the same."""
    overlap = np.linalg.qr(Z)[0].T @ np.linalg.qr(W)[0]
    return float(np.sum(overlap**2) / Z.shape[1])
