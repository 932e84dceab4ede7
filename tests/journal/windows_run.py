"""Journalled searches of both doors where nothing is that Windows has not, in a process of its own.

``python tests/journal/windows_run.py FOLDER``: a child ends at the fifth call of the function, and
the parent goes on. It prints how the child ended, and how often the parent called the function and
the estimator.
"""

import os
import signal
import sys
from fcntl import LOCK_EX, LOCK_NB, flock
from types import SimpleNamespace

import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator

LOCKED, fork = [], getattr(os, "fork", None)


def locking(file, mode, n_bytes):
    """Lock a byte, as msvcrt does: at the place in the file where it is."""
    LOCKED.append((os.lseek(file, 0, os.SEEK_CUR), mode, n_bytes))
    flock(file, LOCK_EX | LOCK_NB)


def leave_out():
    """Take away what Windows has not; what others have imported by now they keep."""
    sys.modules["fcntl"] = None
    sys.modules["msvcrt"] = SimpleNamespace(LK_NBLCK=2, locking=locking)
    for module, names in [
        (os, ["fork", "forkpty", "register_at_fork", "killpg", "geteuid", "getuid"]),
        (signal, ["SIGKILL", "SIGHUP", "SIGUSR1", "pthread_sigmask", "alarm", "setitimer"]),
    ]:
        for name in names:
            delattr(module, name)


if __name__ == "__main__":  # not where doctests are looked for
    leave_out()

from skbo_silbo import SILBO, SILBOSearchCV, minimize  # noqa: E402

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]


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


def run(folder, dies_at):
    """Run the searches; say how much of them was evaluated here."""
    called, deaths = [], [dies_at]  # in a list: no part of the objective

    def func(x):
        called.append(x)
        if len(called) in deaths:
            os._exit(3)
        return float(x[0] + x[1])

    path = os.path.join(folder, "run.jsonl")
    result = minimize(func, BOUNDS, n_calls=9, n_initial=4, random_state=0, journal=path)
    optimizer = SILBO(BOUNDS, random_state=0, journal=os.path.join(folder, "asked.jsonl"))
    with pytest.raises(RuntimeError, match="in use by another"):
        SILBO(BOUNDS, random_state=0, journal=os.path.join(folder, "asked.jsonl"))
    optimizer.tell(optimizer.ask(), 1.0).close_journal()
    options = {"cv": 2, "random_state": 0, "n_initial": 3, "refit": False}
    options["journal"] = os.path.join(folder, "search.jsonl")
    for n_iter in (4, 6):
        SILBOSearchCV(Fold(), {"a": uniform()}, n_iter=n_iter, **options).fit([[0.0]] * 6, [0] * 6)
    assert set(LOCKED) == {(2**31 - 2, 2, 1)}
    print(len(called), result.nfev, len(result.func_vals), Fold.n_fits)


if __name__ == "__main__":
    if (child := fork()) == 0:
        run(sys.argv[1], 5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    run(sys.argv[1], None)
