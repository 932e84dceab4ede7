"""Linear equations between inputs: every proposal satisfies them, whatever else is asked for."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.optimize import minimize as scipy_minimize

from skbo_silbo import SILBO, minimize

SHARES = LinearConstraint(np.ones((1, 4)), 1.0, 1.0)
UNIT = [(0, 1)] * 4
TARGET = np.array([0.6, 0.5, -0.2, 0.1])


def distance(x):
    return float(((x - TARGET) ** 2).sum())


@pytest.mark.parametrize("method", ["silbo", "random", "rembo"])
def test_mixture_points_sum_to_one(method):
    result = minimize(distance, UNIT, method=method, constraints=SHARES, n_calls=10, random_state=0)
    assert result.nfev == 10
    np.testing.assert_allclose(result.x_iters.sum(axis=1), 1.0, atol=4e-9)
    assert (result.x_iters >= 0).all()
    assert len(np.unique(result.x_iters, axis=0)) == 10


@pytest.mark.statistical
def test_best_mixture_is_found_on_face():
    truth = scipy_minimize(
        distance, np.full(4, 0.25), bounds=UNIT, constraints=SHARES, method="SLSQP"
    )
    result = minimize(distance, UNIT, constraints=SHARES, n_calls=22, random_state=0)
    assert truth.x[2] == pytest.approx(0.0, abs=1e-6)  # a share that is not used
    assert result.fun < truth.fun + 0.01


def test_equations_combine_with_inequalities_and_functions():
    """Two equations, of which one has a part that must be small, in a box with an input held."""
    bounds = [(0, 1000), (-1, 1), (0.5, 0.5), (0, 10)]
    mixed = LinearConstraint([[1, 500, 100, 0], [0, 0, 0, 1]], [300, 2], [300, 8])
    sums = LinearConstraint([[0, 1, 2, 0.1]], [1.4], [1.4])
    small = NonlinearConstraint(lambda x: x[1] ** 2, -np.inf, 0.1)
    result = minimize(
        lambda x: x[0], bounds, constraints=[mixed, sums, small], n_calls=9, random_state=0
    )
    X = result.x_iters
    np.testing.assert_allclose(X[:, 0] + 500 * X[:, 1] + 50, 300, atol=2e-6)
    np.testing.assert_allclose(X[:, 1] + 1 + 0.1 * X[:, 3], 1.4, atol=4e-9)
    assert ((X[:, 3] >= 2) & (X[:, 3] <= 8)).all()
    assert (X[:, 1] ** 2 <= 0.1 + 1e-9).all()


def test_equations_hold_with_fixed_and_pending():
    optimizer = SILBO(UNIT, random_state=0, n_initial=3).constrain(SHARES)
    X = optimizer.ask(5)
    optimizer.tell(X, [distance(x) for x in X])
    x = optimizer.ask(fixed={1: 0.7})
    assert x[1] == 0.7
    assert x.sum() == pytest.approx(1.0, abs=4e-9)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (LinearConstraint(np.ones((1, 4)), 5.0, 5.0), r"constraints.*possible"),
        (LinearConstraint(np.ones((1, 4)), 2.0, 1.0), r"constraints.*inequalities"),
    ],
)
def test_infeasible_equations_raise_before_evaluation(constraint, message):
    calls = []
    with pytest.raises(ValueError, match=message):
        minimize(calls.append, UNIT, constraints=constraint, n_calls=3, random_state=0)
    assert not calls


def test_log_scale_with_equation_raises():
    bounds = [(0, 1), (0, 1), (0.2, 0.2), (0.1, 10)]
    logarithmic = {"scale": ["log" if low > 0 else None for low, _ in bounds], "n_calls": 8}
    shares = LinearConstraint([[1, 1, 1, 0]], 1, 1)
    result = minimize(distance, bounds, constraints=shares, random_state=0, **logarithmic)
    np.testing.assert_allclose(result.x_iters[:, :3].sum(axis=1), 1.0, atol=4e-9)
    with pytest.raises(ValueError, match="equations between"):
        minimize(distance, bounds, constraints=SHARES, **logarithmic)


@pytest.mark.parametrize("upper", [1.0, 1.2])
def test_a_matrix_may_be_sparse(upper, tmp_path):
    options = {"n_calls": 4, "random_state": 0, "n_initial": 3}
    rules = [
        LinearConstraint(A, 1, upper) for A in (np.ones((1, 4)), sparse.csr_array([[1.0] * 4]))
    ]
    dense, from_sparse = (minimize(distance, UNIT, constraints=c, **options) for c in rules)
    np.testing.assert_array_equal(from_sparse.x_iters, dense.x_iters)
    for rule in rules:
        minimize(distance, UNIT, constraints=rule, journal=tmp_path / "run.jsonl", **options)
