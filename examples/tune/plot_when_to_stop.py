"""
Stop a search when little is left to gain
=========================================

The score of the best candidate is only known up to its standard error over the folds. If the
remaining candidates are expected to gain less than that, continuing is useless. ``patience="auto"``
of :class:`~skbo_silbo.SILBOSearchCV` ends the search at this point: after every candidate, it
compares the number of remaining candidates times the largest expected improvement with the standard
error.
"""

# %%
# Search until little is left to gain
# -----------------------------------
# The callback records the quantities that the search compares.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from skbo_silbo import SILBOSearchCV

X, y = load_diabetes(return_X_y=True)
model = make_pipeline(StandardScaler(), SVR())
space = {
    "svr__C": loguniform(1e-2, 1e3),
    "svr__gamma": loguniform(1e-5, 1e1),
    "svr__epsilon": loguniform(1e-2, 1e2),
}
N_ITER, left_to_gain = 60, []


def write_down(progress):
    n_left = N_ITER - progress.n_evaluations
    left_to_gain.append(n_left * search.optimizer_.expected_gain())


search = SILBOSearchCV(
    model, space, n_iter=N_ITER, patience="auto", callback=write_down, random_state=0
)
search.fit(X, y)
results, best = search.cv_results_, search.best_index_
folds = [results[f"split{i}_test_score"][best] for i in range(search.n_splits_)]
error = np.std(folds, ddof=1) / np.sqrt(len(folds))
print(search.stop_reason_, len(left_to_gain), f"{search.best_score_:.3f} +- {error:.3f}")

# %%
# Run the same search to the end
# ------------------------------
# The additional candidates improve the score by less than its standard error.

whole = SILBOSearchCV(model, space, n_iter=N_ITER, random_state=0).fit(X, y)
print(f"{whole.best_score_:.3f}, {whole.best_score_ - search.best_score_:.4f} more")

# %%
# Plot the expected gain and the standard error
# ---------------------------------------------

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6.5, 5.5), layout="constrained")
scores = np.maximum.accumulate(whole.cv_results_["mean_test_score"])
n = len(left_to_gain)
counts = np.arange(1, N_ITER + 1)
above.step(counts, scores, where="post", color="0.6", label="to the end")
above.step(counts[:n], scores[:n], where="post", color="#0072B2", lw=2, label='patience="auto"')
above.axhspan(scores[n - 1] - error, scores[n - 1] + error, color="#0072B2", alpha=0.15)
above.set(ylabel="best score", ylim=(scores[-1] - 4 * error, scores[-1] + 2 * error))
above.legend(loc="lower right", frameon=False)
below.semilogy(counts[:n], left_to_gain, "o-", ms=4, color="#0072B2")
below.axhline(error, color="#D55E00", ls="--")
below.text(N_ITER, error * 1.2, "standard error of the best score", ha="right", color="#D55E00")
below.set(xlabel="candidates evaluated", ylabel="left to gain, expected")
for axes in (above, below):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Top: the best score against the number of candidates. The search ends at 29 of 60, and the "
    "full search improves the score by less than one standard error. Bottom: the expected gain "
    "falls below the standard error at this point."
)
plt.show()
