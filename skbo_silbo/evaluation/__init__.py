"""The loop that evaluates what an optimiser proposes, for `minimize` and `SILBOSearchCV`."""

from skbo_silbo.evaluation._budget import Progress

__all__ = ["Progress"]
