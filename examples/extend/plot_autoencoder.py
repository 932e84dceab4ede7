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
# Define the problem
# ------------------
#
# There are thirty inputs. In a good design, two hidden numbers determine all of them, so good
# designs lie on a curved surface. The cost of a point is its squared distance from this surface,
# plus the squared distance from the best design along the surface.

N_INPUTS = 30
rng = np.random.default_rng(0)
FREQUENCIES = rng.uniform(0.5, 2.0, (2, N_INPUTS))
PHASES = rng.uniform(0, 2 * np.pi, N_INPUTS)
BEST = np.array([0.2, -0.1])


def sheet(hidden):
    """Map n pairs of hidden numbers to designs of shape (n, 30)."""
    return 0.8 * np.sin(hidden @ FREQUENCIES + PHASES)


grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 60)] * 2), axis=-1).reshape(-1, 2)
on_sheet = sheet(grid)


def cost(x):
    """Return the squared distance from the surface, plus that from the best design along it."""
    gaps = ((on_sheet - x) ** 2).sum(axis=1)
    nearest = gaps.argmin()
    return float(gaps[nearest] + ((grid[nearest] - BEST) ** 2).sum())


# %%
# A hundred earlier designs are known. They lie close to the surface, around a hole that contains
# the best design.

hidden = rng.uniform(-1, 1, (400, 2))
hidden = hidden[((hidden - BEST) ** 2).sum(axis=1) > 0.16][:100]
past = np.clip(sheet(hidden) + 0.02 * rng.normal(size=(100, N_INPUTS)), -1, 1)
past_costs = np.array([cost(x) for x in past])

# %%
# Write the autoencoder
# ---------------------


class Autoencoder(TransformerMixin, BaseEstimator):
    """Transformer that encodes samples by a network trained to reproduce its input.

    Parameters
    ----------
    n_components : int
        Number of neurons in the middle layer.
    random_state : int
        Seed of the initial weights.
    """

    def __init__(self, n_components=2, random_state=0):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y):
        """Train the network on the better half of the points."""
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
        """Return the activations of the middle layer, of shape (n, n_components)."""
        return self._through(X, slice(0, 2), last_is_linear=False)

    def inverse_transform(self, Z):
        """Decode activations of the middle layer to points of shape (n, n_features)."""
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
# Search in its coordinates
# -------------------------
#
# Make 25 evaluations with the autoencoder, and 25 with the default, which uses the same earlier
# designs and all thirty inputs.

bounds = [(-1, 1)] * N_INPUTS
common = {"x0": past, "y0": past_costs, "n_calls": 25, "random_state": 0}
curved = minimize(cost, bounds, embedding=Autoencoder(), n_initial=1, update_every=10, **common)
plain = minimize(cost, bounds, n_initial=1, **common)
print(f"best of the past:          {past_costs.min():.3f}")
print(f"default, 25 calls:         {plain.fun:.3f}")
print(f"autoencoder, 25 calls:     {curved.fun:.3f}")

# %%
# Left: the earlier designs in the coordinates of the autoencoder, coloured by cost. Crosses are the
# points that the search proposed.

import matplotlib.pyplot as plt

encoder = Autoencoder().fit(past, past_costs)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
Z, asked = encoder.transform(past), encoder.transform(curved.x_iters[len(past) :])
shown = left.scatter(*Z.T, c=np.log10(past_costs), cmap="viridis_r", s=18)
left.plot(*asked.T, "x", color="tab:red", label="proposed")
left.set(xlabel="first coordinate", ylabel="second coordinate")
left.legend(loc="best", frameon=False)
figure.colorbar(shown, ax=left, label="log10 of the cost")
calls = np.arange(1, 26)
for result, name, colour in ((curved, "autoencoder", "tab:red"), (plain, "default", "black")):
    lowest = np.minimum.accumulate(result.func_vals)[len(past) :]
    right.plot(calls, lowest, color=colour)
    right.annotate(name, (25, lowest[-1]), xytext=(4, 0), textcoords="offset points", color=colour)
right.set(
    xlim=(0, 34),
    xlabel="evaluations after the earlier ones",
    ylabel="lowest cost (one run)",
    yscale="log",
)
right.spines[["top", "right"]].set_visible(False)
left.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: earlier designs in the two coordinates of the autoencoder, on two arms with low costs "
    "in light colours. Most proposed points lie in the gap between the arms. Right: the "
    "autoencoder finds a cost several times lower than the best earlier design, which the default "
    "does not improve."
)
plt.show()
