"""Checks for user-defined components, in the manner of scikit-learn's `check_estimator`."""

from skbo_silbo.testing._checks import (
    check_acquisition,
    check_learner,
    check_optimizer,
    check_surrogate,
)

__all__ = ["check_acquisition", "check_learner", "check_optimizer", "check_surrogate"]
