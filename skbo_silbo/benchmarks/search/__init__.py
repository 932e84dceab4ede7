"""Experiments about optimisers: who takes part, on what, and how the runs are told."""

from ._contestants import CONTESTANTS, packages
from ._output_scale import OutputScale
from ._problem_data import make_problem, told_problem
from ._published import compare_published, read_published
from ._search_report import COLUMNS, evaluations_within, search_figures, search_report, values_of
from ._search_run import measure_search, regrets

__all__ = [
    "COLUMNS",
    "CONTESTANTS",
    "OutputScale",
    "compare_published",
    "evaluations_within",
    "make_problem",
    "measure_search",
    "packages",
    "read_published",
    "regrets",
    "search_figures",
    "search_report",
    "told_problem",
    "values_of",
]
