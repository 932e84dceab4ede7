"""
Improvement per second
======================

A forest of a hundred trees takes fifty times as long as one of two, and its score is
mostly not much better. ``time_aware=True`` divides the improvement that a candidate of
:class:`~skbo_silbo.SILBOSearchCV` promises by the seconds that it should take, which a second model
learns from the candidates before. The power of the divisor falls from 1 to 0 while the budget is
spent: cheap candidates first, the best ones at whatever price in the end. Both searches here have
the same seed and the same number of candidates.
"""

# %%
# Two searches of thirty candidates
# ---------------------------------

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform, randint
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

from skbo_silbo import SILBOSearchCV

X, y = load_digits(return_X_y=True)
model = ExtraTreesClassifier(n_estimators=12, random_state=0)
space = {
    "n_estimators": [2, 5, 12, 35, 100],
    "max_features": loguniform(0.02, 1.0),
    "min_samples_leaf": randint(1, 20),
}
options = {"n_iter": 30, "n_initial": 5, "cv": 3, "random_state": 0}
plain = SILBOSearchCV(model, space, **options).fit(X, y)
aware = SILBOSearchCV(model, space, time_aware=True, **options).fit(X, y)


def seconds_of(search):
    """Return what the fits and scorings of every candidate took, (n,)."""
    results = search.cv_results_
    return 3 * (results["mean_fit_time"] + results["mean_score_time"])


for search in (plain, aware):
    print(f"{seconds_of(search).sum():.1f} s of fits, best score {search.best_score_:.4f}")

# %%
# What they spent their seconds on
# --------------------------------
# The first candidates, the model as it is and those of the design, are the same. Times are
# measured, so that another run looks a little different; how much the option is worth on eight
# tasks, ten runs each, is in the benchmark :doc:`/benchmarks/seconds`.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
lines = ((plain, "plain", "0.45"), (aware, "time_aware=True", "#D55E00"))
for search, label, colour in lines:
    seconds = seconds_of(search)
    left.semilogy(np.arange(1, 31), seconds, "o", color=colour, alpha=0.7)
    best = np.fmax.accumulate(search.cv_results_["mean_test_score"])
    right.step(seconds.cumsum(), best, where="post", color=colour, lw=2, label=label)
left.set(xlabel="candidate", ylabel="seconds of its fits")
right.set(xlabel="seconds of all fits so far", ylabel="best cross-validated accuracy")
right.legend(frameon=False, loc="lower right")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Two panels, a plain search grey and a time-aware one orange. Left the seconds of every "
    "candidate in order, right the best accuracy against the seconds of all fits so far."
)
plt.show()
