"""Experiment `default`: the default method beside every peer (issue 6).

Problems are planted or rotated as MATH section 3 says, so that neither the centre of the box nor
the first inputs are special; two are not low-dimensional, one is noisy, three are real.
"""

import numpy as np

from benchmarks.engine import Experiment, Grid, by_method
from benchmarks.search.contestants import packages
from benchmarks.search.problem_data import problem_in_words
from benchmarks.search.search_figures import search_figures
from benchmarks.search.search_report import at_main_budgets, incumbent_values, search_report
from benchmarks.search.search_run import measure_search

CHEAP = ("random", "sobol", "silbo", "cma", "optuna-tpe")
EXPENSIVE = ("turbo", "botorch-gp", "saas", "optuna-gp", "scikit-optimize")
FIRST_SEED = 100  # seeds below were looked at while the default was chosen


def _made(function, kind, d, **further):
    return {"function": function, "kind": kind, "d": d, **further}


MANY = (
    _made("branin", "planted", 100),
    _made("hartmann6", "planted", 100),
    _made("colville", "planted", 100),
    _made("hartmann6", "rotated", 100),
    _made("branin", "rotated", 100),
)
THOUSAND = tuple(_made(f, "planted", 1000) for f in ("branin", "hartmann6", "colville"))
NOISY = (_made("hartmann6", "planted", 100, sd=0.1),)
OTHER = (_made("styblinski_tang", "planted", 50, inputs=50), *NOISY)
FEW = (
    _made("rosenbrock", "planted", 5, inputs=5),
    _made("levy", "planted", 10, inputs=10),
    _made("ackley", "rotated", 20, inputs=8),
)
REAL = (
    _made("mlp_weights", "real", 500),
    _made("weighted_lasso", "real", 55),
    _made("svr_length_scales", "real", 13),
)


def _lasting(problems, n):
    return tuple({**problem, "n": n} for problem in problems)


AIMS = {  # greatest mean of the lowest value after 100 evaluations, minimised
    ("branin", "planted", 100): 0.40,
    ("branin", "planted", 1000): 0.40,
    ("hartmann6", "planted", 100): -3.30,
    ("hartmann6", "planted", 1000): -3.15,
    ("colville", "planted", 100): 10.0,
    ("colville", "planted", 1000): 30.0,
    ("branin", "rotated", 100): 0.45,
    ("hartmann6", "rotated", 100): -3.1,
}
NOISY_AIM = -3.2  # of Hartmann6 with noise, true value, at 150 evaluations


def aims(results):
    """Return the stretch marks of issue 6, and what the default did beside the best peer."""
    rows = []
    for key, methods in by_method(results).items():
        problem = dict(key)
        if "silbo" not in methods:
            continue
        values = incumbent_values(methods["silbo"])
        rows += _stretch_mark(problem, values)
        rows += _against_peers(problem, methods, values)
    return rows


def _stretch_mark(problem, values):
    if "sd" in problem:
        mark, n = NOISY_AIM, 150
    else:
        mark = AIMS.get((problem["function"], problem["kind"], problem["d"]))
        n = 100
    if mark is None or values.shape[1] < n:
        return []
    mean = float(values[:, n - 1].mean())
    aim = f"{problem_in_words(problem)}: mean of the best at {n} at most {mark:g}"
    runs = "1 run" if len(values) == 1 else f"{len(values)} runs"
    return [(aim, f"{mean:.4g} ({runs})", mean <= mark)]


def _against_peers(problem, methods, values):
    peers = {m: incumbent_values(own)[:, -1].mean() for m, own in methods.items() if m != "silbo"}
    if not peers:
        return []
    best, own = min(peers, key=peers.get), float(values[:, -1].mean())
    theirs = incumbent_values(methods[best])[:, -1]
    aim = f"{problem_in_words(problem)}: at {values.shape[1]} no worse than the best peer"
    got = f"{own:.4g}; {best} {peers[best]:.4g}; {_format_error(values[:, -1], theirs)}"
    return [(aim, got, own <= peers[best])]


def _format_error(ours, theirs):
    """Return the standard error of the difference of two means, or why there is none."""
    if min(ours.size, theirs.size) < 2:
        return "of one run, so by chance or not"
    error = np.sqrt(ours.var(ddof=1) / ours.size + theirs.var(ddof=1) / theirs.size)
    return f"standard error of the difference {error:.2g}"


def default_figures(results, folder):
    """Draw every problem once: the longer runs of one of them begin as those of its panel."""
    return search_figures(at_main_budgets(results), folder)


METHODS = (*CHEAP, *EXPENSIVE)
ALL = (*MANY, *OTHER, *FEW, *REAL, *THOUSAND)

DEFAULT = Experiment(
    name="default",
    about="the default beside ten peers, on 16 problems of ours",
    methods=packages(METHODS),
    grids={
        "stage1": (
            Grid(_lasting(ALL, 100), 3, FIRST_SEED, methods=CHEAP),
            Grid(_lasting((*MANY, *OTHER, *FEW), 100), 3, FIRST_SEED, methods=("optuna-gp",)),
            Grid(_lasting((*MANY, *OTHER, *FEW), 100), 2, FIRST_SEED, methods=EXPENSIVE),
            Grid(_lasting(NOISY, 150), 3, FIRST_SEED, methods=("silbo",)),
        ),
        "full": Grid(_lasting(ALL, 250), 10, FIRST_SEED),
        "tiny": Grid(
            ({**_made("branin", "planted", 6), "n": 14},), 2, methods=("random", "cma", "silbo")
        ),
    },
    measure=measure_search,
    report=search_report,
    figures=default_figures,
    aims=aims,
    cap_seconds=3600,
)
