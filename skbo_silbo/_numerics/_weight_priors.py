"""Prior densities of a kernel's log weights, for inputs of unit standard deviation.

A weight is an inverse squared length scale. A uniform input on the unit cube has standard deviation
``1 / sqrt(12)``, so a length scale meant for the unit cube is ``sqrt(12)`` times as long here, and
a weight 12 times as small. Densities are with respect to the logarithms, because that is
the space in which the mode is sought.

Both priors speak of a vector ``phi``: the d log weights, then ``n_extra`` parameters of the prior
itself, each with a pair in ``extra_bounds``.
"""

import numpy as np

_CUBE_TO_UNIT_SCALE = np.log(12.0)


class DimensionScaledPrior:
    """Length scales grow with the square root of the number of inputs.

    On the unit cube ``log length_scale ~ Normal(sqrt(2) + log(d) / 2, sqrt(3))``, independently
    (Hvarfner, Hellsten and Nardi 2024), which keeps typical correlations the same at every d.

    Parameters
    ----------
    n_weights : int
        The number d of inputs.

    Examples
    --------
    >>> from skbo_silbo._numerics._weight_priors import DimensionScaledPrior
    >>> prior = DimensionScaledPrior(1)
    >>> value, gradient = prior.log_density([prior.centre + 12.0])
    >>> round(value, 3), gradient
    (-8.161, array([-1.]))
    """

    n_extra = 0
    extra_bounds = ()

    def __init__(self, n_weights):
        log_length_scale = np.sqrt(2.0) + 0.5 * (np.log(n_weights) + _CUBE_TO_UNIT_SCALE)
        self.centre = -2.0 * log_length_scale
        self.variance = 4.0 * 3.0

    def initial_extra(self, log_weights):
        """Return where the prior's own parameters start: there are none."""
        return np.empty(0)

    def log_density(self, phi):
        """Return the log density at `phi` (nats) and its gradient, of the shape of `phi`."""
        deviation = np.asarray(phi) - self.centre
        normaliser = 0.5 * deviation.size * np.log(2.0 * np.pi * self.variance)
        value = -0.5 * (deviation @ deviation) / self.variance - normaliser
        return float(value), -deviation / self.variance


class SparsePrior:
    """Most weights are small together, a few are free to be large.

    On the unit cube ``w_k ~ HalfCauchy(tau)`` and ``tau ~ HalfCauchy(0.1)``: the sparse
    axis-aligned prior of Eriksson and Jankowiak (2021). The density of ``log w_k`` is
    ``1 / (pi cosh(log(w_k / tau)))``: a weight away from tau costs its distance on the log scale,
    so that irrelevant inputs share the level tau, which the data move at no cost, and relevant ones
    pay ``log(w_k / tau)`` each.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo._numerics._weight_priors import SparsePrior
    >>> prior = SparsePrior()
    >>> value, _ = prior.log_density(np.full(3, prior.log_global_scale))
    >>> bool(np.isclose(value, -3 * np.log(np.pi)))
    True
    """

    n_extra = 1
    extra_bounds = ((np.log(1e-9), np.log(1e2)),)

    def __init__(self):
        self.log_global_scale = np.log(0.1) - _CUBE_TO_UNIT_SCALE

    def initial_extra(self, log_weights):
        """Return the start of ``log tau`` for given log weights: their median."""
        return np.array([np.median(log_weights)])

    def log_density(self, phi):
        """Return the log density at `phi` (nats) and its gradient, of the shape of `phi`."""
        log_tau = phi[-1]
        local, shared = phi[:-1] - log_tau, log_tau - self.log_global_scale
        value = _log_sech(local).sum() + _log_sech(shared) - phi.size * np.log(np.pi)
        by_local = -np.tanh(local)
        return float(value), np.append(by_local, -by_local.sum() - np.tanh(shared))


def _log_sech(u):
    return np.log(2.0) - np.logaddexp(u, -u)
