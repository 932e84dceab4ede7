"""Experiment `learnt-subspace`: what a learnt subspace is worth beside the default (issue 29).

On bbob as `public` reports it (even-numbered functions, instances from 4 on), and where theory says
that a learnt subspace should win: one or two directions, rotated into many inputs, few values, a
smooth response that rises along every direction.
"""

from functools import partial

import numpy as np

from benchmarks.engine import Experiment, Grid
from benchmarks.experiments._public_suites import (
    FIRST_INSTANCE,
    REPORTED,
    hidden,
    native,
)
from benchmarks.search.contestants import packages
from benchmarks.search.problem_data import make_problem
from benchmarks.search.search_run import measure_gap
from skbo_silbo.problems import Problem, rotated

from ._learnt_report import figures, headline, report

SEMI_SIR = "silbo:embedding=semi-sir"
LEARNERS = (
    SEMI_SIR,
    f"{SEMI_SIR},surrogate=sklearn",
    "silbo:embedding=active-subspace",
)
ROWS = ("silbo", *(row for name in LEARNERS for row in (name, f"{name},n_components=known")))


def slope(U):
    """Return the only coordinate."""
    return U[:, 0]


def exponential(U):
    """Return what is flat where it is low."""
    return np.exp(3.0 * U[:, 0])


def logistic(U):
    """Return what is flat at both ends."""
    return 1.0 / (1.0 + np.exp(-5.0 * U[:, 0]))


def corner_bowl(U):
    """Return the squared distance from the corner -1."""
    return ((U + 1.0) ** 2).sum(axis=1)


def exponentials(U):
    """Return two exponentials, one steeper than the other."""
    return np.exp(U[:, 0]) + np.exp(2.0 * U[:, 1])


def ratio(U):
    """Return the ratio of Li (1991), model (6.2): where it is negative it rises in both."""
    return U[:, 0] / (0.5 + (U[:, 1] + 1.5) ** 2)


RIDGES = {
    function.__name__: (function, r)
    for function, r in (
        (slope, 1),
        (exponential, 1),
        (logistic, 1),
        (corner_bowl, 2),
        (exponentials, 2),
        (ratio, 2),
    )
}


def make_ridge(problem, seed):
    """Return a function of `RIDGES` along random directions of many inputs; else as the others."""
    if problem.get("suite") != "ridge":
        return make_problem(problem, seed)
    function, r = RIDGES[problem["function"]]
    lowest = -np.ones((1, r))
    made = Problem(problem["function"], function, [(-1, 1)] * r, float(function(lowest)[0]), lowest)
    return rotated(made, problem["d"], random_state=seed)


def ridges(d, n):
    """Return the functions of `RIDGES` in d inputs, as data."""
    return tuple(
        {"suite": "ridge", "function": name, "kind": "rotated", "d": d, "inputs": r, "n": n}
        for name, (_, r) in RIDGES.items()
    )


def _suite(functions, n):
    """Return every function three times, one after another: so a run that stops has all kinds."""
    return tuple(problem for f in functions for problem in (*hidden((f,), n), *native((f,), 20, n)))


def rows_on(experiment, problem):
    """Return the rows that run on a problem: where all inputs are active, r = d is no subspace."""
    every = problem["kind"] == "native"
    return tuple(row for row in ROWS if not (every and row.endswith("=known")))


SIXTY = (  # runs a row at least
    Grid(ridges(100, 50), 5),
    Grid(_suite(REPORTED, 100), 1, FIRST_INSTANCE),
    Grid(ridges(1000, 50)[1::2], 3),
)

LEARNT_SUBSPACE = Experiment(
    name="learnt-subspace",
    methods=packages(ROWS),
    grids={
        "sixty": SIXTY,
        "full": (*SIXTY, Grid(_suite(REPORTED, 100), 1, FIRST_INSTANCE + 1)),
        "tiny": Grid(ridges(6, 50)[:1], 1, methods=("silbo", SEMI_SIR)),
    },
    measure=partial(measure_gap, make=make_ridge),
    report=report,
    figures=figures,
    headline=headline,
    methods_of=rows_on,
    cap_seconds=3600,
    about="the default beside learnt subspaces, their number of directions known or not",
)
