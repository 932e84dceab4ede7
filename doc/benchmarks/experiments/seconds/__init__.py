"""Searches judged by seconds: tables of real fits, and a clock that their seconds are added to."""

from ._replayed_fits import N_FULL, SEARCHES, best_score, budget, measure_seconds
from ._tables_of_fits import TASKS

__all__ = ["N_FULL", "SEARCHES", "TASKS", "best_score", "budget", "measure_seconds"]
