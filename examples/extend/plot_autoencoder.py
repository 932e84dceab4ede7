"""
Search on a manifold learnt by an autoencoder
=============================================

An embedding need not be linear. Any transformer with `transform` and `inverse_transform` can be
used: kernel PCA, a Pipeline or, here, an autoencoder made of scikit-learn's `MLPRegressor`. The
search runs in its few coordinates, within the range of the known points. The decoder turns a
proposal into a point, which is clipped to the bounds.

This can pay off if good points lie on a curved surface. The problem below was constructed that way,
and a single run proves nothing more. The autoencoder is fitted to the better half of the values, so
it needs some values first: 100 points near the surface, such as an engineer has from earlier
designs. None of them is near the best point.
"""

# Authors: the skbo_silbo developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from sklearn.utils.validation import check_is_fitted

from skbo_silbo import minimize

# %%
# The problem
# -----------
#
# Thirty inputs; those of a good design follow two hidden numbers along curves. A point is as bad as
# it is far from the sheet and, along it, from the hidden best place.

N_INPUTS = 30
rng = np.random.default_rng(0)
FREQUENCIES = rng.uniform(0.5, 2.0, (2, N_INPUTS))
PHASES = rng.uniform(0, 2 * np.pi, N_INPUTS)
BEST = np.array([0.2, -0.1])


def sheet(hidden):
    """Return the designs, (n, 30), of hidden numbers, (n, 2)."""
    return 0.8 * np.sin(hidden @ FREQUENCIES + PHASES)


grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 60)] * 2), axis=-1).reshape(-1, 2)
on_sheet = sheet(grid)


def cost(x):
    """Return the distance from the sheet, and along it from the best place, squared."""
    gaps = ((on_sheet - x) ** 2).sum(axis=1)
    nearest = gaps.argmin()
    return float(gaps[nearest] + ((grid[nearest] - BEST) ** 2).sum())


# %%
# What is known: designs of the past, on the sheet but for small errors, round a hole that holds the
# best place.

hidden = rng.uniform(-1, 1, (400, 2))
hidden = hidden[((hidden - BEST) ** 2).sum(axis=1) > 0.16][:100]
past = np.clip(sheet(hidden) + 0.02 * rng.normal(size=(100, N_INPUTS)), -1, 1)
past_costs = np.array([cost(x) for x in past])

# %%
# The autoencoder
# ---------------


class Autoencoder(TransformerMixin, BaseEstimator):
    """Encode by the first half of a network that was trained to return its input.

    Parameters
    ----------
    n_components : int
        Neurons in the middle.
    random_state : int
        Of the first weights.
    """

    def __init__(self, n_components=2, random_state=0):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        """Train on the better half of the points."""
        better = X[y <= np.median(y)]
        self.network_ = MLPRegressor(
            hidden_layer_sizes=(32, self.n_components, 32),
            activation="tanh",
            solver="lbfgs",
            alpha=1e-3,
            max_iter=300,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 300 steps are enough here
            self.network_.fit(better, better)
        return self

    def transform(self, X):
        """Return what the neurons in the middle say, (n, n_components)."""
        return self._through(X, slice(0, 2), last_is_linear=False)

    def inverse_transform(self, Z):
        """Return what the second half of the network makes of it, (n, n_features)."""
        return self._through(Z, slice(2, 4), last_is_linear=True)

    def _through(self, X, layers, last_is_linear):
        check_is_fitted(self)
        net = self.network_
        weights = list(zip(net.coefs_[layers], net.intercepts_[layers], strict=True))
        for place, (W, b) in enumerate(weights):
            X = X @ W + b
            if not (last_is_linear and place == len(weights) - 1):
                X = np.tanh(X)
        return X


# %%
# The search
# ----------
#
# Twenty-five evaluations, beside the default, which sees the same past and all thirty inputs.

bounds = [(-1, 1)] * N_INPUTS
common = {"x0": past, "y0": past_costs, "n_calls": 25, "random_state": 0}
curved = minimize(cost, bounds, embedding=Autoencoder(), n_initial=1, update_every=10, **common)
plain = minimize(cost, bounds, n_initial=1, **common)
print(f"best of the past:          {past_costs.min():.3f}")
print(f"default, 25 calls:         {plain.fun:.3f}")
print(f"autoencoder, 25 calls:     {curved.fun:.3f}")

# %%
# The coordinates that the network found, coloured by the cost of the points told; the crosses are
# the points that the search asked for.

import matplotlib.pyplot as plt

encoder = Autoencoder().fit(past, past_costs)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
Z, asked = encoder.transform(past), encoder.transform(curved.x_iters[len(past) :])
shown = left.scatter(*Z.T, c=np.log10(past_costs), cmap="viridis_r", s=18)
left.plot(*asked.T, "x", color="tab:red", label="asked for")
left.set(xlabel="first neuron in the middle", ylabel="second neuron in the middle")
left.legend(loc="best", frameon=False)
figure.colorbar(shown, ax=left, label="log10 of the cost")
calls = np.arange(1, 26)
for result, name, colour in ((curved, "autoencoder", "tab:red"), (plain, "default", "black")):
    lowest = np.minimum.accumulate(result.func_vals)[len(past) :]
    right.plot(calls, lowest, color=colour)
    right.annotate(name, (25, lowest[-1]), xytext=(4, 0), textcoords="offset points", color=colour)
right.set(
    xlim=(0, 34),
    xlabel="evaluations after the past ones",
    ylabel="lowest cost (one run)",
    yscale="log",
)
right.spines[["top", "right"]].set_visible(False)
left.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: points told, on two arms of a sheet laid flat by the network, cheap ones "
    "light; the crosses asked for crowd in the empty place between the arms. Right: the "
    "autoencoder finds a cost several times lower, while the default stays at the best of "
    "the past."
)
plt.show()
