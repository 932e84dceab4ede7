"""Experiment `own`: a user's own function, beside the same peers.

``run own --objective MODULE:FUNCTION --bounds '[[0, 1], [-5, 5]]' --out FILE``, or ``--objective
MODULE:PROBLEM`` alone: nothing else of it is fixed, so its grid is empty until a command fills it.
"""

import shlex
from dataclasses import replace

from skbo_silbo.benchmarks.engine import Experiment, Grid
from skbo_silbo.benchmarks.search.contestants import packages
from skbo_silbo.benchmarks.search.problem_data import make_problem
from skbo_silbo.benchmarks.search.search_figures import search_figures
from skbo_silbo.benchmarks.search.search_report import search_report
from skbo_silbo.benchmarks.search.search_run import measure_search

METHODS = (
    *("random", "sobol", "silbo", "cma", "optuna-tpe"),
    *("optuna-gp", "scikit-optimize", "turbo", "botorch-gp", "saasbo"),
)
CALLS, REPEATS = 100, 3
DAY = 86_400


def configure(experiment, options):
    """Return the experiment with the one problem that the options name.

    Raises
    ------
    ValueError
        When the function or its bounds are not given or cannot be had.
    """
    if options.objective is None:
        raise ValueError(
            "experiment 'own' needs --objective MODULE:FUNCTION and --bounds, or --objective "
            f"MODULE:PROBLEM: got --bounds {options.bounds} alone. Give for example --objective "
            "simulator:cost --bounds '[[0, 1], [-5, 5]]'."
        )
    problem = {"kind": "own", "function": options.objective}
    problem |= {} if options.bounds is None else {"bounds": options.bounds}
    problem |= {"d": make_problem(problem, 0).n_dims, "n": options.calls or CALLS}
    return replace(experiment, grids={"full": Grid((problem,), options.repeats or REPEATS)})


def command_options(results):
    """Return the options with which the results were measured."""
    problem = results[0]["problem"]
    repeats = 1 + max(r["repeat"] for r in results)
    words = {"--objective": problem["function"]}
    words |= {"--bounds": problem["bounds"]} if "bounds" in problem else {}
    words |= {"--calls": str(problem["n"]), "--repeats": str(repeats)}
    named = "".join(f" {name} {shlex.quote(value)}" for name, value in words.items())
    seen = {r["method"] for r in results}
    return f"{named} --only {' '.join(m for m in METHODS if m in seen)}"


OWN = Experiment(
    name="own",
    methods=packages(METHODS),
    grids={"full": Grid((), 0)},
    measure=measure_search,
    report=search_report,
    figures=search_figures,
    configure=configure,
    command_options=command_options,
    cap_seconds=DAY,
    about="your function: --objective MODULE:FUNCTION --bounds JSON, or MODULE:PROBLEM",
)
