"""Experiment `bocode`: real problems of a public collection, those that need no network (issue 12).

Chosen by what runs offline with the package alone, before any of our methods was run on them; never
tuned on. No optimum is known: the gap is to the best value that any run has seen.
"""

from functools import partial

from skbo_silbo.benchmarks.engine import Experiment, Grid
from skbo_silbo.benchmarks.search import (
    gap_figures,
    gap_report,
    measure_gap,
    packages,
    rank_aims,
    told_variants,
    with_variants,
)

CHEAP = ("silbo", "optuna-tpe", "cma", "sobol", "random")
LARGE = {
    **{f"Rover_{d}D": d for d in (100, 200, 300, 400, 500)},
    "PortfolioPort2": 170,
    "PortfolioPort5": 450,
    "AntennaArray200": 200,
}
SMALL = {"Wing": 10, "ReactivityModel": 8, "AgNP": 5, "LCBenchAdult": 7, "LCBenchCar": 7}
TITLES = {"large": "BOCoDe, d = 100 to 500", "small": "BOCoDe, d = 5 to 10"}
N_CHANCE = 1000  # their values take up to .01 s


def _problems(sizes, kind, n):
    return tuple(
        {"suite": "bocode", "function": name, "kind": kind, "d": d, "n": n}
        for name, d in sizes.items()
    )


def group_of(problem):
    """Return the title of the group that a problem is reported in."""
    return TITLES[problem["kind"]]


BOCODE = Experiment(
    name="bocode",
    methods={m: p or "bocode" for m, p in packages(CHEAP).items()},
    grids={
        "full": Grid((*_problems(SMALL, "small", 100), *_problems(LARGE, "large", 100)), 5, 4),
        "small": Grid(_problems(SMALL, "small", 100), 5, 4),
        "tiny": Grid(_problems({"Wing": 10}, "small", 50), 1, 4, methods=("sobol", "random")),
    },
    measure=partial(measure_gap, n_chance=N_CHANCE),
    report=partial(gap_report, group_of=group_of, dear=()),
    figures=partial(gap_figures, group_of, ()),
    aims=partial(rank_aims, group_of=group_of),
    configure=with_variants,
    told_options=told_variants,
    cap_seconds=7200,
    about="rovers, portfolios, antennas, a wing and others that need no network",
)
