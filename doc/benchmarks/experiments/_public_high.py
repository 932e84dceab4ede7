"""Experiment `public-high`: functions of bbob that five of 300, or of 1000, inputs act on.

Reported functions; whoever tunes takes functions 3, 9, 11, 17 and 21, instances 1 to 3 (profile
``tune``). Seeds of one function are alike, so that errors are those of the functions' means.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from benchmarks.engine import Grid, Table, nothing
from benchmarks.search.gap_closed import compared
from benchmarks.search.gap_report import (
    MEASURE,
    OURS,
    error_of_mean,
    grouped_runs,
    shares_after,
    with_error,
)

from ._public_suites import ACTIVE, FIRST_INSTANCE, PUBLIC, SUBSET, TINY, _problem

METHODS = (OURS, "optuna-tpe", "cma", "botorch-gp")
LIKE_SUBSET = (3, 9, 11, 17, 21)  # of the functions to tune on, one of each kind
BUDGETS = 50, 100


def planted(functions, d):
    """Return the functions of five inputs among d, 100 evaluations each."""
    return tuple(_problem(f, "planted", d, ACTIVE, 100) for f in functions)


def report(results):
    """Return the shares of every method that ran, and ours less theirs at the same places."""
    groups = grouped_runs(results, lambda problem: f"{ACTIVE} of {problem['d']}")
    rows = [
        (title, str(n), method, *_row(compared(runs, n, {OURS, method}), method, n))
        for title, runs in sorted(groups.items(), key=lambda group: group[1][0].problem["d"])
        for n in BUDGETS
        for method in METHODS
        if len(compared(runs, n, {OURS, method})) == len({OURS, method})
    ]
    header = ("inputs that act", "evaluations", "method", "runs", "mean", "worst", "ours less it")
    note = (
        "Mean over functions (standard error). Differences are over the runs that both methods "
        "have."
    )
    return [Table("Share of the gap closed", header, rows, note), MEASURE]


def _row(pair, method, n):
    shares = shares_after(pair, n)
    mean, difference = (
        with_error(*_by_function(pair[method], values))
        for values in (shares[method], shares[OURS] - shares[method])
    )
    last = "" if method == OURS else difference
    return str(len(pair[method])), mean, f"{shares[method].min():.2f}", last


def _by_function(runs, values):
    """Return the mean of the functions' means, and its standard error."""
    own = defaultdict(list)
    for run, value in zip(runs, values, strict=True):
        own[run.problem["function"]].append(value)
    means = [np.mean(found) for found in own.values()]
    return np.mean(means), error_of_mean(means)


PUBLIC_HIGH = replace(
    PUBLIC,
    name="public-high",
    methods={m: PUBLIC.methods[m] for m in METHODS},
    grids={
        "full": (
            Grid(planted(SUBSET, 300), 5, FIRST_INSTANCE, methods=METHODS[:3]),
            Grid(planted(SUBSET, 300), 1, FIRST_INSTANCE, methods=METHODS[3:]),
            Grid(planted(SUBSET, 1000), 3, FIRST_INSTANCE, methods=METHODS[:3]),
        ),
        "tune": Grid(planted(LIKE_SUBSET, 300), 3, 1, methods=METHODS[:3]),
        "tiny": Grid(TINY[1:], 1, FIRST_INSTANCE, methods=("cma",)),
    },
    report=report,
    figures=nothing,
    aims=nothing,
    about="bbob: five of 300 and of 1000 inputs act",
)
