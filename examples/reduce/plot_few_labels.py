"""
Classify with few labels
========================

Sixty samples have a label. :class:`~skbo_silbo.SDRClassifier` predicts by a kernel ridge
regression. It is compared with shrinkage LDA, a random forest, a support vector machine, nearest
neighbours and label spreading. SDRClassifier is the best method on one of three data sets. A
support vector machine is better on wine, and label spreading and shrinkage LDA are better on
digits. :class:`~skbo_silbo.RecursiveFeatureMachine` then shows which features matter.
"""

# %%
# Three data sets of scikit-learn, 20 random choices of the labelled samples. All features are
# standardised.

import matplotlib.pyplot as plt
import numpy as np
from sklearn import datasets, ensemble, neighbors, semi_supervised, svm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from skbo_silbo import RecursiveFeatureMachine, SDRClassifier

N_LABELLED, N_SPLITS = 60, 20
LEARNERS = {
    "SDRClassifier": SDRClassifier(),
    "shrinkage LDA": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "random forest": ensemble.RandomForestClassifier(random_state=0),
    "SVC": svm.SVC(),
    "nearest neighbour": neighbors.KNeighborsClassifier(1),
    "label spreading": semi_supervised.LabelSpreading(kernel="knn", n_neighbors=7),
}
DATA = {
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}


def accuracy(learner, X, y, labelled, rest):
    """Return the accuracy on the unlabelled samples, whose features label spreading uses."""
    if isinstance(learner, semi_supervised.LabelSpreading):
        partly = np.full(len(y), -1)
        partly[labelled] = y[labelled]
        return np.mean(learner.fit(X, partly).transduction_[rest] == y[rest])
    return learner.fit(X[labelled], y[labelled]).score(X[rest], y[rest])


scores = {}
for name, load in DATA.items():
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    splits = StratifiedShuffleSplit(N_SPLITS, train_size=N_LABELLED, random_state=0).split(X, y)
    rows = [[accuracy(m, X, y, *split) for m in LEARNERS.values()] for split in splits]
    scores[name] = np.array(rows)

# %%
# Mean accuracy and its standard error over the splits:

for name, rows in scores.items():
    print(name)
    for learner, column in zip(LEARNERS, rows.T, strict=True):
        error = column.std(ddof=1) / np.sqrt(N_SPLITS)
        print(f"  {learner:18s} {column.mean():.3f} ({error:.3f})")

# %%
# Which features matter
# ---------------------
# `importance_` is the share of each feature in the learnt metric.

wine = datasets.load_wine()
rows, _ = next(
    StratifiedShuffleSplit(1, train_size=N_LABELLED, random_state=0).split(wine.data, wine.target)
)
machine = RecursiveFeatureMachine(categorical=True).fit(wine.data[rows], wine.target[rows])
order = np.argsort(machine.importance_)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for place, (name, rows) in enumerate(scores.items()):
    error = rows.std(axis=0, ddof=1) / np.sqrt(N_SPLITS)
    left.errorbar(
        np.arange(len(LEARNERS)) + 0.2 * (place - 1),
        rows.mean(axis=0),
        2 * error,
        fmt="o",
        label=name,
    )
left.set_xticks(range(len(LEARNERS)), LEARNERS, rotation=30, ha="right")
left.set_ylabel("accuracy on the unlabelled samples")
left.legend(frameon=False)
right.barh(np.array(wine.feature_names)[order], machine.importance_[order], color="#0072B2")
right.set_xlabel("importance for wine")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.set_label(
    "Left: accuracy of six learners with sixty labels on three data sets, with two standard "
    "errors. Right: the importance of the features of wine."
)
plt.show()
