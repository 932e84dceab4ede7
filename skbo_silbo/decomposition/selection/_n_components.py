"""Choice of the number of components, and checks of `n_components`."""

import numpy as np

from skbo_silbo._checks import check_integer

# Strings that `n_components` accepts if a method has tests.
COMPONENT_WORDS = ("auto", "permutation", "criterion")
TESTED_WORDS = ("auto", "permutation")  # strings that run tests
MAX_AUTO_COMPONENTS = 20  # largest number of components chosen automatically


def check_n_components(value, n_features):
    """Check that `n_components` is "auto" or an integer from 1 to `n_features`."""
    check_integer("n_components", value, 1, special="'auto'")
    if value != "auto" and value > n_features:
        raise ValueError(
            f"n_components must be at most {n_features} (n_features), got {value}. "
            "Use n_components='auto' or fewer components."
        )


INDEPENDENT = "features that vary independently"


def check_identified(value, limit, what="directions identified by the slices", remedy=""):
    """Raise a ValueError if more directions are requested than can be identified.

    `what` and `remedy` describe the limit in the error message.
    """
    if not isinstance(value, str) and value > limit:
        raise ValueError(
            f"n_components must be at most {limit}, the number of {what}, got {value}. Use "
            f"n_components='auto'{remedy}."
        )


def dimension_by_criterion(eigenvalues, n):
    """Select the number of directions by an information criterion of the eigenvalues.

    Maximises ``n sum_{j <= k} lambda_j^2 / sum_j lambda_j^2 - (2 n^(3/4) / p) k (k + 1) / 2`` (Zhu,
    Zhu and Feng 2010, section 3.1), where p is the number of eigenvalues. The criterion does not
    depend on the scale of the eigenvalues, which localisation, ridge and graph change.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Eigenvalues in decreasing order, none of them negative. If all are 0, the result is 1.
    n : int
        Number of labelled samples that the eigenvalues were computed from.

    Returns
    -------
    int
    """
    squares = np.cumsum(eigenvalues**2)
    if not squares[-1]:
        return 1
    k, shares = np.arange(1, len(eigenvalues) + 1), squares / squares[-1]
    charge = 2 * n**0.75 / len(eigenvalues)
    return int(k[np.argmax(n * shares - charge * k * (k + 1) / 2)])


def excess_over_noise(eigenvalues):
    """Subtract the median from eigenvalues and clip the result at 0.

    A mean of k neighbours retains 1/k of the scatter in every direction, so these eigenvalues do
    not decrease to zero without a signal.
    """
    excess = eigenvalues - np.median(eigenvalues)
    return excess[excess > 0] if eigenvalues[0] > np.median(eigenvalues) else eigenvalues
