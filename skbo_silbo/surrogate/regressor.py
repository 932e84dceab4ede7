"""Surrogates based on scikit-learn regressors that return standard deviations."""

import warnings
from collections.abc import Callable
from copy import copy
from inspect import Parameter, signature

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import Pipeline

from skbo_silbo._sklearn import seeded_clone
from skbo_silbo._typing import FloatArray
from skbo_silbo.surrogate.process import location_and_scale

LEAST_STD = 1e-7  # smallest standard deviation relative to that of the targets
MOST_ALPHA = 1e-4  # largest `alpha` tried, for targets of unit variance
NEGATIVE_VARIANCE = "Predicted variances smaller than 0"  # scikit-learn's warning about rounding


class RegressorSurrogate:
    """Surrogate based on a scikit-learn regressor that predicts standard deviations.

    Targets are standardised, and gradients are central differences. Warnings about convergence and
    negative variances are suppressed. If the kernel matrix of a `GaussianProcessRegressor` is
    singular, because points are close together, its ``alpha`` is increased tenfold until the fit
    succeeds.

    Parameters
    ----------
    regressor : estimator, or callable
        The regressor, for example a `GaussianProcessRegressor`, a `BayesianRidge`, or a Pipeline
        that ends with one of them. Alternatively, a function that takes the number of coordinates
        and returns the regressor. The regressor is cloned before each fit. If its ``random_state``
        is None, a seed is set.

    Attributes
    ----------
    regressor_ : estimator
        The clone of the regressor that was fitted last.
    y_mean_, y_scale_ : float
        Mean and standard deviation with which the targets were standardised.

    Raises
    ------
    TypeError
        If the regressor cannot be cloned and fitted, or does not return standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from skbo_silbo.surrogate.regressor import RegressorSurrogate
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> surrogate = RegressorSurrogate(BayesianRidge()).fit(Z, 3 + 2 * Z[:, 0])
    >>> surrogate.predict(np.array([[0.5]]))[0].round(3)
    array([4.])
    """

    takes_noise = False

    def __init__(self, regressor):
        self.regressor = regressor

    def fit(self, Z, y, noise=None, *, state=None, tune=True, rng=None):
        """Fit a clone of the regressor to points Z and observed values y.

        A `GaussianProcessRegressor` starts its hyperparameter search from the values in `state`. If
        `tune` is False, it uses these values without a search.

        Returns
        -------
        self : object
        """
        drawn = 0 if rng is None else int(rng.integers(2**31))
        self.seed = drawn if state is None else state["seed"]
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        targets, r = (y - self.y_mean_) / self.y_scale_, Z.shape[1]
        regressor = self.regressor(r) if callable(self.regressor) else self.regressor
        regressor = seeded_clone(regressor, self.seed)
        if state is not None:
            _set_kernel(regressor, state["kernel"], tune)
        return self._fit(regressor, Z, targets)

    def with_points(self, Z, y):
        """Return a copy that is also fitted to the given points.

        The hyperparameters of Gaussian processes are unchanged.
        """
        other = copy(self)
        targets = np.append(self._targets, (y - self.y_mean_) / self.y_scale_)
        return other._fit(
            _clone_with_fixed_kernel(self.regressor_), np.vstack([self._Z, Z]), targets
        )

    def predict(self, Z):
        """Predict the mean and standard deviation at each row of Z."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NEGATIVE_VARIANCE)
            prediction = self.regressor_.predict(Z, return_std=True)
        if not isinstance(prediction, tuple) or len(prediction) != 2:
            raise TypeError(
                "surrogate must return (mean, std) from predict(Z, return_std=True): "
                f"{self.regressor!r} returned {type(prediction).__name__}. "
                "Use another regressor."
            )
        mean, std = (np.reshape(values, len(Z)) for values in prediction)
        return self.y_mean_ + self.y_scale_ * mean, self.y_scale_ * np.maximum(std, LEAST_STD)

    def predict_gradient(self, Z):
        """Predict the mean and standard deviation, with gradients by central differences."""
        return central_differences(self.predict, Z)

    @property
    def relevance_(self):
        """Array of r ones, because all coordinates count as equally relevant."""
        return np.ones(self._Z.shape[1])

    def to_state(self):
        """Return the seed and kernel hyperparameters as JSON-compatible data."""
        kernels = [process.kernel_ for process in _processes(self.regressor_)]
        return {"seed": self.seed, "kernel": _values_of(kernels[0]) if kernels else {}}

    def _fit(self, regressor, Z, targets):
        self._Z, self._targets = Z, targets
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.regressor_ = _fit_with_jitter(regressor, Z, targets)
        return self


def is_regressor(surrogate):
    """Return whether an object has the interface of a scikit-learn regressor.

    Raises
    ------
    TypeError
        If the object is a regressor that does not support ``predict(Z, return_std=True)``.
    """
    if isinstance(surrogate, type) or not all(
        hasattr(surrogate, name) for name in ("fit", "predict", "get_params")
    ):
        return False
    last = surrogate[-1] if isinstance(surrogate, Pipeline) else surrogate
    parameters = signature(last.predict).parameters
    passes_all = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    if not ("return_std" in parameters or passes_all):
        raise TypeError(
            "surrogate must support predict(Z, return_std=True), got "
            f"{surrogate!r}. Use a regressor that returns standard deviations, such as "
            "GaussianProcessRegressor() or BayesianRidge()."
        )
    return True


def _fit_with_jitter(regressor, Z, targets):
    """Fit a regressor, increasing its ``alpha`` tenfold while the kernel matrix is singular."""
    while True:
        try:
            return regressor.fit(Z, targets)
        except np.linalg.LinAlgError:
            processes = _processes(regressor)
            if not processes or np.max(processes[0].alpha) > MOST_ALPHA:
                raise
            processes[0].set_params(alpha=np.maximum(10.0 * processes[0].alpha, 1e-10))
        except ValueError as error:
            error.add_note(
                f"surrogate: the regressor was fitted to coordinates z of shape {Z.shape}. A "
                "kernel with one length scale per input needs embedding='identity', because a "
                "learnt embedding changes the number of coordinates."
            )
            raise


def _clone_with_fixed_kernel(regressor):
    """Return a clone of a fitted regressor with fixed kernel hyperparameters."""
    cloned = clone(regressor)
    for process, source in zip(_processes(cloned), _processes(regressor), strict=True):
        process.set_params(kernel=source.kernel_, optimizer=None)
    return cloned


def sklearn_process(r):
    """Create a scikit-learn Gaussian process with a Matern-5/2 kernel on r coordinates."""
    kernel = ConstantKernel() * Matern(np.ones(r), nu=2.5) + WhiteKernel(1e-2, (1e-8, 1e1))
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)


def _values_of(kernel):
    """Return the hyperparameters of a kernel as a dict."""
    values = kernel.get_params()
    return {h.name: np.asarray(values[h.name]).tolist() for h in kernel.hyperparameters}


def _set_kernel(regressor, values, tune):
    """Set the kernel hyperparameters of a regressor, and fix them unless `tune` is True."""
    for process in _processes(regressor):
        kernel = process.kernel
        shapes = {} if kernel is None else {k: np.shape(v) for k, v in _values_of(kernel).items()}
        if shapes == {name: np.shape(value) for name, value in values.items()}:
            kernel.set_params(**{k: np.array(v) if shapes[k] else v for k, v in values.items()})
            process.set_params(optimizer=process.optimizer if tune else None)


def _processes(regressor):
    last = regressor[-1] if isinstance(regressor, Pipeline) else regressor
    return [last] if isinstance(last, GaussianProcessRegressor) else []


STEP = 1e-4  # balances truncation error, STEP^2, and rounding error / STEP, on [-1, 1]


def central_differences(
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]], Z: FloatArray
) -> tuple[FloatArray, ...]:
    """Compute gradients of the predicted mean and standard deviation numerically.

    Parameters
    ----------
    predict : callable
        Function that maps an array of shape (k, r) to the mean and the standard deviation, each of
        shape (k,). It is called once for each row of Z.
    Z : ndarray of shape (m, r)

    Returns
    -------
    mean, std : ndarray of shape (m,)
    by_mean, by_std : ndarray of shape (m, r)
    """
    rows = [_differences_at(predict, z) for z in Z]
    return tuple(map(np.array, zip(*rows, strict=True)))


def _differences_at(predict, z):
    steps = STEP * np.eye(z.size)
    mean, std = predict(np.vstack([z, z + steps, z - steps]))
    by_mean, by_std = (
        (values[1 : 1 + z.size] - values[1 + z.size :]) / (2.0 * STEP) for values in (mean, std)
    )
    return mean[0], std[0], by_mean, by_std
