"""Checks for parts of one's own, as scikit-learn has `check_estimator` for estimators."""

from skbo_silbo.testing._checks import (
    check_acquisition,
    check_learner,
    check_optimizer,
    check_surrogate,
)

__all__ = ["check_acquisition", "check_learner", "check_optimizer", "check_surrogate"]
