"""
Select among 200 features, and unroll a curved surface
======================================================

Directions that use all features are unsuitable in two cases. If there are more features than
samples and few of them matter, use :class:`~skbo_silbo.SparseSlicedInverseRegression`. If samples
lie on a curved surface, :class:`~skbo_silbo.KernelSlicedInverseRegression` gives scores that follow
it, and unlabelled samples help.
"""

# %%
# Select a few features
# ---------------------
# There are 120 samples of 200 features. y increases along one direction, which combines four of
# them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.preprocessing import StandardScaler

from skbo_silbo import (
    KernelSlicedInverseRegression,
    SemiSlicedInverseRegression,
    SparseSlicedInverseRegression,
)

rng = np.random.default_rng(0)
truth = np.zeros(200)
truth[[20, 70, 120, 170]] = 0.5, -0.5, 0.5, -0.5
X = rng.normal(size=(120, 200))
y = np.exp(X @ truth) + 0.2 * rng.normal(size=120)

directions = {
    "all features (ridge)": SemiSlicedInverseRegression(1).fit(X, y).components_[0],
    "few features (lasso)": SparseSlicedInverseRegression(1).fit(X, y).components_[0],
}
for name, direction in directions.items():
    cosine = abs(direction @ truth) / np.linalg.norm(direction)
    print(f"{name}: {np.sum(direction != 0)} features, cosine to the truth {cosine:.2f}")

# %%
# Unroll a curved surface
# -----------------------
# Six hundred samples lie on a rolled-up sheet. The response is the position along the roll, and is
# known for 40 of them.

rows, place = make_swiss_roll(600, noise=0.2, random_state=0)
scaled = StandardScaler().fit_transform(rows)
known = np.full(600, np.nan)
known[:40] = place[:40]

ESTIMATORS = {
    "a straight direction": SemiSlicedInverseRegression(1, alpha=0.0),
    "curved, 40 labelled rows": KernelSlicedInverseRegression(1, gamma=2.0, alpha=0.0),
    "curved, all 600 rows": KernelSlicedInverseRegression(1, gamma=2.0, alpha=10.0),
}
scores = {}
for name, estimator in ESTIMATORS.items():
    score = estimator.fit(scaled, known).transform(scaled)[:, 0]
    scores[name] = score * np.sign(np.corrcoef(score, place)[0, 1])
    rank = np.corrcoef(score.argsort().argsort(), place.argsort().argsort())[0, 1]
    print(f"{name}: rank correlation with the place {abs(rank):.2f}")

# %%
# Top: the entries of the direction found, with rings around the four relevant features. Bottom: the
# roll seen from its end, coloured by the scores. They are correct if the colour changes steadily
# along the roll.

figure = plt.figure(figsize=(11, 6.2), layout="constrained")
above, below = figure.subfigures(2, 1, height_ratios=(2, 3))
for axes, (name, direction) in zip(
    above.subplots(1, 2, sharey=True), directions.items(), strict=True
):
    direction = direction * np.sign(direction @ truth) / np.linalg.norm(direction)
    axes.vlines(np.arange(200), 0, direction, color="#0072B2", lw=1)
    axes.plot(np.flatnonzero(truth), truth[truth != 0], "o", mfc="none", mec="k", label="truth")
    axes.set(title=name, xlabel="feature", ylabel="entry" if "all" in name else "")
    axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="upper right")
for axes, (name, score) in zip(below.subplots(1, 3), scores.items(), strict=True):
    axes.scatter(rows[:, 0], rows[:, 2], c=score.argsort().argsort(), cmap="viridis", s=8)
    axes.plot(*rows[:40, [0, 2]].T, "o", mfc="none", mec="k", ms=5, mew=0.8)
    axes.set(title=name, xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
figure.set_label(
    "Top: entries of a direction in 200 features. With a ridge all of them differ from zero. With "
    "the lasso the four relevant ones are largest and few others are left. Bottom: three spirals "
    "coloured by scores. The colour changes steadily along the roll only with all 600 samples; "
    "with a linear direction it changes from lower left to upper right."
)
plt.show()
