"""Checks for parts of one's own, as scikit-learn has `check_estimator` for estimators."""

from skbo_silbo.testing._check_acquisition import check_acquisition
from skbo_silbo.testing._check_learner import check_learner
from skbo_silbo.testing._check_optimizer import check_optimizer
from skbo_silbo.testing._check_surrogate import check_surrogate

__all__ = [
    "check_acquisition",
    "check_learner",
    "check_optimizer",
    "check_surrogate",
]
