"""What Gaussian processes with a kernel of their own have in common."""

from copy import copy

import numpy as np
from scipy.stats import norm

from skbo_silbo.surrogate._process import location_and_scale


class ExactProcess:
    """Base of processes that are conditioned on standardised targets.

    A subclass has `predict` and ``_condition(Z, targets)``, which keeps both as `_Z` and `_targets`
    and sets `_noise`, the variance of the noise of standardised targets.

    Attributes
    ----------
    y_mean_, y_scale_ : float
        What the targets were standardised by.
    """

    takes_noise = False

    def with_points(self, Z, y):
        """Return a process with points added, hyperparameters and standardisation kept."""
        other = copy(self)
        targets = np.append(self._targets, (y - self.y_mean_) / self.y_scale_)
        other._condition(np.vstack([self._Z, Z]), targets)
        return other

    @property
    def relevance_(self):
        """Ones, (d,): one length scale is shared by all inputs."""
        return np.ones(self._Z.shape[1])

    def log_predictive_density(self, Z, y):
        """Return the log density of every value, noise included, (m,), in nats."""
        mean, std = self.predict(Z)
        return norm.logpdf(y, mean, np.hypot(std, self.y_scale_ * np.sqrt(self._noise)))

    def _standardise(self, y):
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        return (y - self.y_mean_) / self.y_scale_
