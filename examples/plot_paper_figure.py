"""
The paper's figure, with every evaluation counted
=================================================

The SILBO paper compares its strategies with REMBO, HeSBO and others on functions in 100 inputs
(Chen, Zhu, Yuan and Huang, arXiv 2005.14601, section 5). Here are its published curves beside ours.
Bottom-up evaluates all old points again when it learns a new embedding; in both those evaluations
count. It takes seconds: the runs are data.
"""

# %%
# Ours and theirs
# ---------------
# ``methods.jsonl`` has five runs of every method, made by
# ``python -m skbo_silbo.benchmarks run methods``; each is a list of [evaluations, best so far].
# ``published.csv`` has what the paper's figures show. To run a method yourself:
# ``minimize(branin_in_100, bounds, method="silbo-bu")``. Everything is maximised, as in the paper.

import csv
import json
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

checkout = next(
    folder for folder in (Path.cwd(), *Path.cwd().parents) if (folder / "doc/benchmarks").exists()
)
METHODS = {  # ours: theirs, colour
    "silbo": (None, "#D55E00"),
    "silbo-bu": ("SILBO-BU", "#0072B2"),
    "silbo-td": ("SILBO-TD", "#56B4E9"),
    "hesbo": ("HeSBO", "#009E73"),
    "rembo": ("REMBO", "#CC79A7"),
}
LOWEST = {"branin": -12, "hartmann6": 0.5, "colville": -8000}  # shown
evaluations = np.arange(10, 251)

runs = defaultdict(list)
for line in (checkout / "doc/benchmarks/methods.jsonl").read_text().splitlines():
    cell = json.loads(line)
    if cell["problem"]["d"] == 100 and cell["method"] in METHODS:
        at, best = np.array(cell["steps"]).T
        so_far = best[np.searchsorted(at, evaluations, side="right") - 1]
        runs[cell["problem"]["function"], cell["method"]].append(-so_far)

published = defaultdict(list)
with open(checkout / "doc/benchmarks/published.csv", newline="") as file:
    for row in csv.DictReader(file):
        if row["dim"] == "100" and row["acquisition"] in ("", "UCB"):
            point = float(row["true_evaluations"]), float(row["mean_best"])
            published[row["problem"], row["method"], row["acquisition"]].append(point)

for (function, method), values in runs.items():
    print(f"{function:10} {method:9} {np.mean(values, axis=0)[-1]:10.3f} ({len(values)} runs)")

# %%
# Lines are means of five runs, bands one standard error, dots what the paper shows for the same
# method (by EI, and by UCB with crosses, where it shows both). ``silbo`` is the library's default,
# which the paper does not have.

figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for axes, function in zip(panels, LOWEST, strict=True):
    for method, (name, colour) in METHODS.items():
        values = np.array(runs[function, method])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        axes.plot(evaluations, mean, color=colour, lw=2, label=method)
        axes.fill_between(evaluations, mean - error, mean + error, color=colour, alpha=0.15, lw=0)
        for acquisition, marker in (("", "o"), ("UCB", "x")):
            points = published.get((function, name, acquisition), [])
            inside = [point for point in points if point[0] <= 250]
            if inside:
                axes.plot(*np.array(inside).T, marker, color=colour, ms=5, mec=colour)
    axes.set(title=f"{function}, 100 inputs", xlabel="evaluations, all counted")
    axes.set_ylim(bottom=LOWEST[function])
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_yscale("symlog", linthresh=1)
panels[-1].set_ylim(top=-0.5)
panels[0].set_ylabel("best value so far")
panels[0].legend(frameon=False)
plt.show()
