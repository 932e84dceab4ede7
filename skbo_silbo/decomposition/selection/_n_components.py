"""How many directions: checks of what is asked for, and an information criterion."""

import numpy as np

from ..._checks import check_integer

# what n_components can be, beside a number, where there are tests and a criterion
COMPONENT_WORDS = ("auto", "permutation", "criterion")
TESTED_WORDS = ("auto", "permutation")  # those of them that test
MAX_AUTO_COMPONENTS = 20  # most directions that a word considers


def check_n_components(value, n_features, words=("auto",)):
    """Refuse what is none of the `words` nor an integer from 1 to `n_features`."""
    if isinstance(value, str) and value in words:
        return
    check_integer("n_components", value, 1, special=", ".join(map(repr, words)))
    if value > n_features:
        raise ValueError(
            f"n_components must be at most {n_features} (n_features): got {value}. "
            "Use n_components='auto' or fewer components."
        )


# what limits the directions of methods that whiten X
INDEPENDENT = "features that vary independently"


def check_identified(value, limit, what="directions identified by the slices", remedy=""):
    """Refuse a number of components above the `limit`, which is the number of `what`."""
    if not isinstance(value, str) and value > limit:
        raise ValueError(
            f"n_components must be at most {limit}, the number of {what}: got {value}. Use "
            f"n_components='auto'{remedy}."
        )


def check_enough_rows(name, n, d):
    """Refuse data whose whitened rows carry no second moments."""
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for {name}: got {n} labelled rows "
            f"and {d} features. Reduce the features first, or use SemiSlicedInverseRegression."
        )


def dimension_by_criterion(eigenvalues, n):
    """Maximise a penalised share of the spectrum over the number of directions k >= 1.

    ``n sum_{j <= k} lambda_j^2 / sum_j lambda_j^2 - (2 n^(3/4) / p) k (k + 1) / 2`` (Zhu, Zhu and
    Feng 2010, section 3.1), with p the number of eigenvalues. It is free of the spectrum's scale,
    which localisation, ridge and graph change, and costs nothing beyond the spectrum.

    Parameters
    ----------
    eigenvalues : ndarray of shape (p,)
        Falling, >= 0; where all are 0 the answer is 1.
    n : int
        Labelled rows.

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
    """Subtract the median from localised eigenvalues and keep what is positive.

    A mean over k neighbours keeps 1/k of the scatter in every direction, so that localised
    eigenvalues do not fall to zero where there is nothing to find.
    """
    excess = eigenvalues - np.median(eigenvalues)
    return excess[excess > 0] if eigenvalues[0] > np.median(eigenvalues) else eigenvalues
