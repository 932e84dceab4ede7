"""What means something else than it says is refused or warned of, by name, before it counts."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import uniform
from sklearn.linear_model import Ridge

from skbo_silbo import SILBO, SILBOSearchCV, Space, minimize
from skbo_silbo.baselines import RandomSearch

BOUNDS = [(0.0, 1.0)] * 2
HUGE = 10**400  # no float


def first(x):
    return float(x[0])


def run(func=first, bounds=BOUNDS, n_calls=3, **options):
    return minimize(func, bounds, method="random", n_calls=n_calls, random_state=0, **options)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (2**64, 2.0**64),
        (-(2**70), -(2.0**70)),
        (HUGE, np.inf),
        (-HUGE, -np.inf),
        (Fraction(1, 4), 0.25),
        (np.array([2**64], dtype=object), 2.0**64),
        (10**5000, np.inf),  # which has no repr
    ],
    ids=["2^64", "-2^70", "10^400", "-10^400", "fraction", "object array", "10^5000"],
)
@pytest.mark.filterwarnings("ignore:func returned no finite value")
def test_large_integers_are_values(value, number):
    optimizer = RandomSearch(BOUNDS, random_state=0).tell([0.1, 0.2], np.squeeze(value))
    optimizer.tell([[0.3, 0.4], [0.5, 0.6]], [value, 1.5] if np.ndim(value) == 0 else [number, 1.5])
    assert_array_equal(optimizer.func_vals_, [number, number, 1.5])
    assert_array_equal(run(lambda x: value).func_vals, [number] * 3)
    constrained = run(lambda x: (1.0, [np.squeeze(value).item()]), n_constraints=1)
    assert_array_equal(constrained.optimizer.constraints_, [[number]] * 3)


@pytest.mark.parametrize("value", [None, "1", 1j, [[1], [1, 2]], np.datetime64(0, "D")])
def test_what_is_no_number_is_no_value(value):
    with pytest.raises(TypeError, match=r"`func` must return one real number"):
        run(lambda x: value)
    with pytest.raises(ValueError, match=r"\by\b.*real"):
        RandomSearch(BOUNDS).tell([0.1, 0.2], value)
    with pytest.raises(TypeError, match=r"`func` must return .*constraints"):
        run(lambda x: (1.0, [value]), n_constraints=1)


# --- tell -----------------------------------------------------------------------------------------


def test_noise_and_constraints_are_told_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        SILBO(BOUNDS).tell([0.1, 0.2], 1.0, [0.5])


def test_constraints_told_once_and_then_left_out():
    optimizer = RandomSearch(BOUNDS, random_state=0)
    X = [[0.1, 0.2], [0.3, 0.4]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.tell(X, [1.0, 2.0], constraints=[[-1.0], [1.0]])
        optimizer.tell(X[0], np.nan)  # a failure need not show them
        optimizer.tell(X[0], 1.0, constraints=[np.nan])
    with pytest.warns(UserWarning, match=r"constraints.*left"):
        optimizer.tell(X, [np.nan, 0.5])
    assert optimizer.best_y_ == 1.0
    known = {"x0": X, "y0": ([0.0, 1.0], [[0.0], [0.0]]), "n_constraints": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(lambda x: np.nan if x[0] < 0.5 else (first(x), [0.0]), n_calls=8, **known)


# --- constraints on known functions ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (NonlinearConstraint(lambda x: 1j, -1.0, 0.5), r"return must be real numbers, got 1j"),
        (NonlinearConstraint(lambda x: None, -1.0, 0.5), r"return must be real numbers, got None"),
        (NonlinearConstraint(None, 0.0, 1.0), "got None"),
        (NonlinearConstraint(first, np.nan, 0.5), r"lb and ub .* numbers, not NaN: got lb=\[nan\]"),
        (NonlinearConstraint(first, None, 0.5), "not NaN"),
        (LinearConstraint([[1.0, np.nan]], 0.0, 1.0), "A is finite"),
        (LinearConstraint([[1.0, 1.0]], 0.0, np.nan), "not NaN"),
    ],
)
def test_constraints_that_say_nothing(constraint, message):
    calls = []
    with pytest.raises(ValueError, match=f"constraints.* {message}"):
        run(calls.append, constraints=constraint)
    assert not calls


# --- func, bounds and spaces ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("func", "bounds", "message"),
    [
        (BOUNDS, first, r"func.*callable"),
        (None, BOUNDS, r"func.*got None"),
        (first, None, r"bounds.*got None"),
        (first, [(None, 1.0), (0.0, 1.0)], r"\b0\b.*got \[None, 1.0\]"),
        (first, [(1e-3, 1.0, "log-uniform")] * 2, "scale='log' for logarithmic"),
        (first, {"a": None}, r"'a'.*got None"),
        (first, {"a": (1, 100, "log-uniform", 2)}, r"Write scipy.stats.* loguniform\(low, high\)"),
        (first, [{"a": [1, 2]}, {"a": [1.0, 3.0, "uniform"]}], r"Write scipy.stats.uniform\(low"),
        (first, {"a": first}, r"scipy.stats, got .* or scipy.stats.uniform\(low"),
        (first, {"a": (0.0, 1.0)}, r"Write scipy.stats.uniform\(0.0, 1.0\)"),
    ],
)
def test_arguments_of_another_library_or_in_another_order(func, bounds, message):
    with pytest.raises(ValueError, match=message):
        run(func, bounds)


@pytest.mark.parametrize(
    "values", [(1, 3, "sqrt"), [1, "uniform"], ("uniform", "distance"), (3, 1, "log-uniform", "x")]
)
def test_other_lists_with_a_word_are_lists(values):
    assert Space({"a": values}).parameters[0].values == list(values)


def test_pair_of_estimators_warns():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    options = {"n_iter": 2, "cv": 2, "random_state": 0}
    with pytest.warns(
        UserWarning, match=r"'alpha' .*two values.*scipy.stats.uniform\(0.1, 0.9\)"
    ) as said:
        search = SILBOSearchCV(Ridge(), {"alpha": (0.1, 1.0)}, **options).fit(X, y)
    assert sum("'alpha'" in str(warning.message) for warning in said) == 1
    assert set(search.cv_results_["param_alpha"]) == {0.1, 1.0}
    with pytest.raises(ValueError, match=r"notation for an interval"):
        SILBOSearchCV(Ridge(), {"alpha": (0.1, 1.0, "log-uniform")}, **options).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for alpha in ([0.1, 1.0], (1.0, 0.1), uniform(0.1, 0.9)):
            SILBOSearchCV(Ridge(), {"alpha": alpha}, **options, n_initial=1).fit(X, y)


# --- names of arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"maximise": True}, "maximize"),
        ({"n_call": 5}, "n_calls"),
        ({"n_iter": 5}, "n_calls"),
        ({"initial_params": {"x": 1}}, "x0"),
        ({"acq_func": "EI"}, "acquisition"),
    ],
)
def test_misspelt_option_suggests_name(options, meant):
    with pytest.raises(ValueError, match=f"^Did you mean '{meant}'. options of method") as raised:
        minimize(first, BOUNDS, **options)
    assert str(raised.value).count(f"{meant}'") + str(raised.value).count(f" {meant},") == 2


@pytest.mark.parametrize("name", ["n_workers", "n_jobs"])
def test_number_of_workers_names_executor(name):
    with pytest.raises(ValueError, match=r"^Pass executor=.* or n_jobs=4 to SILBOSearchCV"):
        minimize(first, BOUNDS, **{name: 4})


@pytest.mark.parametrize(
    ("options", "message"),
    [({"executor": 4}, "executor must be None"), ({"timeout": 0}, "`timeout` must be None")],
)
def test_what_is_refused_is_not_warned_of_before(options, message):
    with warnings.catch_warnings(record=True) as seen, pytest.raises(ValueError, match=message):
        minimize(first, BOUNDS, n_calls=3, **options)
    assert seen == []


def test_what_a_rule_raises_says_for_which_point():
    def rule(params):
        return {"a": 1.0}["gamma"]

    with pytest.raises(KeyError, match="gamma") as raised:
        run(bounds={"a": uniform()}, constraints=NonlinearConstraint(rule, 0.0, 1.0))
    assert raised.value.__notes__[0].startswith("raised by constraints for {'a': ")
