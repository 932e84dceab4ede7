"""
Stop a search when the score no longer improves
===============================================

A search often finds its best candidate long before its budget is spent. With ``patience=15``,
:class:`~skbo_silbo.SILBOSearchCV` stops after 15 candidates in a row without a better score.
The score of a candidate is only known up to its standard error over the folds, which tells whether
the remaining candidates would have been worth their time.
"""

# %%
# Search with and without patience
# --------------------------------
# Both searches evaluate the same candidates until the first one stops.

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
stopped = SILBOSearchCV(model, space, n_iter=60, patience=15, random_state=0).fit(X, y)
whole = SILBOSearchCV(model, space, n_iter=60, random_state=0).fit(X, y)
results, n = stopped.cv_results_, len(stopped.cv_results_["params"])
folds = [results[f"split{i}_test_score"][stopped.best_index_] for i in range(stopped.n_splits_)]
error = np.std(folds, ddof=1) / np.sqrt(len(folds))
print(stopped.stop_reason_, n, f"{stopped.best_score_:.3f} +- {error:.3f}")
print(f"{whole.best_score_:.3f}, {whole.best_score_ - stopped.best_score_:.4f} more")

# %%
# Plot both searches
# ------------------

figure, axes = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
scores = np.maximum.accumulate(whole.cv_results_["mean_test_score"])
counts = np.arange(1, len(scores) + 1)
axes.step(counts, scores, where="post", color="0.6", label="all candidates")
axes.step(counts[:n], scores[:n], where="post", color="#0072B2", lw=2, label="patience=15")
axes.axhspan(scores[n - 1] - error, scores[n - 1] + error, color="#0072B2", alpha=0.15)
axes.set(
    xlabel="candidates evaluated",
    ylabel="best score",
    ylim=(scores[-1] - 4 * error, scores[-1] + 2 * error),
)
axes.legend(loc="lower right", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "The best score against the number of candidates. The search with patience ends early, and the "
    "full search improves the score by less than one standard error (band)."
)
plt.show()
