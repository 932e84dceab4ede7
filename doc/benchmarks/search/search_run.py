"""One cell of an experiment about optimisers: a run, and what is kept of it."""

import numpy as np

from benchmarks.engine import Recorder, curve, peak_rss_mib

from .contestants import find_contestant
from .gap_closed import N_CHANCE, chance_means
from .problem_data import make_problem


def measure_search(problem, method, repeat, make=make_problem):
    """Run a method once; return what it found and what it took.

    ``optimum`` and ``scale`` (median of 1000 random points minus optimum) make values regrets.
    `make` is from problem and repeat to the problem that the data describe.
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
    """Run a method once, as `measure_search`; return also how far chance gets, for `gap_runs`."""
    measured = measure_search(problem, method, repeat, make)
    return {**measured, "chance": chance_means(make(problem, repeat), n_points=n_chance)}


def _warm_up(contestant):
    """Import what is imported late, so that neither times nor memory hold it."""
    small = {"function": "branin", "kind": "embedded", "d": 4, "r": 2, "n": 12}
    contestant.run(Recorder(make_problem(small, 0)), small, 0)


def _regret_scale(problem):
    if problem.optimum is None:
        return {}
    return {"optimum": problem.optimum, "scale": float(f"{problem.regret_scale():.6g}")}


def regrets(result):
    """Return the regret after every evaluation, (n,), or None where no optimum is known."""
    if "optimum" not in result:
        return None
    values = curve(result["steps"], result["problem"]["n"])
    return np.abs(values - result["optimum"]) / result["scale"]
