"""
Search along learnt directions
==============================

The algorithm of the paper learns a few directions from the values and searches along them. In this
library, ``embedding="semi-sir"`` selects this algorithm, here with scikit-learn's Gaussian process.
The function has 60 inputs and depends on two dense directions.
"""

# %%
# Define a function of two directions
# -----------------------------------
# :func:`~skbo_silbo.problems.rotated` puts a function of two coordinates along two random
# directions of the cube. It is steep along one of them and a bowl along the other.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SILBO
from skbo_silbo.problems import Problem, rotated


def valley(U):
    return np.exp(U[:, 0]) + 2 * (U[:, 1] - 0.3) ** 2


optimum = [[-1.0, 0.3]]
flat = Problem("valley", valley, [(-1, 1)] * 2, float(np.exp(-1)), optimum)
problem = rotated(flat, 60, random_state=1)
plane = problem.active_directions

# %%
# Run two searches of 60 evaluations
# ----------------------------------
# Both searches start from the same points. After every value, we compute the similarity of the
# learnt and the true plane: the mean squared cosine of the angles between them, which is 1 if they
# are equal.

options = {
    "semi-SIR, scikit-learn's process": {
        "n_components": 2,
        "embedding": "semi-sir",
        "surrogate": "sklearn",
    },
    "the default, all inputs": {},
}
told, found = {}, []
for name, chosen in options.items():
    search = SILBO(problem.bounds, random_state=0, **chosen)
    for _ in range(60):
        x = search.ask()
        search.tell(x, problem(x))
        basis = search.embedding_.basis
        if basis is not None:
            found.append((plane @ basis) ** 2)
    told[name] = search
    print(f"{name}: lowest value {search.best_y_:.3f} (optimum {problem.optimum:.3f})")
shares = [cosines.sum() / 2 for cosines in found]
print(f"of the true plane, learnt at the end: {shares[-1]:.2f} (a random plane has 0.03)")

# %%
# Every dot is an evaluated point in the true coordinates, from light (early) to dark (late). The
# cross is the minimum. With 60 inputs, some tens of values do not identify the plane: the learnt
# plane is hardly more similar to the true plane than a random one. The search therefore moves
# little along the true directions. One run does not show which method is better;
# :doc:`/benchmarks/learnt_subspace` has many runs.

figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
side = np.linspace(-1, 1, 100)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
scales = 3 / np.abs(plane).sum(axis=1)
for axes, (name, search) in zip(panels, told.items(), strict=False):
    U = np.clip(scales * (search.x_iters_ @ plane.T), -1, 1)
    axes.contour(side, side, valley(grid).reshape(100, 100), levels=15, colors="0.8")
    axes.scatter(*U.T, c=np.arange(len(U)), cmap="Blues", vmin=-20, s=22, ec="k", lw=0.3)
    axes.plot(*optimum[0], "x", color="#D55E00", ms=10, mew=2.5)
    axes.set(title=name, xlabel="first coordinate", ylabel="second coordinate")
panels[2].plot(np.arange(60 - len(shares), 60) + 1, shares, color="#d62728", lw=2)
panels[2].axhline(2 / 60, color="0.6", ls="--")
panels[2].text(60, 0.3, "dashed: a random plane", ha="right")
panels[2].set(title="how much of the true plane is learnt", xlabel="evaluations", ylim=(0, 1))
for axes in panels:
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: the points of the search with semi-SIR end half-way between the centre and the minimum. "
    "Middle: the late points of the default are close to the minimum. Right: the similarity of the "
    "learnt and the true plane stays below .15, close to that of a random plane."
)
plt.show()
