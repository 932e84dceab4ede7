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
from multiprocessing import get_context
from pathlib import Path

from joblib.externals.loky import ProcessPoolExecutor as LokyPool

from skbo_silbo import minimize

MAKERS = {
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": lambda: LokyPool(2),
    "threads": lambda: ThreadPoolExecutor(2),
}


def begun(executor):
    """Have all workers import what they need: that is no part of a call."""
    list(executor.map(import_all, range(4)))
    return executor


def import_all(_):
    importlib.import_module("skbo_silbo")
    time.sleep(0.2)


def hang_once(path, x):
    """Hang in the first call, for longer than any test waits."""
    try:
        with open(path, "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return float(x[0])
    time.sleep(600.0)
    return 0.0


def main(kind, path):
    warnings.simplefilter("ignore")
    options = {
        "executor": lambda: begun(MAKERS[kind]()),
        "method": "random",
        "n_calls": 5,
        "timeout": 3.0,
    }
    result = minimize(partial(hang_once, Path(path)), [(0.0, 1.0)], **options)
    print("done", len(result.func_vals))


if __name__ == "__main__":
    main(*sys.argv[1:])
