"""
A simulator in a process of its own, four at a time
===================================================

A model of an aircraft's wing is a program: it reads its settings as JSON, and prints the wing's
weight. It has ten settings that count, and fifty more that, unknown to us, change nothing.
Four runs at a time are affordable, 25 times. :class:`~skbo_silbo.SILBO` is asked for four points,
and told their weights. It takes about half a minute.
"""

# %%
# The program
# -----------
# Weight of a wing in pounds as a function of its area, the weight of fuel, aspect ratio and so on:
# the formula of Forrester, Sobester and Keane (2008), eq. 1.1. What it cannot compute, it does not
# survive: then it prints nothing and ends with an error, as simulators do.

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform

from skbo_silbo import SILBO, Space, minimize

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
    """Run the program once; NaN tells the optimiser that it failed."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps({name: float(value) for name, value in settings.items()}),
        capture_output=True,
        text=True,
        check=False,
    )
    return float(run.stdout) if run.returncode == 0 else float("nan")


# %%
# The space
# ---------

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
# The search
# ----------
# A thread waits for each process. Within a batch every point is chosen where improvement is
# expected given that the others are pending.

optimizer = SILBO(space, random_state=0)
with ThreadPoolExecutor(4) as workers:
    for _ in range(25):
        batch = optimizer.ask(4)
        optimizer.tell(batch, list(workers.map(weigh, batch)))
    blind = minimize(weigh, space, method="random", n_calls=100, random_state=0)
weights = optimizer.func_vals_
print(f"found {optimizer.best_y_:.1f} lb; random search {blind.fun:.1f} lb")

# %%
# What mattered
# -------------
# Every direction is a row of ``components``, and ``importance`` its share of the squared slope of
# the model. An idle setting can show among those that matter little: a hundred values are few.

subspace = optimizer.subspace_
shares = subspace.importance @ subspace.components**2
order = np.argsort(-shares)[:10][::-1]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
evaluations = np.arange(1, 101)
left.plot(evaluations, weights, "o", color="#D55E00", ms=3, alpha=0.4, label="each run of SILBO")
left.plot(evaluations, np.fmin.accumulate(weights), color="#D55E00", lw=2.5, label="SILBO, best")
left.plot(
    evaluations, np.fmin.accumulate(blind.func_vals), "--", color="0.45", label="random search"
)
left.set(xlabel="evaluations, four at a time", ylabel="weight of the wing (lb)")
left.legend(frameon=False)
names = [subspace.feature_names[i] for i in order]
colours = ["0.7" if name.startswith("option") else "#0072B2" for name in names]
right.barh(
    [f"{name}, idle" if c == "0.7" else name for name, c in zip(names, colours, strict=True)],
    shares[order],
    color=colours,
)
right.set(xlabel="share of the squared slope", title="ten settings that mattered most")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
