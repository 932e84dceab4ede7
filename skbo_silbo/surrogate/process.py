"""Gaussian process surrogate, and the schedule of hyperparameter searches."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.stats import norm

from skbo_silbo._numerics.gaussian_process import Observations
from skbo_silbo._numerics.hyperparameters import MOST_ROWS, climb, most_probable
from skbo_silbo._numerics.priors import PRIORS, HyperparameterPrior
from skbo_silbo._typing import ArrayLike, FloatArray

# Not tuned; used by all runs of doc/search_log.rst.
TUNE_GROWTH = 1.05  # growth of the number of labels between hyperparameter searches
LONG_GROWTH = 1.1  # growth of the number of labels if a search takes long
LONG_WORK = 2 * 10**7  # labels squared times inputs: about a second (doc/benchmarks/overhead.rst)
# Noise variance of the second start, for standardised targets. 0.3 found fewer better modes.
MUCH_NOISE = 0.1


class GaussianProcessSurrogate:
    """Gaussian process surrogate with a Matern-5/2 kernel and noise.

    Targets are standardised internally; predictions are in the units of the targets.

    Parameters
    ----------
    prior : {"dimension-scaled", "sparse"} or HyperparameterPrior, default="dimension-scaled"
        Prior of the length scales. "dimension-scaled" assumes that all inputs matter, "sparse" that
        few do. A `HyperparameterPrior` is a prior of all hyperparameters.
    shared : sequence of int, of length r, or None, default=None
        Index, from 0, of the length scale that each input uses. The columns of a categorical
        parameter should share one: all levels are then equally far apart, including levels that
        have not been evaluated. None means one length scale per input.

    Attributes
    ----------
    theta_ : ndarray of shape (p + 2,)
        Logarithms of the signal variance, the p length scales and the noise variance, for
        standardised targets. p is r without `shared`.
    y_mean_, y_scale_ : float
        Mean and standard deviation with which the targets were standardised.
    observations_ : Observations
        The points and the standardised targets that the process was fitted to.
    posterior_ : GaussianProcess
        Gaussian process with the fitted hyperparameters, conditioned on the standardised data.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate.process import GaussianProcessSurrogate
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> surrogate = GaussianProcessSurrogate().fit(Z, Z[:, 0] ** 2)
    >>> mean, std = surrogate.predict(np.array([[0.1]]))
    >>> bool(abs(mean[0] - 0.01) < 0.01), bool(std[0] < 0.02)
    (True, True)
    """

    takes_noise = True

    def __init__(
        self,
        *,
        prior: str | HyperparameterPrior = "dimension-scaled",
        shared: Sequence[int] | None = None,
    ) -> None:
        self.prior = prior
        self.shared = shared

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
        """Fit the Gaussian process to points Z and observed values y.

        Parameters
        ----------
        Z : ndarray of shape (n, r)
            Coordinates of the points, in a range of about [-1, 1]. Rows may be repeated.
        y : ndarray of shape (n,)
            Targets, which must be finite. If all are equal, the initial hyperparameters are kept.
        noise_variance : float or ndarray of shape (n,), default=0.0
            Known noise variance of each target, in squared units of the targets. It is added to the
            estimated noise variance.
        state : dict or None, default=None
            State returned by `to_state` after an earlier fit. Its hyperparameters are an additional
            starting point of the search, or are used unchanged if `tune` is False. It is ignored if
            the number of inputs differs. None uses the mode of the prior.
        tune : bool, default=True
            Whether to optimise the hyperparameters.
        rng : numpy.random.Generator or None, default=None
            Ignored, because the search for hyperparameters is deterministic.

        Returns
        -------
        self : object
        """
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        targets = (y - self.y_mean_) / self.y_scale_
        known = np.broadcast_to(noise_variance, len(Z)) / self.y_scale_**2
        self.observations_ = Observations(Z, targets, known, shared=self.shared)
        self._n_lengths = Z.shape[1] if self.shared is None else max(self.shared) + 1
        vars(self).pop("prior_", None)  # cached by the last fit
        if state is not None and len(state["theta"]) == self._n_lengths + 2:
            self.theta_ = np.array(state["theta"])
        else:
            self.theta_ = self.prior_.location
        if tune:
            self.theta_ = np.clip(self.theta_, *self.prior_.bounds.T)
        if tune and np.ptp(targets) > 0.0:
            self.theta_ = self._most_probable()
        self.posterior_ = self.observations_.condition(self.theta_)
        return self

    @cached_property
    def prior_(self) -> HyperparameterPrior:
        """Prior of the hyperparameters `theta_`."""
        return PRIORS[self.prior](self._n_lengths) if isinstance(self.prior, str) else self.prior

    @property
    def relevance_(self) -> FloatArray:
        """Inverse length scale of each coordinate."""
        return np.sqrt(self.posterior_.weights)

    def to_state(self) -> dict[str, Any]:
        """Return the hyperparameters as JSON-compatible data."""
        return {"theta": self.theta_.tolist()}

    def with_points(self, Z: FloatArray, y: FloatArray) -> Self:
        """Return a copy that is also conditioned on the given noise-free values.

        The hyperparameters are unchanged. The variance at the added points is almost 0, so a search
        moves away from them.

        Parameters
        ----------
        Z : ndarray of shape (m, r)
        y : ndarray of shape (m,)
            Values in the units of the targets of `fit`.

        Returns
        -------
        surrogate : GaussianProcessSurrogate
            The copy with the additional values. The original surrogate is not modified.
        """
        other = copy(self)
        other.posterior_ = self.posterior_.with_values(Z, (y - self.y_mean_) / self.y_scale_)
        return other

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the mean and standard deviation of the noise-free objective.

        Returns
        -------
        mean, std : ndarray of shape (m,)
            Predicted mean and standard deviation in the units of the targets.
        """
        mean, variance = self.posterior_.predict(Z)
        return self.y_mean_ + self.y_scale_ * mean, self.y_scale_ * np.sqrt(variance)

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Predict the mean, the standard deviation and their gradients.

        Returns
        -------
        mean, std : ndarray of shape (m,)
        by_mean, by_std : ndarray of shape (m, r)
            Gradients of the mean and standard deviation with respect to Z.
        """
        mean, variance, by_mean, by_variance = self.posterior_.predict_gradient(Z)
        scale, std = self.y_scale_, np.sqrt(variance)
        by_std = scale * by_variance / (2.0 * std[:, None])
        return self.y_mean_ + scale * mean, scale * std, scale * by_mean, by_std

    def unexplained_share(self) -> float:
        """Return the share of the variance that leave-one-out predictions do not explain.

        It lies between 0 and 1, and is 0 for equal targets. Hyperparameters are kept.
        """
        y = self.posterior_.y
        mean, _ = self.posterior_.leave_one_out()
        total = float(np.sum((y - y.mean()) ** 2))
        return min(float(np.sum((y - mean) ** 2)) / total, 1.0) if total else 0.0

    def log_predictive_density(self, Z: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log predictive density of each held-out value, including noise."""
        mean, std = self.predict(Z)
        noise = self.y_scale_ * np.exp(0.5 * self.theta_[-1])
        return norm.logpdf(y, mean, np.hypot(std, noise))

    def leave_one_out_log_density(self) -> FloatArray:
        """Return the leave-one-out log density of each observed value."""
        mean, variance = self.posterior_.leave_one_out()
        miss = self.posterior_.y - mean
        log_density = -0.5 * (np.log(2.0 * np.pi * variance) + miss**2 / variance)
        return log_density - np.log(self.y_scale_)

    def _most_probable(self):
        """Return the hyperparameters of highest posterior density found from several starts.

        Starts with little noise and with much noise are needed, because they lead to different
        modes. The sparse prior has many modes, so the search also starts from the optima under the
        broader prior.
        """
        some = self.observations_.spread(MOST_ROWS)
        little, broader = self.prior_.location, self.prior_.broader
        starts = [little, np.append(little[:-1], np.log(MUCH_NOISE))]
        if broader is not None:
            starts = [climb(some.log_likelihood, broader, start).x for start in starts]
        return most_probable(some.log_likelihood, self.prior_, *starts, self.theta_)


