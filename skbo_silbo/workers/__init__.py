"""Workers that run evaluations, for `minimize` and `SILBOSearchCV` alike.

A scheduler sends calls to an executor and reports how each one ended. Nothing here knows what a
call evaluates, or where its value is stored.
"""

from skbo_silbo.workers.calls import LostEvaluationWarning, LostWorkerError

__all__ = ["LostEvaluationWarning", "LostWorkerError"]
