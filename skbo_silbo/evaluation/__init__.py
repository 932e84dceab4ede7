"""The evaluation loop that `minimize` and `SILBOSearchCV` share."""

from skbo_silbo.evaluation.budget import Progress
from skbo_silbo.evaluation.initial_design import FirstPointsOnlyWarning

__all__ = ["FirstPointsOnlyWarning", "Progress"]
