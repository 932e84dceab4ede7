"""Any regressor of scikit-learn that can say how sure it is, as a surrogate."""

import warnings
from collections.abc import Callable
from copy import copy
from inspect import Parameter, signature
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import Pipeline

from skbo_silbo._sklearn import seeded_clone
from skbo_silbo._typing import FloatArray
from skbo_silbo.surrogate._process import location_and_scale

LEAST_STD = 1e-7  # relative to that of the targets: below it rounding decides
MOST_ALPHA = 1e-4  # variance added to that of the targets, 1, before a process is given up
NEGATIVE_VARIANCE = "Predicted variances smaller than 0"  # of scikit-learn's processes: rounding


class StandardisedSurrogate:
    """Base of surrogates that see standardised targets, and whose `predict` has no derivative.

    A subclass keeps the points that it is fitted to, (n, r), as `_Z`.

    Attributes
    ----------
    y_mean_, y_scale_ : float
        What the targets were standardised by.
    """

    takes_noise = False
    predict: Callable[..., Any]
    _Z: FloatArray

    @property
    def relevance_(self):
        """Ones, (r,): all coordinates count alike."""
        return np.ones(self._Z.shape[1])

    def predict_gradient(self, Z):
        """Return mean, standard deviation and their gradients at the rows of Z."""
        return central_differences(self.predict, Z)

    def _standardise(self, y):
        """Return targets standardised by what these targets, (n,), are from now on."""
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        return self._standardised(y)

    def _standardised(self, y):
        return (y - self.y_mean_) / self.y_scale_


class RegressorSurrogate(StandardisedSurrogate):
    """A clone of a regressor with ``predict(Z, return_std=True)``, fitted to standardised targets.

    The gradient of its prediction is taken by central differences.
    Warnings that it has not converged, or that rounding made a variance negative, are not shown.
    Where points too near one another make the matrix of a `GaussianProcessRegressor` singular, its
    ``alpha`` is raised tenfold, as scikit-learn advises, as often as needed: see `regressor_`.

    Parameters
    ----------
    regressor : estimator, or callable
        For example `GaussianProcessRegressor`, `BayesianRidge`, or a Pipeline that ends in one. It
        is not fitted itself. A ``random_state`` that is None is seeded at the first fit. A callable
        makes it from the number of coordinates, as `sklearn_process` does.

    Attributes
    ----------
    regressor_ : estimator
        The fitted clone.
    y_mean_, y_scale_ : float
        What the targets were standardised by.

    Raises
    ------
    TypeError
        When the regressor cannot be cloned and fitted, or gives no standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from skbo_silbo.surrogate._regressor import RegressorSurrogate
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> surrogate = RegressorSurrogate(BayesianRidge()).fit(Z, 3 + 2 * Z[:, 0])
    >>> surrogate.predict(np.array([[0.5]]))[0].round(3)
    array([4.])
    """

    def __init__(self, regressor):
        self.regressor = regressor

    def fit(self, Z, y, noise=None, *, state=None, tune=True, rng=None):
        """Fit a clone to Z, (n, r), and y, (n,), finite.

        The search of a `GaussianProcessRegressor`'s hyperparameters starts at those of `state`; a
        process that is not to be tuned keeps them. Other regressors are fitted from the start.

        Returns
        -------
        self : object
        """
        drawn = 0 if rng is None else int(rng.integers(2**31))
        self.seed = drawn if state is None else state["seed"]
        targets, r = self._standardise(y), Z.shape[1]
        regressor = self.regressor(r) if callable(self.regressor) else self.regressor
        regressor = seeded_clone(regressor, self.seed)
        if state is not None:
            _start_at(regressor, state["kernel"], tune)
        return self._fit(regressor, Z, targets)

    def with_points(self, Z, y):
        """Return a surrogate with points added; a process keeps its kernel, others fit again."""
        other = copy(self)
        targets = np.append(self._targets, self._standardised(y))
        return other._fit(_settled_clone(self.regressor_), np.vstack([self._Z, Z]), targets)

    def predict(self, Z):
        """Return mean and standard deviation at the rows of Z, in the units of the targets."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NEGATIVE_VARIANCE)
            prediction = self.regressor_.predict(Z, return_std=True)
        if not isinstance(prediction, tuple) or len(prediction) != 2:
            raise TypeError(
                "surrogate must return (mean, std) from predict(Z, return_std=True): "
                f"{self.regressor!r} returned {type(prediction).__name__}. "
                "Give another regressor."
            )
        mean, std = (np.reshape(values, len(Z)) for values in prediction)
        return self.y_mean_ + self.y_scale_ * mean, self.y_scale_ * np.maximum(std, LEAST_STD)

    def log_predictive_density(self, Z, y):
        """Return the log density of every value, (m,), normal with the regressor's deviation."""
        return norm.logpdf(y, *self.predict(Z))

    def to_state(self):
        """Return the seed and a process's hyperparameters: the same data give the same fit."""
        kernels = [process.kernel_ for process in _processes(self.regressor_)]
        return {"seed": self.seed, "kernel": _values_of(kernels[0]) if kernels else {}}

    def _fit(self, regressor, Z, targets):
        self._Z, self._targets = Z, targets
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.regressor_ = _fit_regular(regressor, Z, targets)
        return self


