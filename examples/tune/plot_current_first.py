"""
Evaluate the current Pipeline first
===================================

The model that you want to tune already has parameters, which are often good.
:class:`~skbo_silbo.SILBOSearchCV` evaluates it first, so the search never ends with a lower score,
and ``cv_results_`` shows what tuning gained. With ``initial_params="current"`` nothing else is
evaluated before the initial design. The support vector machine of this example has
``gamma="scale"``, which lies outside the search space. This candidate is evaluated nevertheless.
Other known parameters can be passed as a dict.
"""

# %%
# Start from three sets of candidates
# -----------------------------------

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.svm import SVR

from skbo_silbo import SILBOSearchCV

X, y = load_diabetes(return_X_y=True)
space = {
    "C": loguniform(1e-3, 1e3),
    "gamma": loguniform(1e-3, 1e3),
    "epsilon": loguniform(1e-2, 1e2),
}
options = {"n_iter": 16, "cv": 5, "scoring": "neg_mean_absolute_error", "random_state": 0}
model = SVR()

as_it_is = SILBOSearchCV(model, space, **options).fit(X, y)
known = {"C": 10, "gamma": 1.0, "epsilon": 1.0}
colleague = SILBOSearchCV(model, space, initial_params=known, **options)
colleague.fit(X, y)
nothing = SILBOSearchCV(model, space, initial_params=None, **options).fit(X, y)
for search in (as_it_is, colleague, nothing):
    results = search.cv_results_
    print(results["source"][0], results["params"][0], f"{results['mean_test_score'][0]:.3f}")

# %%
# Plot the best score so far
# --------------------------
# Each line starts at its first candidate. Good initial candidates help most if there are few
# candidates. Here all three searches end with similar scores.

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
lines = (
    (as_it_is, "the model as it is first", "#D55E00"),
    (colleague, "a colleague's setting first", "#0072B2"),
    (nothing, "initial_params=None", "0.45"),
)
for search, label, colour in lines:
    losses = -np.fmax.accumulate(search.cv_results_["mean_test_score"])
    axes.step(np.arange(1, 17), losses, where="post", color=colour, lw=2, label=label)
    axes.plot(1, losses[0], "o", color=colour)
axes.set(xlabel="candidates evaluated", ylabel="best cross-validated absolute error")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Best cross-validated absolute error against the number of candidates, for searches that start "
    "from the current model, from a colleague's setting, and from the initial design."
)
plt.show()
