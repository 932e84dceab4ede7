"""Count how much of the package one proposal calls: the table of doc/architecture.rst.

The functions of ours that are entered, the files that they stand in, and how many of them are open
inside one another at most. To write the table::

    python doc/benchmarks/count_ask.py --write
"""

import csv
import sys
import threading
from pathlib import Path

import numpy as np

import skbo_silbo
from skbo_silbo import SILBO

ROOT = Path(skbo_silbo.__file__).parent
TABLE = Path(__file__).with_name("ask.csv")
HEADER = ["proposal, with 30 inputs", "functions", "files", "depth"]


def observed(n, **options):
    """Return an optimiser of 30 inputs that has n observations."""
    optimizer = SILBO([(-1, 1)] * 30, random_state=0, **options)
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, (x[0] - 0.3) ** 2 + np.sin(3 * x[4]))
    return optimizer


def pending(n_observed, n_pending):
    """Return an optimiser with points pending, and nothing observed since they were proposed."""
    optimizer = observed(n_observed)
    optimizer.ask(n_pending)
    return optimizer


PROPOSALS = {
    "the 37th: hyperparameters as they were": lambda: observed(36),
    "the first of a model: scale and hyperparameters are searched": lambda: observed(11),
    'the 20th with ``embedding="semi-sir"``': lambda: observed(19, embedding="semi-sir"),
    "the 20th with three points pending": lambda: pending(19, 3),
}


def entered_by(run):
    """Return the functions that a call enters, (file, name) each, and the greatest depth."""
    entered, depth, deepest = set(), 0, 0

    def note(frame, event, _):
        nonlocal depth, deepest
        code = frame.f_code
        if event in ("call", "return") and code.co_filename.startswith(str(ROOT)):
            entered.add((code.co_filename, code.co_qualname))
            depth += 1 if event == "call" else -1
            deepest = max(deepest, depth)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered, deepest


def count_calls(run):
    """Return the numbers of functions and files entered by a call, and the greatest depth."""
    entered, deepest = entered_by(run)
    return len(entered), len({file for file, _ in entered}), deepest


def count_all():
    """Return the counts of every proposal of the table, by its name."""
    return {name: count_calls(make().ask) for name, make in PROPOSALS.items()}


def read_table():
    """Return the counts that the table states."""
    with TABLE.open(newline="") as file:
        return {name: tuple(map(int, counts)) for name, *counts in list(csv.reader(file))[1:]}


def main():
    """Print the table, and write it if asked to."""
    rows = [HEADER, *([name, *counts] for name, counts in count_all().items())]
    csv.writer(sys.stdout).writerows(rows)
    if "--write" in sys.argv[1:]:
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
