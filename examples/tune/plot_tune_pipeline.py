"""
Tune a Pipeline of 22 hyperparameters
=====================================

A Pipeline predicts the lower half of a handwritten digit from the upper half. It weights groups of
pixels, applies PCA and a kernel approximation, and fits a ridge regression.
:class:`~skbo_silbo.SILBOSearchCV` tunes its 22 hyperparameters, and is compared with
:class:`~sklearn.model_selection.RandomizedSearchCV` and Optuna's TPE.

From a checkout, the script prints the results and saves ``tune_pipeline.png``::

    python examples/tune/plot_tune_pipeline.py

**How the task was chosen.** The data, the metric, the Pipeline, its ranges and five seeds were
committed before any search had been run on them. Seeds 5 to 9 were added later, because five
seeds did not decide the comparison with TPE (p = 0.07). The data are part of scikit-learn, and
their 1797 samples make the cross-validated score reliable. The number of candidates was chosen by
the running time, without regard to the scores.

A first task was chosen in the same way: log loss on 400 biopsies
(:ref:`sphx_glr_auto_examples_tune_plot_better_score.py`). There both searches improved the
cross-validated score for all five seeds, but not the models. This task has more samples, and it was
decided before the run that it would be shown here.

Results of 29 November 2026 (mean, and range over the ten seeds). On another processor, single
searches of SILBOSearchCV differ, and means by up to 0.1:

.. list-table::
   :header-rows: 1

   * - squared error per pixel
     - cross-validated
     - on 597 other images
   * - untuned Pipeline
     - 10.64
     - 10.75
   * - RandomizedSearchCV
     - 10.57 (9.97 to 10.64)
     - 10.67 (9.80 to 10.85)
   * - Optuna's TPE
     - 10.20 (9.48 to 10.59)
     - 10.44 (9.80 to 10.91)
   * - SILBOSearchCV
     - 9.28 (8.78 to 10.06)
     - 9.68 (9.18 to 10.14)

The error of SILBOSearchCV is 0.92 (standard error 0.15) below that of TPE, and 0.76 (0.12) below
on the other images (paired t test, p < 0.001 for both). With the default of 28 November, p was
0.002 and 0.006. For the five added seeds alone, it is
1.18 (0.20) and 0.96 (0.18) below (p = 0.004 and 0.006). It is 1.29 (0.16) and 0.99 (0.17) below
that of random search (p = 0.00002 and 0.0002). The script prints these tests for all ten seeds.

The runs of random search and TPE are stored in ``tune_pipeline_others.csv``. Repeat them with
Optuna (``TPESampler`` with its defaults)::

    python examples/tune/plot_tune_pipeline.py --others
"""

# %%
# Define the task
# ---------------
# 1200 of the 1797 images are used for tuning, in three folds. The others are the test set.

import csv
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import loguniform, randint, ttest_1samp
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

N_CANDIDATES, SEEDS = 50, range(10)
SCORING = "neg_mean_squared_error"

images = load_digits().data
upper, lower = images[:, :32], images[:, 32:]
X_tune, X_test, y_tune, y_test = train_test_split(upper, lower, train_size=1200, random_state=0)
splits = KFold(3, shuffle=True, random_state=0)


