"""Experiment `workers`: how long four workers stand idle, and what searching with four costs."""

import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.engine import Experiment, Grid, Table, by_method, spread
from benchmarks.search.problem_data import make_problem

from ._sleeping import LONGEST, N_WORKERS, SHORTEST, idle_aims, occupation, sleep_noted

ENGINES = ("threads", "processes", "loky", "dask")
FUNCTIONS = ("hartmann6", "branin", "ackley")


@dataclass
class SleepingFunction:
    """A problem whose evaluations take a time that depends on the point, noted in a file."""

    func: object
    path: str
    sleeps: bool

    def __call__(self, x):
        """Return the value; append when the call began and ended to the file, as JSON."""
        sleep_noted(np.sum(x), self.path, scale=float(self.sleeps))
        return float(self.func(x))


@contextmanager
def executor_of(engine):
    """Give an executor of four workers that have all started."""
    if engine == "dask":
        from distributed import Client, LocalCluster

        options = {"n_workers": N_WORKERS, "threads_per_worker": 1}
        options["dashboard_address"] = "127.0.0.1:0"  # None is port 8787, taken or not
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            yield _warm(client.get_executor())
        return
    with _pool(engine) as executor:
        yield _warm(executor)


def _pool(engine):
    if engine == "threads":
        return ThreadPoolExecutor(N_WORKERS)
    if engine == "processes":
        return ProcessPoolExecutor(N_WORKERS, mp_context=get_context("spawn"))
    from joblib.externals.loky import ProcessPoolExecutor as LokyPool

    return LokyPool(N_WORKERS)


def _warm(executor):
    wait([executor.submit(time.sleep, 1.0) for _ in range(N_WORKERS)])
    return executor


def measure_run(problem, method, repeat):
    """Idle share of the workers and the best value of one search."""
    func = make_problem({"function": problem["func"], "kind": "planted", "d": problem["d"]}, repeat)
    search = {"ahead": _ahead, "random": _ahead, "barrier": _barrier, "sequential": _sequential}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "calls.jsonl")
        sleeping = SleepingFunction(func, path, sleeps=method != "sequential")
        values = search[method](sleeping, func.bounds, problem, method, repeat)
        occupied, nfev = occupation(path, 1 if method == "sequential" else N_WORKERS)
    return {**occupied, "nfev": nfev, "regret": float(np.min(values) - func.optimum)}


def _sequential(func, bounds, problem, method, repeat):
    from skbo_silbo import minimize

    return minimize(func, bounds, n_calls=problem["n"], random_state=repeat).func_vals


def _ahead(func, bounds, problem, method, repeat):
    from skbo_silbo import minimize

    with executor_of(problem["engine"]) as executor:
        return minimize(
            func,
            bounds,
            method="random" if method == "random" else "silbo",
            n_calls=problem["n"],
            executor=executor,
            random_state=repeat,
        ).func_vals


def _barrier(func, bounds, problem, method, repeat):
    """Ask for as many points as there are workers, wait for all, and tell them."""
    from skbo_silbo import SILBO

    optimizer = SILBO(bounds, random_state=repeat)
    with executor_of(problem["engine"]) as executor:
        for _ in range(problem["n"] // N_WORKERS):
            X = optimizer.ask(N_WORKERS)
            optimizer.tell(X, [f.result() for f in [executor.submit(func, x) for x in X]])
    return optimizer.func_vals_


def report(results):
    """Idle shares by engine and method, and what the search found."""
    idle, quality = [], []
    for problem, methods in by_method(results).items():
        problem = dict(problem)
        for method, own in methods.items():
            row = (problem["func"], problem["engine"], method)
            shares = spread([r["idle"] for r in own]) if method != "sequential" else ""
            idle.append((*row, shares, spread([r["seconds"] for r in own], 1)))
            quality.append((*row, spread([r["regret"] for r in own], 3), str(len(own))))
    where = ("function", "engine", "method")
    note = (
        f"{N_WORKERS} workers, evaluations that sleep {SHORTEST} to {LONGEST} s. *Idle*: share "
        "of the workers' time without an evaluation, from the first start to the last end; "
        'median over seeds (range). "ahead" is ``minimize(..., executor=E)``. "barrier" asks '
        'for four points and waits for all of them. "random" is random search with an executor. '
        '"sequential" has one worker that does not sleep.'
    )
    found = "Best value minus the optimum after the same number of evaluations."
    return [
        Table("Idle workers", (*where, "idle", "seconds"), idle, note),
        Table("What was found", (*where, "regret", "runs"), quality, found),
    ]


def aims(results):
    """Aims of issue 14: idle at most .15 on every engine."""
    return idle_aims(results, "ahead", {engine: {"engine": engine} for engine in ENGINES})


def _cells(n, functions, engines):
    return tuple(
        {"n": n, "d": 12, "func": func, "engine": engine}
        for func in functions
        for engine in engines
    )


WORKERS = Experiment(
    name="workers",
    methods={"ahead": "", "barrier": "", "random": "", "sequential": ""},
    grids={
        "full": (
            Grid(_cells(40, FUNCTIONS[:1], ENGINES), 5, methods=("ahead",)),
            Grid(_cells(40, FUNCTIONS[:1], ENGINES), 1, methods=("barrier", "random")),
            Grid(_cells(40, FUNCTIONS, ENGINES[:1]), 5, methods=("ahead", "sequential")),
        ),
        "tiny": Grid(_cells(8, FUNCTIONS[:1], ENGINES[:1]), 1),
    },
    measure=measure_run,
    report=report,
    aims=aims,
    cap_seconds=600,
    about="minimize with four workers: idle time, and what is found, by executor",
    cap_mib=65536,
)
