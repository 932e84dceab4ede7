"""
Exclude combinations of parameters
==================================

Some combinations of parameters are invalid, such as a leaf that is larger than the split above it
or, here, a forest that is too large for its device. Pass ``constraints`` of
:class:`~skbo_silbo.SILBOSearchCV` a function that tells whether a candidate is valid. Invalid
candidates are neither proposed nor fitted nor counted.
"""

# %%
# Limit a forest to 2000 leaves
# -----------------------------

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import uniform
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

from skbo_silbo import SILBOSearchCV

X, y = load_diabetes(return_X_y=True)
MOST_LEAVES = 2000
space = {
    "n_estimators": [5, 8, 12, 18, 27, 40, 60, 90, 135, 200],
    "max_leaf_nodes": [4, 6, 9, 13, 20, 30, 45, 70, 105, 160],
    "max_features": uniform(0.1, 0.9),
}


def fits_the_device(params):
    return params["n_estimators"] * params["max_leaf_nodes"] <= MOST_LEAVES


search = SILBOSearchCV(
    RandomForestRegressor(random_state=0),
    space,
    n_iter=25,
    cv=3,
    scoring="neg_root_mean_squared_error",
    constraints=fits_the_device,
    initial_params={"n_estimators": 40, "max_leaf_nodes": 30, "max_features": 1.0},
    random_state=0,
).fit(X, y)
results = search.cv_results_
print(search.best_params_, f"{-search.best_score_:.2f}")
print(all(fits_the_device(params) for params in results["params"]), len(results["params"]))

# %%
# The untuned forest, whose number of leaves is unlimited, is outside this space. The search
# therefore starts from a forest that fits the device. A candidate that violates the constraint
# raises an error.

try:
    large = {"n_estimators": 200, "max_leaf_nodes": 160, "max_features": 1.0}
    search.set_params(initial_params=large).fit(X, y)
except ValueError as error:
    print(error)

# %%
# Plot the candidates
# -------------------
# Candidates that differ only in ``max_features`` are drawn at the same position.

trees = np.array([params["n_estimators"] for params in results["params"]])
leaves = np.array([params["max_leaf_nodes"] for params in results["params"]])
figure, axes = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
edge = np.geomspace(4, 250, 50)
axes.fill_between(edge, MOST_LEAVES / edge, 400, color="0.88", label="breaks the rule")
errors = -results["mean_test_score"]
shown = axes.scatter(trees, leaves, c=errors, s=60, cmap="viridis_r", edgecolor="0.2", zorder=3)
best = search.best_index_
axes.plot(trees[best], leaves[best], "*", ms=18, color="#D55E00", zorder=4)
axes.set(xscale="log", yscale="log", xlim=(4, 250), ylim=(3.5, 200))
axes.set(xlabel="n_estimators", ylabel="max_leaf_nodes")
figure.colorbar(shown, label="cross-validated error")
axes.legend(loc="upper right", frameon=False)
figure.set_label(
    "Number of trees and maximum number of leaves of each candidate, on logarithmic axes. All "
    "candidates satisfy the constraint. The best one, a star, lies on its boundary, with 200 small "
    "trees."
)
plt.show()
