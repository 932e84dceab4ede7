"""
Plot what a search has learnt
=============================

Two families of models with different parameters share one search with a journal.
:class:`~skbo_silbo.inspection.SearchDisplay` then shows the progress of the search and which
parameters mattered.
"""

# %%
# One budget for several families
# -------------------------------
# A list of dicts is a conditional space: a candidate has the parameters of one of them. The same
# key in two dicts is one parameter.

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
# A journal
# ---------
# Each finished candidate is on disk before the next is proposed. Had the machine failed after 25
# of the 40 candidates, the second call would begin with those 25 and fit only the others.

settings = {"cv": splits, "scoring": "balanced_accuracy", "random_state": 0}
with tempfile.TemporaryDirectory() as folder:
    journal = Path(folder) / "search.jsonl"
    SILBOSearchCV(pipeline, space, n_iter=25, journal=journal, **settings).fit(X, y)
    search = SILBOSearchCV(pipeline, space, n_iter=40, journal=journal, **settings).fit(X, y)

print("candidates taken from the journal:", (search.cv_results_["source"] == "resumed").sum())
print("best:", search.best_params_, round(search.best_score_, 4))

# %%
# How fast, and why
# -----------------
# The expected curve of random search comes from the candidates of a real one: what the best of
# 1, 2, ... of them is on average, and where 80 % of such searches lie. Unlike ours, it does not
# begin with the Pipeline as it is.

random_search = RandomizedSearchCV(pipeline, space, n_iter=40, **settings).fit(X, y)
display = SearchDisplay.from_result(search, random_search=random_search)
display.figure_.set_label(
    "Above, from the left: the search's best score beside the expected curve of random "
    "search, the score against C and against the model with the model's mean in orange, "
    "and bars of shares with long intervals, led by C and the kind of model. Below: "
    "parallel coordinates of all candidates; the best four share a logistic regression on "
    "learnt directions."
)
plt.show()
