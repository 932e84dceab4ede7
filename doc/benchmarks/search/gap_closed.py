"""How much of the gap between chance and the best known value a run has closed.

=======  =======================================================================================
symbol   meaning
=======  =======================================================================================
y(n)     lowest value of the run after n evaluations
c(n)     mean of random search's lowest value after n evaluations, on the same problem
t        least value known: the optimum, or where none is known the lowest value of any run
=======  =======================================================================================

The share of the gap closed is ``(c(n) - y(n)) / (c(n) - t)``, clipped to [-1, 1]: 1 at the optimum,
0 where random search is, on average.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from benchmarks.engine import curve

COUNTS = (50, 100, 250, 1000)  # evaluations at which runs are compared
N_CHANCE = 20_000  # random points behind the mean of random search
FEWEST_JUDGED = 10  # runs, of an expensive peer in a table and of either side that is judged
STALL, STALL_LEFT = 40, 0.05  # no gain in so many evaluations with so much of the gap left


@dataclass(frozen=True, eq=False)
class GapRun:
    """One run, with what is needed to judge it.

    Attributes
    ----------
    place : tuple
        Items of the problem, its number of evaluations left out, and the seed: runs of one place
        are compared.
    method : str
    values : ndarray of shape (n,)
        Lowest value after each evaluation, y(n).
    chance : dict
        Evaluations (int) to c(n).
    target : float
        t.
    """

    place: tuple
    method: str
    values: np.ndarray
    chance: dict
    target: float

    @property
    def problem(self):
        """The problem as data, a dict."""
        return dict(self.place[0])

    def open_gap_of(self, values, n):
        """Return ``(y - t) / (c(n) - t)`` for values y, an ndarray; 0 where y is t."""
        left, whole = np.asarray(values) - self.target, self.chance[n] - self.target
        with np.errstate(over="ignore"):  # infinite where chance finds the target
            return np.where(left > 0, left / max(whole, np.finfo(float).tiny), 0.0)

    def share_of(self, values, n):
        """Return the share of the gap c(n) - t that values close, an ndarray."""
        return np.clip(1.0 - self.open_gap_of(values, n), -1.0, 1.0)

    def share(self, n):
        """Return the share closed after n evaluations."""
        return float(self.share_of(self.values[n - 1], n))

    def is_stalled(self, n):
        """Whether the last 40 of n evaluations gained nothing, with over 5 % of the gap open."""
        return bool(
            self.values[n - 1 - STALL] <= self.values[n - 1]
            and self.open_gap_of(self.values[n - 1], n) > STALL_LEFT
        )

    def evaluations_to(self, value):
        """Return the evaluations until `value` is reached; inf if it never is."""
        reached = np.flatnonzero(self.values <= value)
        return float(reached[0] + 1) if reached.size else np.inf


def chance_means(problem, counts=COUNTS, n_points=N_CHANCE, seed=0):
    """Return the mean of the lowest of n random values, {n as str: float}.

    Exact for drawing n of `n_points` random points without replacement, so nearly without error:
    the k-th lowest of M values is the lowest of n with probability
    ``binom(M - k, n - 1) / binom(M, n)``.

    Examples
    --------
    >>> from skbo_silbo.problems import Problem
    >>> steps = Problem("steps", lambda X: X[:, 0], [(0, 1)])
    >>> round(chance_means(steps, counts=(3,))["3"], 2)
    0.25
    """
    values = np.sort(problem.evaluate_truth(problem.sample(n_points, seed)))
    return {str(n): float(f"{_mean_lowest(values, n):.6g}") for n in counts}


def log_binomial(n, k):
    """Return the logarithm of a binomial coefficient."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _mean_lowest(values, n):
    """Return the mean of the lowest of n of the sorted values, without replacement."""
    size = values.size
    above = np.arange(size - 1, n - 2, -1)  # values after the k-th: enough for the other n - 1
    weights = np.exp(log_binomial(above, n - 1) - log_binomial(size, n))
    return float(weights @ values[: above.size])


def gap_runs(results):
    """Return the `GapRun` of every place and method, of the longest run where there are several.

    A problem whose optimum is not known is the same for every seed: the least value that any of
    its runs has found is the target of all of them.

    Parameters
    ----------
    results : list of dict
        With ``steps`` and ``chance``, as `measure_gap` returns.
    """
    longest, lowest = {}, defaultdict(lambda: np.inf)
    for r in results:
        if r["status"] != "ok":
            continue
        key = _place(r), r["method"]
        problem, _ = key[0]
        lowest[problem] = min(lowest[problem], r["steps"][-1][1])
        if key not in longest or longest[key]["problem"]["n"] < r["problem"]["n"]:
            longest[key] = r
    return [
        GapRun(
            place,
            method,
            curve(r["steps"], r["problem"]["n"]),
            {int(n): value for n, value in r["chance"].items()},
            r["optimum"] if "optimum" in r else lowest[place[0]],
        )
        for (place, method), r in longest.items()
    ]


def _place(result):
    problem = tuple(item for item in result["problem"].items() if item[0] != "n")
    return problem, result["repeat"]


def compared(runs, n, methods=None):
    """Return the runs that can be compared after n evaluations.

    Parameters
    ----------
    runs : list of GapRun
    n : int
    methods : collection of str, optional
        Those that must all have run at a place; all that occur if not given.

    Returns
    -------
    by_method : dict
        Method to its runs, at the same places in the same order; {} when there is no such place.
    """
    places = defaultdict(dict)
    for run in runs:
        if run.values.size >= n and (methods is None or run.method in methods):
            places[run.place][run.method] = run
    wanted = list(dict.fromkeys(run.method for own in places.values() for run in own.values()))
    full = [own for own in places.values() if len(own) == len(wanted)]
    return {method: [own[method] for own in full] for method in wanted} if full else {}
