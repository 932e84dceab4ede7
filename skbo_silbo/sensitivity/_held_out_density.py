"""Log density of held-out values, used to compare models."""

import numpy as np
from scipy.stats import norm

N_FOLDS = 5
MIN_VALUES = 2 * N_FOLDS
STANDARD_ERRORS = 1.0  # number of standard errors by which one model must outperform another
CONSTANT_WEIGHT = 0.1  # weight of the constant in `contaminated_log_density`


def contaminated_log_density(density, constant):
    """Return log densities under the model, mixed with a small probability of outliers.

    The mixture bounds the penalty of a single overconfident prediction.
    """
    return np.logaddexp(np.log1p(-CONSTANT_WEIGHT) + density, np.log(CONSTANT_WEIGHT) + constant)


def lower_bound_of_gain(differences, n_errors=STANDARD_ERRORS):
    """Return a lower confidence bound of the mean difference in log density."""
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    return differences.mean() - n_errors * error


def constant_log_density(y, new):
    """Return the log density of new values under a normal distribution fitted to y."""
    least = np.ptp(np.append(y, new)) * 1e-6
    return norm.logpdf(new, y.mean(), max(y.std(ddof=1), least))
