"""Beliefs about the length scales of a kernel, written once for every Gaussian process here.

There are two. All inputs matter, and a length scale grows with the square root of their number,
because the distance of two random points does (Hvarfner, Hellsten and Nardi 2024). Or few inputs
matter, and all others share one long length scale (Eriksson and Jankowiak 2021).

Both are published for inputs on the unit cube. A weight is an inverse squared length scale, so that
inputs which are c times as wide have weights ``c^-2`` times as large. Densities are with respect to
logarithms, because that is the space in which the mode is sought.

=====================  =======  ====================================================================
symbol                 shape    meaning
=====================  =======  ====================================================================
w                      (d,)     weights, inverse squared length scales
tau                    scalar   weight that irrelevant inputs share
c                      scalar   width of the inputs, in unit cubes
=====================  =======  ====================================================================
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

UNIFORM_WIDTH = np.sqrt(12.0)
"""Width of the unit cube once its inputs are divided by their standard deviations."""
LOG_LENGTH_SPREAD = np.sqrt(3.0)
"""Standard deviation of a log length scale, published."""
SHARED_WEIGHT = 0.1
"""Scale of tau on the unit cube, published."""
LARGEST_R2 = 0.999
"""Share of an input's own quadratic at which its screened weight stops growing."""


def log_length_location(n_inputs, width):
    """Mean of a log length scale that grows with the root of the number of inputs.

    On the unit cube ``log length ~ Normal(sqrt(2) + log(d) / 2, sqrt(3))`` (Hvarfner et al.).
    """
    return np.sqrt(2.0) + 0.5 * np.log(n_inputs) + np.log(width)


def normal_log_density(x, location, spread):
    """Return the log density of independent normals up to a constant, and its gradient by x."""
    deviation = (x - location) / spread
    return -0.5 * float(deviation @ deviation), -deviation / spread


@dataclass(frozen=True)
class SharedScale:
    """``w_k ~ HalfCauchy(tau)`` and ``tau ~ HalfCauchy(0.1)`` on the unit cube.

    The density of ``log w_k`` is ``sech(log(w_k / tau)) / pi``: a weight away from tau costs its
    distance on the log scale, so that irrelevant inputs share the level tau, which the data move at
    no cost, and relevant ones pay ``log(w_k / tau)`` each.

    Parameters
    ----------
    width : float
        Of the inputs, in unit cubes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics._priors import SharedScale
    >>> belief = SharedScale(1.0)
    >>> value, _, _ = belief.log_density(np.full(3, np.log(0.1)), np.log(0.1))
    >>> bool(np.isclose(value, 0.0))
    True
    """

    width: float

    @property
    def centre(self):
        """Log of the scale of tau."""
        return np.log(SHARED_WEIGHT) - 2.0 * np.log(self.width)

    def log_density(self, log_weights, log_tau):
        """Return the log density without its constant, its gradient by log w, and by log tau."""
        local, shared = log_weights - log_tau, log_tau - self.centre
        value = float(_log_sech(local).sum() + _log_sech(shared))
        by_weights = -np.tanh(local)
        return value, by_weights, -by_weights.sum() - np.tanh(shared)

    def best_log_tau(self, log_weights):
        """Return the log tau of highest density for given log weights.

        The density's logarithm is concave in it; its derivative changes sign between the least and
        the largest of all log weights and the centre.
        """
        places = np.append(log_weights, self.centre)
        low, high = places.min(), places.max()
        if low == high:
            return low
        return brentq(lambda place: np.tanh(places - place).sum(), low, high)


def _log_sech(u):
    return np.log(2.0) - np.logaddexp(u, -u)


class DimensionScaledPrior:
    """Length scales that grow with the number of inputs, for inputs of unit standard deviation.

    Parameters
    ----------
    n_weights : int
        The number d of inputs.

    Examples
    --------
    >>> from skbo_silbo._numerics._priors import DimensionScaledPrior
    >>> prior = DimensionScaledPrior(1)
    >>> value, gradient = prior.log_density([prior.centre + 12.0])
    >>> round(value, 3), gradient
    (-8.161, array([-1.]))
    """

    n_extra = 0
    extra_bounds = ()

    def __init__(self, n_weights):
        self.centre = -2.0 * log_length_location(n_weights, UNIFORM_WIDTH)
        self.variance = (2.0 * LOG_LENGTH_SPREAD) ** 2

    def initial_extra(self, log_weights):
        """Return where the prior's own parameters start: there are none."""
        return np.empty(0)

    def log_density(self, phi):
        """Return the log density at `phi` (d,), log weights, in nats, and its gradient."""
        phi = np.asarray(phi)
        value, gradient = normal_log_density(phi, self.centre, np.sqrt(self.variance))
        return value - 0.5 * phi.size * float(np.log(2.0 * np.pi * self.variance)), gradient


class SparsePrior:
    """`SharedScale` for inputs of unit standard deviation, its log tau sought with the weights.

    `log_density` takes a vector `phi`: the d log weights, then log tau, which has its bounds in
    ``extra_bounds``.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics._priors import SparsePrior
    >>> prior = SparsePrior()
    >>> value, _ = prior.log_density(np.full(3, prior.log_global_scale))
    >>> bool(np.isclose(value, -3 * np.log(np.pi)))
    True
    """

    n_extra = 1
    extra_bounds = ((np.log(1e-9), np.log(1e2)),)
    belief = SharedScale(UNIFORM_WIDTH)

    @property
    def log_global_scale(self):
        """Log of the scale of tau."""
        return self.belief.centre

    def initial_extra(self, log_weights):
        """Return the start of ``log tau`` for given log weights: their median."""
        return np.array([np.median(log_weights)])

    def log_density(self, phi):
        """Return the log density at `phi` (d + 1,) in nats, and its gradient."""
        value, by_weights, by_tau = self.belief.log_density(phi[:-1], phi[-1])
        return value - phi.size * float(np.log(np.pi)), np.append(by_weights, by_tau)


def screened_log_weights(X, y):
    """Log weights, up to a level, that grow with what every input alone explains of y.

    The posterior has many local modes where inputs are many: from equal weights a relevant one is
    easily lost. An input's weight is its own quadratic's F statistic, about.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        No column constant.
    y : ndarray of shape (n,)
        Not constant.

    Returns
    -------
    ndarray of shape (d,)
        ``log(0.1)`` where an input explains nothing.
    """
    r2 = np.minimum(quadratic_r2(X, y), LARGEST_R2)
    return np.log(0.1 + 0.5 * len(X) * r2 / (1.0 - r2))


def quadratic_r2(X, y):
    """Return the R^2 of the least-squares quadratic of y in every column of X alone, O(n d).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points; no column constant.
    y : ndarray of shape (n,)
        Targets, not constant.

    Returns
    -------
    r2 : ndarray of shape (d,)
        In [0, 1].
    """
    y = y - y.mean()
    linear = _unit_columns(X - X.mean(axis=0))
    square = linear * linear
    square -= square.mean(axis=0)
    square -= linear * np.einsum("ik,ik->k", linear, square)
    square = _unit_columns(square)
    return ((y @ linear) ** 2 + (y @ square) ** 2) / (y @ y)


def _unit_columns(A):
    """Scale columns to unit length; those that are zero to rounding (two-valued X) become zero."""
    norm = np.sqrt(np.einsum("ik,ik->k", A, A))
    kept = norm > 1e-8
    return np.divide(A, norm, out=np.zeros_like(A), where=kept)
