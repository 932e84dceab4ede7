"""Support vector regression with one length scale for each input, judged by cross-validation."""

from functools import partial

from sklearn.svm import SVR

from skbo_silbo._typing import RandomState
from skbo_silbo.problems._problem import Problem
from skbo_silbo.problems._tuning_data import error_over_folds, folds_of

LENGTH_SCALES = (-1.0, 2.0)  # all bounds are those of log10
COST = (-1.0, 2.0)
TUBE = (-2.0, 0.0)
GAMMA = (-1.0, 1.0)


def svr_length_scales(data: str = "diabetes", random_state: RandomState = 0) -> Problem:
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
    >>> from skbo_silbo.problems import svr_length_scales
    >>> problem = svr_length_scales()
    >>> problem.n_dims
    13
    >>> bool(0.4 < problem([0.5] * 10 + [0.0, -1.0, 0.0]) < 0.7)
    True
    """
    folds = folds_of(data, random_state)
    bounds = [LENGTH_SCALES] * folds[0][0].shape[1] + [COST, TUBE, GAMMA]
    return Problem(f"svr-length-scales({data})", partial(error_over_folds, predict, folds), bounds)


def predict(X, y, X_test, exponents):
    """Return what the regression of these log10 parameters predicts."""
    *scales, C, epsilon, g = 10.0**exponents
    model = SVR(C=C, epsilon=epsilon, gamma=g / len(scales))
    return model.fit(X / scales, y).predict(X_test / scales)
