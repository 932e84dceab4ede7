"""
Optimise the shares of a mixture
================================

The inputs of a blend, a portfolio or an alloy are shares that must sum to one. Search all shares
except the last, which is one minus the sum of the others. Pass :func:`~skbo_silbo.minimize` a
`scipy.optimize.LinearConstraint` that keeps the last share non-negative. Every proposed point
satisfies this constraint.
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


def with_rest(free):
    return np.column_stack([free, 1.0 - np.sum(free, axis=-1)])


result = minimize(
    lambda x: shrinkage(with_rest(x[None]))[0],
    [(0, 1)] * 2,
    constraints=LinearConstraint([[1, 1]], 0, 1),
    n_calls=25,
    random_state=0,
)
blends = with_rest(result.x_iters)
best = blends[result.func_vals.argmin()]
print(best.round(3), f"{result.fun:.4f}", blends.min() >= 0)

# %%
# Plot the evaluated blends
# -------------------------

corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
grid = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
shown = axes.tricontourf(*(grid @ corners).T, shrinkage(grid), levels=20, cmap="Greys")
points = blends @ corners
order = np.arange(len(points))
axes.scatter(*points.T, c=order, cmap="plasma", s=40, edgecolor="white", zorder=3, clip_on=False)
axes.plot(*(best @ corners), "*", ms=18, color="#D55E00", zorder=4)
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
