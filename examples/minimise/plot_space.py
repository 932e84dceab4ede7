"""
Define a search space
=====================

An optimiser maps every search space to a cube with columns from -1 to 1. This example shows how
ranges, integers, lists, categories and conditional parameters are encoded.
"""

# %%
# Encode a space
# --------------
# A space contains distributions of :mod:`scipy.stats`, lists of sorted numbers (ordered), and other
# lists (categories, with one column per choice). :func:`~skbo_silbo.space.parameter_domains`
# describes each parameter by a :class:`~skbo_silbo.space.ParameterDomain`.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, norm, randint, uniform

from skbo_silbo import SILBO, Space, SpaceExhausted
from skbo_silbo.space import SpaceUnion, parameter_domains

space = Space(
    {
        "momentum": uniform(0.5, 0.5),
        "rate": loguniform(1e-5, 1e-1),
        "layers": randint(1, 9),
        "width": [16, 32, 64, 128],
        "shift": norm(0, 2),
        "kind": ["relu", "tanh", "gelu"],
    }
)
for name, domain in parameter_domains(space).items():
    scale = "logarithmic" if domain.is_logarithmic else "even"
    print(name, domain.values or f"{domain.low:.4g} to {domain.high:.4g}, {scale}")
print("columns of the cube:", space.feature_names_)

# %%
# Encode conditional parameters
# -----------------------------
# A list of dicts becomes a :class:`~skbo_silbo.space.SpaceUnion`. Its first column chooses the
# branch, and parameters that branches have in common share a column.

union = SpaceUnion(
    [
        {"kernel": ["rbf"], "C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)},
        {"kernel": ["poly"], "C": loguniform(1e-2, 1e2), "degree": randint(2, 6)},
    ]
)
print(union.feature_names_)
drawn = union.decode(np.random.default_rng(0).uniform(-1, 1, (200, union.n_features_)))

# %%
# Exhaust a finite space
# ----------------------
# This space has six points, which can be proposed once each. Asking for another point raises
# :class:`~skbo_silbo.SpaceExhausted`, which says how many points are left.

optimizer = SILBO({"depth": [2, 4, 8], "kind": ["a", "b"]}, random_state=0)
for trial in optimizer.ask(4):
    optimizer.tell(trial, trial["depth"] + (trial["kind"] == "b"))
try:
    optimizer.ask(3)
except SpaceExhausted as error:
    print(f"{error} n_left={error.n_left}")

# %%
# Top: the value of each parameter along its column of the cube. Steps are integers and lists, and a
# straight line on a logarithmic axis is a log-uniform range. Bottom: 200 points of the conditional
# space. Each has one of the two lower parameters.

figure = plt.figure(figsize=(11, 6.4), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(3, 2))
column = np.linspace(-1, 1, 401)
for k, axes in enumerate(above.subplots(1, 5)):
    name = list(parameter_domains(space))[k]
    points = np.zeros((401, space.n_features_))
    points[:, space.feature_names_.index(name)] = column
    axes.plot(column, [point[name] for point in space.decode(points)], color="#0072B2", lw=2)
    domain = parameter_domains(space)[name]
    axes.set(title=name, xlabel="column", yscale="log" if domain.is_logarithmic else "linear")
    if domain.values:
        axes.set_yticks(domain.values, domain.values)
        axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
left, right = below.subplots(1, 2, sharey=True)
for axes, kernel, own, colour in (
    (left, "rbf", "gamma", "#0072B2"),
    (right, "poly", "degree", "#D55E00"),
):
    points = [point for point in drawn if point["kernel"] == kernel]
    axes.plot([p[own] for p in points], [p["C"] for p in points], "o", color=colour, ms=4)
    axes.set(title=f"kernel={kernel!r}: {len(points)} points", xlabel=own, yscale="log", ylabel="C")
    axes.spines[["top", "right"]].set_visible(False)
left.set_xscale("log")
right.set_xticks(range(2, 6))
figure.set_label(
    "Top: value against cube column for five parameters: straight lines for momentum and, on a "
    "logarithmic axis, rate; steps for layers and width; an S-shaped curve for the normal shift. "
    "Bottom: random points of the two branches, evenly spread over C and gamma, and over C and "
    "four values of degree."
)
plt.show()
