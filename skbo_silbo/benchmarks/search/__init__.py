"""Experiments about optimisers: who takes part, on what, and how the runs are told."""

from ._bbob import bbob_problem
from ._contestants import (
    CONTESTANTS,
    find_contestant,
    packages,
    settings_table,
    told_variants,
    with_variants,
)
from ._gap_closed import FEWEST, GapRun, chance_means, compared, gap_runs
from ._gap_report import (
    error_of_mean,
    gap_aims,
    gap_figures,
    gap_report,
    gap_tables,
    rank_aims,
    with_error,
)
from ._output_scale import yeo_johnson
from ._problem_data import make_problem, told_problem
from ._published import (
    compare_published,
    published_curves,
    published_key,
    read_published,
    value_at,
    verdict,
)
from ._search_figures import colour_of, mean_band, search_figures, style_of
from ._search_report import (
    COLUMNS,
    at_main_budgets,
    evaluations_within,
    search_report,
    values_of,
    whole_report,
)
from ._search_run import measure_gap, measure_search, regrets

__all__ = [
    "COLUMNS",
    "CONTESTANTS",
    "FEWEST",
    "GapRun",
    "at_main_budgets",
    "bbob_problem",
    "chance_means",
    "colour_of",
    "compare_published",
    "compared",
    "error_of_mean",
    "evaluations_within",
    "find_contestant",
    "gap_aims",
    "gap_figures",
    "gap_report",
    "gap_runs",
    "gap_tables",
    "make_problem",
    "mean_band",
    "measure_gap",
    "measure_search",
    "packages",
    "published_curves",
    "published_key",
    "rank_aims",
    "read_published",
    "regrets",
    "search_figures",
    "search_report",
    "settings_table",
    "style_of",
    "told_problem",
    "told_variants",
    "value_at",
    "values_of",
    "verdict",
    "whole_report",
    "with_error",
    "with_variants",
    "yeo_johnson",
]
