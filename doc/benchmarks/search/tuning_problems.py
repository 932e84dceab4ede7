"""Real tuning problems, judged by cross-validation: penalties of a Lasso, a support vector machine.

Their data are bundled with scikit-learn.
"""

from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import lasso_path
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from skbo_silbo._checks import check_choice
from skbo_silbo.problems import Problem
from skbo_silbo.problems._problem import as_generator

LOWEST = -3.0  # log10 of a penalty relative to the least one that leaves no coefficient
DUAL_GAP = 1e-8  # relative to |y|^2
MAX_ITERATIONS = 100_000
LENGTH_SCALES = (-1.0, 2.0)  # of the support vectors; all bounds are those of log10
COST = (-1.0, 2.0)
TUBE = (-2.0, 0.0)
GAMMA = (-1.0, 1.0)
N_FOLDS = 5


def weighted_lasso(data="diabetes-interactions", random_state=0):
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
    >>> from benchmarks.search.tuning_problems import weighted_lasso
    >>> problem = weighted_lasso()
    >>> problem.n_dims
    55
    >>> round(problem([0.0] * 55), 1)  # no coefficient is left
    1.0
    """
    folds = folds_of(data, random_state)
    bounds = np.tile([LOWEST, 0.0], (folds[0][0].shape[1], 1))
    return Problem(
        f"weighted-lasso({data})", partial(error_over_folds, _lasso_prediction, folds), bounds
    )


def _lasso_prediction(X, y, X_test, exponents):
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


def svr_length_scales(data="diabetes", random_state=0):
    """Return the task of choosing all parameters of a support vector regression.

    Parameters
    ----------
    data : {"diabetes", "breast-cancer", "diabetes-interactions"}, default="diabetes"
        Data that scikit-learn bundles, with 10, 30 and 55 columns; see `weighted_lasso`.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the folds.

    Returns
    -------
    problem : Problem
        With p columns, p + 3 inputs, all log10: the length scale l_j of each column (-1 to 2, in
        standard deviations), C (-1 to 2), epsilon (-2 to 0, in standard deviations of y), g
        (-1 to 1), for the kernel ``exp(-g sum_j (x_j - x'_j)^2 / (p l_j^2))``. The value is the
        mean squared error over five folds in units of the variance of y. Optimum not known.

    Raises
    ------
    ValueError
        If `data` is another name.

    References
    ----------
    The task is that of Eriksson and Jankowiak (2021), SAASBO, UAI (there on 385 columns of CT
    slices, which scikit-learn does not bundle).

    Examples
    --------
    >>> from benchmarks.search.tuning_problems import svr_length_scales
    >>> problem = svr_length_scales()
    >>> problem.n_dims
    13
    >>> bool(0.4 < problem([0.5] * 10 + [0.0, -1.0, 0.0]) < 0.7)
    True
    """
    folds = folds_of(data, random_state)
    bounds = [LENGTH_SCALES] * folds[0][0].shape[1] + [COST, TUBE, GAMMA]
    return Problem(
        f"svr-length-scales({data})", partial(error_over_folds, _svr_prediction, folds), bounds
    )


def _svr_prediction(X, y, X_test, exponents):
    """Return what the regression of these log10 parameters predicts."""
    *scales, C, epsilon, g = 10.0**exponents
    model = SVR(C=C, epsilon=epsilon, gamma=g / len(scales))
    return model.fit(X / scales, y).predict(X_test / scales)


def folds_of(data, random_state):
    """Return standardised splits of a bundled data set.

    Parameters
    ----------
    data : {"diabetes", "diabetes-interactions", "breast-cancer"}
        442 rows and 10 inputs; the same with all 45 products of two inputs; 569 rows and 30
        inputs with the class, 0 or 1, as a number.
    random_state : int, RandomState, Generator or None
        Seed of the five folds.

    Returns
    -------
    folds : tuple of (X, y, X_test, y_test)
        One for each fold; centred and scaled to unit variance by the training rows.
    """
    check_choice("data", data, tuple(LOADERS))
    X, y = LOADERS[data]()
    seed = int(as_generator(random_state).integers(2**31))
    splits = KFold(N_FOLDS, shuffle=True, random_state=seed).split(X)
    return tuple(_standardised(X, y, train, test) for train, test in splits)


def _diabetes_interactions():
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(X), y


LOADERS = {
    "diabetes": partial(load_diabetes, return_X_y=True),
    "diabetes-interactions": _diabetes_interactions,
    "breast-cancer": partial(load_breast_cancer, return_X_y=True),
}


def _standardised(X, y, train, test):
    inputs, target = StandardScaler().fit(X[train]), StandardScaler().fit(y[train, None])
    return (
        inputs.transform(X[train]),
        target.transform(y[train, None]).ravel(),
        inputs.transform(X[test]),
        target.transform(y[test, None]).ravel(),
    )


def error_over_folds(predict, folds, rows):
    """Return the mean squared errors over folds, (n,), of rows of parameters, (n, d).

    Parameters
    ----------
    predict : callable
        From ``(X, y, X_test, parameters)`` to what is predicted at X_test.
    folds : tuple
        As `folds_of` returns them.
    rows : ndarray of shape (n, d)
    """
    return np.array([np.mean(_errors(predict, folds, row)) for row in rows])


def _errors(predict, folds, row):
    return [np.mean((y_test - predict(X, y, X_test, row)) ** 2) for X, y, X_test, y_test in folds]
