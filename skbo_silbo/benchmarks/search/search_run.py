"""One cell of an experiment about optimisers: a run, and what is kept of it."""

import numpy as np

from skbo_silbo.benchmarks.engine import Recorder, curve, peak_rss_mib

from .contestants import find_contestant
from .gap_closed import N_CHANCE, chance_means
from .problem_data import make_problem


def measure_search(problem, method, repeat, make=make_problem):
    """Run a method once; return what it found and what it took.

    `make` is from problem and repeat to the problem that the data describe.
    ``optimum`` and ``scale`` (median of 1000 random points minus optimum) make values regrets.
    `make` makes the problem of data and seed.
    """
    contestant = find_contestant(method)
    _warm_up(contestant)
    imported = peak_rss_mib()
    recorder = Recorder(make(problem, repeat))
    contestant.run(recorder, problem, repeat)
    if len(recorder.observed) != problem["n"]:
        raise RuntimeError(f"{method} made {len(recorder.observed)} of {problem['n']} evaluations.")
    return {
        **recorder.summary(),
        **_regret_scale(recorder.problem),
        "values": contestant.values,
        "imported_mib": round(imported),
        "peak_mib": round(peak_rss_mib()),
    }


def measure_gap(problem, method, repeat, n_chance=N_CHANCE, make=make_problem):
    """Run a method once, as `measure_search`; tell also how far chance gets, for `gap_runs`.

    ``optimum`` is kept in all its digits: a share of a gap is taken from it.
    """
    made = make(problem, repeat)
    known = {} if made.optimum is None else {"optimum": made.optimum}
    return {
        **measure_search(problem, method, repeat, make),
        **known,
        "chance": chance_means(made, n_points=n_chance),
    }


def _warm_up(contestant):
    """Import what is imported late, so that neither times nor memory hold it."""
    small = {"function": "branin", "kind": "embedded", "d": 4, "r": 2, "n": 12}
    contestant.run(Recorder(make_problem(small, 0)), small, 0)


def _regret_scale(problem):
    if problem.optimum is None:
        return {}
    scale = problem.regret_scale()
    return {"optimum": float(f"{problem.optimum:.6g}"), "scale": float(f"{scale:.6g}")}


def regrets(result):
    """Return the regret after every evaluation, (n,), or None where no optimum is known."""
    if "optimum" not in result:
        return None
    values = curve(result["steps"], result["problem"]["n"])
    return np.abs(values - result["optimum"]) / result["scale"]
