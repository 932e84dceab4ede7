"""
Tuning a real model: eight hyperparameters on digits
====================================================

A scaler, a PCA and a support vector machine are tuned together on scikit-learn's digits, once with
:class:`~skbo_silbo.SILBOSearchCV` and once with
:class:`~sklearn.model_selection.RandomizedSearchCV`: the same Pipeline, space and splits, the same
number of fits (the initial candidates count for both), three seeds each. It takes about two minutes
on two cores.

Run from a checkout it prints progress and results and saves ``tune_digits.png``::

    python examples/plot_tune_digits.py
"""

# %%
# The task
# --------
# 800 of the 1797 images are for tuning, in four folds; the others only for a last look at the
# models found. (With fewer components than here and a larger gamma, some polynomial kernels keep
# libsvm busy without end.)

import sys
import time

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV

N_CANDIDATES, SEEDS = 50, (0, 1, 2)

X, y = load_digits(return_X_y=True)
X_tune, X_test, y_tune, y_test = train_test_split(X, y, train_size=800, stratify=y, random_state=0)
pipeline = Pipeline([("scale", StandardScaler()), ("reduce", PCA(random_state=0)), ("svc", SVC())])
space = {
    "scale": [StandardScaler(), MinMaxScaler(), "passthrough"],
    "reduce__n_components": randint(16, 65),
    "reduce__whiten": [False, True],
    "svc__kernel": ["rbf", "poly", "sigmoid"],
    "svc__C": loguniform(1e-3, 1e3),
    "svc__gamma": loguniform(1e-6, 1),
    "svc__degree": randint(2, 6),
    "svc__coef0": uniform(-1, 2),
}
splits = StratifiedKFold(4, shuffle=True, random_state=0)

# %%
# Both searches
# -------------
# Only the class differs.


def run(search_class, seed):
    """Fit one search; return it, and its best mean error so far after each candidate, in %."""
    print(f"{search_class.__name__}, seed {seed}: {N_CANDIDATES} candidates", flush=True)
    search = search_class(
        pipeline, space, n_iter=N_CANDIDATES, cv=splits, n_jobs=2, random_state=seed, verbose=1
    )
    start = time.perf_counter()
    search.fit(X_tune, y_tune)
    error = 100 * (1 - np.fmax.accumulate(search.cv_results_["mean_test_score"]))
    print(f"  best error {error[-1]:.2f} % after {time.perf_counter() - start:.1f} s", flush=True)
    return search, error


runs = {
    search_class: [run(search_class, seed) for seed in SEEDS]
    for search_class in (RandomizedSearchCV, SILBOSearchCV)
}

# %%
# Results
# -------

for search_class, fitted in runs.items():
    errors = np.array([error[-1] for _, error in fitted])
    tests = np.array([100 * (1 - search.score(X_test, y_test)) for search, _ in fitted])
    print(
        f"{search_class.__name__}: cross-validated error {errors.mean():.2f} % "
        f"({errors.min():.2f} to {errors.max():.2f}), error on the {len(y_test)} other images "
        f"{tests.mean():.2f} % ({tests.min():.2f} to {tests.max():.2f})"
    )

best = max((search for search, _ in runs[SILBOSearchCV]), key=lambda s: s.best_score_)
print("Best parameters of SILBOSearchCV:")
for name, value in best.best_params_.items():
    print(f"  {name}: {value:.4g}" if isinstance(value, float) else f"  {name}: {value}")

# %%
# The best error so far: the mean of the three seeds, and the range between them.

import matplotlib.pyplot as plt
from matplotlib.ticker import ScalarFormatter

fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
evaluated = np.arange(1, N_CANDIDATES + 1)
styles = {RandomizedSearchCV: ("#D55E00", "--"), SILBOSearchCV: ("#0072B2", "-")}
ends = {}
for search_class, (colour, line) in styles.items():
    errors = np.array([error for _, error in runs[search_class]])
    ends[search_class] = errors[:, -1].mean()
    ax.fill_between(evaluated, errors.min(0), errors.max(0), color=colour, alpha=0.15, lw=0)
    ax.plot(evaluated, errors.mean(0), line, color=colour, lw=2.5)

# Labels at the ends of the curves, kept a line apart.
low, high = sorted(ends, key=ends.get)
middle = np.sqrt(ends[low] * ends[high])
gap = max(np.sqrt(ends[high] / ends[low]), 1.08)
for search_class, height in ((low, middle / gap), (high, middle * gap)):
    ax.annotate(
        f"{search_class.__name__}  {ends[search_class]:.2f} %",
        (N_CANDIDATES, height),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        color=styles[search_class][0],
        weight="bold",
        annotation_clip=False,
    )
ax.set_title("Tuning scaler, PCA and SVC on digits: 8 hyperparameters", loc="left", weight="bold")
ax.text(
    0.99,
    0.97,
    f"mean of {len(SEEDS)} seeds, band: from best to worst seed",
    transform=ax.transAxes,
    ha="right",
    va="top",
    color="0.35",
)
ax.set(
    xlabel="candidates evaluated (4 fits each)",
    ylabel="best cross-validated error so far (%)",
    yscale="log",
    xlim=(1, N_CANDIDATES),
    ylim=(1, 20),
)
ax.set_yticks([1, 2, 5, 10, 20])
ax.set_xticks([1, *range(10, N_CANDIDATES + 1, 10)])
ax.yaxis.set_major_formatter(ScalarFormatter())
ax.minorticks_off()
ax.grid(axis="y", color="0.9")
ax.spines[["top", "right"]].set_visible(False)

if "sphinx_gallery" in sys.modules:  # the gallery shows the figure itself
    plt.show()
else:
    fig.savefig("tune_digits.png", dpi=150)
    print("Saved tune_digits.png")
