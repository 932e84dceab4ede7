"""One suite that every method of `minimize` passes."""

import copy
import json

import numpy as np
import pytest
from ask_tell import run
from fuzzing import in_parts, run_machine
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.testing import assert_array_equal
from scipy.stats import loguniform, randint
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

from skbo_silbo import SILBO, Space, minimize
from skbo_silbo.minimization._methods import METHODS
from skbo_silbo.space import SpaceExhausted

BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0], [-1.0, 1.0]])
# short first designs and early updates, so that a short run goes through every part of the loop
CHEAP = {
    **{name: {"n_initial": 6} for name in METHODS if name != "random"},
    "silbo-bu": {"n_initial": 6, "update_every": 3},
    "silbo-td": {"n_initial": 6, "update_every": 3},
    "random": {},
}
# a method of `minimize`, and a regressor of scikit-learn in the place of its surrogate
PROCESS = GaussianProcessRegressor(ConstantKernel() * Matern(nu=2.5), alpha=1e-6)
CHEAP["silbo with a process"] = {"n_initial": 6, "surrogate": PROCESS}


def make(method, bounds=BOUNDS, seed=0, **options):
    return METHODS[name_of(method)](bounds, random_state=seed, **{**CHEAP[method], **options})


def name_of(method):
    return method.split(" with ")[0]


def bowl(x):
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


def given_again(method):
    return {"surrogate": PROCESS} if method == "silbo with a process" else {}


def reload(optimizer, **given):
    data = json.loads(json.dumps(optimizer.to_dict()))
    given |= {"surrogate": optimizer.surrogate} if "surrogate" in data["objects"] else {}
    return type(optimizer).from_dict(data, **given)


@pytest.fixture(params=CHEAP)
def method(request):
    return request.param


# --- points ---------------------------------------------------------------------------------------


def test_points_are_inside_distinct_and_counted(method):
    seen = []

    def func(x):
        seen.append(x.copy())
        return bowl(x)

    result = minimize(
        func, BOUNDS, method=name_of(method), n_calls=12, random_state=0, **CHEAP[method]
    )
    assert result.nfev == len(seen) == len(result.func_vals) == 12
    assert_array_equal(result.x_iters, seen)
    assert ((BOUNDS[:, 0] <= seen) & (seen <= BOUNDS[:, 1])).all()
    assert len(np.unique(seen, axis=0)) == 12
    assert result.fun == min(map(bowl, seen))


@pytest.mark.parametrize("d", [1, 2])
def test_few_inputs(method, d):
    optimizer = run(make(method, [(0, 1)] * d), lambda x: float(((x - 0.3) ** 2).sum()), 11)
    assert optimizer.x_iters_.shape == (11, d)
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 11


def test_a_thousand_inputs(method):
    optimizer = run(make(method, [(0, 1)] * 1000), lambda x: float(x[:9].sum()), 7)
    X = optimizer.x_iters_
    assert X.shape == (7, 1000)
    assert np.isfinite(X).all()
    assert np.abs(X - 0.5).max() <= 0.5


def test_constant_inputs_keep_their_value(method):
    optimizer = run(make(method, [(0, 1), (3, 3), (0, 1)]), lambda x: float(x.sum()), 9)
    assert (optimizer.x_iters_[:, 1] == 3).all()


def test_named_parameters(method):
    space = Space({"C": loguniform(1e-3, 1e3), "p": randint(1, 6), "kind": ["a", "b", "c"]})
    optimizer = run(make(method, space), lambda p: np.log10(p["C"]) ** 2 + p["p"], 10)
    assert all(1e-3 <= p["C"] <= 1e3 and p["kind"] in "abc" for p in optimizer.x_iters_)
    assert optimizer.best_y_ == optimizer.func_vals_.min()


def test_a_finite_space_is_visited_once(method):
    optimizer = make(method, Space({"a": [1, 2, 3], "b": ["x", "y"]}))
    run(optimizer, lambda p: p["a"], 6)
    assert len({(p["a"], p["b"]) for p in optimizer.x_iters_}) == 6
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


# --- seeds, order, state --------------------------------------------------------------------------


def test_same_seed_same_points_other_seed_others(method):
    a, b, c = (run(make(method, seed=s), bowl, 9).x_iters_ for s in (0, 0, 1))
    assert_array_equal(a, b)
    assert not (a == c).all(axis=1).any()


