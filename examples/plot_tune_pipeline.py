"""
Tuning a Pipeline of 22 hyperparameters
=======================================

The lower half of a handwritten digit is to be completed from the upper half. A Pipeline weighs
groups of pixels, turns and kernelises them, and fits a ridge regression. It has 22 hyperparameters,
and :class:`~skbo_silbo.SILBOSearchCV` tunes them beside
:class:`~sklearn.model_selection.RandomizedSearchCV` and the Pipeline as it is by default.

Run from a checkout it prints what it finds and saves ``tune_pipeline.png``::

    python examples/plot_tune_pipeline.py

**How the task was chosen.** All of this was written down, and committed, before either search had
been run on it: the data, because they ship with scikit-learn and are many enough (1797) for a
cross-validated score to mean something; the mean squared error, because it is what a completion is
judged by and has no ceiling near; the Pipeline and the ranges, because one would write them so;
five seeds. Only the number of candidates was set by the clock, without a look at the scores. What
the run gave is shown, whatever it is.

It is the second task chosen so. The first, log loss on 400 biopsies, was run as well and is shown
in :ref:`sphx_glr_auto_examples_plot_better_score.py`: there the score that both searches went after
came out better in all five seeds, and the models did not. So data with more rows were taken, and
it was settled before the run that this task would be the one shown here.

It gave (26 November 2026; mean, and range over the five seeds):

.. list-table::
   :header-rows: 1

   * - squared error a pixel
     - cross-validated
     - on 597 other images
   * - Pipeline by default
     - 10.64
     - 10.75
   * - RandomizedSearchCV
     - 10.63 (10.61 to 10.64)
     - 10.77 (10.75 to 10.85)
   * - SILBOSearchCV
     - 9.55 (9.15 to 9.93)
     - 9.86 (9.46 to 10.25)

The first candidate of both searches is the Pipeline by default. SILBOSearchCV has the lower error
in all five seeds, cross-validated and on the other images. It begins with known values of the
steps, and then moves one to three parameters of the best. Of random search one seed found
something, which is worse on the other images. The mean difference is 1.08 ± 0.14, and 0.91 ± 0.14
on the others. It was 1.38 ± 0.21 and 1.18 ± 0.16 while the scale of the values was chosen, which
pairs on other problems found level.
"""

# %%
# The task
# --------
# 1200 of the 1797 images are for tuning, in three folds; the others only for a last look.

import sys
import time

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

from skbo_silbo import SILBOSearchCV

N_CANDIDATES, SEEDS = 50, range(5)
SCORING = "neg_mean_squared_error"

images = load_digits().data
upper, lower = images[:, :32], images[:, 32:]
X_tune, X_test, y_tune, y_test = train_test_split(upper, lower, train_size=1200, random_state=0)
splits = KFold(3, shuffle=True, random_state=0)


