"""Experiment `unlabelled-as-run`: unlabelled points with the settings of the authors' code.

Other comparisons use a weight of 1. The authors' code uses a weight of 0.1, k = 3 neighbours and
one slice more than directions. The paper's functions and two others have 100 inputs.
"""

from benchmarks.engine import Experiment, Grid, by_method
from benchmarks.search.contestants import packages
from benchmarks.search.problem_data import problem_in_words
from benchmarks.search.search_report import incumbent_values
from benchmarks.search.search_run import measure_search

from ._cited import NOTE, paired_table
from ._paper_figures import as_run, embedded

WITH, WITHOUT = "silbo-bu-as-run", "silbo-bu-as-run-labelled"
N_EVALUATIONS = 550  # 150 iterations


def unlabelled_as_run_report(results):
    """Return what unlabelled points gain, by function."""
    comparisons = []
    for key, methods in by_method(results).items():
        ends = [
            {r["repeat"]: float(incumbent_values([r])[0, -1]) for r in methods.get(name, [])}
            for name in (WITH, WITHOUT)
        ]
        seeds = sorted(ends[0].keys() & ends[1].keys())
        if len(seeds) > 1:
            values = ([side[seed] for seed in seeds] for side in ends)
            comparisons.append((problem_in_words(dict(key)), WITH, WITHOUT, *values, -1.0))
    note = f"Lowest values after {N_EVALUATIONS} evaluations. {NOTE}"
    return [paired_table("Unlabelled points at a weight of 0.1", comparisons, note)]


UNLABELLED_AS_RUN = Experiment(
    name="unlabelled-as-run",
    methods=packages((WITH, WITHOUT)),
    grids={
        "full": Grid(
            (
                *as_run(100, N_EVALUATIONS),
                embedded("camel", 100, N_EVALUATIONS, 2),
                embedded("levy", 100, N_EVALUATIONS, 2),
            ),
            n_repeats=12,
        ),
        "tiny": Grid((embedded("branin", 5, 60, 2),), n_repeats=1),
    },
    measure=measure_search,
    report=unlabelled_as_run_report,
    cap_seconds=900,
    about="unlabelled points for bottom-up SILBO with the settings of the authors' code",
)
