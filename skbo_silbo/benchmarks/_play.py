"""One cell of an experiment about optimisers: a problem made from data, a run, a record."""

import numpy as np

from skbo_silbo import problems

from ._contestants import CONTESTANTS
from ._measure import peak_rss_mib
from ._recorder import Recorder, curve


def make_problem(problem, seed):
    """Return the problem that data describe.

    Parameters
    ----------
    problem : dict
        ``function``: a name in `skbo_silbo.problems`; ``kind``: "embedded", "planted", "rotated" or
        "real"; ``d``; optional ``inputs`` (of a function of any dimension) and ``sd`` (of noise).
    seed : int
        Of places, rotations, noise, and of what a real problem draws.
    """
    make = getattr(problems, problem["function"])
    if problem["kind"] == "real":
        return make(random_state=seed)
    made = make(problem["inputs"]) if "inputs" in problem else make()
    if problem["kind"] == "embedded":
        return problems.embedded(made, problem["d"])
    made = getattr(problems, problem["kind"])(made, problem["d"], random_state=seed)
    return problems.noisy(made, problem["sd"], random_state=seed) if "sd" in problem else made


def measure_play(problem, method, repeat):
    """Run a method once; return what it found and what it took.

    ``optimum`` and ``scale`` (median of 1000 random points minus optimum) make values regrets.
    """
    contestant = CONTESTANTS[method]
    _warm_up(contestant, problem)
    imported = peak_rss_mib()
    recorder = Recorder(make_problem(problem, repeat))
    contestant.play(recorder, problem, repeat)
    if len(recorder.told) != problem["n"]:
        raise RuntimeError(f"{method} made {len(recorder.told)} of {problem['n']} evaluations.")
    return {
        **recorder.summary(),
        **_regret_scale(recorder.problem),
        "values": contestant.values,
        "imported_mib": round(imported),
        "peak_mib": round(peak_rss_mib()),
    }


def _warm_up(contestant, problem):
    """Import what is imported late, so that neither times nor memory hold it."""
    small = {**problem, "function": "branin", "kind": "embedded", "d": 4, "r": 2, "n": 12}
    small = {name: value for name, value in small.items() if name not in ("inputs", "sd")}
    contestant.play(Recorder(make_problem(small, 0)), small, 0)


def _regret_scale(problem):
    if problem.optimum is None:
        return {}
    scale = problem.regret_scale()
    return {"optimum": float(f"{problem.optimum:.6g}"), "scale": float(f"{scale:.6g}")}


def told_problem(problem):
    """Return the words for a problem.

    Examples
    --------
    >>> told_problem({"function": "levy", "kind": "planted", "d": 20, "n": 100, "inputs": 5})
    'planted levy(5), d = 20'
    """
    problem = dict(problem)
    inputs = f"({problem['inputs']})" if "inputs" in problem else ""
    noise = f", noise sd {problem['sd']:g}" if "sd" in problem else ""
    return f"{problem['kind']} {problem['function']}{inputs}, d = {problem['d']}{noise}"


def regrets(result):
    """Return the regret after every evaluation, (n,), or None where no optimum is known."""
    if "optimum" not in result:
        return None
    values = curve(result["steps"], result["problem"]["n"])
    return np.abs(values - result["optimum"]) / result["scale"]
