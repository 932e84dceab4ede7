"""
A part of the rows first
========================

Most candidates need not see all rows to be seen to be bad. With ``resource="n_samples"``
:class:`~skbo_silbo.SILBOSearchCV` fits a new candidate on a ninth of the rows here, and the most
promising of every three on a third, then on all. The number of rows is one more input of the
model of the scores. The words are those of scikit-learn's ``HalvingRandomSearchCV``; there are no
rounds to wait for, and the best is always one that had all rows.
"""

# %%
# A search in which every evaluation says how many rows it had
# ------------------------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_hastie_10_2
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV

X, y = make_hastie_10_2(3000, random_state=0)
search = SILBOSearchCV(
    SVC(gamma=0.1),
    {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1e1)},
    n_iter=60,
    cv=3,
    resource="n_samples",
    min_resources=300,
    random_state=0,
).fit(X, y)
results = search.cv_results_
for size in search.n_resources_:
    print(f"{size} rows: {np.sum(results['n_resources'] == size)} candidates")
print(f"best, with {results['n_resources'][search.best_index_]} rows: {search.best_score_:.3f}")

# %%
# Where they lie, and what they scored
# ------------------------------------
# The larger a dot, the more rows. Left: small dots are over the whole space, large ones near the
# best. Right: lines join the evaluations of one candidate; scores below 0.86 are left out. More
# rows score better, by about as much in all of them.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
colours = dict(zip(search.n_resources_, ("0.6", "#0072B2", "#D55E00"), strict=True))
for size, colour in colours.items():
    had = results["n_resources"] == size
    places = results["param_C"][had].astype(float), results["param_gamma"][had].astype(float)
    left.loglog(*places, "o", color=colour, ms=2 + size**0.5 / 6, alpha=0.8, label=f"{size} rows")
left.set(xlabel="C", ylabel="gamma")
left.legend(frameon=False, fontsize="small")

tracks = {}
for params, size, score in zip(
    results["params"], results["n_resources"], results["mean_test_score"], strict=True
):
    tracks.setdefault(tuple(params.values()), []).append((size, score))
for track in tracks.values():
    sizes, scores = zip(*track, strict=True)
    right.semilogx(sizes, scores, "o-", color=colours[sizes[-1]], ms=4, lw=1, alpha=0.8)
right.set(xlabel="rows", ylabel="cross-validated accuracy", ylim=(0.86, 1.0))
right.set_xticks(search.n_resources_)
right.set_xticklabels(search.n_resources_)
right.minorticks_off()
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left the candidates in the plane of C and gamma: grey dots of 333 rows over all of it, "
    "orange ones of 3000 rows where the score is best. Right the accuracy against the "
    "number of rows, with lines that rise for candidates that went on."
)
plt.show()