class Weight(TransformerMixin, BaseEstimator):
    """Multiply by a number: how much a group of columns counts in what follows."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * self.weight

    def __sklearn_is_fitted__(self):
        return True


# %%
# Every two neighbouring pixels of a row are a group with a weight. By default every weight is 1,
# the PCA keeps all, and the rest is as scikit-learn has it.

groups = [(f"pixels_{k}_{k + 1}", Weight(), [k, k + 1]) for k in range(0, 32, 2)]
pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("weigh", ColumnTransformer(groups)),
        ("turn", PCA(random_state=0)),
        ("kernel", Nystroem(random_state=0)),
        ("ridge", Ridge()),
    ]
)
quantiles = QuantileTransformer(n_quantiles=100, random_state=0)
space = {
    "scale": [StandardScaler(), MinMaxScaler(), quantiles],
    **{f"weigh__{name}__weight": loguniform(0.01, 1) for name, _, _ in groups},
    "turn__n_components": randint(4, 33),
    "kernel__kernel": ["rbf", "laplacian"],
    "kernel__gamma": loguniform(1e-4, 10),
    "kernel__n_components": randint(20, 301),
    "ridge__alpha": loguniform(1e-6, 10),
}
print(f"{len(space)} hyperparameters, {N_CANDIDATES} candidates, {len(SEEDS)} seeds", flush=True)

# %%
# The searches
# ------------
# SILBOSearchCV evaluates the Pipeline as it is first. So that random search has the same, its first
# candidate is the Pipeline too, and it draws one less. Two searches run at a time.

default = -cross_val_score(pipeline, X_tune, y_tune, cv=splits, scoring=SCORING).mean()
completed = clone(pipeline).fit(X_tune, y_tune).predict(X_test)
default_test = np.mean((completed - y_test) ** 2)
print(f"Default Pipeline: error {default:.3f}; on the {len(y_test)} others {default_test:.3f}")


def run(search_class, seed):
    """Fit one search; return the error so far, the fitted search and the error on the others."""
    start, is_random = time.process_time(), search_class is RandomizedSearchCV
    search = search_class(
        pipeline,
        space,
        n_iter=N_CANDIDATES - is_random,
        cv=splits,
        scoring=SCORING,
        random_state=seed,
    ).fit(X_tune, y_tune)
    scores = search.cv_results_["mean_test_score"]
    error = -np.fmax.accumulate(np.append(-default, scores) if is_random else scores)
    test = -search.score(X_test, y_test) if -search.best_score_ <= error[-1] else default_test
    print(
        f"{search_class.__name__}, seed {seed}: error {error[-1]:.3f}, on the others {test:.3f}, "
        f"{time.process_time() - start:.0f} s of computing",
        flush=True,
    )
    return error, search, test


classes = (RandomizedSearchCV, SILBOSearchCV)
jobs = [(search_class, seed) for seed in SEEDS for search_class in classes]
outcomes = Parallel(n_jobs=2)(delayed(run)(*job) for job in jobs)

# %%
# Results
# -------
# Errors are per pixel, on the scale of 0 to 16.

errors, tests = {}, {}
for search_class in classes:
    runs = [out for (cls, _), out in zip(jobs, outcomes, strict=True) if cls is search_class]
    errors[search_class] = np.array([error for error, _, _ in runs])
    tests[search_class] = np.array([test for _, _, test in runs])
    last, test = errors[search_class][:, -1], tests[search_class]
    print(
        f"{search_class.__name__}: error {last.mean():.3f} ({last.min():.3f} to {last.max():.3f}); "
        f"on the {len(y_test)} others {test.mean():.3f} ({test.min():.3f} to {test.max():.3f})"
    )

for what, gain in (
    ("cross-validated", errors[RandomizedSearchCV][:, -1] - errors[SILBOSearchCV][:, -1]),
    ("on the others", tests[RandomizedSearchCV] - tests[SILBOSearchCV]),
):
    print(
        f"Random search's error less ours, {what}: {gain.mean():+.3f}, standard error "
        f"{gain.std(ddof=1) / np.sqrt(len(gain)):.3f}; ours is lower in {(gain > 0).sum()} of "
        f"{len(gain)} seeds"
    )

best = min(outcomes[1::2], key=lambda out: out[0][-1])[1]
print("Best parameters of SILBOSearchCV:")
for name, value in best.best_params_.items():
    print(f"  {name}: {value:.4g}" if isinstance(value, float) else f"  {name}: {value}")

# %%
# Left, the best cross-validated error so far, a thin line a seed, thick their mean; right, the
# error of the models found on the images that no search saw.

COLOURS = {RandomizedSearchCV: "0.45", SILBOSearchCV: "#0072B2"}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(3, 1.3)
)
evaluated = np.arange(1, N_CANDIDATES + 1)
for search_class, colour in COLOURS.items():
    runs, name = errors[search_class], search_class.__name__
    left.plot(evaluated, runs.T, color=colour, lw=0.7, alpha=0.5)
    left.plot(evaluated, runs.mean(axis=0), color=colour, lw=2.5, label=name)
    place = list(COLOURS).index(search_class) + 1
    right.plot(np.full(len(SEEDS), place), tests[search_class], "o", color=colour, alpha=0.7)
    right.hlines(tests[search_class].mean(), place - 0.3, place + 0.3, color=colour, lw=2.5)
left.axhline(default, color="black", ls="--", label="Pipeline by default")
right.hlines(default_test, -0.3, 0.3, color="black", lw=2.5)
left.set(xlabel="candidates evaluated", ylabel="best cross-validated squared error of a pixel")
left.set_ylim(top=1.02 * default)
right.set(
    xticks=range(3), xlim=(-0.6, 2.6), ylabel=f"the same on {len(y_test)} images no search saw"
)
right.set_xticklabels(["default", "random", "SILBO"])
left.legend(frameon=False, loc="lower left")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: best cross-validated error against candidates, both searches beginning with the "
    "default Pipeline; the mean of RandomizedSearchCV stays on its line, that of SILBOSearchCV "
    "leaves it after three candidates and keeps falling. Right: on 597 images that no search "
    "saw, four of random search's five models are the default's and one is worse; all of SILBO's "
    "are better."
)
if "sphinx_gallery" in sys.modules:  # the gallery shows the figure itself
    plt.show()
else:
    figure.savefig("tune_pipeline.png", dpi=150)
    print("Saved tune_pipeline.png")
