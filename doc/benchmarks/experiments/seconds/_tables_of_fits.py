"""Tables of real fits, what each scored and took, on which searches are judged by seconds.

Every candidate of a grid was fitted once, on all three folds, on all of the rows and on a third and
a ninth of them: a process of one thread, its CPU time the clock. Searches then look fits up.

    python doc/benchmarks/experiments/seconds/_tables_of_fits.py [TASK ...]

writes ``tables/TASK.json``; what is there is not measured again.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np
from sklearn import datasets
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

FOLDER = Path(__file__).parent / "tables"
N_ROWS, N_FOLDS, SHARES = 20_000, 3, (1.0, 1 / 3, 1 / 9)


@dataclass(frozen=True)
class TableTask:
    """A model, its data and the grid that was fitted.

    Attributes
    ----------
    data : callable
        Without arguments, to X and y.
    model : estimator
    grid : dict of str to list
        Sorted numbers.
    """

    data: Callable
    model: object
    grid: dict

    @property
    def names(self):
        """The parameters, without the steps of a pipeline before them."""
        return [name.split("__")[-1] for name in self.grid]

    @property
    def space(self):
        """What a search gets."""
        return dict(zip(self.names, self.grid.values(), strict=True))

    @property
    def candidates(self):
        """All of the grid, as tuples of values."""
        return list(product(*self.grid.values()))


def _classes():
    return datasets.make_classification(
        N_ROWS, 15, n_informative=8, n_clusters_per_class=4, flip_y=0.05, random_state=0
    )


def _hastie():
    return datasets.make_hastie_10_2(N_ROWS, random_state=0)


def _friedman():
    return datasets.make_friedman1(N_ROWS, 12, noise=1.0, random_state=0)


def _digits():
    """Return the digits, as often as it takes, with noise of three grey levels."""
    X, y = datasets.load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.integers(len(X), size=N_ROWS)
    return (X[rows] + rng.normal(0.0, 3.0, (N_ROWS, 64))) / 16.0, y[rows]


BOOSTING = {
    "learning_rate": [0.03, 0.15, 0.8],
    "max_iter": [9, 27, 81],
    "max_leaf_nodes": [3, 12, 50],
}
TREES = {
    "n_estimators": [1, 3, 9],
    "max_features": [0.1, 0.3, 1.0],
    "min_samples_leaf": [1, 8, 64],
}
NETWORK = {
    "hidden_layer_sizes": [6, 20, 60],
    "learning_rate_init": [3e-4, 3e-3, 3e-2],
    "batch_size": [50, 180, 640],
}
TASKS = MappingProxyType(
    {
        "boosting-classes": TableTask(
            _classes,
            HistGradientBoostingClassifier(early_stopping=False, random_state=0),
            {
                "learning_rate": [0.03, 0.1, 0.3, 1.0],
                "max_iter": [3, 9, 27, 81],
                "max_leaf_nodes": [3, 8, 20, 50],
            },
        ),
        "boosting-hastie": TableTask(
            _hastie, HistGradientBoostingClassifier(early_stopping=False, random_state=0), BOOSTING
        ),
        "boosting-friedman": TableTask(
            _friedman, HistGradientBoostingRegressor(early_stopping=False, random_state=0), BOOSTING
        ),
        "trees-classes": TableTask(_classes, ExtraTreesClassifier(random_state=0), TREES),
        "forest-friedman": TableTask(_friedman, RandomForestRegressor(random_state=0), TREES),
        "network-classes": TableTask(_classes, MLPClassifier(max_iter=3, random_state=0), NETWORK),
        "network-digits": TableTask(_digits, MLPClassifier(max_iter=3, random_state=0), NETWORK),
        "kernel-digits": TableTask(
            _digits,
            make_pipeline(Nystroem(random_state=0), RidgeClassifier()),
            {
                "nystroem__n_components": [10, 40, 150],
                "nystroem__gamma": [0.004, 0.03, 0.25],
                "ridgeclassifier__alpha": [1e-4, 0.1, 100.0],
            },
        ),
    }
)


@cache
def load_table(name):
    """Return scores and seconds of a task, each (resources, candidates, folds)."""
    data = json.loads((FOLDER / f"{name}.json").read_text())
    return np.array(data["scores"]), np.array(data["seconds"])


def measure_table(name):
    """Fit all of a grid, and write what each scored and took."""
    task, path = TASKS[name], FOLDER / f"{name}.json"
    if path.exists():
        return
    X, y = task.data()
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))
    shape = len(SHARES), len(task.candidates), N_FOLDS
    scores, seconds = np.empty(shape), np.empty(shape)
    for (i, share), (j, values), (k, (train, test)) in product(
        enumerate(SHARES), enumerate(task.candidates), enumerate(folds)
    ):
        model = task.model.set_params(**dict(zip(task.grid, values, strict=True)))
        rows, start = train[: int(share * len(train))], time.process_time()
        scores[i, j, k] = model.fit(X[rows], y[rows]).score(X[test], y[test])
        seconds[i, j, k] = time.process_time() - start
    words = {"scores": scores.round(5).tolist(), "seconds": seconds.round(4).tolist()}
    FOLDER.mkdir(exist_ok=True)
    path.write_text(json.dumps(words) + "\n")
    spread = np.quantile(seconds[0].sum(axis=1), [0.05, 0.5, 0.95]).round(2)
    print(name, "seconds of a full candidate:", spread, "in all", seconds.sum().round())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for task in sys.argv[1:] or TASKS:
        measure_table(task)
