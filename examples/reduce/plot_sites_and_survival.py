"""
Reduce grouped and censored data
================================

Two kinds of data mislead sliced inverse regression. A category that affects both X and y, here the
hospital, looks like a direction: pass it as ``group``. With censored times, the direction of the
censoring is found as well: pass a structured array of event and time.
"""

# %%
# Adjust for the hospital
# -----------------------
# The outcome depends on severity, the first of six features. One of the hospitals has older
# patients and, for other reasons, better outcomes.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SlicedInverseRegression

rng = np.random.default_rng(0)
names = ["severity", "age", "x2", "x3", "x4"]
hospital = rng.choice(["north", "south"], size=300)
X = rng.normal(size=(300, 5))
outcome = X[:, 0] + 3 * (hospital == "south") + 0.5 * rng.normal(size=300)
X[:, 1] += 2 * (hospital == "south")

plain = SlicedInverseRegression(1).fit(X, outcome)
given = SlicedInverseRegression(1).fit(X, outcome, group=hospital)

# %%
# Use censored times
# ------------------
# Survival is shorter for severe cases, and older patients leave the study earlier. The observed
# time is the smaller of both times.

Z = rng.normal(size=(300, 5))
survival, leaving = np.exp(-Z[:, :2] + 0.3 * rng.normal(size=(300, 2))).T
seen = np.minimum(survival, leaving)
times = np.empty(300, dtype=[("event", bool), ("time", float)])
times["event"], times["time"] = survival <= leaving, seen

of_times = SlicedInverseRegression(1).fit(Z, seen)
of_both = SlicedInverseRegression(ridge=0).fit(Z, times)
print("p-values of 0, 1, ... directions:", of_both.dimension_tests_["p_value"].round(3))

# %%
# Left: without the hospital, the direction has a loading of .28 on age. Given the hospital, it has
# severity only. Right: with the observed time alone, one direction mixes severity and age. With
# event and time there are two directions, which span both.

figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
drawn = [
    [("without the hospital", plain), ("given the hospital", given)],
    [("time seen", of_times), ("event and time", of_both)],
]
for axes, fits in zip(panels, drawn, strict=True):
    for k, (label, fit) in enumerate(fits):
        basis = np.linalg.qr(fit.components_.T)[0]  # the variances are about 1
        places = np.arange(5) + 0.35 * (k - 0.5)
        axes.bar(places, np.sum(basis**2, axis=1), width=0.33, label=label)
    axes.set_xticks(range(5), names)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set(ylabel="share of the feature in the directions", title="a category")
panels[1].set(title="a censored time")
figure.set_label(
    "Left: without the hospital, the direction has a loading of .28 on age; given the hospital, it "
    "has severity only. Right: the direction for the observed time mixes severity and age; the two "
    "for event and time span both."
)
plt.show()
