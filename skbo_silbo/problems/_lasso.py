"""Weighted Lasso: one penalty for each coefficient, judged by cross-validation."""

from functools import partial

import numpy as np
from sklearn.linear_model import lasso_path

from skbo_silbo._typing import RandomState
from skbo_silbo.problems._problem import Problem
from skbo_silbo.problems._tuning_data import error_over_folds, folds_of

LOWEST = -3.0  # log10 of a penalty relative to the least one that leaves no coefficient
DUAL_GAP = 1e-8  # relative to |y|^2
MAX_ITERATIONS = 100_000


def weighted_lasso(data: str = "diabetes-interactions", random_state: RandomState = 0) -> Problem:
    """Return the task of choosing one Lasso penalty for every input.

    Parameters
    ----------
    data : {"diabetes-interactions", "breast-cancer", "diabetes"}, default="diabetes-interactions"
        Data that scikit-learn bundles, with 55, 30 and 10 inputs: diabetes with all products of two
        inputs; breast cancer, whose class, 0 or 1, is predicted as a number; diabetes as it is.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the folds.

    Returns
    -------
    problem : Problem
        Input j in [-3, 0] is log10 of the penalty of coefficient j relative to the fold's
        ``max |X'y| / n``, the least common penalty at which all coefficients are zero. The value is
        the mean squared error over five folds in units of the variance of y (1: predicting the
        mean). The optimum is not known.

    Raises
    ------
    ValueError
        If `data` is another name.

    References
    ----------
    H. Zou (2006), The adaptive lasso and its oracle properties, JASA 101. As a benchmark: Šehić,
    Gramfort, Salmon, Nardi (2022), LassoBench, AutoML Conference.

    Examples
    --------
    >>> from skbo_silbo.problems import weighted_lasso
    >>> problem = weighted_lasso()
    >>> problem.n_dims
    55
    >>> round(problem([0.0] * 55), 1)  # no coefficient is left
    1.0
    """
    folds = folds_of(data, random_state)
    bounds = np.tile([LOWEST, 0.0], (folds[0][0].shape[1], 1))
    return Problem(f"weighted-lasso({data})", partial(error_over_folds, predict, folds), bounds)


def predict(X, y, X_test, exponents):
    """Return what the Lasso of these log10 relative penalties predicts."""
    largest = np.abs(X.T @ y).max() / len(X)
    return X_test @ solve_weighted_lasso(X, y, largest * 10.0**exponents)


def solve_weighted_lasso(X, y, penalties):
    """Return the b that minimises ``|y - X b|^2 / (2 n) + sum_j penalties_j |b_j|``.

    With c_j = penalties_j b_j it is a plain Lasso with penalty 1 on the columns X_j / penalties_j.
    """
    _, path, _ = lasso_path(
        X / penalties, y, alphas=[1.0], tol=DUAL_GAP, max_iter=MAX_ITERATIONS, precompute=True
    )
    return path[:, 0] / penalties
