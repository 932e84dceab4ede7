"""What unlabelled rows are worth: held-out gains of a set of weights over none."""

import numpy as np

# degrees of freedom left where one row has all the weight: its error is beyond measure
LEAST_FREEDOM = 1e-12


def mean_and_error(values, weights=None):
    """(Weighted) mean of values (n, m) over the rows, and its standard error, (m,) each.

    The weights are numbers of rows.
    """
    n = len(values) if weights is None else weights.sum()
    mean = np.average(values, axis=0, weights=weights)
    variance = np.average((values - mean) ** 2, axis=0, weights=weights)
    return mean, np.sqrt(variance / max(n - 1, LEAST_FREEDOM))


def choose_by_gain(errors, weights=None):
    """Column of the errors that pays most: 0 unless another beats it by a standard error.

    Parameters
    ----------
    errors : ndarray of shape (n, m)
        Held-out squared errors, the first column that of doing nothing; targets of variance one.
    weights : ndarray of shape (n,), default=None
        Of the rows, as numbers of rows.

    Returns
    -------
    best : int
    gains, standard_errors : ndarray of shape (m,)
        Mean reduction of the error, in units of the targets' variance: a difference of R^2.
    """
    gains, standard_errors = mean_and_error(errors[:, :1] - errors, weights)
    best = int(np.argmax(np.where(gains > standard_errors, gains, 0.0)))
    return best, gains, standard_errors
