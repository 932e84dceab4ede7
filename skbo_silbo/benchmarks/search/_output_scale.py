"""The scale on which a peer sees the values: chosen as SILBO chooses its own."""

import numpy as np

from skbo_silbo.benchmarks.engine import time_call
from skbo_silbo.optimizers import WARPS, choose_warp

CHOSEN_EVERY = 10  # evaluations


class OutputScale:
    """One of SILBO's scales of the values, the one that predicts left-out values best.

    The scales, the rule and the Gaussian process that judges them (all inputs, dimension-scaled
    prior) are SILBO's. The choice is made after every 10 evaluations.

    Attributes
    ----------
    seconds : float
        CPU time spent on choosing, which is not the peer's.
    """

    def __init__(self):
        self.seconds = 0.0
        self._scale = WARPS["auto"][0]
        self._next = CHOSEN_EVERY

    def __call__(self, U, y):
        """Return the values as the peer is to see them.

        Parameters
        ----------
        U : ndarray of shape (n, d)
            Points of the unit cube.
        y : ndarray of shape (n,)
            To be minimised.
        """
        if y.size >= self._next:
            self._next = y.size + CHOSEN_EVERY
            used, _, self._scale = time_call(
                lambda: choose_warp(WARPS["auto"], None, 2.0 * U - 1.0, y)
            )
            self.seconds += used
        return np.asarray(self._scale(y), dtype=float)
