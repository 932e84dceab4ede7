"""Options that are objects: journals and saved states tell them apart, to the leaf."""

import json
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from skbo_silbo import SILBO, minimize
from skbo_silbo.acquisition import Climb
from skbo_silbo.embedding import LinearEmbedding

BOUNDS = [(-1.0, 2.0), (0.0, 3.0), (0.0, 1.0)]


def bowl(x):
    return float(((x - 0.4) ** 2).sum())


class First:
    """A learner with a parameter that no `get_params` shows."""

    name = "first"

    def __init__(self, column):
        self.column = column

    def learn(self, X, y, unlabeled):
        return LinearEmbedding.from_components(np.eye(X.shape[1])[[self.column]])


class OtherClimb(Climb):
    """As a class of one's own."""


class Locked(First):
    """Holds what cannot be pickled."""

    def __init__(self, column):
        super().__init__(column)
        self.lock = threading.Lock()


def process(scale):
    return GaussianProcessRegressor(RBF(scale))


OTHERS = [
    ("embedding", lambda: First(0), First(1), r"embedding\.column was 0 and is 1"),
    ("embedding", lambda: PCA(2), First(1), r"embedding was sklearn.decomposition.PCA and is test"),
    ("search", Climb, OtherClimb(), r"search was .*Climb and is .*OtherClimb"),
    ("surrogate", lambda: process(1.0), process(2.0), r"surrogate\.kernel\.length_scale was 1\.0"),
]


def in_minimize(path, n_calls, **options):
    result = minimize(bowl, BOUNDS, n_calls=n_calls, journal=path, random_state=0, **options)
    return len(result.func_vals)


def in_silbo(path, n_calls, **options):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0, **options)
    while len(optimizer.func_vals_) < n_calls:
        x = optimizer.ask()
        optimizer.tell(x, bowl(x))
    optimizer.close_journal()
    return len(optimizer.func_vals_)


@pytest.mark.parametrize("door", [in_minimize, in_silbo])
@pytest.mark.parametrize(("name", "make", "other", "message"), OTHERS)
def test_other_object_is_rejected_same_resumes(path, door, name, make, other, message):
    assert door(path, 1, **{name: make()}) == 1
    written = path.read_bytes()
    with pytest.raises(ValueError, match=rf"run.jsonl' belongs to another search: {message}"):
        door(path, 2, **{name: other})
    assert path.read_bytes() == written
    assert door(path, 2, **{name: make()}) == 2


def test_used_object_equals_new_one(path):
    def randomly():
        return np.random.RandomState(0)

    embedding = PCA(2, random_state=randomly())
    surrogate = GaussianProcessRegressor(optimizer=None, random_state=randomly())
    options = {"n_initial": 4, "embedding": embedding, "surrogate": surrogate}
    assert in_minimize(path, 5, **options) == 5
    assert in_minimize(path, 6, **options) == 6


def saved(**options):
    optimizer = SILBO(BOUNDS, random_state=0, **options)
    optimizer.tell([0.0, 0.0, 0.0], 1.0)
    return optimizer, json.loads(json.dumps(optimizer.to_dict()))


@pytest.mark.parametrize(("name", "make", "other", "message"), OTHERS)
def test_saved_state_rejects_other_object(name, make, other, message):
    optimizer, data = saved(**{name: make()})
    with pytest.raises(ValueError, match=rf"option differs .*: {message}.*'descriptions'"):
        SILBO.from_dict(data, **{name: other})
    assert_array_equal(SILBO.from_dict(data, **{name: make()}).ask(), optimizer.ask())
    del data["descriptions"][name]
    assert len(SILBO.from_dict(data, **{name: other}).func_vals_) == 1


def test_saved_state_only_names_unpicklable_object():
    _, data = saved(embedding=Locked(0))
    assert (data["objects"], data["descriptions"]) == (["embedding"], {})
    assert len(SILBO.from_dict(data, embedding=Locked(1)).func_vals_) == 1
