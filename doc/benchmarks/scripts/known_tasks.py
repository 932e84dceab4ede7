"""Tasks of 300 and 2,000 rows that judge known candidates, from the packages of known_data.py."""

from dataclasses import dataclass

import numpy as np
from known_data import keel, r_data
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

SMALL, LARGE = 300, 2000  # training rows
MOST_OTHERS = 1500  # rows that are neither used for training nor for choosing
KEEL = {
    "small": "australian german pima vehicle segment vowel contraceptive wdbc tic-tac-toe "
    "saheart mammographic",
    "large": "spambase phoneme ring magic satimage marketing penbased letter",
}
R_DATA = {  # package/item: response and columns that give it away or only number the rows
    "small": {
        "modeldata/attrition": ("Attrition", ""),
        "ISLR/College": ("Apps", "Accept"),
        "AER/CPS1985": ("wage", ""),
        "mosaicData/SaratogaHouses": ("price", ""),
        "openintro/bdims": ("wgt", ""),
        "wooldridge/wage2": ("wage", "lwage"),
        "modeldata/concrete": ("compressive_strength", ""),
        "Stat2Data/Hawks": ("Weight", "BandNumber"),
        "plm/RiceFarms": ("goutput", "id noutput"),
    },
    "large": {
        "modeldata/mlc_churn": ("churn", ""),
        "modeldata/credit_data": ("Status", ""),
        "openintro/email": ("spam", "time"),
        "ggplot2/diamonds": ("price", ""),
        "nycflights13/flights": ("arr_delay", "year arr_time tailnum"),
        "modeldata/Chicago": ("ridership", "date"),
        "modeldata/deliveries": ("time_to_delivery", ""),
        "Ecdat/Computers": ("price", ""),
        "survival/flchain": ("age", ""),
        "modeldata/hotel_rates": ("avg_price_per_room", ""),
        "stevedata/gss_wages": ("realrinc", ""),
    },
}
FIRST = set(
    [
        "pima",
        "german",
        "vehicle",
        "contraceptive",
        "wdbc",
        "tic-tac-toe",
        "ISLR/College",
        "modeldata/concrete",
        "mosaicData/SaratogaHouses",
        "wooldridge/wage2",
        "spambase",
        "phoneme",
        "ring",
        "magic",
        "modeldata/credit_data",
        "ggplot2/diamonds",
        "nycflights13/flights",
        "modeldata/deliveries",
        "Ecdat/Computers",
        "survival/flchain",
    ]
)
NAMES = {size: [*KEEL[size].split(), *R_DATA[size]] for size in KEEL}


@dataclass(frozen=True)
class Task:
    """A data set whose columns have mean 0 and variance 1 in the training rows.

    Attributes
    ----------
    X, y : ndarray
        Training rows: 300 for small tasks and 2,000 for large ones.
    splits : list of (ndarray, ndarray)
        Rows to fit and rows to choose candidates: three folds, or one holdout if the task is large.
    X_others, y_others : ndarray
        Rows that no candidate is chosen by.
    """

    X: np.ndarray
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    X_others: np.ndarray
    y_others: np.ndarray

    @property
    def is_classification(self) -> bool:
        return self.y.dtype.kind == "i"


def load(size, name):
    """Return a task, drawn with a fixed seed."""
    X, y = r_data(name, *R_DATA[size][name]) if "/" in name else keel(name)
    order = np.random.default_rng(0).permutation(len(y))
    if size == "large":
        n = LARGE + min(1000, (len(y) - LARGE) // 2)
        splits = [(np.arange(LARGE), np.arange(LARGE, n))]
    else:
        n = min(SMALL, 2 * len(y) // 3)
    X, y = X[order], y[order]
    X = StandardScaler().fit(X[: min(n, LARGE)]).transform(X)
    if size == "small":
        folds = StratifiedKFold(3) if y.dtype.kind == "i" else KFold(3)
        splits = list(folds.split(X[:n], y[:n]))
    others = slice(n, n + MOST_OTHERS)
    return Task(X[:n], y[:n], splits, X[others], y[others])