def refit(template, state, Z, y, noise, *, moved=False, tune=True, rng=None):
    """Fit a copy of a surrogate, and optimise its hyperparameters if an update is due.

    Parameters
    ----------
    template : Surrogate
        The surrogate, which is copied before it is fitted.
    state : dict or None
        State that the previous call returned, or None for the first fit.
    Z, y, noise
        As in `Surrogate.fit`.
    moved : bool, default=False
        Whether the embedding has changed since the previous call, so that the hyperparameters must
        be optimised again.
    tune : bool, default=True
        Whether the hyperparameters may be optimised. If False, `state` is returned unchanged.
    rng : numpy.random.Generator or None, default=None
    """
    surrogate = copy(template)
    if state is not None and not tune:
        surrogate.fit(Z, y, noise, state=state, tune=False, rng=None)
        return surrogate, state
    tuned_at = 0 if moved or state is None else state["tuned_at"]
    growth = TUNE_GROWTH if y.size**2 * Z.shape[1] <= LONG_WORK else LONG_GROWTH
    tune = y.size >= growth * tuned_at
    surrogate.fit(Z, y, noise, state=state, tune=tune, rng=rng)
    return surrogate, {**surrogate.to_state(), "tuned_at": y.size if tune else tuned_at}


def location_and_scale(y: FloatArray) -> tuple[float, float]:
    """Return the mean and standard deviation of y, with 1 in place of a deviation of 0."""
    spread = np.ptp(y) > 1e-12 * np.abs(y).max()
    return float(np.mean(y)), (float(np.std(y)) if spread else 0.0) or 1.0  # squares can underflow
