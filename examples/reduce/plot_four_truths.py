"""
Choose a method for the shape of the response
=============================================

Six methods that estimate directions, and the Lasso, are fitted to the same 150 samples of ten
features. The response is monotone, symmetric, a sum of both along two directions, or a product.
Sliced inverse regression and the Lasso miss symmetric effects. SAVE is weak for monotone effects.
Outer products of gradients and the active subspace find the directions in all four cases.
"""

# %%
# Define the responses
# --------------------
# Features are standard normal, and y has noise of a fifth of its standard deviation.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LassoCV

from skbo_silbo import (
    MAVE,
    ActiveSubspace,
    DirectionalRegression,
    OuterProductGradients,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.inspection import compare_subspaces

N_ROWS, N_FEATURES, SEEDS = 150, 10, range(8)
TRUTHS = {
    "rising: exp(a)": (1, lambda a, b: np.exp(a)),
    "even: a²": (1, lambda a, b: a**2),
    "two: a / (.5 + (b + 1.5)²)": (2, lambda a, b: a / (0.5 + (b + 1.5) ** 2)),
    "product: a b": (2, lambda a, b: a * b),
}


def draw(truth, seed):
    """Return X, y and the true directions as orthonormal rows."""
    r, response = TRUTHS[truth]
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(N_FEATURES, 2)))[0].T
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = response(*directions @ X.T)
    return X, y + 0.2 * y.std() * rng.normal(size=N_ROWS), directions[:r]


# %%
# Fit the methods
# ---------------
# Each method gets the true number of directions, except for the Lasso, whose single direction are
# its coefficients. The score is the ``trace_correlation`` of a
# :class:`~skbo_silbo.inspection.SubspaceComparison`, the share of the true directions that lies in
# the estimated subspace. It is 1 if the estimated subspace contains all true directions.

ESTIMATORS = {
    "sliced inverse regression": SlicedInverseRegression(),
    "average variance (SAVE)": SlicedAverageVarianceEstimation(n_slices=5),
    "directional regression": DirectionalRegression(n_slices=5),
    "principal Hessian directions": PrincipalHessianDirections(),
    "outer product of gradients": OuterProductGradients(),
    "MAVE": MAVE(),
    "active subspace": ActiveSubspace(),
}
NAMES = [*ESTIMATORS, "Lasso"]


def find(name, X, y, r):
    if name == "Lasso":
        return LassoCV(cv=5, max_iter=5000).fit(X, y).coef_[None]
    return clone(ESTIMATORS[name]).set_params(n_components=r).fit(X, y).components_


def share_seen(found, truth):
    return compare_subspaces(truth, found).trace_correlation if found.any() else 0.0


seen = np.empty((len(TRUTHS), len(NAMES), len(SEEDS)))
for i, truth in enumerate(TRUTHS):
    for k, seed in enumerate(SEEDS):
        X, y, directions = draw(truth, seed)
        for j, name in enumerate(NAMES):
            seen[i, j, k] = share_seen(find(name, X, y, len(directions)), directions)

print(f"{'share of the truth seen':29}" + "".join(f"{truth.split(':')[0]:>8}" for truth in TRUTHS))
for name, means in zip(NAMES, seen.mean(axis=2).T, strict=True):
    print(f"{name:29}" + "".join(f"{mean:8.2f}" for mean in means))

# %%
# Top: y against its first direction, coloured by the second one if there is one. Bottom: the score
# of each method, with one dot per seed.

figure, panels = plt.subplots(2, 4, figsize=(11, 5.6), layout="constrained", sharey="row")
for i, truth in enumerate(TRUTHS):
    X, y, directions = draw(truth, 0)
    Z = X @ directions.T
    colour = Z[:, 1] if len(directions) == 2 else "#0072B2"
    panels[0, i].scatter(Z[:, 0], (y - y.mean()) / y.std(), c=colour, s=12)
    panels[0, i].set(title=truth, xlabel="a")
    for j in range(len(NAMES)):
        panels[1, i].plot(seen[i, j], np.full(len(SEEDS), j), "o", color="#D55E00", ms=4, alpha=0.6)
        panels[1, i].vlines(seen[i, j].mean(), j - 0.3, j + 0.3, color="k", lw=2)
    panels[1, i].set(xlim=(-0.05, 1.05), xlabel="share of the truth seen")
panels[0, 0].set_ylabel("y, standardised")
panels[1, 0].set_yticks(range(len(NAMES)), NAMES)
panels[1, 0].invert_yaxis()
for axes in panels.flat:
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Top: y against its first direction for a rising curve, a parabola, a fan and a saddle. "
    "Bottom: scores of eight methods. Active subspace and MAVE are near 1 in all four columns, and "
    "sliced inverse regression and the Lasso are near 0 for the parabola and the saddle."
)
plt.show()
