"""Base class of surrogates that are Gaussian processes on standardised targets."""

from copy import copy

import numpy as np
from scipy.stats import norm

from skbo_silbo.surrogate.regressor import StandardisedSurrogate


class ExactProcess(StandardisedSurrogate):
    """Base class of surrogates that are Gaussian processes on standardised targets.

    A subclass implements `predict` and ``_condition(Z, targets)``, which stores its arguments as
    `_Z` and `_targets`, and the noise variance of standardised targets as `_noise`.
    """

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
