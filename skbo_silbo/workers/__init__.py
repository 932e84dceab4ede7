"""Workers that run evaluations for both `minimize` and `SILBOSearchCV`.

A scheduler sends calls to an executor and reports how each one ended. This package does not know
what a call evaluates, or where its value is stored.
"""

from skbo_silbo.workers.calls import LostEvaluationWarning, LostWorkerError

__all__ = ["LostEvaluationWarning", "LostWorkerError"]
