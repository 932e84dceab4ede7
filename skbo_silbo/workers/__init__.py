"""Runs evaluations, for both doors: on executors, on joblib's workers, on workers of its own.

It knows neither points nor files: who hands it a call is told when that begins.
"""

from skbo_silbo.workers._calls import LostEvaluationWarning, LostWorkerError

__all__ = ["LostEvaluationWarning", "LostWorkerError"]
