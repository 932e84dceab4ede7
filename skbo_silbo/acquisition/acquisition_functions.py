"""Acquisition functions of the predicted mean and standard deviation.

They are elementwise functions of (mean, std, best). Objectives are minimised: `best` is the lowest
value so far. Acquisition functions are maximised.

With ``u = (best - mean) / std``, Phi and phi the standard normal distribution and density,

    EI = E[max(best - Y, 0)] = std h(u),     h(u) = phi(u) + u Phi(u)                       (1)

(Jones, Schonlau and Welch 1998, eq. 15). Far from the incumbent h underflows, so the optimisers use
its logarithm (Ament et al. 2023). For u < 0, with t = -u and Mills' ratio
``R(t) = Phi(-t) / phi(t) = sqrt(pi/2) erfcx(t / sqrt 2)``,

    log h = log phi(t) + log(1 - t R(t)),     1 - t R(t) ~ t^-2 - 3 t^-4 + 15 t^-6 - ...     (2)
"""

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from scipy.special import erfcx, ndtr

from skbo_silbo._typing import ArrayLike, FloatArray

N_CANDIDATES = 2000  # size of the paper's random set, also used in the schedule of GP-UCB

_LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)
_TAIL = 1.0  # below u = -1 the two terms of h cancel: use (2)
_FAR_TAIL = 100.0  # from here on the series in (2) is more accurate than 1 - t R(t)


class AcquisitionFunction(Protocol):
    """Protocol of acquisition functions, which a search maximises.

    The arguments are the predicted mean and standard deviation.

    A function that is the logarithm of a non-negative utility can declare this with an attribute
    ``is_log = True``. Learnt constraints require it, because the log probability of feasibility is
    added to the function, and ``search="auto"`` uses it to choose "parzen-turns".
    """

    def __call__(
        self, mean: FloatArray, std: FloatArray, best: float, /, *, return_gradient: bool = False
    ) -> Any:
        """Return the acquisition values at predicted means and standard deviations.

        Parameters
        ----------
        mean, std : ndarray of shape (n,)
            Predictive mean and standard deviation of each point, for the transformed values, which
            are minimised. The standard deviation is positive.
        best : float
            Value to improve on: the lowest predicted mean at an observed or pending point, which is
            less biased by noise than the lowest observed value.
        return_gradient : bool
            Whether to also return the derivatives with respect to the mean and the standard
            deviation.
        """


def log_expected_improvement(
    mean: ArrayLike, std: ArrayLike, best: float, *, return_gradient: bool = False
) -> Any:
    """Return the logarithm of the expected improvement on the value `best`.

    It is numerically accurate where the expected improvement itself underflows.

    Parameters
    ----------
    mean, std : array-like
        Predictive mean and standard deviation (>= 0) of each point, in the units of the objective.
    best : float
        Lowest value of the objective so far, on which points should improve.
    return_gradient : bool, default=False
        Whether to also return the derivatives. This requires ``std > 0``.

    Returns
    -------
    value : ndarray
        Logarithm of the expected improvement in nats. It is ``-inf`` if no improvement is possible
        (``std == 0`` and ``mean >= best``).
    by_mean, by_std : ndarray
        Derivatives of `value` with respect to mean and std. Only returned if `return_gradient` is
        True.

    Examples
    --------
    >>> from skbo_silbo.acquisition import log_expected_improvement
    >>> log_expected_improvement([40.0], [1.0], best=0.0).round(4)
    array([-808.2986])
    """
    mean, std = np.asarray(mean, dtype=float), np.asarray(std, dtype=float)
    certain = std <= 0.0
    scale = np.where(certain, 1.0, std) if certain.any() else std
    u = (best - mean) / scale
    log_h, cdf_over_h = _log_h(u)
    value = np.log(scale) + log_h
    if certain.any():
        with np.errstate(divide="ignore"):
            value = np.where(certain, np.log(np.maximum(best - mean, 0.0)), value)
    if not return_gradient:
        return value
    # d EI / d mean = -Phi(u) and d EI / d std = phi(u) = h - u Phi
    return value, -cdf_over_h / scale, (1.0 - u * cdf_over_h) / scale


log_expected_improvement.is_log = True  # type: ignore[attr-defined]


