"""Evaluations that sleep, and how long the workers that make them stand idle."""

import json
import time
from pathlib import Path

import numpy as np

from benchmarks.engine import spread

N_WORKERS = 4
SHORTEST, LONGEST = 0.2, 1.0  # seconds of an evaluation
MOST_IDLE = 0.15  # aim of issue 14


def sleep_noted(number, path, scale=1.0):
    """Sleep for a time that depends on a number; append begin and end to a file, as JSON.

    Parameters
    ----------
    number : float
    path : path-like
    scale : float, default=1.0
        Times which the sleep is taken; 0 for none.
    """
    began, share = time.time(), abs(float(np.sin(1e4 * number)))  # as good as random
    time.sleep(scale * (SHORTEST + (LONGEST - SHORTEST) * share))
    with open(path, "a") as file:
        file.write(json.dumps([began, time.time()]) + "\n")


def occupation(path, n_workers=N_WORKERS):
    """Return the idle share of the workers and the seconds of all, and how many calls were made."""
    calls = np.array([json.loads(line) for line in Path(path).read_text().splitlines()])
    span = calls[:, 1].max() - calls[:, 0].min()
    idle = 1.0 - float(np.ptp(calls, axis=1).sum()) / (n_workers * span)
    return {"idle": round(idle, 4), "seconds": round(float(span), 2)}, len(calls)


def idle_aims(results, method, names):
    """Return the aim that workers of a method are idle at most .15, a row for each engine.

    Parameters
    ----------
    results : list of dict
    method : str
    names : dict of str to dict
        The words for an engine to what is told of its problems.
    """
    rows = []
    for words, told in names.items():
        own = [
            r["idle"]
            for r in results
            if (r["status"], r["method"]) == ("ok", method) and told.items() <= r["problem"].items()
        ]
        if own:
            holds = bool(np.median(own) <= MOST_IDLE)
            rows.append((f"{words}: idle at most {MOST_IDLE}", spread(own), holds))
    return rows
