"""Transformations of the values before models are fitted.

A warp w is an increasing function of one value, with location and scale from all values. Its slope
converts noise (multiplied by ``w'(y)``) and densities between the original and the warped values.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.surrogate._surrogate_protocol import Warp


@dataclass(frozen=True)
class IdentityWarp:
    """Transformation that leaves the observed values unchanged."""

    name = "none"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Return the observed values y unchanged."""
        return y

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return zeros, the logarithm of the identity's derivative."""
        return np.zeros(y.shape)


@dataclass(frozen=True)
class HalfLog:
    """Transformation that compresses values above the median logarithmically.

    Differences between bad values carry little information about the minimum, and a single large
    value would flatten the differences between all others. Values are first standardised to ``t =
    (y - median) / s``, where s is the root mean square distance from the median of the values below
    it. For normal values, s is the standard deviation. The result is t below the median and
    ``log(1 + t)`` above it, which has a continuous derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate.warps import HalfLog
    >>> HalfLog()(np.array([1.0, 2.0, 3.0, 50.0, 1e9])).round(2)
    array([-1.26, -0.63,  0.  ,  3.43, 20.27])
    """

    name = "half-log"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Transform the observed values.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Finite values to transform. The array may be empty.

        Returns
        -------
        warped : ndarray of shape (n,)
            Transformed values, which are dimensionless and have median 0. If no value is below the
            median, s is computed from the values above it. If all values are equal, the result is
            0.
        """
        distance, _ = self._scaled(y)
        return np.where(distance > 0.0, np.log1p(np.maximum(distance, 0.0)), distance)

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the transformation's derivative at each value."""
        distance, log_scale = self._scaled(y)
        return -np.log1p(np.maximum(distance, 0.0)) - log_scale

    def _scaled(self, y):
        """Return the scaled distances of values from the median, and the log of the scale."""
        if not y.size:
            return y, 0.0
        distance, log_scale = y - np.median(y), 0.0
        for side in (distance < 0.0, distance > 0.0):
            if side.any():
                largest = np.abs(distance[side]).max()  # scale first: squares may overflow
                distance = distance / largest
                root = np.sqrt(np.mean(distance[side] ** 2))
                return distance / root, np.log(largest) + np.log(root)
        return distance, log_scale


@dataclass(frozen=True)
class LogAboveLeast:
    """Logarithm of one plus the scaled distance of a value from the lowest value.

    ``log(1 + (y - least) / (median - least))`` is smooth, nearly linear for the better half of the
    values, and logarithmic far above. `InputModel` may use it.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate.warps import LogAboveLeast
    >>> LogAboveLeast()(np.array([1.0, 2.0, 3.0, 5.0, 1e9])).round(2)
    array([ 0.  ,  0.41,  0.69,  1.1 , 20.03])
    """

    name = "log"

    def __call__(self, y: FloatArray) -> FloatArray:
        """Transform the observed values."""
        distance, scale = self._scaled(y)
        return np.log1p(distance / scale)

    def log_slope(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the transformation's derivative at each value."""
        distance, scale = self._scaled(y)
        return -np.log1p(distance / scale) - np.log(scale)

    def _scaled(self, y):
        if not y.size:
            return y, 1.0
        distance = y - y.min()
        typical = np.median(distance)
        if typical == 0.0:  # more than half of the values equal the lowest
            typical = distance.max()
        return distance, typical if typical > 0.0 else 1.0


WARPS = MappingProxyType({"half-log": HalfLog(), None: IdentityWarp()})


def invert_warp(warp: Warp, y: FloatArray, warped: FloatArray) -> FloatArray:
    """Convert transformed values back to the original scale.

    The inverse is interpolated linearly between the observed values, and extrapolated linearly
    beyond them.

    Parameters
    ----------
    warp : Warp
    y : ndarray of shape (n,)
        Finite observed values, which determine the location and scale of the warp.
    warped : ndarray
        Transformed values, of any shape.

    Returns
    -------
    values : ndarray
        Values in the units of y, of the same shape as `warped`.
    """
    order = np.argsort(y)
    known, run, y = warp(y)[order], np.exp(-warp.log_slope(y))[order], y[order]
    values = np.interp(warped, known, y)
    values = values + np.minimum(warped - known[0], 0.0) * run[0]
    return values + np.maximum(warped - known[-1], 0.0) * run[-1]


def warped_variance(warp, y, noise_std):
    """Return the noise variance of each transformed value, 0 if its noise is unknown."""
    known = np.where(np.isfinite(noise_std), noise_std, 0.0)
    return (known * np.exp(warp.log_slope(y))) ** 2 if known.any() else known
