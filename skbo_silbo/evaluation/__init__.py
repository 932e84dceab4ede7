"""The evaluation loop that `minimize` and `SILBOSearchCV` share."""

from skbo_silbo.evaluation._budget import Progress

__all__ = ["Progress"]
