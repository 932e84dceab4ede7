"""One run with a journal, in a process of its own, for the tests that kill it.

It writes what it is doing (P: proposing, F: fitting, S: syncing) to a file, and its final results,
times and sources apart, to another.
"""

import argparse
import json
import os
import time

import numpy as np
from joblib import Parallel, delayed, parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from skbo_silbo import SILBOSearchCV, minimize

N_ITER, FIT_SECONDS, SYNC_SECONDS = 24, 0.02, 0.006


def note(path, phase):
    """Overwrite the one byte that says what is being done."""
    with open(path, "r+b", buffering=0) as file:
        file.write(phase)


class Slow(BaseEstimator):
    """Takes its time, fails for one kind, and has a score that differs between folds."""

    def __init__(self, a=0.0, b=0.0, kind="x", phase_path=None):
        self.a, self.b, self.kind, self.phase_path = a, b, kind, phase_path

    def fit(self, X, y=None):
        note(self.phase_path, b"F")
        time.sleep(FIT_SECONDS)
        if self.kind == "fails":
            raise RuntimeError("this kind cannot be fitted")
        self.mean_ = float(np.mean(X))
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2) - (self.b - 0.2) ** 2 + 0.01 * float(np.mean(X))


def slow_fsync(phase_path, fsync=os.fsync):
    """Return an fsync that takes long enough to be killed in."""

    def sync(file):
        note(phase_path, b"S")
        time.sleep(SYNC_SECONDS / 2)
        fsync(file)
        time.sleep(SYNC_SECONDS / 2)
        note(phase_path, b"P")

    return sync


def make_search(phase_path, n_iter=N_ITER, **options):
    """Return the search that is killed, not fitted."""
    return SILBOSearchCV(
        Slow(phase_path=str(phase_path)),
        {"a": uniform(), "b": uniform(), "kind": ["x", "y", "fails"]},
        n_iter=n_iter,
        cv=KFold(2),
        **options,
    )


def results_of(search):
    """Fit, and return the results that must not depend on interruptions, in plain JSON."""
    results = search.fit(np.random.RandomState(0).normal(size=(30, 2))).cv_results_
    return {
        key: [repr(value) for value in column]
        for key, column in results.items()
        if "time" not in key and key != "source"
    }


def minimized(phase_path, batch_size, random_state, n_iter=N_ITER, journal=None):
    """Minimise a function that takes its time, and return every point and value."""

    def func(x):
        note(phase_path, b"F")
        time.sleep(FIT_SECONDS)
        note(phase_path, b"P")
        return np.nan if x[2] > 0.8 else (x[0] - 0.7) ** 2 + (x[1] - 0.2) ** 2

    found = minimize(func, [(0, 1)] * 3, n_calls=n_iter, random_state=random_state, journal=journal)
    return {"x": repr(found.x_iters.tolist()), "y": repr(found.func_vals.tolist())}


def searched(phase_path, **options):
    """Fit a search, and return its results."""
    return results_of(make_search(phase_path, **options))


DOORS = {"search": searched, "minimize": minimized}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("journal")
    parser.add_argument("phase")
    parser.add_argument("results")
    parser.add_argument("backend")
    parser.add_argument("batch_size", type=int)
    parser.add_argument("random_state", type=int)
    parser.add_argument("door", nargs="?", default="search", choices=DOORS)
    parser.add_argument("--n-iter", type=int, default=N_ITER)
    args = vars(parser.parse_args())
    phase, results, backend = (args.pop(name) for name in ("phase", "results", "backend"))
    door = DOORS[args.pop("door")]
    os.fsync = slow_fsync(phase)
    with parallel_config(backend=backend, n_jobs=2):
        Parallel()(delayed(time.sleep)(0.01) for _ in range(4))
        print("ready", flush=True)
        final = door(phase, **args)
    with open(results, "w") as file:
        json.dump(final, file)


if __name__ == "__main__":
    main()
