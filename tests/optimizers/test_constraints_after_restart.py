"""What `constrain` was called with outlives a restart: no point is proposed without it."""

import copy
import json
import pickle
import sys
import threading
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo import SILBO, minimize
from skbo_silbo.baselines import RandomSearch

BOUNDS = [(-1.0, 1.0)] * 3
LINEAR = LinearConstraint([[1.0, 1.0, 1.0]], -np.inf, -1.0)
OTHER = LinearConstraint([[1.0, 1.0, 1.0]], -np.inf, 1.0)
GIVE_AGAIN = "constrain must be called before ask: this .* was saved with LinearConstraint"
OTHERS = "constraints.*saved optimiser: rule"


def total(x):
    return x.sum()


def told(optimizer, n=6):
    for x in optimizer.ask(n):
        optimizer.tell(x, float((x**2).sum()))
    return optimizer


def through_json(optimizer):
    return type(optimizer).from_dict(json.loads(json.dumps(optimizer.to_dict())))


def of_minimize():
    options = {"n_initial": 4, "n_calls": 6, "constraints": LINEAR, "random_state": 0}
    return minimize(lambda x: float((x**2).sum()), BOUNDS, **options).optimizer


@pytest.mark.parametrize(
    "make",
    [
        lambda: told(SILBO(BOUNDS, n_initial=4, random_state=0).constrain(LINEAR)),
        lambda: told(RandomSearch(BOUNDS, random_state=0).constrain(LINEAR)),
        of_minimize,
    ],
)
def test_from_dict_needs_the_rule_again(make):
    optimizer = make()
    again = through_json(optimizer)
    with pytest.raises(ValueError, match=GIVE_AGAIN):
        again.ask()
    with pytest.raises(ValueError, match=GIVE_AGAIN):  # nor by way of a second restart
        through_json(again).ask(fixed={0: -1.0})
    for constraints in (OTHER, None, [LINEAR, OTHER], NonlinearConstraint(total, -np.inf, -1.0)):
        with pytest.raises(ValueError, match=OTHERS):
            again.constrain(constraints)
    point = again.constrain(LINEAR).ask()
    assert point.sum() <= -1.0 + 1e-8
    assert_array_equal(point, optimizer.ask())


def test_a_journal_needs_the_rule_again(tmp_path):
    def make():
        return SILBO(BOUNDS, n_initial=4, journal=tmp_path / "run.jsonl", random_state=0)

    first = told(make().constrain(LINEAR))
    first.close_journal()
    again = make()
    with pytest.raises(ValueError, match=GIVE_AGAIN):
        again.ask()
    with pytest.raises(ValueError, match=OTHERS):
        again.constrain(OTHER)
    told(again.constrain(LINEAR).constrain(OTHER), 2)  # a rule may change once it is known
    again.close_journal()
    last = make()
    with pytest.raises(ValueError, match=OTHERS):
        last.constrain(LINEAR)
    assert_array_equal(last.constrain(OTHER).ask(), again.ask())


def test_withdrawn_constraint_is_not_required(tmp_path):
    path = tmp_path / "run.jsonl"
    first = told(SILBO(BOUNDS, journal=path, random_state=0).constrain(LINEAR).constrain(None))
    first.close_journal()
    for again in (SILBO(BOUNDS, journal=path), through_json(first)):
        assert_array_equal(again.ask(), first.ask())
        first.cancel(first.pending_)


def test_constraint_with_lock_is_identified(tmp_path):
    lock = threading.Lock()

    def guarded(x):
        with lock:
            return total(x)

    rule = NonlinearConstraint(guarded, -np.inf, -1.0)
    options = {"journal": tmp_path / "run.jsonl", "random_state": 0}
    optimizer = told(SILBO(BOUNDS, **options).constrain(rule))
    again = through_json(optimizer)
    with pytest.raises(ValueError, match=r"saved.*NonlinearConstraint"):
        again.ask()
    for other in (None, NonlinearConstraint(total, -np.inf, -1.0)):
        with pytest.raises(ValueError, match=OTHERS):
            again.constrain(other)
    optimizer.close_journal()
    resumed = SILBO(BOUNDS, **options)
    assert_array_equal(again.constrain(rule).ask(), resumed.constrain(rule).ask())


@pytest.mark.parametrize(
    ("make", "rule", "copied"),
    [
        (SILBO, LINEAR, lambda optimizer: pickle.loads(pickle.dumps(optimizer))),
        (RandomSearch, NonlinearConstraint(lambda x: x.sum(), -np.inf, -1.0), copy.deepcopy),
    ],
)
def test_pickle_and_copy_keep_the_rule_itself(make, rule, copied):
    optimizer = told(make(BOUNDS, random_state=0).constrain(rule))
    assert copied(optimizer).ask().sum() <= -1.0 + 1e-8


def test_pickle_without_local_function_asks_for_constraints():
    rule = NonlinearConstraint(lambda x: x.sum(), -np.inf, -1.0)
    options = {"method": "random", "n_calls": 4, "random_state": 0}
    result = minimize(lambda x: float((x**2).sum()), BOUNDS, constraints=rule, **options)
    loaded = pickle.loads(pickle.dumps(result))
    assert_array_equal(loaded.x_iters, result.x_iters)
    with pytest.raises(ValueError, match=r"was saved with NonlinearConstraint of .*lambda"):
        loaded.optimizer.ask()
    assert loaded.optimizer.constrain(rule).ask().sum() <= -1.0


@pytest.mark.filterwarnings("ignore")
def test_pickle_of_script_opens_elsewhere(monkeypatch):
    code = """
import pickle
from scipy.optimize import NonlinearConstraint
from skbo_silbo import minimize
def rule(x):
    return x[0]
def bowl(x):
    return float(x[0] ** 2)
constraints = NonlinearConstraint(rule, 0.5, 1.0)
result = minimize(bowl, [(0, 1)], method="random", n_calls=3, constraints=constraints)
saved = pickle.dumps(result)
"""
    script = ModuleType("__main__")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "__main__", script)
        exec(code, vars(script))
    assert pickle.loads(script.saved).nfev == 3
