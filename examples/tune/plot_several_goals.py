"""
Trade errors against fit time
=============================

The most accurate model is often slow. With ``refit=["score", "fit_time"]``,
:class:`~skbo_silbo.SILBOSearchCV` looks for the candidates that no other candidate beats in both
objectives. ``pareto_front_`` lists their rows of ``cv_results_``.
"""

# %%
# Search for score and fit time
# -----------------------------
# ``"fit_time"`` needs no scorer. Nothing is refitted, because you decide which row is best.

import matplotlib.pyplot as plt
from scipy.stats import randint, uniform
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

from skbo_silbo import SILBOSearchCV
from skbo_silbo.inspection import ParetoDisplay

X, y = load_digits(return_X_y=True)
space = {
    "n_estimators": randint(2, 60),
    "max_features": uniform(0.05, 0.95),
    "max_depth": randint(2, 20),
}
search = SILBOSearchCV(
    ExtraTreesClassifier(n_estimators=30, max_features=0.5, max_depth=10, random_state=0),
    space,
    n_iter=30,
    cv=3,
    refit=["score", "fit_time"],
    random_state=0,
).fit(X, y)

# %%
# List the non-dominated candidates
# ---------------------------------

results = search.cv_results_
for row in search.pareto_front_[results["mean_test_score"][search.pareto_front_].argsort()]:
    params = {k: round(float(v), 2) for k, v in results["params"][row].items()}
    score, seconds = results["mean_test_score"][row], results["mean_fit_time"][row]
    print(f"{score:.3f} in {seconds:.3f} s: {params}")

# %%
# Choose the fastest candidate that is good enough
# ------------------------------------------------
# Select a row of the front with your own rule, and fit it with ``choose``.

enough = max(results["mean_test_score"]) - 0.02
good = [row for row in search.pareto_front_ if results["mean_test_score"][row] >= enough]
row = min(good, key=lambda row: results["mean_fit_time"][row])
model = search.choose(row, X, y)

# %%
# Plot the Pareto front
# ---------------------

display = ParetoDisplay.from_result(search)
[axes] = display.axes_
score, seconds = results["mean_test_score"][row], results["mean_fit_time"][row]
axes.plot(score, seconds, "o", ms=12, mfc="none", color="#D55E00", label="chosen")
axes.set(xlabel="accuracy, cross-validated", yscale="log")
axes.legend(loc="upper left", frameon=False)
display.figure_.set_label(
    "Accuracy against the fit time in seconds, on a logarithmic axis, for thirty forests. The "
    "non-dominated ones are joined by a line: each gain of accuracy takes more time. A circle "
    "marks the fastest within 0.02 of the best."
)
plt.show()
