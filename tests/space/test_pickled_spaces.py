"""Spaces, and optimisers that hold one, work in another process and after a copy."""

import copy
import json

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from skbo_silbo import SILBO, Space
from skbo_silbo.space import SpaceUnion

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
EVERY = [value for values in CHOICES.values() for value in values[:2]]
MADE = {kind: Space({"choice": values, "C": [1, 2]}) for kind, values in CHOICES.items()}
MADE["union"] = SpaceUnion([{"choice": EVERY, "C": loguniform(1, 2)}, {"k": ["a", None]}])
MADE["optimiser"] = SILBO(MADE["union"], n_initial=2, random_state=0)
for step in range(3):
    MADE["optimiser"].tell(MADE["optimiser"].ask(), float(step))


def use(thing):
    """Encode and decode every choice, and ask an optimiser for a point."""
    space = getattr(thing, "space_", thing)
    [values] = [category.values for category in space.categories() if category.name == "choice"]
    points = [{"choice": value, "C": 1} for value in values]
    back = space.decode(space.encode(points))
    assert all(one["choice"] is value for one, value in zip(back, values, strict=True))
    if thing is not space:
        thing.ask()


def use_all(things):
    for thing in things:
        use(thing)
    return len(things)


def test_pickles_work_in_process_with_other_hashes(elsewhere):
    assert elsewhere(use_all, list(MADE.values())) == len(MADE)


@pytest.mark.parametrize("name", MADE)
def test_copies_work(name):
    use(copy.deepcopy(MADE[name]))
