"""
Minimise a simulator, four runs at a time
=========================================

A model of an aircraft's wing is a program that reads its settings as JSON and prints the weight of
the wing. Only ten of its 60 settings have an effect, but the search does not know which. Sixty runs
are affordable, four at a time. :func:`~skbo_silbo.minimize` keeps four threads busy, each of which
waits for a process.
"""

# %%
# Write the program
# -----------------
# The program computes the weight of a wing in pounds from its area, the weight of the fuel, the
# aspect ratio and other settings (Forrester, Sobester and Keane 2008, eq. 1.1). If the weight
# cannot be computed, the program ends with an error, as simulators do.

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from skbo_silbo import Space, minimize

PROGRAM = """
import json, math, sys
s = json.load(sys.stdin)
if s["aspect ratio"] > 9.8 and s["load factor"] > 5.8:
    sys.exit("the wing broke")
cosine = math.cos(math.radians(s["sweep"]))
structure = 0.036 * s["wing area"] ** 0.758 * s["fuel weight"] ** 0.0035
structure *= (s["aspect ratio"] / cosine**2) ** 0.6 * s["dynamic pressure"] ** 0.006
structure *= s["taper"] ** 0.04 * (100 * s["thickness"] / cosine) ** -0.3
structure *= (s["load factor"] * s["design weight"]) ** 0.49
print(structure + s["wing area"] * s["paint weight"])
"""


def weigh(settings):
    """Run the program once, and return NaN if it fails."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps({name: float(value) for name, value in settings.items()}),
        capture_output=True,
        text=True,
        check=False,
    )
    return float(run.stdout) if run.returncode == 0 else float("nan")


# %%
# Define the search space
# -----------------------

RANGES = {
    "wing area": (150.0, 200.0),
    "fuel weight": (220.0, 300.0),
    "aspect ratio": (6.0, 10.0),
    "sweep": (-10.0, 10.0),
    "dynamic pressure": (16.0, 45.0),
    "taper": (0.5, 1.0),
    "thickness": (0.08, 0.18),
    "load factor": (2.5, 6.0),
    "design weight": (1700.0, 2500.0),
    "paint weight": (0.025, 0.08),
    **{f"option {k}": (0.0, 1.0) for k in range(50)},
}
space = Space({name: uniform(low, high - low) for name, (low, high) in RANGES.items()})

# %%
# Run the searches
# ----------------
# A new point is proposed whenever a worker is free, given the pending points. With ``journal=``,
# every weight would be on disk, and the same call would resume after a crash. One run proves
# nothing, so each search is run four times.

N_RUNS = 60
SEARCHES = {"random search": ("random", "0.45"), "SILBO": ("silbo", "#0072B2")}
results = {}
with ThreadPoolExecutor(4) as workers:
    for name, (method, _) in SEARCHES.items():
        options = {"method": method, "n_calls": N_RUNS, "executor": workers}
        results[name] = [minimize(weigh, space, random_state=seed, **options) for seed in range(4)]
lightest = {name: np.array([result.fun for result in of_one]) for name, of_one in results.items()}
for name, found in lightest.items():
    print(f"{name}: {found.mean():.0f} lb on average, {found.min():.0f} to {found.max():.0f}")

# %%
# Find the settings that matter
# -----------------------------
# ``subspace_`` (a :class:`~skbo_silbo.sensitivity.LearntSubspace`) holds the share of the variance
# that every input explains over the whole space (its total Sobol index), with 90 % intervals. The
# proposals depend on which process ends first, so the numbers vary from run to run.
# :class:`~skbo_silbo.inspection.ConvergenceDisplay` draws the curve of one search.

shares = results["SILBO"][0].optimizer.subspace_.shares
print(shares)

curves, axes = plt.subplots(figsize=(5, 4), layout="constrained")
evaluations = np.arange(1, N_RUNS + 1)
for name, (_, colour) in SEARCHES.items():
    best = np.array([np.fmin.accumulate(result.func_vals) for result in results[name]])
    axes.fill_between(
        evaluations, best.min(axis=0), best.max(axis=0), color=colour, alpha=0.15, lw=0
    )
    axes.plot(evaluations, best.mean(axis=0), color=colour)
    axes.annotate(
        f"{name}, {lightest[name].mean():.0f} lb",
        (N_RUNS, lightest[name].mean()),
        (-4, 6),
        textcoords="offset points",
        ha="right",
        color=colour,
    )
axes.set(xlabel="runs of the program", ylabel="lightest wing so far (lb)")
axes.spines[["top", "right"]].set_visible(False)
curves.set_label(
    "Lightest wing so far against runs of the program, mean and range of four searches of each "
    f"kind; SILBO ends at {lightest['SILBO'].mean():.0f} lb, random search at "
    f"{lightest['random search'].mean():.0f}."
)
plt.show()

# %%
ranked = shares.ranked[:8][::-1]
share, low, high = np.array([shares.intervals[shares.names.index(name)] for name in ranked]).T
labels = [f"{name} (unused)" if name.startswith("option") else name for name in ranked]
certain = ["#0072B2" if end > 0.005 else "0.7" for end in low]
bars, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.barh(labels, share, color=certain)
axes.hlines(range(len(ranked)), low, high, color="0.3", lw=1)
axes.set(xlabel="share of the weight's variance, with 90 % intervals")
axes.spines[["top", "right"]].set_visible(False)
bars.set_label(
    "The eight settings that explain most of the weight, with intervals; "
    f"{ranked[-1]} and {ranked[-2]} have the largest shares."
)
plt.show()
