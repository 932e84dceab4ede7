"""
A simulator with a hundred inputs: search, then ask what mattered
=================================================================

A model of an aircraft's wing has ten parameters, and ninety more settings that, unknown to us,
change nothing. A hundred evaluations are all there is time for. :class:`~skbo_silbo.SILBO` finds a
light wing, and its ``subspace_`` says which of the hundred inputs made it light. It takes about
fifteen seconds.
"""

# %%
# The simulator
# -------------
# Weight of a wing in pounds as a function of its area, the weight of fuel, aspect ratio and so on:
# the formula of Forrester, Sobester and Keane (2008), eq. 1.1. Which inputs are the ten is drawn.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SILBO, minimize

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
}
places = np.random.default_rng(7).permutation(100)[:10]
bounds = np.tile([0.0, 1.0], (100, 1))
bounds[places] = list(RANGES.values())


def wing_weight(x):
    """Return the weight in pounds."""
    area, fuel, aspect, sweep, pressure, taper, thickness, load, design, paint = x[places]
    cosine = np.cos(np.deg2rad(sweep))
    structure = 0.036 * area**0.758 * fuel**0.0035 * (aspect / cosine**2) ** 0.6 * pressure**0.006
    structure *= taper**0.04 * (100.0 * thickness / cosine) ** -0.3 * (load * design) ** 0.49
    return structure + area * paint


# %%
# The search
# ----------
# ``minimize(wing_weight, bounds, random_state=0)`` is the same search in one line; asking and
# telling keeps the optimiser, to be questioned afterwards.

optimizer = SILBO(bounds, random_state=0)
weights = []
for _ in range(100):
    x = optimizer.ask()
    weights.append(wing_weight(x))
    optimizer.tell(x, weights[-1])

blind = minimize(wing_weight, bounds, method="random", n_calls=100, random_state=0)
print(f"found {min(weights):.1f} lb; random search {blind.fun:.1f} lb")

# %%
# What mattered
# -------------
# ``shares`` says what every input explains of the variance, with an interval, and a verdict.

shares = optimizer.subspace_.shares
print(shares.verdict)
names = dict(zip([f"x{place}" for place in places], RANGES, strict=True))
order = [shares.names.index(name) for name in shares.ranked[:12]][::-1]
share, low, high = shares.intervals[order].T

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(np.minimum.accumulate(weights), label="SILBO")
left.plot(np.minimum.accumulate(blind.func_vals), "--", color="0.5", label="random search")
left.set(xlabel="evaluations", ylabel="lightest wing so far (lb)")
left.legend(frameon=False)
right.barh([names.get(shares.names[i], f"{shares.names[i]}, idle") for i in order], share)
right.hlines(range(len(order)), low, high, color="black")
right.set(xlabel="share of the variance", title="the twelve inputs that matter most")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
