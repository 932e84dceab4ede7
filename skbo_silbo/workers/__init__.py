"""Runs evaluations, for both doors: on executors, on joblib's workers, on workers of its own.

It knows neither points nor files: who hands it a call is told when that begins.
"""

from skbo_silbo.workers._executors import InPlace, is_executor
from skbo_silbo.workers._joblib import Rounds, Stream, dies_with_its_calls, kind_of_workers
from skbo_silbo.workers._losses import (
    MOST_DEATHS,
    LostEvaluationWarning,
    LostWorkerError,
    in_words,
)
from skbo_silbo.workers._pace import Pace
from skbo_silbo.workers._pool import PROCESSES, THREADS, OneThread, Pool
from skbo_silbo.workers._workers import FOREVER, Call, Outcome, Workers

__all__ = [
    "Call",
    "FOREVER",
    "InPlace",
    "LostEvaluationWarning",
    "LostWorkerError",
    "MOST_DEATHS",
    "OneThread",
    "Outcome",
    "PROCESSES",
    "Pace",
    "Pool",
    "Rounds",
    "Stream",
    "THREADS",
    "Workers",
    "dies_with_its_calls",
    "in_words",
    "is_executor",
    "kind_of_workers",
]