def test_order_of_tell_does_not_matter(method):
    rng = np.random.default_rng(0)
    X = rng.uniform(*BOUNDS.T, (12, 4))
    X[5] = X[4]
    y = np.append([bowl(x) for x in X[:-1]], np.nan)
    asked = []
    for order in (range(12), rng.permutation(12)):
        optimizer = make(method)
        for i in order:
            optimizer.tell(X[i], y[i])
        asked.append(optimizer.ask(2))
    assert_array_equal(*asked)


def test_order_of_tell_of_what_was_asked_does_not_matter(method):
    asked = []
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        optimizer = run(make(method), bowl, 8)
        batch = optimizer.ask(4)
        optimizer.tell(batch[order], [bowl(x) for x in batch[order]])
        asked.append(optimizer.ask())
    assert_array_equal(*asked)


def test_pending_points_are_not_asked_for_again(method):
    optimizer = run(make(method), bowl, 7)
    points = [optimizer.ask(), *optimizer.ask(3), optimizer.ask()]
    assert len(np.unique([*optimizer.x_iters_, *points], axis=0)) == 12


def test_the_global_generator_rests(method):
    before = np.random.get_state()  # noqa: NPY002
    run(make(method), bowl, 10).ask(2)
    after = np.random.get_state()  # noqa: NPY002
    assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


def test_inputs_are_not_changed(method):
    bounds, X = BOUNDS.copy(), BOUNDS.mean(axis=1)[None] + np.zeros((2, 1))
    y = np.array([1.0, np.nan])
    told = X.copy(), y.copy()
    optimizer = make(method, bounds)
    optimizer.tell(X, y)
    run(optimizer, bowl, 8)
    assert_array_equal(bounds, BOUNDS)
    assert_array_equal(X, told[0])
    assert_array_equal(y, told[1])


def test_json_goes_on_with_the_same_points(method):
    optimizer = make(method)
    for n in (3, 4, 4):  # in the design, at the first model, after updates
        run(optimizer, bowl, n)
        optimizer.ask()
        other = reload(optimizer)
        assert other.to_dict() == optimizer.to_dict()
        assert_array_equal(other.ask(2), copy.deepcopy(optimizer).ask(2))
        optimizer = reload(other)
    assert_array_equal(optimizer.x_iters_, other.x_iters_)


def test_json_keeps_failures(method):
    optimizer = run(make(method), bowl, 7)
    points = BOUNDS.mean(axis=1) + np.array([[0.1], [0.2], [0.3]])
    optimizer.tell(points, [np.nan, np.inf, -np.inf])
    text = json.dumps(optimizer.to_dict(), allow_nan=False)
    given = {"surrogate": PROCESS} if "surrogate" in json.loads(text)["objects"] else {}
    other = type(optimizer).from_dict(json.loads(text), **given)
    assert_array_equal(other.func_vals_, optimizer.func_vals_)
    assert_array_equal(other.ask(), optimizer.ask())


def test_json_of_named_parameters_needs_the_space_again(method):
    space = Space({"C": loguniform(1e-3, 1e3), "kind": ["a", "b", "c"]})
    optimizer = run(make(method, space), lambda p: p["C"], 8)
    with pytest.raises(ValueError, match="bounds must be given for data of a Space"):
        reload(optimizer)
    with pytest.raises(ValueError, match=r"parameters\.0\.order was .*\'C\', \'kind\'"):
        reload(optimizer, bounds=Space({"C": [1, 2]}))
    other = reload(optimizer, bounds=space)
    assert other.x_iters_ == optimizer.x_iters_
    assert other.ask() == optimizer.ask()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 1}, "version of the data must be 4: got 1. Read it with the release"),
        ({"format": "other"}, "format 'skbo_silbo optimizer': got format 'other'"),
        ({"class": "Other"}, r"data must be of a .*: got that of a Other\. Use Other.from_dict"),
    ],
)
def test_json_of_another_kind_is_refused(method, change, message):
    optimizer = make(method)
    with pytest.raises(ValueError, match=message):
        type(optimizer).from_dict({**optimizer.to_dict(), **change})


