"""`minimize` rejects invalid points, changed constraints and journals of other functions."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import randint, uniform

from skbo_silbo import SILBO, Space, minimize

pytestmark = pytest.mark.quick

BOUNDS = [(0.0, 1.0), (0.0, 2.0)]
LOW, HIGH = (LinearConstraint([[1.0, 0.0]], *ends) for ends in ((0.0, 0.4), (0.5, 1.0)))


def total(x):
    return float(sum(x))


def run(path, func=total, n_calls=2, **options):
    options = {"method": "random", "random_state": 0, **options}
    return minimize(func, BOUNDS, n_calls=n_calls, journal=path, **options)


# --- constraints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("y0", [None, [3.0, 1.0]])
def test_points_given_that_violate_constraints_are_warned_of(y0):
    given = {"x0": [[0.9, 0], [0.1, 0]], "y0": y0, "constraints": LOW}
    with pytest.warns(UserWarning, match="1 points of `x0` violate"):
        result = minimize(total, BOUNDS, method="random", n_calls=2, **given)
    assert len(result.x_iters) == (2 if y0 is None else 4)


def first_input(x):
    return x[0]


def under(limit):
    return NonlinearConstraint(lambda x: x[0] - limit, -np.inf, 0.0)


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (HIGH, LOW, r"constraints.lb was \[0.5\] and is \[0.0\]; constraints.ub was \[1.0\]"),
        (None, LOW, r"constraints was \[\] and is"),
        (LOW, None, r"constraints was .* and is \[\]"),
        ([LOW, NonlinearConstraint(first_input, 0.1, 9)], LOW, "constraints.1 was"),
        (NonlinearConstraint(first_input, 0, 1), NonlinearConstraint(sum, 0, 1), "s.fun was .*put"),
    ],
)
def test_a_journal_of_other_constraints_is_refused(path, before, now, message):
    run(path, constraints=before)
    with pytest.raises(ValueError, match=message):
        run(path, constraints=now)
    same = [before] if before is LOW else before
    assert run(path, n_calls=3, constraints=same).nfev == 3


def below(limit):
    def fun(x):
        return x[0] - limit

    return NonlinearConstraint(fun, -np.inf, 0.0)


def test_constraint_functions_are_compared_by_name(path):
    run(path, constraints=below(0.5))
    assert run(path, n_calls=3, constraints=below(0.75)).nfev == 3
    with pytest.raises(ValueError, match=r"constraints.* was "):
        run(path, constraints=under(0.5))


# --- the journal of the other door ----------------------------------------------------------------


def test_minimize_rejects_journal_of_optimiser(path):
    optimizer = SILBO(BOUNDS, journal=path, random_state=0)
    optimizer.tell(optimizer.ask(), 1.0).close_journal()
    with pytest.raises(ValueError, match="was written by SILBO and cannot be resumed by minimize"):
        run(path, method="silbo")
    assert len(SILBO(BOUNDS, journal=path, random_state=0).func_vals_) == 1


def test_optimiser_rejects_journal_of_minimize(path):
    run(path, method="silbo", n_initial=2)
    with pytest.raises(ValueError, match="was written by minimize and cannot be resumed by SILBO"):
        SILBO(BOUNDS, journal=path, random_state=0, n_initial=2)


# --- arguments ------------------------------------------------------------------------------------


def test_fixed_value_is_returned_as_in_space():
    space = Space({"n": randint(1, 9), "k": [1, 2, 3], "c": ["a", 1.0, None], "u": uniform()})
    fixed = {"n": 3.0, "k": np.float64(2.0), "c": 1, "u": 1}
    point = SILBO(space, random_state=0).ask(fixed=fixed)
    assert point == fixed
    assert [type(point[name]) for name in "nkcu"] == [int, int, float, float]
