"""What an optimiser found and what it took: JSON values, a file of these, and their table."""

import json
import os
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skbo_silbo.problems import NoisyProblem

N_TIMES = 10  # cumulative times kept of a run


class Recorder:
    """An objective that remembers every call and the CPU time that passed between calls.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    observed, truth : list of float
        Values with and without noise, in the order of the calls.
    seconds : list of float
        CPU seconds of this process between the end of one call and the begin of the next.
    """

    def __init__(self, problem):
        self.problem = problem
        self.observed, self.truth, self.seconds = [], [], []
        self._left = time.process_time()

    def __call__(self, x):
        """Return the value as the optimiser is to see it."""
        self.seconds.append(time.process_time() - self._left)
        self.observed.append(self.problem(x))
        noisy = isinstance(self.problem, NoisyProblem)
        self.truth.append(self.problem.truth(x) if noisy else self.observed[-1])
        self._left = time.process_time()
        return self.observed[-1]

    def summary(self):
        """Return what is stored of the run.

        Returns
        -------
        values : dict
            ``steps``: [n, value] wherever the lowest value observed changes, value being the true
            one at that point, in 6 digits; ``seconds``: cumulative CPU seconds after each tenth of
            the run; ``median_seconds``: of a proposal in the second half.
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
    """Return [n, true value] of each point with the lowest value observed so far; n begins at 1.

    Examples
    --------
    >>> incumbent_steps([3.0, 4.0, 2.0], [3.1, 3.9, 2.2])
    [[1, 3.1], [3, 2.2]]
    """
    steps, lowest = [], np.inf
    for place, (value, true_value) in enumerate(zip(observed, truth, strict=True), 1):
        if value < lowest:
            lowest = value
            steps.append([place, float(f"{true_value:.6g}")])
    return steps


def curve(steps, n):
    """Return the value after each of n evaluations, (n,); NaN before the first step.

    Examples
    --------
    >>> curve([[2, 5.0], [4, 1.0]], 5).tolist()
    [nan, 5.0, 5.0, 1.0, 1.0]
    """
    values = np.full(n, np.nan)
    for place, value in steps:
        values[place - 1 :] = value
    return values


class Store:
    """A file of results that survives being interrupted at any byte.

    Parameters
    ----------
    path : str or Path
        Made by the first `append`.
    """

    def __init__(self, path):
        self.path = Path(path)

    def read(self):
        """All results (list of dict); a torn last line is left out.

        Raises
        ------
        ValueError
            If a line before the last is no JSON object: the file is damaged, not interrupted.
        """
        if not self.path.exists():
            return []
        lines = self.path.read_bytes().split(b"\n")
        return [self._parse(line, number) for number, line in enumerate(lines[:-1], 1)]

    def append(self, result):
        """Write one result, after dropping a torn last line."""
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
                f"{self.path} line {number} must be a JSON object: got {line[:60]!r}. "
                "Delete that line to measure its cell again."
            )
        return result


NUMBERS = ("runs", "mean", "sd", "median", "mean half-way")
HEADER = ("method", *NUMBERS, "s a proposal")
ABOUT = (
    "Lowest value found, minimised; of a problem with noise without it. Half-way: after half of "
    "the evaluations. Seconds of the processor, median of the second half of the proposals."
)


def comparison(results, words):
    """Return the `Table` of runs on one problem, the lowest mean first.

    Parameters
    ----------
    results : list of dict
        As `run_once` returns them.
    words : str
        Its title.
    """
    by_method = defaultdict(list)
    for result in results:
        by_method[result["method"]].append(result)
    ordered = sorted(by_method.items(), key=lambda pair: values_of(pair[1])[:, -1].mean())
    rows = [(name, *numbers(own), median_seconds(own)) for name, own in ordered]
    return Table(words, HEADER, rows, ABOUT)


def values_of(results):
    """Return the lowest value after each evaluation of every run, (runs, n)."""
    return np.array([curve(r["steps"], r["problem"]["n"]) for r in results])


def numbers(results):
    """Return the cells of `NUMBERS` of the runs of one method."""
    values = values_of(results)
    last, half = values[:, -1], values[:, max(values.shape[1] // 2 - 1, 0)]
    spread = f"{last.std(ddof=1):.2g}" if len(last) > 1 else ""
    middle = f"{np.median(last):.4g}"
    return str(len(last)), f"{last.mean():.4g}", spread, middle, f"{half.mean():.4g}"


def median_seconds(results):
    """Return the median processor time of a proposal, as words."""
    return f"{np.median([r['median_seconds'] for r in results]):.3f}"


@dataclass(frozen=True)
class Table:
    """A titled table.

    Attributes
    ----------
    title : str
    header : tuple of str
    rows : list of tuple
        Strings.
    note : str
        Printed below.
    """

    title: str
    header: tuple
    rows: list
    note: str = ""


def render_text(blocks):
    """Blocks (str or `Table`) as aligned plain text."""
    return "\n\n".join(_text_table(b) if isinstance(b, Table) else b for b in blocks) + "\n"


def _text_table(table):
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    aligned = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
    aligned.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(
        [table.title, *(line.rstrip() for line in aligned), *filter(None, [table.note])]
    )
