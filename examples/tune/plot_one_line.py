"""
Tune a Pipeline in one line
===========================

You need not write a search space: ``SILBOSearchCV(model).fit(X, y)`` uses
:func:`~skbo_silbo.default_space`, which has ranges for every step of this Pipeline. The data have
numbers, words and missing values, and the Pipeline imputes, encodes and boosts. The best score so
far is compared with random search on the same space and with the untuned Pipeline.
"""

# %%
# Define a Pipeline for mixed data
# --------------------------------
# The price of a flat depends on its size, age and district. Some ages and districts are missing.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skbo_silbo import SILBOSearchCV, default_space

rng = np.random.default_rng(0)
n = 200
size, age = rng.uniform(30, 150, n), rng.uniform(0, 100, n)
quarter = rng.choice(["north", "south", "river", "hill", "port"], n, p=[0.4, 0.3, 0.2, 0.08, 0.02])
worth = {"north": 2.0, "south": 2.5, "river": 4.0, "hill": 3.0, "port": 5.0}
y = size * [worth[q] for q in quarter] * (1 - age / 250) + 25 * rng.normal(size=n)
age[rng.random(n) < 0.1] = np.nan
X = np.array([*zip(size, age, quarter, strict=True)], dtype=object)

numbers = SimpleImputer()
words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
model = make_pipeline(
    make_column_transformer((numbers, [0, 1]), (words, [2])),
    HistGradientBoostingRegressor(max_iter=50, random_state=0),
)

# %%
# Show the default search space
# -----------------------------

print(default_space(model, X, y))

# %%
# Run the search
# --------------

search = SILBOSearchCV(model, n_iter=15, cv=3, random_state=0).fit(X, y)
chance = RandomizedSearchCV(model, search.space_, n_iter=14, cv=3, random_state=0).fit(X, y)
scores = search.cv_results_["mean_test_score"]
print(search.cv_results_["source"].tolist())
print(f"as it is {scores[0]:.3f}, tuned {search.best_score_:.3f}")

# %%
# Compare with random search
# --------------------------
# Both curves start at the untuned Pipeline. A single run of random search may be lucky;
# :doc:`/benchmarks/tuning_public` compares both on many tasks.

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
by_chance = np.append(scores[0], chance.cv_results_["mean_test_score"])
lines = (
    (scores, "SILBOSearchCV(model)", "#0072B2"),
    (by_chance, "random search, same space", "0.45"),
)
for found, label, colour in lines:
    best = np.fmax.accumulate(found)
    axes.step(np.arange(1, 16), best, where="post", color=colour, lw=2, label=label)
axes.axhline(scores[0], color="#D55E00", ls="--", label="the Pipeline as it is")
axes.set(xlabel="candidates evaluated", ylabel="best cross-validated R²")
axes.legend(frameon=False)
figure.set_label(
    "Best R² so far against candidates, for SILBOSearchCV, random search and the untuned Pipeline."
)
plt.show()
