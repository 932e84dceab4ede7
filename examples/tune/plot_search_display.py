"""
Plot what a search has learnt
=============================

Three families of models with different parameters share one search with a journal.
:class:`~skbo_silbo.inspection.SearchDisplay` then shows the progress of the search and which
parameters mattered.
"""

# %%
# Search three families of models
# -------------------------------
# A list of dicts is a conditional space: each candidate has the parameters of one dict. A name that
# occurs in two dicts is the same parameter.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from scipy.stats import loguniform, randint
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from skbo_silbo import SemiSlicedInverseRegression, SILBOSearchCV
from skbo_silbo.inspection import SearchDisplay

X, y = load_breast_cancer(return_X_y=True)
pipeline = Pipeline([("scale", StandardScaler()), ("sdr", "passthrough"), ("model", SVC())])
scalers = [StandardScaler(), MinMaxScaler()]
space = [
    {
        "scale": scalers,
        "model": [SVC()],
        "model__C": loguniform(1e-2, 1e3),
        "model__gamma": loguniform(1e-4, 1),
    },
    {
        "scale": scalers,
        "sdr": [SemiSlicedInverseRegression()],
        "sdr__ridge": loguniform(1e-6, 1.0),
        "sdr__alpha": [0.0, 0.1, 1.0],
        "model": [LogisticRegression()],
        "model__C": loguniform(1e-2, 1e3),
    },
    {
        "scale": scalers,
        "model": [KNeighborsClassifier()],
        "model__n_neighbors": randint(1, 40),
        "model__weights": ["uniform", "distance"],
    },
]
splits = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# Resume from a journal
# ---------------------
# Each finished candidate is on disk before the next one is proposed. If the machine had failed
# after 25 of the 40 candidates, the second call would read these 25 and fit only the others.

settings = {"cv": splits, "scoring": "balanced_accuracy", "random_state": 1}
with tempfile.TemporaryDirectory() as folder:
    journal = Path(folder) / "search.jsonl"
    SILBOSearchCV(pipeline, space, n_iter=25, journal=journal, **settings).fit(X, y)
    search = SILBOSearchCV(pipeline, space, n_iter=40, journal=journal, **settings).fit(X, y)

print("candidates taken from the journal:", search.cv_results_["resumed"].sum())
print("best:", search.best_params_, round(search.best_score_, 4))

# %%
# Plot the progress and the parameters
# ------------------------------------
# The expected curve of random search is computed from the candidates of a real random search: the
# mean of the best of 1, 2, ... candidates, and the range of 80 % of such searches. Unlike our
# search, it does not start from the untuned Pipeline.

random_search = RandomizedSearchCV(pipeline, space, n_iter=40, **settings).fit(X, y)
display = SearchDisplay.from_result(search, random_search=random_search)
display.figure_.set_label(
    "From left to right: the best score of the search with the expected curve of random search, "
    "the score against the model and against C with the prediction in orange, and the shares, led "
    "by the model and C."
)
plt.show()
