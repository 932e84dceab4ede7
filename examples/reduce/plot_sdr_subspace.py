"""
Find the directions on which a response depends
===============================================

Sliced inverse regression, its localised form and the active subspace estimate the few directions of
X on which y depends. :class:`~skbo_silbo.inspection.SubspaceDisplay` plots them.

The script prints what it finds and saves four figures, ``sdr_*.png``::

    python examples/reduce/plot_sdr_subspace.py
"""

# %%
# Fit sliced inverse regression to the diabetes data
# --------------------------------------------------
# A sequence of chi-square tests chooses the number of directions. With 442 samples and ten slices
# it finds one. The progression of the disease increases along it, in a slightly curved way.

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from skbo_silbo import ActiveSubspace, SemiSlicedInverseRegression
from skbo_silbo.inspection import SubspaceDisplay, bootstrap_directions


def show(display, name, what_one_sees):
    display.figure_.set_label(what_one_sees)
    if "sphinx_gallery" in sys.modules:  # the gallery shows the figure itself
        plt.show()
    else:
        display.figure_.savefig(f"sdr_{name}.png", dpi=120)
        print(f"Saved sdr_{name}.png")


X, y = load_diabetes(return_X_y=True, as_frame=True)
sir = SemiSlicedInverseRegression().fit(X, y)
tests = sir.dimension_tests_
print("diabetes, tests of k directions being enough:")
for k in range(3):
    print(
        f"  k = {k}: statistic {tests['statistic'][k]:.1f}, df {tests['df'][k]}, "
        f"p {tests['p_value'][k]:.2g}"
    )
print(f"  n_components_ = {sir.n_components_}")

# %%
# To estimate the uncertainty of the loadings, the bootstrap fits the directions to resampled rows
# and returns a :class:`~skbo_silbo.inspection.DirectionBootstrap`. Black lines are 95 % intervals.
# The loadings of s1 and s2, two almost equal cholesterol measures, are uncertain.

resampled = bootstrap_directions(
    SemiSlicedInverseRegression(sir.n_components_), X, y, n_resamples=300, random_state=0
)
apart = (resampled.low > 0) | (resampled.high < 0)
print("  apart from zero in direction 1:", ", ".join(X.columns[apart[0]]))
print(f"  median squared trace correlation of the resamples {np.median(resampled.stability):.3f}")
show(
    SubspaceDisplay.from_estimator(sir, X, y, bootstrap=resampled),
    "diabetes",
    "Left: the target rises along direction 1, in a broad cloud. Middle: one eigenvalue "
    "at .5, all others below .1. Right: bars of the loadings with intervals; those of s5, "
    "bmi, bp and sex exclude zero, those of s1 and s2 are the widest.",
)

# %%
# Use categories as the response
# ------------------------------
# If y holds categories, each category is a slice, and the directions are those of linear
# discriminant analysis. Here half of the wines are unlabelled and drawn in faint colours.

wine = load_wine(as_frame=True)
cultivar = wine.target_names[wine.target].astype(object)
cultivar[::2] = None
sir = SemiSlicedInverseRegression(2, alpha=0).fit(wine.data, cultivar)
show(
    SubspaceDisplay.from_estimator(
        sir, wine.data, cultivar, kind="summary", response_name="cultivar"
    ),
    "wine",
    "Three cultivars along two directions: the first parts class 2 from the others, the "
    "second class 1; in the plane of both they are three clouds apart, with the faint "
    "unlabelled wines among them.",
)

# %%
# Localise the slices
# -------------------
# If a class consists of several clusters, its mean describes it poorly. An example are digits that
# are only labelled as even or odd. Two plain slices identify a single direction, whereas local
# means of the ten nearest samples in the same slice identify many. The first of these alone is
# worse than the plain direction, because it separates clusters rather than classes. Five together
# are better.

X, y = load_digits(return_X_y=True)
parity = np.where(y % 2, "odd", "even")
plain = SemiSlicedInverseRegression(1, ridge=1e-3)
local = SemiSlicedInverseRegression(5, n_local_neighbors=10, ridge=1e-3, random_state=0)
for name, sir, r in (("plain", plain, 1), ("localised", local, 1), ("localised", local, 5)):
    pipeline = make_pipeline(sir.set_params(n_components=r), KNeighborsClassifier(10))
    score = cross_val_score(pipeline, X, parity, cv=5)
    accuracy = f"{score.mean():.3f}, sd {score.std(ddof=1):.3f}"
    print(f"digits, even or odd, {name}, {r} direction{'s' * (r > 1)}: accuracy {accuracy}")
show(
    SubspaceDisplay.from_estimator(local.fit(X, parity), X, parity, kind="summary"),
    "digits",
    "Even and odd digits along two of the directions: on either axis the two overlap over "
    "half of its range; in the plane even ones lie mostly above, odd ones below, and a "
    "patch on the right holds both.",
)

# %%
# Use a symmetric response
# ------------------------
# If y depends on the square of x'b and x is symmetric, the mean of x given y is zero, and sliced
# inverse regression finds nothing. The active subspace, which uses the gradients of a Gaussian
# process, finds the direction.

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 10))
b = np.array([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) / np.sqrt(2)
y = (X @ b) ** 2 + 0.1 * rng.normal(size=120)
active = ActiveSubspace().fit(X, y)
for estimator in (SemiSlicedInverseRegression(1).fit(X, y), active):
    direction = estimator.components_[0] / np.linalg.norm(estimator.components_[0])
    print(f"even response, {type(estimator).__name__}: cosine to b {abs(direction @ b):.3f}")
show(
    SubspaceDisplay.from_estimator(active, X, y),
    "even",
    "Left: y is a parabola along direction 1, with little scatter. Middle: the first "
    "eigenvalue is four decades above the second. Right: the loadings of x3 and x0 are "
    "about .7, all others nothing.",
)
