"""Experiment `public-long`: 250 and 1000 evaluations of problems of bbob (issue 12, point 5).

The functions of `public` on which the dear peers run too; those are left out here.
"""

from functools import partial

from skbo_silbo.benchmarks.engine import Experiment, Grid
from skbo_silbo.benchmarks.search import (
    gap_figures,
    gap_report,
    measure_gap,
    packages,
    told_variants,
    with_variants,
)

from ._public_suites import CHEAP, FIRST_INSTANCE, SUBSET, all_kinds, group_of, hidden

N, N_MOST = 250, 1000
THOUSAND = Grid(hidden(SUBSET, N_MOST, ("planted",)), 1, FIRST_INSTANCE, methods=CHEAP)

PUBLIC_LONG = Experiment(
    name="public-long",
    methods={m: p or "coco-experiment" for m, p in packages(CHEAP).items()},
    grids={
        "full": Grid(all_kinds(SUBSET, N), 1, FIRST_INSTANCE, methods=CHEAP),
        "thousand": THOUSAND,
        "tiny": Grid(all_kinds(SUBSET[:1], 50)[:1], 1, FIRST_INSTANCE, methods=("sobol", "random")),
    },
    measure=measure_gap,
    report=partial(gap_report, group_of=group_of, dear=()),
    figures=partial(gap_figures, group_of, (), n=N),
    configure=with_variants,
    told_options=told_variants,
    cap_seconds=7200,
    about="bbob: 250 evaluations (full), and 1000 of the planted ones (thousand)",
)
