"""
Check that a better score is a better model
===========================================

Ten measurements of a biopsy, each as a mean, a standard error and a worst value: how likely is the
tumour malignant? The Pipeline weighs the measurements, turns and kernelises them, and fits a
logistic regression: 17 hyperparameters, tuned by :class:`~skbo_silbo.SILBOSearchCV` beside
:class:`~sklearn.model_selection.RandomizedSearchCV`. The one that searches better finds a better
cross-validated log loss, and models that are worse on rows it never saw: with 400 rows the score
itself is uncertain, and the harder one searches, the more of its luck one finds.

This was to be the main example, chosen before it was run. As chosen, with five seeds
(``SEEDS = range(5)``; revision ``c225599``, 22 November 2026, two busy cores), it gave:

.. list-table::
   :header-rows: 1

   * - log loss
     - cross-validated
     - on the 169 other rows
   * - Pipeline by default
     - .176
     - .191
   * - RandomizedSearchCV
     - .0723 (.0581 to .0818)
     - .125 (.104 to .168)
   * - SILBOSearchCV
     - .0538 (.0494 to .0621)
     - .181 (.134 to .318)

Here two seeds are run, in about a minute. Both searches begin with the Pipeline as it is; in the
table random search did not, and ended far below it in every seed.
"""

# %%
# The task
# --------
# 400 of the 569 biopsies are for tuning, in five folds; the other 169 only for a last look.

import time

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler

from skbo_silbo import SILBOSearchCV

N_CANDIDATES, SEEDS = 60, range(2)

data = load_breast_cancer()
measurements = [name.removeprefix("mean ").replace(" ", "_") for name in data.feature_names[:10]]
X_tune, X_test, y_tune, y_test = train_test_split(
    data.data, data.target, train_size=400, stratify=data.target, random_state=0
)
splits = StratifiedKFold(5, shuffle=True, random_state=0)


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
# The columns of a measurement are 10 apart. By default every weight is 1, the PCA keeps all, and
# the rest is as scikit-learn has it.

groups = [(name, Weight(), [k, k + 10, k + 20]) for k, name in enumerate(measurements)]
pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("weigh", ColumnTransformer(groups)),
        ("turn", PCA(random_state=0)),
        ("kernel", Nystroem(random_state=0)),
        ("classify", LogisticRegression(max_iter=5000)),
    ]
)
quantiles = QuantileTransformer(n_quantiles=100, output_distribution="normal", random_state=0)
space = {
    "scale": [StandardScaler(), RobustScaler(), quantiles],
    **{f"weigh__{name}__weight": loguniform(0.01, 1) for name in measurements},
    "turn__n_components": randint(5, 31),
    "kernel__kernel": ["rbf", "laplacian"],
    "kernel__gamma": loguniform(1e-3, 10),
    "kernel__n_components": randint(20, 201),
    "classify__C": loguniform(1e-2, 1e4),
    "classify__class_weight": [None, "balanced"],
}
print(f"{len(space)} hyperparameters, {N_CANDIDATES} candidates, {len(SEEDS)} seeds", flush=True)

# %%
# The searches
# ------------
# Only the class differs, and that random search takes its first candidate, the Pipeline, from here.
# Two searches run at a time.


scored = cross_val_score(pipeline, X_tune, y_tune, cv=splits, scoring="neg_log_loss")
default = -scored.mean()
fitted = clone(pipeline).fit(X_tune, y_tune)
test_default = log_loss(y_test, fitted.predict_proba(X_test))
print(f"Default Pipeline: log loss {default:.4f}; on the {len(y_test)} others {test_default:.4f}")


def run(search_class, seed):
    """Fit one search; return the losses so far and that on the test rows."""
    start, is_random = time.process_time(), search_class is RandomizedSearchCV
    search = search_class(
        pipeline,
        space,
        n_iter=N_CANDIDATES - is_random,
        cv=splits,
        scoring="neg_log_loss",
        random_state=seed,
    ).fit(X_tune, y_tune)
    scores = search.cv_results_["mean_test_score"]
    loss = -np.fmax.accumulate(np.append(-default, scores) if is_random else scores)
    test = -search.score(X_test, y_test) if -search.best_score_ <= loss[-1] else test_default
    seconds = time.process_time() - start
    print(
        f"{search_class.__name__}, seed {seed}: log loss {loss[-1]:.4f}, "
        f"{seconds:.0f} s of computing",
        flush=True,
    )
    return loss, test


classes = (RandomizedSearchCV, SILBOSearchCV)
jobs = [(search_class, seed) for seed in SEEDS for search_class in classes]
outcomes = Parallel(n_jobs=2)(delayed(run)(*job) for job in jobs)

# %%
# Results
# -------

found = {}
for search_class in classes:
    runs = [out for (cls, _), out in zip(jobs, outcomes, strict=True) if cls is search_class]
    losses, tests = (np.array(column) for column in zip(*runs, strict=True))
    found[search_class] = losses, tests
    print(
        f"{search_class.__name__}: log loss {losses[:, -1].mean():.4f} ({losses[:, -1].min():.4f} "
        f"to {losses[:, -1].max():.4f}); on the {len(y_test)} others {tests.mean():.4f} "
        f"({tests.min():.4f} to {tests.max():.4f})"
    )

# %%
# The usual remedies, not measured here: more rows, more splits
# (:class:`~sklearn.model_selection.RepeatedStratifiedKFold`), a score that punishes single rows
# less, fewer hyperparameters. What always serves is a last look at rows that no search has seen:
# right, a dot a seed. Left, the best cross-validated loss so far, a thin line a seed.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(3, 1.3)
)
evaluated = np.arange(1, N_CANDIDATES + 1)
for place, (search_class, colour) in enumerate(zip(classes, ("0.45", "#0072B2"), strict=True), 1):
    losses, tests = found[search_class]
    left.plot(evaluated, losses.T, color=colour, lw=0.7, alpha=0.5)
    left.plot(evaluated, losses.mean(axis=0), color=colour, lw=2.5, label=search_class.__name__)
    right.plot(np.full(len(tests), place), tests, "o", color=colour, alpha=0.7)
    right.hlines(tests.mean(), place - 0.3, place + 0.3, color=colour, lw=2.5)
left.axhline(default, color="black", ls="--", label="Pipeline by default")
right.hlines(test_default, -0.3, 0.3, color="black", lw=2.5)
left.set(
    xlabel="candidates evaluated", ylabel="best cross-validated log loss", ylim=(0, 1.6 * default)
)
right.set(xticks=range(3), xlim=(-0.6, 2.6), ylim=(0, None))
right.set_xticklabels(["default", "random", "SILBO"])
right.set_ylabel(f"log loss on {len(y_test)} others")
left.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: the best cross-validated log loss against candidates; after 60, SILBOSearchCV "
    "is below RandomizedSearchCV, and both are far below the default Pipeline. Right: on "
    "169 other rows, SILBO's two models are worse than those of random search, about as "
    "bad as the default."
)
plt.show()
