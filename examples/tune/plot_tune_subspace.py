"""
Tune a model in a learnt subspace
=================================

The SILBO paper searches in a subspace that it learns from labelled and unlabelled points, with a
Gaussian process on the coordinates of this subspace. Two arguments of
:class:`~skbo_silbo.SILBOSearchCV` select the same combination for tuning: ``embedding="semi-sir"``
and ``surrogate="sklearn"``. This example tunes a histogram boosting model with it, and with the
default, which keeps all hyperparameters. It takes about half a minute.
"""

# %%
# Search twice
# ------------
# Both searches evaluate the untuned model first, then 29 other candidates, for three seeds.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

from skbo_silbo import SILBOSearchCV

X, y = load_diabetes(return_X_y=True)
model = HistGradientBoostingRegressor(max_iter=50, random_state=0)
OPTIONS = {
    "learnt subspace": {"embedding": "semi-sir", "surrogate": "sklearn"},
    "default": {},
}
searches = {
    name: [
        SILBOSearchCV(
            model, n_iter=30, cv=3, initial_params="current", random_state=seed, **options
        ).fit(X, y)
        for seed in range(3)
    ]
    for name, options in OPTIONS.items()
}
for name, runs in searches.items():
    scores = ", ".join(f"{search.best_score_:.3f}" for search in runs)
    print(f"{name:16} best cross-validated R2: {scores}")

# %%
# Inspect the learnt direction
# ----------------------------
# ``optimizer_.embedding_.basis`` holds one row per hyperparameter and one column per direction. The
# hyperparameters are scaled to [-1, 1] first, so the weights can be compared.

search = searches["learnt subspace"][0]
basis = search.optimizer_.embedding_.basis
names = list(search.best_params_)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for (name, runs), colour in zip(searches.items(), ("#d62728", "#0072B2"), strict=True):
    for k, run in enumerate(runs):
        best = np.maximum.accumulate(run.cv_results_["mean_test_score"])
        left.plot(np.arange(1, 31), best, color=colour, label=name if k == 0 else None)
left.set(xlabel="candidates", ylabel="best cross-validated R2")
left.legend(frameon=False)
right.barh(names, basis[:, 0], color="#d62728")
right.axvline(0, color="black", lw=0.8)
right.set(title="weights of the learnt direction", xlim=(-1, 1))
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: best cross-validated R2 against candidates, three searches in a learnt subspace and "
    "three of the default. Right: weights of the hyperparameters in the learnt direction."
)
plt.show()

# %%
# Three seeds do not decide which search is better. With few hyperparameters there is little to gain
# from a subspace; :doc:`/benchmarks/learnt_subspace` compares both for many inputs.
