"""
A surrogate of your own
=======================

Any regressor with ``predict(X, return_std=True)`` can take the place of the Gaussian process. Here
it is a forest of extremely randomised trees, which believes in steps; the function has steps. It
takes about half a minute.
"""

# %%
# The function
# ------------
# The cost of a machine park: it goes up by whole machines, and falls with what they produce. Eight
# inputs, three of which matter.

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor

from skbo_silbo import minimize

BOUNDS, N_CALLS, SEEDS = [(0.0, 10.0)] * 8, 50, range(4)


def cost(x):
    machines, shifts, load = np.ceil(x[0]), np.ceil(x[3] / 2.5), np.floor(x[5])
    return 0.4 * machines * shifts + (load - 0.6 * machines * shifts) ** 2 / 5 + abs(load - 6)


# %%
# The surrogate
# -------------
# The spread of the trees is its standard deviation. It is cloned for every proposal, sees inputs in
# [-1, 1] and standardised values.


class Forest(RegressorMixin, BaseEstimator):
    """Extremely randomised trees whose spread is the standard deviation."""

    def __init__(self, n_estimators=50):
        self.n_estimators = n_estimators

    def fit(self, X, y):
        self.trees_ = ExtraTreesRegressor(self.n_estimators, bootstrap=True, random_state=0)
        self.trees_.fit(X, y)
        return self

    def predict(self, X, return_std=False):
        told = np.array([tree.predict(X) for tree in self.trees_.estimators_])
        return (told.mean(axis=0), told.std(axis=0)) if return_std else told.mean(axis=0)


# %%
# Three searches
# --------------
# ``embedding="identity"`` keeps the inputs apart: a tree splits one at a time.

OPTIONS = {
    "random search": {"method": "random"},
    "Gaussian process (the default)": {},
    "forest": {"surrogate": Forest(), "embedding": "identity"},
}


def values(name, seed):
    return minimize(cost, BOUNDS, n_calls=N_CALLS, random_state=seed, **OPTIONS[name]).func_vals


jobs = [(name, seed) for name in OPTIONS for seed in SEEDS]
told = Parallel(n_jobs=2)(delayed(values)(*job) for job in jobs)
best = np.minimum.accumulate(told, axis=1).reshape(len(OPTIONS), len(SEEDS), N_CALLS)
for name, runs in zip(OPTIONS, best[:, :, -1], strict=True):
    print(f"{name}: {runs.mean():.2f} ({runs.min():.2f} to {runs.max():.2f})")

# %%
# A thin line a seed, thick their mean. A model that fits the function's kind is not always the one
# that finds its minimum: the spread of trees is no probability.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name, runs, colour in zip(OPTIONS, best, ("0.5", "#D55E00", "#009E73"), strict=True):
    left.plot(np.arange(1, N_CALLS + 1), runs.T, color=colour, lw=0.6, alpha=0.5)
    left.plot(np.arange(1, N_CALLS + 1), runs.mean(axis=0), color=colour, lw=2.5, label=name)
left.set(xlabel="evaluations", ylabel="lowest cost so far", ylim=(None, np.median(told)))
left.legend(frameon=False)

x = np.full((200, 8), 5.0)
x[:, 0] = np.linspace(0, 10, 200)
rng = np.random.default_rng(0)
X = rng.uniform(0, 10, size=(200, 8))
mean, std = Forest().fit(X, [cost(row) for row in X]).predict(x, return_std=True)
right.fill_between(x[:, 0], mean - std, mean + std, color="#009E73", alpha=0.2, lw=0)
right.plot(x[:, 0], mean, color="#009E73", label="forest, 200 random points")
right.plot(x[:, 0], [cost(row) for row in x], "k", lw=1, label="truth")
right.set(xlabel="first input, the others at 5", ylabel="cost")
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
plt.show()
