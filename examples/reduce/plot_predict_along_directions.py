"""
Predict along directions, with intervals
========================================

:class:`~skbo_silbo.SDRRegressor` estimates the directions and fits a ridge and a kernel ridge
regression to the scores. Held-out samples calibrate the width of its intervals, which therefore
include the error of the directions. It is compared with support vector regression on all features.
"""

# %%
# y depends on one direction, which combines two of twelve features. The noise grows along it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVR

from skbo_silbo import MAVE, SDRRegressor

rng = np.random.default_rng(0)


def draw(n):
    X = rng.normal(size=(n, 12))
    z = (X[:, 0] + X[:, 1]) / np.sqrt(2)
    return X, np.sin(1.5 * z) + 0.2 * np.exp(0.5 * z) * rng.normal(size=n), z


X, y, _ = draw(200)
new, truth, z = draw(500)
regressor = SDRRegressor(MAVE(1)).fit(X, y)
on_all = SVR().fit(X, y)

low, high = regressor.predict_interval(new, coverage=0.9).T
print(f"R^2 along one direction: {regressor.score(new, truth):.2f}")
print(f"R^2 on all features: {on_all.score(new, truth):.2f}")
print(f"new rows in the 90 % intervals: {np.mean((low < truth) & (truth < high)):.2f}")

# %%
# The figure shows new samples along the true direction, with the intervals.

order = np.argsort(z)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.fill_between(z[order], low[order], high[order], alpha=0.25, label="90 % interval")
axes.plot(z[order], regressor.predict(new)[order], lw=1, label="prediction")
axes.plot(z, truth, "k.", ms=3, label="new rows")
axes.set(xlabel="true direction", ylabel="y")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "New samples scatter around a sine along the true direction. The predictions follow it, and "
    "the intervals are wider on the right, where the noise is larger."
)
plt.show()
