"""Run methods on a user's function, each with several seeds; what a file holds is not run again."""

import json
from functools import partial
from importlib.util import find_spec
from pkgutil import resolve_name
from types import MappingProxyType

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skbo_silbo.minimization import minimize
from skbo_silbo.problems import Problem

from . import _peers
from ._results import Recorder


def own_problem(objective, bounds):
    """Return the problem of a function that stands in a module.

    Parameters
    ----------
    objective : str
        ``module:function``: from an ndarray of shape (d,) to a float, minimised; or ``module:name``
        of a `Problem`, whose bounds, optimum and noise are used. The module is sought as ``python
        -m`` seeks it, in the present folder first.
    bounds : str or None
        JSON pairs, ``[[0, 1], [-5, 5]]``, or ``module:name`` of an array-like of shape (d, 2). None
        for a `Problem`.

    Returns
    -------
    problem : Problem

    Raises
    ------
    ValueError
        When the function or the bounds cannot be had, or are of another kind, or missing, or given
        beside a `Problem`.
    """
    function = named_object("objective", objective)
    if isinstance(function, Problem) and bounds is None:
        return function
    if isinstance(function, Problem) or not callable(function) or bounds is None:
        raise ValueError(
            "objective must be a function of an array (d,) with --bounds, for example "
            f"'[[0, 1], [-5, 5]]', or a Problem alone, which has its own: {objective} is "
            f"{type(function).__name__}, bounds {bounds}. Give the one or the other."
        )
    return Problem(objective, partial(_row_by_row, function), _read_bounds(bounds))


def named_object(option, name):
    """Return what ``module:name`` names.

    Raises
    ------
    ValueError
        When it has another form, or there is no such module or name; `option` is named.
    """
    try:
        return resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{option} must be MODULE:NAME of what can be imported: got {name!r} ({error}). Start "
            "the command in the folder that holds the module, or put that folder on PYTHONPATH."
        ) from error


def _read_bounds(bounds):
    if not bounds.lstrip().startswith("["):
        return named_object("bounds", bounds)
    try:
        return json.loads(bounds)
    except ValueError as error:
        raise ValueError(
            f"bounds must be JSON pairs such as '[[0, 1], [-5, 5]]': got {bounds!r} ({error}). "
            "Quote the whole for the shell."
        ) from error


def _row_by_row(function, X):
    return np.array([float(function(x)) for x in X])


PEERS = MappingProxyType(  # name: class of `_peers`, module that it needs
    {
        "sobol": ("Sobol", "scipy"),
        "cma": ("CMAES", "cma"),
        "optuna-tpe": ("OptunaTPE", "optuna"),
    }
)
OURS = ("silbo", "random")
METHODS = (*OURS, *PEERS)


def run_peer(make, recorder, n, seed):
    """Ask, evaluate and tell a peer n times."""
    lower, upper = recorder.problem.bounds.T
    peer = make(len(lower), seed)
    for _ in range(n):
        u = peer.ask()
        peer.tell(u, recorder(np.clip(lower + u * (upper - lower), lower, upper)))


def check_installed(names):
    """Refuse methods whose module is not installed.

    Raises
    ------
    ValueError
    """
    missing = [name for name in names if name in PEERS and find_spec(PEERS[name][1]) is None]
    if missing:
        needed = ", ".join(f"{name} (module {PEERS[name][1]})" for name in missing)
        raise ValueError(
            f"methods must be installed: {needed} cannot be imported. Install the extra "
            '"bench", or leave the name out of --methods.'
        )


def measure(problem, method, seed):
    """Return what a method found on a problem as data, and what it took."""
    made = own_problem(problem["objective"], problem.get("bounds"))
    recorder, n = Recorder(made), problem["n"]
    with threadpool_limits(1):
        if method in PEERS:
            run_peer(getattr(_peers, PEERS[method][0]), recorder, n, seed)
        else:
            found = minimize(recorder, made.bounds, method=method, n_calls=n, random_state=seed)
            if found.stop_reason == "interrupted":
                raise KeyboardInterrupt
    return recorder.summary()


def run_once(problem, method, seed):
    """Return one result, a dict of JSON values: `measure`, or the reason why it failed."""
    told = {"problem": problem, "method": method, "seed": seed}
    try:
        return {**told, "status": "ok", **measure(problem, method, seed)}
    except Exception as error:  # the objective is the user's: its failure is a result, and named
        return {**told, "status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}


def run_missing(store, problem, methods, repeats, jobs, echo):
    """Run what a file lacks; return all finished results of the problem, and what failed.

    Parameters
    ----------
    store : Store
    problem : dict
        ``objective`` and ``n``, and ``bounds`` if they are given.
    methods : list of str
    repeats, jobs : int
        Runs of each method, of which so many at the same time.
    echo : callable
        Gets a line a run.

    Returns
    -------
    results : list of dict
    failures : list of str
    """
    wanted = [(method, seed) for seed in range(repeats) for method in methods]
    kept = [r for r in store.read() if r["problem"] == problem and r["status"] == "ok"]
    done = {(r["method"], r["seed"]) for r in kept}
    waiting = [pair for pair in wanted if pair not in done]
    echo(f"{len(wanted) - len(waiting)} of {len(wanted)} runs already done")
    failures = []
    run = delayed(partial(run_once, problem))
    with Parallel(n_jobs=jobs, return_as="generator_unordered") as parallel:
        for result in parallel(run(*pair) for pair in waiting):
            store.append(result)
            outcome = result.get("reason", "done")
            name = f"{result['method']}, seed {result['seed']}"
            echo(f"{name}: {outcome}")
            kept += [result] if result["status"] == "ok" else []
            failures += [] if result["status"] == "ok" else [f"{name}: {outcome}"]
    return [r for r in kept if (r["method"], r["seed"]) in wanted], failures
