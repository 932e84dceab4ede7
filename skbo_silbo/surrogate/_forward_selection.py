"""Few inputs in use, found one by one: a start for the search of the sparse prior's mode.

The posterior of the length scales has a mode for many a set of inputs. Climbs from equal length
scales end at one in which too many matter a little: a mode in which two of a hundred inputs matter,
and which is tens of nats higher, is not seen from there. So inputs are added to none, each where
the slope of the posterior is steepest, the others resettled each time, as forward selection does in
regression (Hastie, Tibshirani and Friedman 2009, section 3.3.2).
"""

import numpy as np
from scipy.optimize import minimize

IDLE_LENGTH, LENGTH_IN_USE = 20.0, 1.0  # on a cube of width 2
NOISE_SHARE = 0.3  # of the variance, at first: most is not explained
MOST_INPUTS = 7
MOST_MISSES = 2  # inputs in a row that raise no density: a pair may be needed
LEAST_GAIN = 0.01  # nats
N_STEPS = 8  # of L-BFGS-B after an input has been added


def forward_selection(loss, location, bounds):
    """Return hyperparameters with few inputs in use.

    Parameters
    ----------
    loss : callable
        Returns minus the log posterior density at theta, and its gradient.
    location : ndarray of shape (r + 2,)
        Log signal variance, log length scales and log noise variance of the prior, of which the
        first is kept at the start.
    bounds : ndarray of shape (r + 2, 2)

    Returns
    -------
    theta : ndarray of shape (r + 2,)
    """
    theta = np.full_like(location, np.log(IDLE_LENGTH))
    theta[0], theta[-1] = location[0], np.log(NOISE_SHARE)
    in_use: list[int] = []
    best, n_misses = (np.inf, theta.copy()), 0
    while len(in_use) < min(MOST_INPUTS, len(theta) - 2) and n_misses < MOST_MISSES:
        _, gradient = loss(theta)
        gradient[[0, -1, *in_use]] = -np.inf
        in_use.append(int(np.argmax(gradient)))  # a shorter length there is the greatest gain
        theta[in_use[-1]] = np.log(LENGTH_IN_USE)
        value, theta = _settle(loss, theta, [0, *in_use, len(theta) - 1], bounds)
        is_gain = value < best[0] - LEAST_GAIN
        n_misses = 0 if is_gain else n_misses + 1
        best = (value, theta.copy()) if is_gain else best
    return best[1]


def _settle(loss, theta, free, bounds):
    """Return loss and theta after a few steps in some coordinates."""
    theta = theta.copy()

    def restricted(values):
        theta[free] = values
        value, gradient = loss(theta)
        return value, gradient[free]

    options = {"maxiter": N_STEPS}
    run = minimize(
        restricted, theta[free], jac=True, method="L-BFGS-B", bounds=bounds[free], options=options
    )
    theta[free] = run.x
    return run.fun, theta
