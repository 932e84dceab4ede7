"""
Choose the number of directions and the features
================================================

This example answers two questions. How many directions are there? Eigenvalues and permutation tests
tell. Which features can be left out? Coordinate tests tell. :doc:`/guide_directions` gives advice.
"""

# %%
# Simulate data
# -------------
# y depends on two directions of the features a, b and c. The other seven features are irrelevant.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbo_silbo import SemiSlicedInverseRegression
from skbo_silbo.inspection import SubspaceDisplay, coordinate_test

rng = np.random.default_rng(0)
N_ROWS = 400
X = pd.DataFrame(rng.normal(size=(N_ROWS, 10)), columns=list("abcdefghij"))
y = (X["a"] + X["b"]) / (0.5 + (X["c"] + 1.5) ** 2) + 0.2 * rng.normal(size=N_ROWS)

# %%
# Test the number of directions
# -----------------------------
# The fit computes chi-square tests. Permutation tests are also valid with a ridge or a graph.

sir = SemiSlicedInverseRegression().fit(X, y)
shuffled = SemiSlicedInverseRegression("permutation").fit(X, y).permutation_tests_
print("directions, by chi-square:", sir.n_components_)
for k, p in zip(shuffled["n_components"], shuffled["p_value"], strict=True):
    print(f"  {k} suffice: p = {p:.3f} by permutation")

# %%
# Test the features
# -----------------
# A coordinate test tests whether the directions need some features, and returns a
# :class:`~skbo_silbo.inspection.CoordinateTest`. Here, each feature is tested given the others.

test = coordinate_test(X, y, list("defghij"), n_slices=5)
print(f"without d to j: p = {test.p_value:.2f}")
p_values = pd.Series({name: coordinate_test(X, y, name, n_slices=5).p_value for name in X})
print("needed:", ", ".join(X.columns[p_values < 0.05]))

# %%
# Left: the tests keep the first two eigenvalues, which are clearly larger than the others. Right:
# the p-value of each feature given the others.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
SubspaceDisplay.from_estimator(sir, X, y, kind="spectrum", ax=left)
left.set_title("how many")
right.bar(p_values.index, p_values, color="#0072B2")
right.axhline(0.05, color="k", ls="--", lw=1)
right.set(title="which features", ylabel="p-value", xlabel="feature")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: two eigenvalues are far larger than the others. Right: the p-values of a, b and "
    "c are almost zero, and those of the other features above .05."
)
plt.show()
