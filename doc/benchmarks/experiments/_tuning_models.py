"""Experiment `tuning`: hyperparameter searches beside one another (issue 5)."""

import numpy as np

from benchmarks.engine import Experiment, Grid, spread

from .tuning._tuning_report import (
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
from .tuning._tuning_searches import PACKAGES, measure_tuning
from .tuning._tuning_tasks import TASKS

MOST_SECONDS = 0.15  # aim: median overhead of a candidate


def _problem(name, n):
    return {"task": name, "n": n, "d": TASKS[name].n_parameters}


def aims(results):
    """Aims of issue 5: best mean rank, a third of the fits, overhead."""
    matrices, words = complete(curves(results)), []
    if matrices and {OURS, CHANCE} <= set(next(iter(matrices.values()))):
        words += [_best_rank(matrices), _third_of_fits(matrices)]
    long = overheads(results, LONG)[OURS]
    if long:
        words.append(
            (
                f"median overhead of a candidate below {MOST_SECONDS} s in {LONG}",
                spread(long, 3),
                bool(np.median(long) < MOST_SECONDS),
            )
        )
    return words


def _best_rank(matrices):
    ranks = {m: own.mean() for m, own in mean_ranks(matrices, MANY).items()}
    rival = min((m for m in ranks if m != OURS), key=ranks.get)
    return (
        f"best mean rank after {MANY} candidates",
        f"{ranks[OURS]:.2f}, next {rival} {ranks[rival]:.2f}",
        ranks[OURS] < ranks[rival],
    )


def _third_of_fits(matrices):
    wins = [
        by_method[OURS][:, FEW - 1].mean() >= by_method[CHANCE][:, -1].mean()
        for by_method in matrices.values()
    ]
    return (
        f"mean score of {FEW} candidates at least that of {MANY} random ones, on every task",
        f"{sum(wins)} of {len(wins)} tasks",
        all(wins),
    )


TUNING = Experiment(
    name="tuning",
    about="hyperparameter searches on ten models of scikit-learn",
    methods=PACKAGES,
    grids={
        "full": (
            Grid(tuple(_problem(name, MANY) for name in TASKS), n_repeats=5, first=20),
            Grid((_problem("svc", LONG),), n_repeats=2, first=20),
        ),
        "tiny": Grid((_problem("svc-2", 12), _problem("conditional", 12)), n_repeats=1),
    },
    measure=measure_tuning,
    report=tuning_report,
    aims=aims,
    cap_seconds=900,
)
