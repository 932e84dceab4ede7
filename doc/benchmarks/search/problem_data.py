"""Problems as data: made from JSON values, and put into words."""

from types import MappingProxyType

from skbo_silbo import problems

from . import functions
from .bbob import bbob_problem
from .network_weights import mlp_weights
from .tuning_problems import svr_length_scales, weighted_lasso

NAMES = MappingProxyType({"colville_as_run": "authors' colville"})  # of functions, in words
REAL = MappingProxyType({f.__name__: f for f in (mlp_weights, weighted_lasso, svr_length_scales)})


def make_problem(problem, seed):
    """Return the problem that data describe.

    Parameters
    ----------
    problem : dict
        ``function``: a name in `skbo_silbo.problems`, in `functions` or in `REAL`; ``kind``:
        "embedded", "planted", "rotated" or "real"; ``d``; optional ``inputs`` (of a function of any
        dimension) and ``sd`` (of noise). With
        ``suite``, "bbob": ``function`` is a number, ``inputs`` those it has; kind "native" too.
    seed : int
        Of places, rotations, noise, and of what a real problem draws; of bbob, the instance.
    """
    if problem.get("suite") == "bbob":
        return _of_bbob(problem, seed)
    if problem["kind"] == "real":
        return REAL[problem["function"]](random_state=seed)
    name = problem["function"]
    make = getattr(problems if hasattr(problems, name) else functions, name)
    made = make(problem["inputs"]) if "inputs" in problem else make()
    if problem["kind"] == "embedded":
        return problems.embedded(made, problem["d"])
    made = getattr(problems, problem["kind"])(made, problem["d"], random_state=seed)
    return problems.noisy(made, problem["sd"], random_state=seed) if "sd" in problem else made


def _of_bbob(problem, instance):
    """Return a function of bbob, hidden in places of its own: none shares them with another."""
    made = bbob_problem(problem["function"], problem["inputs"], instance)
    if problem["kind"] == "native":
        return made
    places = 1000 * problem["function"] + instance
    return getattr(problems, problem["kind"])(made, problem["d"], random_state=places)


def problem_in_words(problem):
    """Return the words for a problem.

    Examples
    --------
    >>> problem_in_words({"function": "levy", "kind": "planted", "d": 20, "n": 100, "inputs": 5})
    'planted levy(5), d = 20'
    >>> problem_in_words({"function": "colville_as_run", "kind": "embedded", "d": 100, "r": 4})
    "embedded authors' colville, d = 100, r = 4"
    """
    problem = dict(problem)
    inputs = f"({problem['inputs']})" if "inputs" in problem else ""
    noise = f", noise sd {problem['sd']:g}" if "sd" in problem else ""
    function = (
        f"{problem['suite']} f{problem['function']}"
        if "suite" in problem
        else NAMES.get(problem["function"], problem["function"])
    )
    coordinates = f", r = {problem['r']}" if "r" in problem else ""
    return f"{problem['kind']} {function}{inputs}, d = {problem['d']}{coordinates}{noise}"