class Weight(TransformerMixin, BaseEstimator):
    """Multiply X by a number, the weight of a group of columns."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X * self.weight

    def __sklearn_is_fitted__(self):
        return True


# %%
# Each pair of neighbouring pixels in a row is a group with a weight. By default all weights are 1,
# PCA keeps all components, and the other parameters have scikit-learn's defaults.

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
# Run the searches
# ----------------
# SILBOSearchCV evaluates the untuned Pipeline first. The untuned Pipeline lies outside the ranges,
# so its second candidate has the middle of the range for every parameter that lies outside. The
# other searches also start from these two candidates.

inside = {name: 1.0 for name in space if name.startswith("weigh")}
inside |= {"scale": StandardScaler(), "turn__n_components": 18, "kernel__kernel": "rbf"}
inside |= {"kernel__gamma": 10**-1.5, "kernel__n_components": 100, "ridge__alpha": 1.0}


def evaluate(params):
    """Return the cross-validated error of a candidate."""
    model = clone(pipeline).set_params(**params)
    return -cross_val_score(model, X_tune, y_tune, cv=splits, scoring=SCORING).mean()


def held_out_error(params):
    """Return the error of a candidate on the test set."""
    model = clone(pipeline).set_params(**params).fit(X_tune, y_tune)
    return np.mean((model.predict(X_test) - y_test) ** 2)


default, default_inside, default_test = evaluate({}), evaluate(inside), held_out_error({})
print(f"Untuned: error {default:.3f}, inside the ranges {default_inside:.3f}", flush=True)
options = {"cv": splits, "scoring": SCORING}


def run_ours(seed):
    """Return the errors of the candidates, the test error of the best, and the search."""
    search = SILBOSearchCV(pipeline, space, n_iter=N_CANDIDATES, random_state=seed, **options)
    start = time.process_time()
    search.fit(X_tune, y_tune)
    print(f"Seed {seed}: {time.process_time() - start:.0f} s of computing", flush=True)
    return -search.cv_results_["mean_test_score"], -search.score(X_test, y_test), search


ours = Parallel(n_jobs=2)(delayed(run_ours)(seed) for seed in SEEDS)

# %%
# The other searches use the same ranges and folds. Their runs are read from a file.

HERE = Path(__file__).parent if "__file__" in globals() else Path.cwd()
OTHER_RUNS = HERE / "tune_pipeline_others.csv"


def run_random(seed):
    """Return the errors of the candidates, and the test error of the best."""
    n_iter = N_CANDIDATES - 2
    search = RandomizedSearchCV(pipeline, space, n_iter=n_iter, random_state=seed, **options)
    search.fit(X_tune, y_tune)
    candidates = [{}, inside, *search.cv_results_["params"]]
    errors = [default, default_inside, *-search.cv_results_["mean_test_score"]]
    return errors, held_out_error(candidates[int(np.argmin(errors))])


def run_tpe(seed):
    """Return the errors of the candidates, and the test error of the best."""
    import optuna

    candidates = [{}]

    def suggest(trial, name, values):
        if isinstance(values, list):
            return values[trial.suggest_categorical(name, range(len(values)))]
        low, high = values.support()
        if values.dist.name == "randint":
            return trial.suggest_int(name, int(low), int(high))
        return trial.suggest_float(name, low, high, log=True)

    def objective(trial):
        candidates.append({name: suggest(trial, name, values) for name, values in space.items()})
        return evaluate(candidates[-1])

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(inside | {"scale": 0, "kernel__kernel": 0})  # places in their lists
    study.optimize(objective, n_trials=N_CANDIDATES - 1)
    errors = [default, *(trial.value for trial in study.trials)]
    return errors, held_out_error(candidates[int(np.argmin(errors))])


OTHERS = {"RandomizedSearchCV": run_random, "Optuna's TPE": run_tpe}
if "--others" in sys.argv:
    with OTHER_RUNS.open("w", newline="") as file:
        for name, function in OTHERS.items():
            made = Parallel(n_jobs=2)(delayed(function)(seed) for seed in SEEDS)
            csv.writer(file).writerows([name, test, *values] for values, test in made)

# %%
# Compare the models
# ------------------
# Errors are per pixel, whose values range from 0 to 16.

with OTHER_RUNS.open(newline="") as file:
    stored = list(csv.reader(file))
runs = {name: [list(map(float, row[1:])) for row in stored if row[0] == name] for name in OTHERS}
runs["SILBOSearchCV"] = [[test, *values] for values, test, _ in ours]
tests = {name: np.array(rows)[:, 0] for name, rows in runs.items()}
errors = {name: np.fmin.accumulate(np.array(rows)[:, 1:], axis=1) for name, rows in runs.items()}
for name in runs:
    last, test = errors[name][:, -1], tests[name]
    print(
        f"{name}: error {last.mean():.3f} ({last.min():.3f} to {last.max():.3f}); "
        f"on the {len(y_test)} others {test.mean():.3f} ({test.min():.3f} to {test.max():.3f})"
    )

for name in OTHERS:
    for what, of in (("cross-validated", lambda n: errors[n][:, -1]), ("on the others", tests.get)):
        gain = of(name) - of("SILBOSearchCV")
        print(
            f"Error of {name} minus ours, {what}: {gain.mean():+.3f}, standard error "
            f"{gain.std(ddof=1) / np.sqrt(len(gain)):.3f}; ours is lower in {(gain > 0).sum()} of "
            f"{len(gain)} seeds; paired t test p = {ttest_1samp(gain, 0).pvalue:.2g}"
        )

best = min(ours, key=lambda result: np.nanmin(result[0]))[2]
print("Best parameters of SILBOSearchCV:")
for name, value in best.best_params_.items():
    print(f"  {name}: {value:.4g}" if isinstance(value, float) else f"  {name}: {value}")

# %%
# Left: the best cross-validated error so far. Thin lines are single seeds, thick lines their means.
# Right: the error of the resulting models on images that no search has seen.

COLOURS = {"RandomizedSearchCV": "0.45", "Optuna's TPE": "#D55E00", "SILBOSearchCV": "#0072B2"}
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=(3, 1.5)
)
evaluated = np.arange(1, N_CANDIDATES + 1)
for place, (name, colour) in enumerate(COLOURS.items(), start=1):
    left.plot(evaluated, errors[name].T, color=colour, lw=0.7, alpha=0.5)
    left.plot(evaluated, errors[name].mean(axis=0), color=colour, lw=2.5, label=name)
    right.plot(np.full(len(SEEDS), place), tests[name], "o", color=colour, alpha=0.7)
    right.hlines(tests[name].mean(), place - 0.3, place + 0.3, color=colour, lw=2.5)
left.axhline(default, color="black", ls="--", label="untuned Pipeline")
right.hlines(default_test, -0.3, 0.3, color="black", lw=2.5)
left.set(xlabel="candidates evaluated", ylabel="best cross-validated squared error per pixel")
left.set_ylim(top=1.02 * default)
right.set(xticks=range(4), xlim=(-0.6, 3.6), ylabel=f"squared error on {len(y_test)} other images")
right.set_xticklabels(["untuned", "random", "TPE", "SILBO"])
left.legend(frameon=False, loc="lower left")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: best cross-validated error against candidates. The mean of SILBOSearchCV is lowest, the "
    "mean of Optuna's TPE second, and RandomizedSearchCV stays near the untuned Pipeline. Right: "
    "the error on 597 images that no search has seen, in the same order."
)
if "sphinx_gallery" in sys.modules:  # the gallery shows the figure itself
    plt.show()
else:
    figure.savefig("tune_pipeline.png", dpi=150)
    print("Saved tune_pipeline.png")
