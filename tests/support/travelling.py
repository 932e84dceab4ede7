"""Public objects over spaces with choices of every kind, and what each must still do elsewhere.

As a script it opens the pickles in a file, uses each, and writes what went wrong as JSON.
"""

import json
import pickle
import sys
import traceback
import warnings
from functools import partial

import numpy as np
from methods import METHODS
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from skbo_silbo import SILBOSearchCV, Space, minimize
from skbo_silbo.inspection import SearchDisplay
from skbo_silbo.space import SpaceUnion, parameter_domains

BASELINES = ("silbo", "silbo-bu", "add-bo")
CHOICES = {
    "strings": ["rbf", "poly", "linear"],
    "None": [None, "a", 1],
    "bools": [True, False],
    "tuples": [(5,), (5, "a"), ((None,), 2.0)],
    "functions": [np.sin, np.cos, json.dumps],
    "classes": [SVC, Ridge],
    "estimators": [SVC(), Ridge(), LogisticRegression(C=2.0), LogisticRegression()],
    "arrays": [np.array([1.0, 2.0]), np.array([3.0]), np.array(["a"])],
    "numpy scalars": [np.str_("a"), np.bool_(True), np.float32(3.0)],
}
CHOICES["all kinds"] = [value for values in CHOICES.values() for value in values[:2]]
X, Y = np.arange(24.0).reshape(12, 2), np.tile([0, 1], 6)


class Indifferent(ClassifierMixin, BaseEstimator):
    """Takes any choice."""

    def __init__(self, choice=None, C=1.0):
        self.choice, self.C = choice, C

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(np.arange(len(X)) < self.C, *self.classes_)


def parameters(kind="all kinds"):
    return {"choice": CHOICES[kind], "C": loguniform(1e-2, 1e2)}


def loss(params):
    return float(np.log(params["C"]) ** 2)


def run(optimizer, n=1):
    for _ in range(n):
        point = optimizer.ask()
        optimizer.tell(point, loss(point))
    return optimizer


def search():
    given = [{"choice": value, "C": 1.0} for value in parameters()["choice"][-8:]]
    return SILBOSearchCV(
        Indifferent(),
        parameters(),
        n_iter=10,
        cv=2,
        initial_params=given,
        n_initial=2,
        random_state=0,
    )


def baseline(method):
    options = {} if method == "random" else {"n_initial": 2}
    return run(METHODS[method](Space(parameters()), random_state=0, **options), 3)


def objective(trial):
    chosen = trial.suggest_categorical("choice", list("abc"))
    return trial.suggest_float("C", 0.1, 10.0, log=True) + (chosen == "a")


def study():
    import optuna

    from skbo_silbo.integrations import SILBOSampler

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=SILBOSampler(seed=0, n_startup_trials=2))
    study.optimize(objective, n_trials=4)
    return study


MADE = {f"Space of {kind}": partial(Space, parameters(kind)) for kind in CHOICES} | {
    "SpaceUnion": lambda: SpaceUnion([parameters(), {"kind": ["a", "b", None], "gamma": [1, 10]}]),
    **{method: partial(baseline, method) for method in BASELINES},
    "unfitted search": search,
    "fitted search": lambda: search().fit(X, Y),
    "minimize": lambda: minimize(loss, Space(parameters()), n_calls=4, n_initial=2, random_state=0),
    "SILBOSampler": study,
}


def _space(space):
    domain = parameter_domains(space)["choice"]
    points = [{"choice": value, "C": 1.0} for value in domain.values]
    back = space.decode(space.encode(points))
    assert all(one["choice"] is other["choice"] for one, other in zip(back, points, strict=True))
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (50, space.n_features_))
    assert not np.isnan(
        domain.index([point["choice"] for point in space.decode(X) if "choice" in point])
    ).any()


def _result(result):
    _space(result.optimizer_.space_)
    run(result.optimizer_)
    SearchDisplay.from_result(result)


def _minimized(result):
    _space(result.optimizer.space_)
    run(result.optimizer)
    SearchDisplay.from_result(result)


USED = {
    "Space": _space,
    "SpaceUnion": _space,
    "unfitted search": lambda search: _result(search.fit(X, Y)),
    "fitted search": _result,
    "minimize": _minimized,
    "SILBOSampler": lambda study: study.optimize(objective, n_trials=2),
}


def failure(name, thing):
    """Use what was made as MADE[name], and return how that failed, or None."""
    import matplotlib.pyplot as plt

    try:
        if callable(thing):
            thing = thing()
        USED.get(name.partition(" of ")[0], run)(thing)
    except Exception:
        return traceback.format_exc()
    finally:
        plt.close("all")
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    with open(sys.argv[1], "rb") as file:
        pickles = pickle.load(file)
    print(json.dumps([failure(name, lambda p=p: pickle.loads(p)) for name, p in pickles]))
