"""Time of calls, and how it grows."""

import time

import numpy as np


def time_call(call):
    """CPU seconds of this process and wall seconds of one call, and what it returned.

    With threads fixed to one, CPU seconds are what the wall clock shows on an idle machine; they
    stay so when other processes want the same core.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.process_time() - cpu, time.perf_counter() - wall, result


def alternate(calls, *, budget_seconds, min_rounds=2, max_rounds=15):
    """Time several calls in turn, so that whatever else the machine does falls on all alike.

    Parameters
    ----------
    calls : dict
        Name to a callable without arguments.
    budget_seconds : float
        Wall seconds after which no further round starts, once `min_rounds` are done.
    min_rounds, max_rounds : int

    Returns
    -------
    dict
        Name to a list of CPU seconds, one a round.
    """
    seconds = {name: [] for name in calls}
    stop = time.perf_counter() + budget_seconds
    for done in range(max_rounds):
        if done >= min_rounds and time.perf_counter() > stop:
            break
        for name, call in calls.items():
            seconds[name].append(time_call(call)[0])
    return seconds


def slope(x, y):
    """Return the exponent a of the least-squares fit ``y ~ x^a``."""
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def milliseconds(values):
    """Median of seconds, as milliseconds."""
    return f"{1e3 * np.median(values):.3g}"
