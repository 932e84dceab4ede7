"""Hyperparameter searches beside one another: tasks, searches, tables."""

from ._table_tasks import TABLES, TableModel
from ._tuning_report import (
    CHANCE,
    FEW,
    LONG,
    MANY,
    OURS,
    complete,
    curves,
    mean_ranks,
    overheads,
    tuning_report,
)
from ._tuning_searches import PACKAGES, StampedScorer, measure_tuning, range_of, suggest
from ._tuning_tasks import N_FOLDS, TASKS

__all__ = [
    "CHANCE",
    "FEW",
    "LONG",
    "MANY",
    "N_FOLDS",
    "OURS",
    "PACKAGES",
    "TABLES",
    "TASKS",
    "StampedScorer",
    "TableModel",
    "complete",
    "curves",
    "mean_ranks",
    "measure_tuning",
    "overheads",
    "range_of",
    "suggest",
    "tuning_report",
]
