"""Base class of surrogates that are Gaussian processes on standardised targets."""

from copy import copy

import numpy as np
from scipy.stats import norm

from skbo_silbo.surrogate import central_differences
from skbo_silbo.surrogate.process import location_and_scale


class ExactProcess:
    """Base class of surrogates that are Gaussian processes on standardised targets.

    A subclass implements `predict` and ``_condition(Z, targets)``, which stores its arguments as
    `_Z` and `_targets`, and the noise variance of standardised targets as `_noise`.
    """

    takes_noise = False

    @property
    def relevance_(self):
        """Array of r ones, because all coordinates count as equally relevant."""
        return np.ones(self._Z.shape[1])

    def predict_gradient(self, Z):
        """Predict the mean and standard deviation, with gradients by central differences."""
        return central_differences(self.predict, Z)

    def _standardise(self, y):
        """Standardise the observed values, and store their mean and scale."""
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        return self._standardised(y)

    def _standardised(self, y):
        return (y - self.y_mean_) / self.y_scale_

    def with_points(self, Z, y):
        """Return a copy that is conditioned on additional points, without refitting."""
        other = copy(self)
        targets = np.append(self._targets, self._standardised(y))
        other._condition(np.vstack([self._Z, Z]), targets)
        return other

    def log_predictive_density(self, Z, y):
        """Return the log predictive density, in nats, of each observed value with its noise."""
        mean, std = self.predict(Z)
        return norm.logpdf(y, mean, np.hypot(std, self.y_scale_ * np.sqrt(self._noise)))
