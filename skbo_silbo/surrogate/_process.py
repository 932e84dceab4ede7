"""The Gaussian process surrogate: standardised targets, and hyperparameters at the mode."""

from copy import copy
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize
from scipy.stats import norm

from skbo_silbo._numerics._gaussian_process import condition, log_marginal_likelihood
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.surrogate._function_draws import FunctionDraws
from skbo_silbo.surrogate._hyperparameter_draws import draw_hyperparameters
from skbo_silbo.surrogate._prior import PRIORS, HyperparameterPrior
from skbo_silbo.surrogate._warps import location_and_scale

MAX_ITERATIONS = 60  # of L-BFGS-B for each start
JITTER = 1e-10  # least noise variance, for standardised targets
MOST_TUNED = 300  # values by which the hyperparameters are searched: n^3 for each of some 200 steps


class GaussianProcessSurrogate:
    """Gaussian process with a Matern-5/2 kernel, one length scale per input, and noise.

    The targets are standardised inside; every result is in their own units.

    Parameters
    ----------
    isotropic : bool, default=False
        One length scale for all inputs.
    prior : {"dimension-scaled", "sparse"} or HyperparameterPrior, default="dimension-scaled"
        Of the length scales: all inputs matter, or few do; or of all hyperparameters.

    Attributes
    ----------
    theta_ : ndarray of shape (r + 2,), or (3,) if isotropic
        The hyperparameters in use: log of the signal variance, of the r length scales and of the
        noise variance, for standardised targets.
    y_mean_, y_scale_ : float
        What the targets were standardised by.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate._process import GaussianProcessSurrogate
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> surrogate = GaussianProcessSurrogate().fit(Z, Z[:, 0] ** 2)
    >>> mean, std = surrogate.predict(np.array([[0.1]]))
    >>> bool(abs(mean[0] - 0.01) < 0.01), bool(std[0] < 0.02)
    (True, True)
    """

    takes_noise = True

    def __init__(
        self, *, isotropic: bool = False, prior: str | HyperparameterPrior = "dimension-scaled"
    ) -> None:
        self.isotropic = isotropic
        self.prior = prior

    def fit(
        self,
        Z: FloatArray,
        y: FloatArray,
        noise_variance: ArrayLike = 0.0,
        *,
        state: dict[str, Any] | None = None,
        tune: bool = True,
        rng: np.random.Generator | None = None,
    ) -> Self:
        """Condition on data.

        Parameters
        ----------
        Z : ndarray of shape (n, r)
            Inputs of a range like [-1, 1]; rows may repeat.
        y : ndarray of shape (n,)
            Finite targets. Equal targets say nothing about the hyperparameters: then the
            starting values are kept.
        noise_variance : float or ndarray of shape (n,), default=0.0
            Known variance of the noise of every target, in their squared units, on top of the
            noise whose variance is searched.
        state : dict or None, default=None
            What `to_state` returned: where the search of the hyperparameters starts, besides the
            prior's mode, and their values if they are not tuned. That of another number of inputs
            is left out. None: the prior's mode.
        tune : bool, default=True
            Search the hyperparameters, else only factorise.
        rng : numpy.random.Generator or None, default=None
            Not used: the search is deterministic.

        Returns
        -------
        self : object
        """
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        targets = (y - self.y_mean_) / self.y_scale_
        self._known = np.broadcast_to(noise_variance, len(Z)) / self.y_scale_**2
        self._prior = self._make_prior(Z.shape[1])
        self.theta_ = self._prior.location
        if state is not None and len(state["theta"]) == self.theta_.size:
            self.theta_ = np.array(state["theta"])
        if tune:
            self.theta_ = np.clip(self.theta_, *self._prior.bounds.T)
        if tune and np.ptp(targets) > 0.0:
            some = _spread(len(Z), MOST_TUNED)
            self.theta_ = self._most_probable(Z[some], targets[some], self._known[some])
        self._condition(Z, targets)
        return self

    @property
    def weights_(self) -> FloatArray:
        """Inverse squared length scales, (r,)."""
        return self._process.weights

    @property
    def relevance_(self) -> FloatArray:
        """Inverse length scales, (r,)."""
        return np.sqrt(self._process.weights)

    def to_state(self) -> dict[str, Any]:
        """Return the hyperparameters as plain data, exactly."""
        return {"theta": self.theta_.tolist()}

    def with_points(self, Z: FloatArray, y: FloatArray) -> Self:
        """Return a surrogate that believes in values, hyperparameters and standardisation kept.

        The objective itself is taken to have these values, without noise: so the surrogate is
        certain there, and a search leaves for elsewhere.

        Parameters
        ----------
        Z : ndarray of shape (m, r)
        y : ndarray of shape (m,)
            In the units of the targets of `fit`.

        Returns
        -------
        surrogate : GaussianProcessSurrogate
            A new one; this one is unchanged.
        """
        other = copy(self)
        other._process = self._process.believing(Z, (y - self.y_mean_) / self.y_scale_)
        return other

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the noise-free objective at the rows of Z.

        Returns
        -------
        mean, std : ndarray of shape (m,)
            In the units of the targets.
        """
        mean, variance = self._process.predict(Z)
        return self.y_mean_ + self.y_scale_ * mean, self.y_scale_ * np.sqrt(variance)

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Return mean, standard deviation and their gradients at the rows of Z.

        Returns
        -------
        mean, std : ndarray of shape (m,)
        by_mean, by_std : ndarray of shape (m, r)
            Derivatives by the coordinates of the point.
        """
        mean, variance, by_mean, by_variance = self._process.predict_gradient(Z)
        scale, std = self.y_scale_, np.sqrt(variance)
        by_std = scale * by_variance / (2.0 * std[:, None])
        return self.y_mean_ + scale * mean, scale * std, scale * by_mean, by_std

    def log_predictive_density(self, Z: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log density of every held-out target, noise included, of shape (m,)."""
        mean, std = self.predict(Z)
        noise = self.y_scale_ * np.exp(0.5 * self.theta_[-1])
        return norm.logpdf(y, mean, np.hypot(std, noise))

    def leave_one_out_log_density(self) -> FloatArray:
        """Return the log density of every target given all others, hyperparameters kept, (n,)."""
        return self._process.leave_one_out_log_density() - np.log(self.y_scale_)

    def draw_alike(self, n: int, rng: np.random.Generator) -> list[Self]:
        """Return n surrogates of the same data, hyperparameters drawn from their posterior."""
        data = self._process.X, self._process.y, self._known
        prior = self._make_prior(self._process.X.shape[1])
        draws = draw_hyperparameters(
            lambda theta: self._loss(theta, prior, *data), self.theta_, prior.bounds, n, rng
        )
        return [self._with_theta(theta) for theta in draws]

    def draw_functions(self, n: int, rng: np.random.Generator) -> FunctionDraws:
        """Return n draws of the objective, hyperparameters kept: a `FunctionDraws`.

        Its values are standardised as the targets are.
        """
        return FunctionDraws(self._process, n, rng)

    def _with_theta(self, theta):
        other = copy(self)
        other.theta_ = theta
        other._condition(self._process.X, self._process.y)
        return other

    def _make_prior(self, r):
        prior = PRIORS[self.prior](r) if isinstance(self.prior, str) else self.prior
        return prior.shared() if self.isotropic else prior

    def _condition(self, Z, targets):
        signal, noise = np.exp(self.theta_[[0, -1]])
        noise = noise + JITTER + self._known
        weights = np.broadcast_to(np.exp(-2.0 * self.theta_[1:-1]), Z.shape[1])
        self._process = condition(Z, targets, weights, signal, noise)

    def _most_probable(self, *data):
        """Return the best end of climbs from the prior's location and from the values there are.

        The sparse prior has many modes: its first start is the end under the broader prior.
        """
        broader = self._prior.broader
        first = self._prior.location
        if broader is not None:
            first = self._climb(first, broader, data).x
        starts = [first] if np.allclose(self.theta_, first) else [first, self.theta_]
        return min((self._climb(x, self._prior, data) for x in starts), key=lambda run: run.fun).x

    def _climb(self, start, prior, data):
        options = {"maxiter": MAX_ITERATIONS}
        return minimize(
            self._loss,
            start,
            args=(prior, *data),
            jac=True,
            method="L-BFGS-B",
            bounds=self._prior.bounds,
            options=options,
        )

    def _loss(self, theta, prior, Z, targets, known):
        """Return minus the log posterior density of the hyperparameters, and its gradient."""
        signal, noise = np.exp(theta[[0, -1]])
        weights = np.broadcast_to(np.exp(-2.0 * theta[1:-1]), Z.shape[1])
        try:
            value, gradient = log_marginal_likelihood(Z, targets, weights, signal, noise, known)
        except LinAlgError:  # not positive definite in floating point: step back
            return np.inf, np.zeros_like(theta)
        by_lengths = -2.0 * gradient[:-2]
        if self.isotropic:
            by_lengths = by_lengths.sum(keepdims=True)
        by_theta = np.concatenate([gradient[-2:-1], by_lengths, gradient[-1:]])
        prior_value, prior_gradient = prior.log_density(theta)
        return -(value + prior_value), -(by_theta + prior_gradient)


def _spread(n, most):
    """Return which of n rows to look at: all, or as many as there may be, evenly spread."""
    return np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(int))
