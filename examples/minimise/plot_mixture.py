"""
Optimise the shares of a mixture
================================

The inputs of a blend, a portfolio or an alloy are shares that must sum to one. Pass
:func:`~skbo_silbo.minimize` a `scipy.optimize.LinearConstraint` with equal bounds. Every proposed
point satisfies it, from the first one on.
"""

# %%
# Optimise a blend of three components
# ------------------------------------
# The best blend contains hardly anything of the third component.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import LinearConstraint

from skbo_silbo import minimize


def shrinkage(shares):
    a, b, c = np.moveaxis(shares, -1, 0)
    return 1.0 + a * a + 2.0 * b * b + 3.0 * c - 1.5 * a * b - 2.0 * b * c - 0.8 * a


result = minimize(
    shrinkage,
    [(0, 1)] * 3,
    constraints=LinearConstraint([[1, 1, 1]], 1, 1),
    n_calls=25,
    random_state=0,
)
print(result.x.round(3), f"{result.fun:.4f}", abs(result.x_iters.sum(axis=1) - 1).max())

# %%
# Plot the evaluated blends
# -------------------------

corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
grid = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
shown = axes.tricontourf(*(grid @ corners).T, shrinkage(grid), levels=20, cmap="Greys")
points = result.x_iters @ corners
order = np.arange(len(points))
axes.scatter(*points.T, c=order, cmap="plasma", s=40, edgecolor="white", zorder=3, clip_on=False)
axes.plot(*(result.x @ corners), "*", ms=18, color="#D55E00", zorder=4)
sides = (("right", "top"), ("left", "top"), ("center", "bottom"))
for corner, name, (across, along) in zip(corners, ("all a", "all b", "all c"), sides, strict=True):
    axes.text(*corner, name, ha=across, va=along)
axes.set_aspect("equal")
axes.set_axis_off()
figure.colorbar(shown, label="shrinkage")
figure.set_label(
    "All blends of a, b and c as a triangle, darker where the shrinkage is larger. All points lie "
    "in the triangle, and most are close to the best blend, a star on the side without c."
)
plt.show()
