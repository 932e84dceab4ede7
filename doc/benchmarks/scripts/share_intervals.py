"""Measure how often intervals of input shares hold the truth at points that a search chose.

``python doc/benchmarks/scripts/share_intervals.py`` runs searches of planted functions with
known total indices, and writes ``tables/share_intervals.csv``. The allowance for inputs
that the model has missed was chosen on repeats 100 to 105; those reported come after. It takes
about three minutes of CPU time.
"""

import csv
from collections import defaultdict

import numpy as np
from checkout import TABLES, make_parser

from benchmarks.experiments._share_coverage import POINTS, PlantedSum, true_shares
from skbo_silbo.sensitivity import InputModel
from skbo_silbo.space import Box

TABLE = TABLES / "share_intervals.csv"
PROBLEMS = [(6, 2, 40), (12, 3, 60), (12, 5, 80), (30, 4, 80)]  # inputs, active, evaluations
REPEATS = range(200, 204)
HEADER = ("inputs", "active", "evaluations", "active held", "without allowance", "others held")


def measure(d, k, n, repeat):
    """Return truth, lower and upper bound of all shares, and the allowance in the bounds."""
    rng = np.random.default_rng([repeat, d, n])
    planted = PlantedSum(d, k, rng)
    model = InputModel.fit(
        Box([(-1.0, 1.0)] * d), *POINTS["search"](planted, {"d": d, "n": n}, rng)
    )
    if not model.is_informative:
        return np.empty((0, 3)), 0.0
    bounds = model.shares.intervals[:, 1:]
    return np.column_stack([true_shares(planted, model), bounds]), model.hidden_share


def main():
    """Run all searches and write the table."""
    held = defaultdict(list)
    for repeat in REPEATS:
        for problem in PROBLEMS:
            rows, hidden = measure(*problem, repeat)
            truth, low, high = rows.T
            narrow = low / (1.0 - hidden), (high - hidden) / (1.0 - hidden)
            for which, (a, b) in enumerate([(low, high), narrow]):
                held[problem, which].append(((a <= truth) & (truth <= b))[truth > 0.0])
            held[problem, 2].append(((low <= truth) & (truth <= high))[truth == 0.0])
            print(problem, repeat, f"{hidden:.2f}", held[problem, 0][-1], flush=True)
    table = []
    for d, k, n in PROBLEMS:
        parts = [np.concatenate(held[(d, k, n), which]) for which in range(3)]
        table.append((d, k, n, *(f"{part.sum()} of {len(part)}" for part in parts)))
    with open(TABLE, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *table])
    print(*table, sep="\n")


if __name__ == "__main__":
    make_parser(__doc__).parse_args()
    main()