def test_json_needs_objects_again():
    from sklearn.decomposition import PCA

    optimizer = run(SILBO(BOUNDS, embedding=PCA(2), random_state=0), bowl, 10)
    with pytest.raises(ValueError, match=r"objects must be given again, here \['embedding'\]"):
        reload(optimizer)
    assert_array_equal(reload(optimizer, embedding=PCA(2)).ask(), optimizer.ask())
    with pytest.raises(ValueError, match="must be what to_dict"):
        SILBO.from_dict("text")


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, 3.0])
def test_only_failures_or_equal_values(method, value):
    optimizer = run(make(method), lambda x: value, 11)
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 11


def test_some_failures(method):
    optimizer = run(make(method), lambda x: np.nan if x[3] > 0.3 else bowl(x), 11)
    assert len(optimizer.func_vals_) == 11
    assert np.isfinite(optimizer.best_y_)


def test_repeated_points(method):
    optimizer = run(make(method), bowl, 7)
    x = optimizer.x_iters_[2]
    for shift in (0.0, 0.5, -0.5):
        optimizer.tell(x, bowl(x) + shift)
    run(optimizer, bowl, 5)
    assert len(optimizer.func_vals_) == 15


# --- ask and tell in any order --------------------------------------------------------------------


class AskTell(RuleBasedStateMachine):
    """Any sequence of asking, telling, failing, foreign points and going through JSON."""

    @initialize(method=st.sampled_from(sorted(CHEAP)), seed=st.integers(0, 3))
    def start(self, method, seed):
        self.optimizer = make(method, BOUNDS, seed)
        self.asked, self.waiting, self.told = [], [], []

    @rule(n=st.integers(1, 3))
    def ask(self, n):
        X = self.optimizer.ask(n)
        assert X.shape == (n, 4)
        self.asked += list(X)
        self.waiting += list(X)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), fails=st.booleans())
    def tell(self, data, fails):
        x = self.waiting.pop(data.draw(st.integers(0, len(self.waiting) - 1)))
        self._tell(x, np.nan if fails else bowl(x))

    @rule(share=st.floats(0, 1))
    def tell_from_outside(self, share):
        self._tell(BOUNDS[:, 0] + share * np.ptp(BOUNDS, axis=1), 7.0)

    @rule()
    def through_json(self):
        self.optimizer = reload(self.optimizer)

    def _tell(self, x, y):
        self.optimizer.tell(x, y)
        self.told.append((x, y))

    @invariant()
    def nothing_is_lost_or_asked_twice(self):
        if not hasattr(self, "optimizer"):
            return
        assert len(np.unique(np.reshape(self.asked, (-1, 4)), axis=0)) == len(self.asked)
        assert len(self.optimizer.func_vals_) == len(self.told)
        assert_array_equal(self.optimizer.func_vals_, [y for _, y in self.told])
        finite = [y for _, y in self.told if np.isfinite(y)]
        if finite:
            assert self.optimizer.best_y_ == min(finite)


@in_parts
def test_ask_and_tell_in_any_order(part):
    run_machine(AskTell, part, stateful_step_count=14)


# --- what is known is replaced, and never changed -------------------------------------------------


def test_a_copy_goes_its_own_way(method):
    optimizer = run(make(method), bowl, 8)
    expected = reload(optimizer, **given_again(method)).ask(3)
    other = copy.copy(optimizer)
    run(other, bowl, 4)
    other.ask(2)
    assert_array_equal(optimizer.ask(3), expected)


class Interrupted(Exception):
    pass


def test_an_ask_that_is_interrupted_late_leaves_nothing(method, monkeypatch):
    optimizer = run(make(method), bowl, 8)
    expected = reload(optimizer, **given_again(method)).ask(2)
    proposed = []

    def interrupt(self, rng, part):
        proposed.append(propose(self, rng, part))
        raise Interrupted

    propose = type(optimizer).propose
    monkeypatch.setattr(type(optimizer), "propose", interrupt)
    for _ in range(2):
        with pytest.raises(Interrupted):
            optimizer.ask()
    monkeypatch.undo()
    assert len(proposed) == 2
    assert not len(optimizer.pending_)
    assert_array_equal(optimizer.ask(2), expected)


def test_arguments_stay_as_they_were(method):
    optimizer = make(method)
    for name in ("random_state", "bounds", *CHEAP[method]):
        with pytest.raises(AttributeError, match=f"{name} of .*: got 3. Make another one with it"):
            setattr(optimizer, name, 3)
    run(optimizer, bowl, 1)
    with pytest.raises(AttributeError, match=r"maximize of .* must stay as it was"):
        optimizer.maximize = True