def is_regressor(surrogate):
    """Return whether an object can be cloned, fitted and asked as a regressor of scikit-learn.

    Raises
    ------
    TypeError
        When it can, and has no ``predict(Z, return_std=True)``.
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
            "surrogate must say how sure it is, by predict(Z, return_std=True): "
            f"got {surrogate!r}. Use GaussianProcessRegressor(), BayesianRidge() or another "
            "regressor that does."
        )
    return True


def _fit_regular(regressor, Z, targets):
    """Fit, with the least power of ten times ``alpha`` that leaves a process regular."""
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
                f"surrogate: the regressor was to be fitted to coordinates z of shape {Z.shape}. "
                "With a length scale for every input use embedding='identity': an embedding that "
                "is learnt changes their number."
            )
            raise


def _settled_clone(regressor):
    """Return a clone of a fitted regressor whose next fit does not search the kernel again."""
    cloned = clone(regressor)
    for process, source in zip(_processes(cloned), _processes(regressor), strict=True):
        process.set_params(kernel=source.kernel_, optimizer=None)
    return cloned


def sklearn_process(r):
    """Return scikit-learn's process for r coordinates: Matern 5/2, a length scale each, noise."""
    kernel = ConstantKernel() * Matern(np.ones(r), nu=2.5) + WhiteKernel(1e-2, (1e-8, 1e1))
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)


def _values_of(kernel):
    """Return the hyperparameters of a kernel by name, exactly."""
    values = kernel.get_params()
    return {h.name: np.asarray(values[h.name]).tolist() for h in kernel.hyperparameters}


def _start_at(regressor, values, tune):
    """Have a process start at these hyperparameters, if it has as many, or keep them."""
    for process in _processes(regressor):
        kernel = process.kernel
        shapes = {} if kernel is None else {k: np.shape(v) for k, v in _values_of(kernel).items()}
        if shapes == {name: np.shape(value) for name, value in values.items()}:
            kernel.set_params(**{k: np.array(v) if shapes[k] else v for k, v in values.items()})
            process.set_params(optimizer=process.optimizer if tune else None)


def _processes(regressor):
    last = regressor[-1] if isinstance(regressor, Pipeline) else regressor
    return [last] if isinstance(last, GaussianProcessRegressor) else []


STEP = 1e-4  # of coordinates in a range like [-1, 1]; error ~ STEP^2 and rounding / STEP


def central_differences(
    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]], Z: FloatArray
) -> tuple[FloatArray, ...]:
    """Return mean, standard deviation and their gradients, by central differences.

    Parameters
    ----------
    predict : callable
        From (k, r) to mean and standard deviation, (k,) each. It is called once for every row.
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
