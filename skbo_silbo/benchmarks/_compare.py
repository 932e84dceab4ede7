"""Run optimisers on a user-defined objective with several seeds, skipping finished runs."""

import json
import warnings
from functools import partial
from importlib.util import find_spec
from pkgutil import resolve_name
from types import MappingProxyType

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skbo_silbo.benchmarks import _peers
from skbo_silbo.benchmarks._results import Recorder
from skbo_silbo.evaluation import FirstPointsOnlyWarning
from skbo_silbo.minimization import minimize
from skbo_silbo.optimizers import EmbeddedOptimizer
from skbo_silbo.problems import Problem


def load_problem(objective, bounds):
    """Import an objective from a user's module and convert it to a `Problem`.

    Parameters
    ----------
    objective : str
        Name of the objective: ``module:function`` for a function to minimise, which maps an ndarray
        of shape (d,) to a float, or ``module:name`` for a `Problem`, which has bounds and
        optionally an optimum and noise. Modules in the current directory are found first, as with
        ``python -m``.
    bounds : str or None
        Bounds of a function, as JSON pairs such as ``[[0, 1], [-5, 5]]`` or as ``module:name`` of
        an array-like of shape (d, 2). Must be None for a `Problem`.

    Returns
    -------
    problem : Problem

    Raises
    ------
    ValueError
        If the objective or the bounds cannot be imported or have the wrong type, or if the bounds
        of a function are missing or those of a `Problem` are given.
    """
    function = import_object("objective", objective)
    if isinstance(function, Problem) and bounds is None:
        return function
    if isinstance(function, Problem) or not callable(function) or bounds is None:
        raise ValueError(
            "objective must be a function of an array of shape (d,) with --bounds, for example "
            f"'[[0, 1], [-5, 5]]', or a Problem without --bounds, got {objective} of "
            f"type {type(function).__name__} with bounds {bounds}."
        )
    return Problem(objective, partial(_row_by_row, function), _read_bounds(bounds))


def import_object(option, name):
    """Import an object given as ``module:name``.

    Parameters
    ----------
    option : str
        Name of the command-line option, used in the error message.
    name : str
        Name of the object in the form ``module:name``.

    Returns
    -------
    object : object

    Raises
    ------
    ValueError
        If the name has another form or cannot be imported.
    """
    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{option} must be MODULE:NAME of an object that can be imported, got {name!r} "
            f"({error}). Run the command in the directory of the module, or add the directory to "
            "PYTHONPATH."
        ) from error


def _read_bounds(bounds):
    if not bounds.lstrip().startswith("["):
        return import_object("bounds", bounds)
    try:
        return json.loads(bounds)
    except ValueError as error:
        raise ValueError(
            f"bounds must be pairs in JSON such as '[[0, 1], [-5, 5]]', got {bounds!r} ({error}). "
            "Put the argument in quotes."
        ) from error


def _row_by_row(function, X):
    return np.array([float(function(x)) for x in X])


PEERS = MappingProxyType(  # name: (class in `_peers`, required module)
    {
        "sobol": ("Sobol", "scipy"),
        "cma": ("CMAES", "cma"),
        "optuna-tpe": ("OptunaTPE", "optuna"),
    }
)
OURS = ("silbo", "random")
METHODS = (*OURS, *PEERS)


def run_peer(make, recorder, bounds, n, seed):
    """Minimise a recorded objective with n evaluations of another library's optimiser."""
    lower, upper = np.asarray(bounds, dtype=float).T
    peer = make(len(lower), seed)
    for _ in range(n):
        u = peer.ask()
        peer.tell(u, recorder(np.clip(lower + u * (upper - lower), lower, upper)))


def check_installed(names):
    """Raise a ValueError if a method requires a package that is not installed."""
    missing = [name for name in names if name in PEERS and find_spec(PEERS[name][1]) is None]
    if missing:
        needed = ", ".join(f"{name} (module {PEERS[name][1]})" for name in missing)
        raise ValueError(
            f"methods must be installed, but {needed} cannot be imported. Install the extra "
            '"bench" or remove the method from --methods.'
        )


def measure(function, bounds, n, method, seed):
    """Minimise a function or `Problem` by one method and return a summary of the run."""
    recorder, more = Recorder(function), {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FirstPointsOnlyWarning)  # the summary says so
        if isinstance(method, str) and method in PEERS:
            run_peer(getattr(_peers, PEERS[method][0]), recorder, bounds, n, seed)
        else:
            result = minimize(recorder, bounds, method=method, n_calls=n, random_state=seed)
            if result.stop_reason == "interrupted":
                raise KeyboardInterrupt
            if isinstance(result.optimizer, EmbeddedOptimizer) and "model" not in result.sources:
                more = {"initial design only": True}
    return recorder.summary() | more


def run_once(problem, method, seed):
    """Run one method with one seed, and return the result or the error."""
    run = {"problem": problem, "method": method, "seed": seed}
    try:
        loaded = load_problem(problem["objective"], problem.get("bounds"))
        return {**run, "status": "ok", **measure(loaded, loaded.bounds, problem["n"], method, seed)}
    except Exception as error:  # a user-defined objective may raise anything
        return {**run, "status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}


def run_missing(store, problem, methods, repeats, jobs, echo):
    """Run all combinations of methods and seeds that have no stored result yet.

    Parameters
    ----------
    store : Store
        File of results, to which new results are appended.
    problem : dict
        Description of the problem with the keys ``objective`` and ``n``, and ``bounds`` if needed.
    methods : list of str
        Names of the methods to run.
    repeats : int
        Number of runs of each method, with different seeds.
    jobs : int
        Number of runs that are executed in parallel.
    echo : callable
        Function that is called with a progress message after each run.

    Returns
    -------
    results : list of dict
        All finished results of the problem, including those of earlier calls.
    failures : list of str
        Descriptions of the failed runs.
    """
    wanted = [(method, seed) for seed in range(repeats) for method in methods]
    kept = [r for r in store.read() if r["problem"] == problem and r["status"] == "ok"]
    done = {(r["method"], r["seed"]) for r in kept}
    missing = [pair for pair in wanted if pair not in done]
    echo(f"{len(wanted) - len(missing)} of {len(wanted)} runs already done")
    failures = []
    run = delayed(partial(run_once, problem))
    with Parallel(n_jobs=jobs, return_as="generator_unordered") as parallel:
        for result in parallel(run(*pair) for pair in missing):
            store.append(result)
            outcome = result.get("reason", "done")
            name = f"{result['method']}, seed {result['seed']}"
            echo(f"{name}: {outcome}")
            kept += [result] if result["status"] == "ok" else []
            failures += [] if result["status"] == "ok" else [f"{name}: {outcome}"]
    return [r for r in kept if (r["method"], r["seed"]) in wanted], failures
