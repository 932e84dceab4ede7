"""What Gaussian processes with a kernel of their own have in common."""

from copy import copy

import numpy as np
from scipy.stats import norm

from skbo_silbo.surrogate._regressor import StandardisedSurrogate


class ExactProcess(StandardisedSurrogate):
    """Base of processes that are conditioned on standardised targets.

    A subclass has `predict` and ``_condition(Z, targets)``, which keeps both as `_Z` and `_targets`
    and sets `_noise`, the variance of the noise of standardised targets.
    """

    def with_points(self, Z, y):
        """Return a process with points added, hyperparameters and standardisation kept."""
        other = copy(self)
        targets = np.append(self._targets, self._standardised(y))
        other._condition(np.vstack([self._Z, Z]), targets)
        return other

    def log_predictive_density(self, Z, y):
        """Return the log density of every value, noise included, (m,), in nats."""
        mean, std = self.predict(Z)
        return norm.logpdf(y, mean, np.hypot(std, self.y_scale_ * np.sqrt(self._noise)))
