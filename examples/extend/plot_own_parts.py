"""
Write and check your own components
===================================

Every stage of a proposal can be replaced: the learner of the embedding, the map from its
coordinates to points, the surrogate and the acquisition function. A component needs no base class.
Like ``check_estimator``, the functions of :mod:`skbo_silbo.testing` check it and name a mistake
before the first evaluation. :doc:`/extending` describes all protocols.
"""

# %%
# Write a learner of the embedding
# --------------------------------
# A learner has a name and one method (see :class:`~skbo_silbo.embedding.Learner`). This one returns
# a :class:`~skbo_silbo.embedding.LinearEmbedding` onto the direction of the least-squares plane.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from skbo_silbo import SILBO, minimize
from skbo_silbo.acquisition import Climb, log_expected_improvement
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.optimizers import Configuration, EmbeddedOptimizer
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.testing import (
    check_acquisition,
    check_learner,
    check_optimizer,
    check_surrogate,
)


class Slope:
    name = "slope"

    def learn(self, X, y, X_unlabeled):
        if np.ptp(y) == 0.0:
            return LinearEmbedding(X.shape[1])
        plane = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
        return LinearEmbedding.from_components(plane[None])


check_learner(Slope())

# %%
# Write an acquisition function
# -----------------------------
# An acquisition function maps the predicted mean and standard deviation to a value, and returns the
# derivatives with respect to both. Here it is the log probability of a lower value. The first
# version has a sign error, which the check reports.


def log_probability(mean, std, best, *, return_gradient=False):
    u = (best - mean) / std
    value = norm.logcdf(u)
    if not return_gradient:
        return value
    slope = np.exp(norm.logpdf(u) - value) / std
    return value, -slope, -slope * u


def with_a_mistake(mean, std, best, *, return_gradient=False):
    found = log_probability(mean, std, best, return_gradient=return_gradient)
    return (found[0], -found[1], found[2]) if return_gradient else found


try:
    check_acquisition(with_a_mistake)
except AssertionError as error:
    print("refused:", str(error).splitlines()[0])
check_acquisition(log_probability)

# %%
# Write an optimiser
# ------------------
# A method of the literature is often a :class:`~skbo_silbo.optimizers.Configuration`. A subclass of
# :class:`~skbo_silbo.optimizers.EmbeddedOptimizer` inherits ask, tell, failures, pending points and
# saved states. Its components can be checked separately, too.

check_surrogate(GaussianProcessSurrogate())


class OnTheSlope(EmbeddedOptimizer):
    def __init__(self, bounds, *, n_initial=8, random_state=None):
        self.n_initial = n_initial
        super().__init__(bounds, random_state)

    def configure(self, d):
        return Configuration(
            learner=Slope(),
            search=Climb(),
            acquisition=lambda t: log_expected_improvement,
            design=lambda n, d, rng: rng.uniform(-1.0, 1.0, (n, d)),
            surrogate=GaussianProcessSurrogate(),
            n_initial=self.n_initial,
            n_unlabeled=0,
            update_every=5,
        )


check_optimizer(OnTheSlope)

# %%
# Use the components
# ------------------
# The function increases along one of ten dimensions, which suits the learner.

weights = np.random.default_rng(0).normal(size=10)
BOUNDS = [(-1, 1)] * 10


def profile(along):
    return (along - 0.3) ** 2 + 0.01 * np.sin(20 * along)


def ridge(x):
    return float(profile(x @ weights / np.abs(weights).sum()))


LOWEST = profile(np.linspace(-1, 1, 10**5)).min() - 1e-9

RUNS = {
    "SILBO": {"method": SILBO},
    "SILBO, own acquisition": {"method": SILBO, "acquisition": log_probability},
    "OnTheSlope": {"method": OnTheSlope},
}
found = {
    name: [minimize(ridge, BOUNDS, n_calls=30, random_state=seed, **options) for seed in range(2)]
    for name, options in RUNS.items()
}
for name, runs in found.items():
    print(f"{name}: {np.mean([run.fun for run in runs]) - LOWEST:.1e} above the lowest value")

# %%
# Left: both acquisition functions for the same predictions. Both prefer low means. Below the best
# value, our function avoids uncertain points, whereas the default prefers them. Right: two seeds of
# each. Close to the minimum a greedy acquisition function is better, as here. This is not a
# benchmark.

figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
mean, std = np.meshgrid(np.linspace(-1, 2, 80), np.linspace(0.05, 1.5, 80))
for axes, (name, function) in zip(
    panels,
    {"own: log probability": log_probability, "default: log EI": log_expected_improvement}.items(),
    strict=False,
):
    worth = function(mean.ravel(), std.ravel(), 0.0).reshape(mean.shape)
    shown = axes.contourf(mean, std, worth, levels=np.arange(-8, 0.51, 0.5), extend="min")
    axes.axvline(0, color="w", ls="--", lw=1)
    axes.set(title=name, xlabel="predicted mean (best so far: 0)", ylabel="standard deviation")
figure.colorbar(shown, ax=panels[:2], label="worth")
for (name, runs), colour in zip(found.items(), ("#D55E00", "#0072B2", "#009E73"), strict=True):
    best = np.minimum.accumulate([run.func_vals for run in runs], axis=1)
    panels[2].plot(np.arange(1, 31), best.T - LOWEST, color=colour, lw=0.7, alpha=0.5)
    panels[2].plot(np.arange(1, 31), best.mean(axis=0) - LOWEST, color=colour, lw=2.5, label=name)
panels[2].set(title="a ridge in ten inputs", xlabel="evaluations", yscale="log")
panels[2].set_ylabel("best so far, less the lowest value")
panels[2].legend(frameon=False)
panels[2].spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: contours of two acquisition functions of mean and standard deviation. Both fan out from "
    "the best value so far, and only the default increases with the standard deviation everywhere. "
    "Right: three methods with two seeds each come close to the minimum of a function of ten "
    "inputs within 30 evaluations."
)
plt.show()
