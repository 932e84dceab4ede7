"""A search of which evaluations hang, in a process of its own, for the tests that see it end.

Arguments: the kind of executor, and a file for the number of the process that hangs.
"""

import importlib
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

from joblib.externals.loky import ProcessPoolExecutor as LokyPool
from worker_parts import Pool

from skbo_silbo import minimize

METHOD = "fork" if "fork" in get_all_start_methods() else "spawn"  # the former imports nothing
MAKERS = {
    "processes": lambda: ProcessPoolExecutor(1, mp_context=get_context(METHOD)),
    "loky": lambda: LokyPool(1),
    "threads": lambda: ThreadPoolExecutor(1),
}


def begun(executor):
    """Have the worker import what it needs: that is no part of a call."""
    executor.submit(import_all).result()
    return executor


def import_all():
    importlib.import_module("skbo_silbo")


def hang_once(path, x):
    """Hang in the first call, for longer than any test waits."""
    try:
        with open(path, "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return float(x[0])
    time.sleep(600.0)
    return 0.0


class Clock:
    """A time that runs fast while the first executor has a process that hangs."""

    def __init__(self, kind, path):
        self.kind, self.path, self.n_made, self.ahead = kind, path, 0, 0.0
        self.real = time.perf_counter

    def make(self):
        executor = begun(MAKERS[self.kind]())
        self.n_made += 1
        return executor

    def __call__(self):
        if self.n_made == 1 and self.path.exists() and self.path.read_text():
            self.ahead += 1e6
        return self.real() + self.ahead


def main(kind, path):
    warnings.simplefilter("ignore")
    Pool(1, "threads").submit(time.sleep, 600.0)  # nor does this one keep Python from ending
    time.perf_counter = clock = Clock(kind, Path(path))
    options = {"executor": clock.make, "method": "random", "n_calls": 5, "timeout": 600.0}
    result = minimize(partial(hang_once, Path(path)), [(0.0, 1.0)], **options)
    print("done", len(result.func_vals))


if __name__ == "__main__":
    main(*sys.argv[1:])
