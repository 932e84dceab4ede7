"""`minimize`, and the methods that it knows by name."""

from skbo_silbo.minimization._first_points import FirstPointsOnlyWarning
from skbo_silbo.minimization._minimize import minimize
from skbo_silbo.minimization._result import MinimizeResult
from skbo_silbo.minimization._run import LostEvaluationWarning
from skbo_silbo.optimizers._executors import LostWorkerError

__all__ = [
    "FirstPointsOnlyWarning",
    "LostEvaluationWarning",
    "LostWorkerError",
    "MinimizeResult",
    "minimize",
]
