"""Results of runs: recording, and storage in a file."""

import json
import os
import time
from pathlib import Path

import numpy as np

from skbo_silbo.problems import NoisyProblem

N_TIMES = 10  # cumulative times stored per run


class Recorder:
    """Objective that records its values and the CPU time between evaluations.

    Parameters
    ----------
    problem : Problem
        Problem whose evaluations are recorded.

    Attributes
    ----------
    observed, truth : list of float
        Values with and without noise, in the order of evaluation.
    seconds : list of float
        CPU time of this process between the end of one evaluation and the start of the next.
    """

    def __init__(self, problem):
        self.problem = problem
        self.observed, self.truth, self.seconds = [], [], []
        self._last_end = time.process_time()

    def __call__(self, x):
        """Evaluate the objective at a point and return the value, including noise."""
        self.seconds.append(time.process_time() - self._last_end)
        self.observed.append(self.problem(x))
        is_noisy = isinstance(self.problem, NoisyProblem)
        self.truth.append(self.problem.truth(x) if is_noisy else self.observed[-1])
        self._last_end = time.process_time()
        return self.observed[-1]

    def summary(self):
        """Return a summary of the run to store as its result.

        Returns
        -------
        values : dict
            Dictionary with the following entries.

            - ``steps``: a pair [n, noise-free value] for each new incumbent, with 6 digits
            - ``seconds``: cumulative CPU time after each tenth of the run
            - ``median_seconds``: median CPU time of a proposal in the second half of the run
        """
        n = len(self.observed)
        ends = np.unique(np.linspace(0, n, N_TIMES + 1).astype(int)[1:])
        total = np.cumsum(self.seconds)
        return {
            "steps": incumbent_steps(self.observed, self.truth),
            "seconds": [[int(end), round(float(total[end - 1]), 3)] for end in ends],
            "median_seconds": round(float(np.median(self.seconds[n // 2 :])), 5),
        }


def incumbent_steps(observed, truth):
    """Return the evaluation number and the noise-free value of each new incumbent.

    Examples
    --------
    >>> incumbent_steps([3.0, 4.0, 2.0], [3.1, 3.9, 2.2])
    [[1, 3.1], [3, 2.2]]
    """
    steps, lowest = [], np.inf
    for n, (value, true_value) in enumerate(zip(observed, truth, strict=True), 1):
        if value < lowest:
            lowest = value
            steps.append([n, float(f"{true_value:.6g}")])
    return steps


def curve(steps, n):
    """Return the incumbent's value after each of n evaluations, NaN before the first one.

    Examples
    --------
    >>> curve([[2, 5.0], [4, 1.0]], 5).tolist()
    [nan, 5.0, 5.0, 1.0, 1.0]
    """
    values = np.full(n, np.nan)
    for start, value in steps:
        values[start - 1 :] = value
    return values


class Store:
    """File of benchmark results in JSON lines format.

    Parameters
    ----------
    path : str or Path
        Path of the file, created by the first `append`.
    """

    def __init__(self, path):
        self.path = Path(path)

    def read(self):
        """Read all results from the file, ignoring an incomplete last line.

        Returns
        -------
        results : list of dict

        Raises
        ------
        ValueError
            If another line is not a JSON object.
        """
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return [self._parse(line, number) for number, line in enumerate(lines[:-1], 1)]

    def append(self, result):
        """Append a result to the file, replacing an incomplete last line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(json.dumps(result, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _parse(self, line, number):
        try:
            result = json.loads(line)
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise ValueError(
                f"Line {number} of {self.path} must be a JSON object, got {line[:60]!r}. "
                "Delete the line to repeat its run."
            )
        return result
