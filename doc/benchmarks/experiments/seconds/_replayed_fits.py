"""Searches on the tables, on a clock of simulated seconds: a search thinks, and its fits are read.

The clock of a process is its CPU time plus the seconds that the tables hold for the fits that were
looked up, so that the other work of the machine counts for nothing. Between the candidates that
were fitted, scores and log seconds are interpolated linearly in every parameter's logarithm:
the best score of a task is that of a real candidate, and known.
"""

import time
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from unittest.mock import patch

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import loguniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, RandomizedSearchCV

from ._tables_of_fits import N_FOLDS, SHARES, TASKS, load_table

N_ROWS = 1800  # of the data of a replay, which only say which fold and how many rows
MANY = 1000  # candidates: more than there is time for
N_FULL = 30  # candidates of mean length that the budget is for
FACTOR = 3


class Over(BaseException):
    """The budget is spent."""


class Clock:
    """Seconds of this process, and of the fits looked up.

    Attributes
    ----------
    added : float
        Of the fits.
    end : float
        When `Over` is raised.
    scores : list of (float, tuple, float, float)
        Time, candidate, share of the resource and score, a fit each.
    """

    def __init__(self):
        self.start, self.added, self.end, self.scores = 0.0, 0.0, np.inf, []

    def __call__(self):
        """Return the time."""
        return time.process_time() - self.start + self.added

    @contextmanager
    def running(self, seconds):
        """Have the clock be the time of the process, and stop after so many seconds."""
        self.start, self.added, self.end, self.scores = time.process_time(), 0.0, seconds, []
        clocks = [patch(f"time.{name}", self) for name in ("time", "monotonic", "perf_counter")]
        with clocks[0], clocks[1], clocks[2], suppress(Over):
            yield


CLOCK = Clock()


@cache
def _reader(name):
    """Return a function from places among the levels to scores and log seconds."""
    task, (scores, seconds) = TASKS[name], load_table(name)
    sizes = [len(levels) for levels in task.grid.values()]
    held = np.stack([scores, np.log(seconds)])  # (2, resources, candidates, folds)
    held = np.moveaxis(held, 2, 0).reshape(*sizes, 2, len(SHARES), N_FOLDS)
    return RegularGridInterpolator([np.arange(size) for size in sizes], held)


class ReplayedModel(BaseEstimator):
    """A model whose fits are looked up.

    Parameters
    ----------
    name : str
        Of the task.
    scale : float
        That the seconds are multiplied by.
    **values : float
        Parameters of the task, by default the last of their levels.
    """

    def __init__(self, name, scale=1.0, **values):
        last = {k: levels[-1] for k, levels in TASKS[name].space.items()}
        self.name, self.scale, self.values = name, scale, {**last, **values}

    def get_params(self, deep=True):
        """Return the task, the scale and all values."""
        return {"name": self.name, "scale": self.scale, **self.values}

    def set_params(self, **params):
        """Change values."""
        self.values = {**self.values, **params}
        return self

    def fit(self, X, y=None):
        """Let the clock run on by what such a fit took, and look the score up."""
        counts = np.bincount(X[:, 0].astype(int) * N_FOLDS // N_ROWS, minlength=N_FOLDS)
        fold, share = int(np.argmin(counts)), len(X) / (N_ROWS * (1 - 1 / N_FOLDS))
        nearest = int(np.argmin(np.abs(np.log(share / np.array(SHARES)))))
        space = TASKS[self.name].space
        places = [
            np.interp(np.log(v), np.log(space[k]), range(len(space[k]))) for k, v in self._placed()
        ]
        scores, logs = _reader(self.name)(places)[0]
        CLOCK.added += self.scale * np.exp(logs[nearest, fold])
        if CLOCK() > CLOCK.end:
            raise Over
        self.score_ = float(scores[nearest, fold])
        candidate = tuple(v for _, v in self._placed())
        CLOCK.scores.append((CLOCK(), candidate, SHARES[nearest], self.score_))
        return self

    def score(self, X, y=None):
        """Return it."""
        return self.score_

    def _placed(self):
        return [(name, self.values[name]) for name in TASKS[self.name].space]


def best_score(problem):
    """Return the best mean score of a full candidate of a task, and that of the median one."""
    scores = load_table(problem["task"])[0][0].mean(axis=1)
    return float(scores.max()), float(np.median(scores))


def budget(problem):
    """Return the seconds of a search on a problem."""
    seconds = load_table(problem["task"])[1][0]
    return problem["scale"] * N_FULL * float(seconds.sum(axis=1).mean())


def measure_seconds(problem, method, repeat):
    """When a search had which best score of the full candidates, within the budget."""
    import skbo_silbo.model_selection  # noqa: F401  # before the clock runs

    seconds = budget(problem)
    space = {k: loguniform(v[0], v[-1]) for k, v in TASKS[problem["task"]].space.items()}
    full = 1.0
    if problem["resource"] != "n_samples":
        levels = TASKS[problem["task"]].space[problem["resource"]]
        full = float(levels[-1])
        space.pop(problem["resource"])
    model = ReplayedModel(problem["task"], problem["scale"])
    rest = {"cv": KFold(N_FOLDS), "refit": False, "random_state": repeat}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with CLOCK.running(seconds):
            SEARCHES[method](model, space, problem, rest)
    return _format(problem, full)


def _format(problem, full):
    """Return the times and best scores, and how many candidates were evaluated at which share."""
    axis = problem["resource"]
    names = list(TASKS[problem["task"]].space)
    times, best, shares, folds = [], [], {}, []
    for when, candidate, share, score in CLOCK.scores:
        if axis in names:
            share = candidate[names.index(axis)] / full
        if folds and folds[0][:2] != (candidate, share):
            folds = []
        folds.append((candidate, share, score))
        if len(folds) == N_FOLDS:
            mean, folds = float(np.mean([f[2] for f in folds])), []
            shares[f"{share:.2f}"] = shares.get(f"{share:.2f}", 0) + 1
            if share > 0.95 and (not best or mean > best[-1]):
                times.append(round(when, 3))
                best.append(float(f"{mean:.6g}"))
    thinking = CLOCK() - CLOCK.added
    return {"times": times, "best": best, "shares": shares, "thinking": round(thinking, 2)}


def _random(model, space, problem, rest):
    RandomizedSearchCV(model, space, n_iter=MANY, **rest).fit(_rows())


def _halving(model, space, problem, rest):
    """Brackets with other seeds until the time is spent."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV

    resource = problem["resource"]
    most = N_ROWS if resource == "n_samples" else TASKS[problem["task"]].space[resource][-1]
    options = {"resource": resource, "max_resources": most, "min_resources": most // FACTOR**2}
    for bracket in range(MANY):
        rest["random_state"] += 1000 * bracket
        HalvingRandomSearchCV(
            model, space, n_candidates=FACTOR**3, factor=FACTOR, **options, **rest
        ).fit(_rows())


def _ours(model, space, problem, rest):
    from skbo_silbo import SILBOSearchCV

    limits = {"n_iter": MANY, "max_time": budget(problem), "initial_params": None}
    SILBOSearchCV(model, space, **limits, **rest).fit(_rows())


def _rows():
    return np.arange(float(N_ROWS))[:, None]


SEARCHES = {"random": _random, "silbo": _ours, "halving": _halving}
