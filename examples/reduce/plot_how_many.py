"""
Choose the number of directions and the features
================================================

This example answers three questions. How many directions are there? Eigenvalues and permutation
tests tell. Which features can be left out? Coordinate tests tell. What if the samples do not fit in
memory? Compute the slices in a first pass over y, then fit in chunks. :doc:`/guide_directions`
gives advice.
"""

# %%
# Simulate data
# -------------
# y depends on two directions of the features a, b and c. The other seven features are irrelevant.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skbo_silbo import SemiSlicedInverseRegression
from skbo_silbo.decomposition import slice_edges
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
# Fit in chunks
# -------------
# The edges of the slices are computed from y alone, and the samples are then passed 20 at a time.
# In the end, the directions equal those of a fit to all samples.

edges = slice_edges(y, 10)
whole = SemiSlicedInverseRegression(2, n_slices=10).fit(X, y)
basis = np.linalg.qr(whole.components_.T)[0]
chunked, apart = SemiSlicedInverseRegression(2, n_slices=edges), []
for start in range(0, N_ROWS, 20):
    rows = slice(start, start + 20)
    chunked.partial_fit(X[rows], y[rows])
    found = np.linalg.qr(chunked.components_.T)[0]
    cosine = np.linalg.svd(basis.T @ found, compute_uv=False).min()
    apart.append(np.degrees(np.arccos(min(cosine, 1.0))))
print(f"angle to the fit to all rows after the last chunk: {apart[-1]:.1e} degrees")

# %%
# Left: the tests keep the first two eigenvalues, which are clearly larger than the others. Middle:
# the p-value of each feature given the others. Right: distance between the directions of the first
# samples and those of all samples.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
SubspaceDisplay.from_estimator(sir, X, y, kind="spectrum", ax=left)
left.set_title("how many")
middle.bar(p_values.index, p_values, color="#0072B2")
middle.axhline(0.05, color="k", ls="--", lw=1)
middle.set(title="which features", ylabel="p-value", xlabel="feature")
right.plot(np.arange(20, N_ROWS + 1, 20), apart, "o-", color="#0072B2", ms=4)
right.set(
    title="chunks of 20 rows", xlabel="rows seen", ylabel="largest angle to the end (degrees)"
)
for axes in (left, middle, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: two eigenvalues are far larger than the others. Middle: the p-values of a, b and "
    "c are almost zero, and those of the other features above .05. Right: the angle to the "
    "final directions falls from 90 degrees to zero as chunks are added."
)
plt.show()
