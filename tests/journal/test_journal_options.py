"""Objects given as options: journals and saved states tell them apart, to the leaf."""

import json
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from skbo_silbo import SILBO, minimize
from skbo_silbo.acquisition import Climb, log_expected_improvement
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
    """Holds what cannot be looked into."""

    def __init__(self, column):
        super().__init__(column)
        self.lock = threading.Lock()


def cautious(share):
    def acquisition(mean, std, best, return_gradient=False):
        return log_expected_improvement(mean, share * std, best, return_gradient=return_gradient)

    return acquisition


OTHERS = [
    ("embedding", lambda: PCA(2), PCA(1), r"embedding\.n_components was 2 and is 1"),
    ("embedding", lambda: First(0), First(1), r"embedding\.column was 0 and is 1"),
    ("embedding", lambda: PCA(2), First(1), r"embedding was sklearn.decomposition.PCA and is test"),
    ("embedding", lambda: PCA(2), "auto", r"embedding was sklearn.decomposition.PCA and is auto"),
    ("embedding", lambda: "auto", PCA(2), r"embedding was auto and is sklearn.decomposition.PCA"),
    ("acquisition", lambda: cautious(1), cautious(2), r"acquisition\.share was 1 and is 2"),
    ("search", Climb, OtherClimb(), r"search was .*Climb and is .*OtherClimb"),
    (
        "surrogate",
        lambda: GaussianProcessRegressor(RBF(1.0)),
        GaussianProcessRegressor(RBF(2.0)),
        r"surrogate\.kernel\.length_scale was 1\.0 and is 2\.0",
    ),
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
def test_another_object_is_refused_and_the_same_goes_on(path, door, name, make, other, message):
    assert door(path, 1, **{name: make()}) == 1
    written = path.read_bytes()
    with pytest.raises(ValueError, match=rf"must be that of journal .*run.jsonl.: {message}"):
        door(path, 2, **{name: other})
    assert path.read_bytes() == written
    assert door(path, 2, **{name: make()}) == 2


def test_an_object_that_was_used_is_the_same_as_a_new_one(path):
    options = {
        "embedding": PCA(2, random_state=np.random.RandomState(0)),
        "surrogate": GaussianProcessRegressor(
            optimizer=None, random_state=np.random.RandomState(0)
        ),
    }
    assert in_minimize(path, 5, n_initial=4, **options) == 5
    assert in_minimize(path, 6, n_initial=4, **options) == 6


def test_what_cannot_be_looked_into_is_refused_by_a_journal_before_the_first_call(path):
    called = []
    with pytest.raises(ValueError, match=r"embedding: journal must be None .*lock.* be pickled"):
        minimize(called.append, BOUNDS, embedding=Locked(0), journal=path)
    assert called == []


# --- saved states ---------------------------------------------------------------------------------


def saved(**options):
    optimizer = SILBO(BOUNDS, random_state=0, **options)
    optimizer.tell([0.0, 0.0, 0.0], 1.0)
    return optimizer, json.loads(json.dumps(optimizer.to_dict()))


@pytest.mark.parametrize(
    ("name", "make", "other", "message"),
    [case for case in OTHERS if "auto" not in (case[1](), case[2])],
)
def test_a_saved_state_tells_objects_apart(name, make, other, message):
    optimizer, data = saved(**{name: make()})
    with pytest.raises(
        ValueError, match=rf"must be as in the saved optimiser: {message}.*'descriptions'"
    ):
        SILBO.from_dict(data, **{name: other})
    assert_array_equal(SILBO.from_dict(data, **{name: make()}).ask(), optimizer.ask())
    del data["descriptions"][name]
    assert len(SILBO.from_dict(data, **{name: other}).func_vals_) == 1


def test_a_saved_state_only_names_what_cannot_be_looked_into():
    _, data = saved(embedding=Locked(0))
    assert (data["objects"], data["descriptions"]) == (["embedding"], {})
    assert len(SILBO.from_dict(data, embedding=Locked(1)).func_vals_) == 1
    _, data = saved(embedding=First(0))
    with pytest.raises(ValueError, match=r"embedding was .*First and is None"):
        SILBO.from_dict(data, embedding=Locked(0))
