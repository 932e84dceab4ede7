"""Experiment `bocode`: real problems of a public collection, those that need no network (issue 12).

Chosen by what runs offline with the package alone, before any of our methods was run on them; never
tuned on. No optimum is known: the gap is to the best value that any run has seen.
"""

from functools import cache, partial

import numpy as np

from benchmarks.engine import Experiment, Grid
from benchmarks.search.contestants import packages, variant_options, with_variants
from benchmarks.search.gap_closed import compared
from benchmarks.search.gap_report import (
    OURS,
    gap_figures,
    gap_report,
    grouped_runs,
    ranks_after,
)
from benchmarks.search.search_run import measure_gap
from skbo_silbo.problems import Problem

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


@cache
def load_bocode(name):
    """Return the collection's own problem."""
    import bocode

    return bocode.get_problem(name)()


def bocode_problem(name):
    """Return an unconstrained problem with one objective as one to minimise.

    Parameters
    ----------
    name : str
        As the collection calls it, "Rover_100D" for example.

    Returns
    -------
    problem : Problem
        On the collection's own box. Whole and categorical inputs are numbers of that box, brought
        to the nearest value allowed, as the collection itself does. The optimum is not known.

    Raises
    ------
    ValueError
        When the problem has constraints or several objectives.
    """
    theirs = load_bocode(name)
    if theirs.num_objectives != 1 or theirs.num_constraints:
        raise ValueError(
            f"name must be that of a problem with one objective and no constraint: {name} has "
            f"{theirs.num_objectives} and {theirs.num_constraints}. Choose another."
        )
    return Problem(f"bocode {name}", partial(_evaluate, name), theirs.torch_bounds.numpy())


def _evaluate(name, X):
    """Return the values with their sign changed, as the collection maximises."""
    import torch

    theirs = load_bocode(name)
    allowed = theirs.enforce_variable_types(torch.as_tensor(X, dtype=torch.double))
    values, _ = theirs.evaluate(allowed)
    return -np.asarray(values[:, 0])


def make_problem(problem, repeat):
    """Return the problem of the collection that data name; the same for every repeat."""
    return bocode_problem(problem["function"])


def rank_aims(results, n=100):
    """Return the aim of issue 12.7 for problems without a known optimum: first by mean rank."""
    rows = []
    for title, runs in grouped_runs(results, group_of).items():
        by_method = compared(runs, n)
        if OURS not in by_method or len(by_method) < 2:
            continue
        ranks = _mean_ranks(by_method, n)
        mine = ranks.pop(OURS)
        rival = min(ranks, key=ranks.get)
        got = f"{mine:.2f}; {rival} {ranks[rival]:.2f} ({len(by_method[OURS])} runs)"
        rows.append((f"{title}: first by mean rank at {n}", got, mine < ranks[rival]))
    return rows


def _mean_ranks(by_method, n):
    """Return {method: mean rank} after n evaluations; 1 is best, equals share theirs."""
    ranks = ranks_after(by_method, n)
    return {method: float(own.mean()) for method, own in zip(by_method, ranks, strict=True)}


BOCODE = Experiment(
    name="bocode",
    methods={m: p or "bocode" for m, p in packages(CHEAP).items()},
    grids={
        "full": Grid((*_problems(SMALL, "small", 100), *_problems(LARGE, "large", 100)), 5, 4),
        "small": Grid(_problems(SMALL, "small", 100), 5, 4),
        "tiny": Grid(_problems({"Wing": 10}, "small", 50), 1, 4, methods=("sobol", "random")),
    },
    measure=partial(measure_gap, n_chance=N_CHANCE, make=make_problem),
    report=partial(gap_report, group_of=group_of, expensive=()),
    figures=partial(gap_figures, group_of, ()),
    aims=rank_aims,
    configure=with_variants,
    command_options=variant_options,
    cap_seconds=7200,
    about="rovers, portfolios, antennas, a wing and others that need no network",
)
