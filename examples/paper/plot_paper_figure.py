"""
Reproduce the paper's figure
============================

The SILBO paper compares its two strategies with REMBO, HeSBO and others on functions of 100 inputs
(Chen, Zhu, Yuan and Huang, arXiv 2005.14601, section 5). This figure shows our runs of these
methods against the number of evaluations. The bottom-up strategy evaluates its initial points again
whenever it learns a new embedding, and these evaluations are counted. The runs are stored, so the
example takes seconds. :doc:`/benchmarks/paper` compares them with the published means.
"""

# %%
# Read the stored runs
# --------------------
# ``paper.jsonl`` was written by ``python doc/benchmarks run paper``. Each run is a list of
# [evaluations, best value so far]. To run a method yourself:
# ``minimize(branin_in_100, bounds, method="silbo-bu")``. All functions are maximised, as in the
# paper. ``silbo`` is the default of this library, which is not in the paper. The top-down strategy
# is shown with the constants of the authors' code ("as run").

import json
from collections import defaultdict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

folders = (Path.cwd(), *Path.cwd().parents)
files = [folder / "doc/benchmarks/results/paper.jsonl" for folder in folders]
if not (found := [file for file in files if file.exists()]):
    raise FileNotFoundError(
        f"doc/benchmarks/results/paper.jsonl is neither in {folders[0]} nor in a folder above it. "
        "The runs come with the repository, not with the package: run this example in a checkout."
    )
COLOURS = {  # as on the benchmark pages
    "silbo": "#000000",
    "silbo-bu": "#d62728",
    "silbo-td-as-run": "#ff9900",
    "hesbo": "#08306b",
    "rembo": "#1f77b4",
}
LOWEST = {"branin": -12, "hartmann6": 0.5, "colville_as_run": -8000}  # lower limits of the axes
evaluations = np.arange(10, 251)

runs = defaultdict(list)
for line in found[0].read_text().splitlines():
    cell = json.loads(line)
    if cell["problem"].get("d") == 100 and cell["method"] in COLOURS:
        at, best = np.array(cell["steps"]).T
        if at[0] <= 10:
            so_far = best[np.searchsorted(at, evaluations, side="right") - 1]
            runs[cell["problem"]["function"], cell["method"]].append(-so_far)

for (function, method), values in sorted(runs.items()):
    print(f"{function:15} {method:9} {np.mean(values, axis=0)[-1]:10.3f} ({len(values)} runs)")

# %%
# Draw the means
# --------------
# Lines are means over the runs, and bands are one standard error.

figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for axes, function in zip(panels, LOWEST, strict=True):
    for method, colour in COLOURS.items():
        values = np.array(runs[function, method])
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
        label = f"{method} ({len(values)} runs)"
        axes.plot(
            evaluations, mean, label=label, color=colour, lw=2.4 if method == "silbo" else 1.2
        )
        band = {"color": colour, "alpha": 0.15, "lw": 0}
        axes.fill_between(evaluations, mean - error, mean + error, **band)
    axes.set(title=f"{function}, 100 inputs", xlabel="evaluations")
    axes.set_ylim(bottom=LOWEST[function])
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_yscale("symlog", linthresh=1)
panels[-1].set_ylim(top=-0.5)
panels[0].set_ylabel("best value so far (maximised)")
panels[0].legend(frameon=False, fontsize=8)
figure.set_label(
    "Three panels for Branin, Hartmann and Colville with 100 inputs: best value against "
    "evaluations, where higher is better. The thick line, silbo, ends highest in each panel. The "
    "order of silbo-bu, silbo-td, hesbo and rembo differs between panels."
)
plt.show()
