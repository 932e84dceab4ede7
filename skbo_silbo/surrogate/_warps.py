"""The scale on which learners and surrogates see the values, warped and standardised.

A warp is a rising function of one value; its location and scale come from all values. It also knows
the logarithm of its slope: noise of y is ``w'(y)`` times as large in ``w(y)``, and a density of
``w(y)`` is one of y once it is multiplied by ``w'(y)``.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._typing import FloatArray


@dataclass(frozen=True)
class IdentityWarp:
    """The values themselves."""

    name = "none"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return y itself."""
        return y

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros(y.shape)


@dataclass(frozen=True)
class HalfLog:
    """Distances above the median compressed to their logarithm.

    How bad a bad value is says little of where the minimum is, and one value of 1e4 flattens the
    differences between all others. So with ``t = (y - median) / s``, s the root mean square
    distance of the values below the median from it (for normal values their deviation), the result
    is t up to the median and ``log(1 + t)`` above it: smooth to the first derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate._warps import HalfLog
    >>> HalfLog()(np.array([1.0, 2.0, 3.0, 50.0, 1e9])).round(2)
    array([-1.26, -0.63,  0.  ,  3.43, 20.27])
    """

    name = "half-log"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return the warped values.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Finite; it may be empty.

        Returns
        -------
        warped : ndarray of shape (n,)
            In the order of y, without unit; the median is at 0. When none is below the median s
            comes from those above; when all are equal, all are 0.
        """
        distance, _ = self._scaled(y)
        return np.where(distance > 0.0, np.log1p(np.maximum(distance, 0.0)), distance)

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the derivative at every value, of shape (n,)."""
        distance, log_scale = self._scaled(y)
        return -np.log1p(np.maximum(distance, 0.0)) - log_scale

    def _scaled(self, y):
        """Return distances from the median in units of s, and log s."""
        if not y.size:
            return y, 0.0
        distance, log_scale = y - np.median(y), 0.0
        for side in (distance < 0.0, distance > 0.0):
            if side.any():
                largest = np.abs(distance[side]).max()  # first: its square may overflow
                distance = distance / largest
                root = np.sqrt(np.mean(distance[side] ** 2))
                return distance / root, np.log(largest) + np.log(root)
        return distance, log_scale


@dataclass(frozen=True)
class LogAboveLeast:
    """The logarithm of the distance from the lowest value, begun at the median's.

    ``log(1 + (y - least) / (median - least))``: infinitely smooth, nearly linear for the better
    half and logarithmic far above. What an input explains may be seen on it (`InputModel`).

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate._warps import LogAboveLeast
    >>> LogAboveLeast()(np.array([1.0, 2.0, 3.0, 5.0, 1e9])).round(2)
    array([ 0.  ,  0.41,  0.69,  1.1 , 20.03])
    """

    name = "log"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return the warped values, of shape (n,); all 0 when all are equal."""
        distance, scale = self._scaled(y)
        return np.log1p(distance / scale)

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the derivative at every value, of shape (n,)."""
        distance, scale = self._scaled(y)
        return -np.log1p(distance / scale) - np.log(scale)

    def _scaled(self, y):
        if not y.size:
            return y, 1.0
        distance = y - y.min()
        typical = np.median(distance)
        if typical == 0.0:  # most are the least
            typical = distance.max()
        return distance, typical if typical > 0.0 else 1.0


WARPS = MappingProxyType({"half-log": HalfLog(), None: IdentityWarp()})


def warped_variance(warp, y, noise_std):
    """Return variances of warped values, (n,), by the warp's slope; 0 where they are not known."""
    known = np.where(np.isfinite(noise_std), noise_std, 0.0)
    return (known * np.exp(warp.log_slope(y))) ** 2 if known.any() else known
