"""Time and memory of calls, and how they grow."""

import re
import resource
import sys
import time
from pathlib import Path

import numpy as np


def peak_rss_mib():
    """Largest resident memory of this process so far, in MiB.

    Linux: ``VmHWM``. ``ru_maxrss`` would there include the process that started this one, because
    it survives exec; elsewhere it is what is returned.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


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
