"""Figures of the search log are those of the data beside it."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np

DOC = Path(__file__).parents[2] / "doc"
SIZES = (10, 15, 20)


def shares():
    """Return {(candidates, method): {(task, seed): share}} of the reported half."""
    with (DOC / "benchmarks" / "first_points.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["half"] == "reported"]
    scores, best = {}, defaultdict(lambda: -np.inf)
    for row in rows:
        method = row["method"] + (row["candidates"] if row["method"] == "silbo" else "")
        for n in SIZES:
            if value := row[f"at {n}"]:
                scores[n, method, row["task"], row["seed"]] = float(value)
                best[row["task"]] = max(best[row["task"]], float(value))
    found = defaultdict(dict)
    for (n, method, task, seed), score in scores.items():
        of_chance = [v for (m, by, t, _), v in scores.items() if (m, by, t) == (n, "random", task)]
        chance = np.mean(of_chance)
        found[n, method][task, seed] = np.clip((score - chance) / (best[task] - chance), -1, 1)
    return found


def test_the_table_of_first_points():
    found, log = shares(), (DOC / "search_log.rst").read_text()
    for n in SIZES:
        columns = (f"silbo{n}", "optuna-tpe", "random", "silbo20")
        assert all(len(found[n, method]) == 140 for method in columns)
        means = [f"{np.mean(list(found[n, method].values())):.2f}" for method in columns]
        assert "   * - " + "\n     - ".join([str(n), *means]) in log
        for method in columns[1:3]:
            ours, theirs = found[n, f"silbo{n}"], found[n, method]
            leads = np.array([ours[run] - theirs[run] for run in ours])
            error = leads.std() / len(leads) ** 0.5
            assert re.search(rf"{leads.mean():.2f} ± {error:.2f}\b", log)
