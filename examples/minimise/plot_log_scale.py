"""
Search inputs that span decades
===============================

A rate constant between 1e-6 and 1 should be searched on a logarithmic scale: otherwise half of all
initial points would be above 0.5. Give a named parameter the distribution ``loguniform``. For an
array of bounds, pass ``scale="log"``, or a list with one entry per input, to
:func:`~skbo_silbo.minimize` or :class:`~skbo_silbo.SILBO`. Points keep the units of the inputs. The
example looks for high values with ``maximize=True``.
"""

# %%
# Define the yield of two consecutive reactions
# ---------------------------------------------
# A becomes B at one rate, and B becomes C at another. The yield is the amount of B at a time that
# can be chosen.

import matplotlib.pyplot as plt
import numpy as np

from skbo_silbo import SILBO


def yield_of_b(x):
    first, second, time = x
    rest = np.exp(-second * time) - np.exp(-first * time)
    loss = 0.02 * np.log10(first / 1e-2) ** 2 + 0.02 * np.log10(second / 1e-5) ** 2
    return float(first / (first - second) * rest - loss)


bounds = [(1e-6, 1.0), (1e-7, 1e-1), (1.0, 100.0)]


def search(scale):
    optimizer = SILBO(bounds, scale=scale, maximize=True, random_state=0)
    for _ in range(35):
        x = optimizer.ask()
        optimizer.tell(x, yield_of_b(x))
    return optimizer


by_logarithm, by_number = search(["log", "log", None]), search(None)
for optimizer in (by_logarithm, by_number):
    print(optimizer.best_x_, f"{optimizer.best_y_:.3f}")

# %%
# Plot the evaluated points
# -------------------------

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
lines = (
    (by_logarithm, 'scale=["log", "log", None]', "#0072B2", "o"),
    (by_number, "scale=None", "#D55E00", "x"),
)
for optimizer, label, colour, marker in lines:
    left.loglog(*optimizer.x_iters_[:, :2].T, marker, color=colour, label=label)
    right.step(np.arange(1, 36), np.maximum.accumulate(optimizer.func_vals_), color=colour)
left.set(xlabel="first rate", ylabel="second rate")
left.legend(frameon=False, loc="lower left")
right.set(xlabel="evaluations", ylabel="highest yield so far")
figure.set_label(
    "Left: on a logarithmic scale, points lie in all decades of both rates, many of them around "
    "the best one. On a linear scale, nearly all lie in the top decade or at a bound. Right: the "
    "highest yield so far is larger with the logarithmic scale from the start."
)
plt.show()
