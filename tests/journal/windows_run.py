"""Journalled searches of both kinds without what Windows lacks, in a process of their own.

``python tests/journal/windows_run.py FOLDER N...``: for every N, a child process ends at the Nth
call of the function, if there are so many. Otherwise, it prints how often the function and the
estimator were called.
"""

import os
import signal
import sys
from fcntl import LOCK_EX, LOCK_NB, flock
from types import SimpleNamespace

from scipy.stats import uniform
from sklearn.base import BaseEstimator


def leave_out():
    """Take away what Windows has not; what others have imported by now they keep."""
    locking = SimpleNamespace(LK_NBLCK=2, locking=lambda file, *_: flock(file, LOCK_EX | LOCK_NB))
    sys.modules |= {"fcntl": None, "msvcrt": locking}
    for module, names in [
        (os, ["fork", "forkpty", "register_at_fork", "killpg", "geteuid", "getuid"]),
        (signal, ["SIGKILL", "SIGHUP", "SIGUSR1", "pthread_sigmask", "alarm", "setitimer"]),
    ]:
        for name in names:
            delattr(module, name)


class Fold(BaseEstimator):
    """Counts its fits."""

    n_fits = 0

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y=None):
        Fold.n_fits += 1
        return self

    def score(self, X, y=None):
        return -((self.a - 0.3) ** 2)


def run(folder, n):
    leave_out()
    from skbo_silbo import SILBOSearchCV, minimize

    called, deadly = [], [n]  # in lists: no part of the objective

    def func(x):
        called.append(x)
        if len(called) in deadly:
            os._exit(3)
        return float(x[0] + x[1])

    options = {"n_initial": 4, "random_state": 0, "journal": os.path.join(folder, "run")}
    result = minimize(func, [(0.0, 1.0), (0.0, 2.0)], n_calls=9, **options)
    options |= {"journal": os.path.join(folder, "search"), "cv": 2, "refit": False}
    for n_iter in (4, 6):
        SILBOSearchCV(Fold(), {"a": uniform()}, n_iter=n_iter, **options).fit([[0.0]] * 6, [0] * 6)
    print(len(called), result.nfev, len(result.func_vals), Fold.n_fits)


if __name__ == "__main__":  # not where doctests are looked for
    for n in sys.argv[2:]:
        if (child := os.fork()) == 0:
            run(sys.argv[1], int(n))
            break
        print("exit code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