def no_improvement(
    mean: ArrayLike, std: ArrayLike, best: float, *, return_gradient: bool = False
) -> Any:
    """Acquisition function that is 0 everywhere, so that all points are equally good.

    It is used until a feasible point is known.

    Parameters
    ----------
    mean, std : array-like
        Predictive mean and standard deviation (>= 0) of each point, in the units of the objective.
    best : float
        Ignored, present for consistency with other acquisition functions.
    return_gradient : bool, default=False
        Whether to also return the derivatives.

    Returns
    -------
    value : ndarray
    by_mean, by_std : ndarray
        Derivatives of `value` with respect to mean and std. Only returned if `return_gradient` is
        True.

    Examples
    --------
    >>> from skbo_silbo.acquisition.acquisition_functions import no_improvement
    >>> no_improvement([1.0, -3.0], [0.5, 2.0], best=0.0)
    array([0., 0.])
    """
    zeros = np.zeros(np.broadcast_shapes(np.shape(mean), np.shape(std)))
    return (zeros, zeros, zeros) if return_gradient else zeros


def confidence_gain(
    mean: ArrayLike, std: ArrayLike, best: float, *, beta: float, return_gradient: bool = False
) -> Any:
    """Return how far the lower confidence bound lies below `best` (GP-UCB).

    The value is ``best - mean + sqrt(beta) std`` (Srinivas, Krause, Kakade and Seeger 2010, eq. 6,
    with the sign changed).

    Parameters
    ----------
    mean, std : array-like
        Predictive mean and standard deviation (>= 0) of each point, in the units of the objective.
    best : float
        Lowest value of the objective so far. It shifts all acquisition values equally.
    beta : float
        Non-negative weight of the variance, see `confidence_weight`.
    return_gradient : bool, default=False
        Whether to also return the derivatives.

    Returns
    -------
    value : ndarray
        Acquisition values of the points, in the units of the objective.
    by_mean, by_std : ndarray
        Derivatives of `value` with respect to mean and std. Only returned if `return_gradient` is
        True.

    Examples
    --------
    >>> from skbo_silbo.acquisition.acquisition_functions import confidence_gain
    >>> confidence_gain([1.0, 1.0], [0.0, 2.0], best=1.5, beta=4.0)
    array([0.5, 4.5])
    """
    root = np.sqrt(beta)
    value = np.asarray(best - np.asarray(mean, dtype=float) + root * np.asarray(std, dtype=float))
    if not return_gradient:
        return value
    return value, np.full(value.shape, -1.0), np.full(value.shape, root)


def confidence_weight(t: int, n_points: int, delta: float = 0.1) -> float:
    """Return the weight ``beta_t`` of the variance in GP-UCB (Srinivas et al. 2010, Theorem 1).

    Parameters
    ----------
    t : int
        Number of the evaluation to be proposed, counted from 1.
    n_points : int
        Number of points among which the acquisition function is maximised.
    delta : float, default=0.1
        Probability with which the bound on the regret may fail.

    Examples
    --------
    >>> from skbo_silbo.acquisition.acquisition_functions import confidence_weight
    >>> round(confidence_weight(1, 1000), 3)
    19.416
    """
    return 2.0 * float(np.log(n_points * t**2 * np.pi**2 / (6.0 * delta)))


def _log_h(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the logarithm of the standardised expected improvement h(u), and its derivative."""
    in_tail = u < -_TAIL
    if in_tail.all():
        return _log_h_in_tail(u)
    h = np.exp(-0.5 * u**2 - _LOG_ROOT_TWO_PI) + u * ndtr(u)
    if not in_tail.any():
        return np.log(h), ndtr(u) / h
    tail_value, tail_slope = _log_h_in_tail(np.minimum(u, -_TAIL))
    h = np.where(in_tail, 1.0, h)
    return np.where(in_tail, tail_value, np.log(h)), np.where(in_tail, tail_slope, ndtr(u) / h)


def _log_h_in_tail(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Evaluate `_log_h` by eq. (2), which is stable for u <= -1."""
    t = -u
    mills = np.sqrt(0.5 * np.pi) * erfcx(t / np.sqrt(2.0))
    rest = 1.0 - t * mills
    far = t >= _FAR_TAIL
    if far.any():
        s = 1.0 / (t * t)
        series = s * (1.0 - s * (3.0 - s * (15.0 - 105.0 * s)))  # (2)
        rest = np.where(far, series, rest)
    return -0.5 * t * t - _LOG_ROOT_TWO_PI + np.log(rest), mills / rest


def _expected_improvement_at(t: int) -> Callable[..., Any]:
    return log_expected_improvement


def _confidence_gain_at(t: int) -> Callable[..., Any]:
    return partial(confidence_gain, beta=confidence_weight(t, N_CANDIDATES))


# name -> function from the proposal number t to the acquisition function
ACQUISITIONS = MappingProxyType({"ei": _expected_improvement_at, "ucb": _confidence_gain_at})
