"""
Minimise a function of 500 inputs
=================================

Six of 500 inputs matter, and it is not known which. :class:`~skbo_silbo.SILBO` has a hundred
evaluations to approach the minimum. Afterwards ``subspace_`` shows which inputs explain the
observed values. This is a single run; :doc:`/benchmarks/public` has means over many runs. The
example takes about a minute.
"""

# %%
# Define the function
# -------------------
# Hartmann's function of six inputs is hidden at random positions among 500, randomly reflected and
# translated. Its minimum is -3.322, and it is not near the middle of the box.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SILBO, minimize
from skbo_silbo.problems import hartmann6, planted

problem = planted(hartmann6(), 500, random_state=0)
places = np.flatnonzero(np.abs(problem.active_directions).sum(axis=0))
print("inputs that matter:", places)

# %%
# Run the search
# --------------
# ``minimize(problem, problem.bounds, random_state=0)`` does the same in one line. Random search is
# cheap, so it runs 20 times.

optimizer = SILBO(problem.bounds, random_state=0)
for _ in range(100):
    x = optimizer.ask()
    optimizer.tell(x, problem(x))
blind = [
    minimize(problem, problem.bounds, method="random", n_calls=100, random_state=seed).func_vals
    for seed in range(20)
]
print(f"found {optimizer.best_y_:.3f}; random search {np.min(blind, axis=1).mean():.3f} on average")

# %%
# Find the inputs that matter
# ---------------------------
# ``shares`` (:class:`~skbo_silbo.sensitivity.InputShares`) holds the share of the variance that
# every input explains over the whole box (its total Sobol index), with 90 % intervals. The shares
# are computed from a model of all inputs (:class:`~skbo_silbo.sensitivity.InputModel`). If the
# model predicts no better than a constant, no shares are reported.

shares = optimizer.subspace_.shares
print(shares)

# %%
# Most points are near the minimum, because the search went there. The shares over the whole box are
# therefore uncertain, and the intervals include an allowance for inputs that the model has missed.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=(3, 4)
)
best_blind = np.minimum.accumulate(blind, axis=1)
evaluations = np.arange(1, 101)
left.fill_between(evaluations, *np.quantile(best_blind, (0.1, 0.9), axis=0), color="0.85", lw=0)
left.plot(evaluations, best_blind.mean(axis=0), color="0.45", label="random search, 20 runs")
left.plot(
    evaluations,
    np.minimum.accumulate(optimizer.func_vals_),
    color="#D55E00",
    lw=2.5,
    label="SILBO, one run",
)
left.axhline(problem.optimum, color="0.3", ls=":", lw=1)
left.text(1, problem.optimum, "minimum", va="bottom", color="0.3")
left.set(xlabel="evaluations", ylabel="best value so far", title="What was found")
left.legend(frameon=False)
share, low, high = shares.intervals.T
right.vlines(np.arange(500), 0, share, color="0.6", lw=1)
right.vlines(places, 0, share[places], color="#0072B2", lw=2.5, label="the six that matter")
right.plot(places, share[places], "o", color="#0072B2", ms=6)
right.vlines(places, low[places], high[places], color="k", lw=1)
right.set(xlabel="input, 0 to 499", ylabel="share", title="What was learnt", xlim=(-5, 505))
right.set_ylim(bottom=0)
right.legend(frameon=False)
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: SILBO's best value falls below the range of twenty random searches after about 40 "
    "evaluations and reaches the minimum, a dotted line. Right: shares of 500 inputs. The largest "
    "is that of a relevant input. The intervals of the six relevant inputs are wide, and the "
    "shares of the others are close to zero."
)
plt.show()
