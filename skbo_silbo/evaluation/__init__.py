"""The evaluation loop that `minimize` and `SILBOSearchCV` share."""

from skbo_silbo.evaluation.budget import Progress

__all__ = ["Progress"]
