"""Measure what a proposal costs: CPU seconds and memory by inputs, evaluations and constraints.

``python doc/benchmarks/scripts/cost.py`` writes ``tables/cost.csv``. Each row is
measured in a process of its own with one thread: an optimiser is given evenly drawn points, and the
median CPU time of seven proposals is taken. Memory is the peak of the process, which includes some
200 MB for the imports.
"""

import csv
import resource
import subprocess
import sys
import time

import numpy as np
from checkout import TABLES, make_parser
from threadpoolctl import threadpool_limits

from skbo_silbo import SILBO

TABLE = TABLES / "cost.csv"
HEADER = ("inputs", "evaluations", "learnt constraints", "seconds a proposal", "peak memory (MB)")
CASES = [
    *((d, n, 0) for d in (5, 20, 100, 500, 1000) for n in (25, 100)),
    (20, 300, 0),
    (20, 1000, 0),
    (20, 100, 1),
    (20, 100, 3),
]
N_PROPOSALS = 7


def measure(d, n, m):
    """Return the median CPU seconds of a proposal, and the peak memory in MB."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, d))

    def evaluate(X):
        y = (X[:, 0] - 0.3) ** 2 + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3]
        return y, X[:, :m] - 0.5 if m else None

    optimizer, seconds = SILBO([(-1.0, 1.0)] * d, random_state=0), []
    y, constraints = evaluate(X)
    optimizer.tell(X, y, constraints=constraints)
    for _ in range(N_PROPOSALS):
        start = time.process_time()
        x = optimizer.ask()
        seconds.append(time.process_time() - start)
        y, constraints = evaluate(x[None])
        optimizer.tell(x[None], y, constraints=constraints)
    return np.median(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    """Measure all cases in processes of their own and write the table."""
    rows = []
    for case in CASES:
        command = [sys.executable, __file__, *map(str, case)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds, memory = map(float, printed.split())
        rows.append((*case, f"{seconds:.2f}", f"{memory:.0f}"))
        print(*rows[-1], flush=True)
    with open(TABLE, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *rows])


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("case", type=int, nargs="*", help="measure one case in this process")
    if case := parser.parse_args().case:
        with threadpool_limits(1):
            print(*measure(*case))
    else:
        main()
