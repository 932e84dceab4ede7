"""Constraints that only evaluations show: told, learnt, saved; and the best feasible point."""

import json

import numpy as np
import pytest
from derivatives import assert_gradient
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, qmc
from sklearn.exceptions import NotFittedError

from skbo_silbo import SILBO, minimize
from skbo_silbo._numerics.gaussian_process import ProcessStack
from skbo_silbo.acquisition import AcquisitionSurface, log_expected_improvement
from skbo_silbo.baselines import HeSBO, RandomSearch
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate.feasibility import (
    fit_feasibility,
    scaled_constraint,
)

BOUNDS = [(-1.0, 1.0)] * 2
CONSTRAINT_VALUES = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=8)


def bowl(x):
    return float(((x - 0.5) ** 2).sum())


def excess(x):
    """At most 0 on one side of a line: the bowl's least value there is 0.08, at (0.3, 0.3)."""
    return float(x[0] + x[1] - 0.6)


def sobol(n, d=2):
    drawn = qmc.Sobol(d, seed=np.random.default_rng(0)).random(2 ** int(np.ceil(np.log2(n))))[:n]
    return 2.0 * drawn - 1.0


def told(n=8, make=SILBO, seed=0, **options):
    optimizer = make(BOUNDS, random_state=seed, **options)
    X = sobol(n)
    return optimizer.tell(X, [bowl(x) for x in X], constraints=[[excess(x)] for x in X])


# --- what a process sees, and what it says --------------------------------------------------------


@given(CONSTRAINT_VALUES, st.floats(1e-3, 1e3))
def test_constraint_scale_is_unit_free(values, unit):
    c = np.array(values)
    scaled = scaled_constraint(c)
    assert_allclose(scaled_constraint(c * unit), scaled, rtol=1e-9, atol=1e-9)
    assert (np.diff(scaled[np.argsort(c)]) >= 0.0).all()
    assert_array_equal(scaled[c != 0.0] <= 0.0, c[c != 0.0] <= 0.0)
    assert (scaled[c == 0.0] <= 0.0).all()


def feasibility(n=12):
    X = sobol(n)
    C = np.column_stack([X.sum(axis=1) - 0.6, X[:, 0] - 0.9])
    C[:3, 1] = np.nan
    return X, C, *fit_feasibility({}, X, C)


def test_feasibility_is_product_over_constraints():
    X, C, learnt, _ = feasibility()
    at = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    expected = np.zeros(5)
    for rows, c in ((slice(None), C[:, 0]), (slice(3, None), C[3:, 1])):
        process = GaussianProcessSurrogate().fit(X[rows], scaled_constraint(c))
        mean, std = process.predict(at)
        expected += norm.logcdf(-mean / std)
    assert_allclose(learnt.log_probability(at), expected, rtol=1e-6)
    values = [learnt.log_probability_gradient(x[None])[0] for x in at]
    assert_allclose(values, expected, rtol=1e-6)


def test_processes_at_same_points_predict_as_alone():
    X, y = sobol(9), np.random.default_rng(0).standard_normal((2, 9))
    processes = [GaussianProcessSurrogate().fit(X, values).posterior_ for values in y]
    x = np.array([[0.3, -0.2]])
    alone = zip(*(process.predict_gradient(x) for process in processes), strict=True)
    for together, parts in zip(ProcessStack(processes).predict_gradient(x), alone, strict=True):
        assert_array_equal(together, np.concatenate(parts).reshape(together.shape))


def test_log_feasibility_gradient_is_exact_in_tail():
    _, _, learnt, _ = feasibility(8)
    for x in ([0.1, -0.3], [0.9, 0.95], [-0.8, -0.7]):
        _, gradient = learnt.log_probability_gradient(np.array([x]))
        assert_gradient(gradient, lambda x: learnt.log_probability(x[None])[0], np.array(x))


def test_observed_feasibility_is_certain():
    X, C, learnt, states = feasibility()
    sure = np.abs(C[3:]).min(axis=1) > 0.1
    chance = np.exp(learnt.log_probability(X[3:][sure]))
    assert_array_equal(chance > 0.5, (C[3:][sure] <= 0.0).all(axis=1))
    again, _ = fit_feasibility(json.loads(json.dumps(states)), X, C, tune=False)
    assert_array_equal(again.log_probability(X), learnt.log_probability(X))
    assert fit_feasibility({}, X, np.full((len(X), 2), np.nan))[0] is None


def test_pending_points_of_uncertain_feasibility_are_avoided():
    _, _, learnt, _ = feasibility()
    sure, unsure = np.array([[-0.7, -0.6]]), np.array([[0.3, 0.3]])
    assert_array_equal(learnt.holds_with_margin(np.vstack([sure, unsure])), [True, False])
    pessimistic = learnt.with_pending(np.vstack([sure, unsure]))
    assert learnt.log_probability(unsure) > np.log(0.1)
    assert pessimistic.log_probability(unsure) < np.log(0.1)
    assert pessimistic.log_probability(sure) > np.log(0.9)


@pytest.mark.parametrize("basis", [None, np.array([[0.6], [0.8]])])
def test_the_surface_is_log_improvement_and_log_probability(basis):
    X, _, learnt, _ = feasibility()
    embedding = LinearEmbedding(2, basis)
    Z = embedding.project(X)
    noise = 0.05  # else it is so sure that log improvements are in the thousands, and so rounded
    surrogate = GaussianProcessSurrogate().fit(Z, (Z**2).sum(axis=1), noise, tune=False)
    surface = AcquisitionSurface(log_expected_improvement, surrogate, embedding, 0.1, learnt)
    plain = AcquisitionSurface(log_expected_improvement, surrogate, embedding, 0.1)
    at = np.random.default_rng(1).uniform(-1, 1, (4, 2))
    assert_allclose(surface.values(at), plain.values(at) + learnt.log_probability(at))
    Z = 0.3 * embedding.project(at)  # whose points of least norm are in the cube
    expected = plain.values_at(Z) + learnt.log_probability(embedding.expand(Z))
    assert_allclose(surface.values_at(Z), expected)
    for x in at:
        value, gradient = surface.value_and_gradient(x)
        assert_allclose(value, surface.values(x[None])[0])
        assert_gradient(gradient, lambda x: surface.values(x[None])[0], x)


# --- telling --------------------------------------------------------------------------------------


def test_the_best_point_is_feasible():
    optimizer = SILBO(BOUNDS)
    optimizer.tell([[0, 0], [1, 1]], [5.0, 1.0], constraints=[[-1.0, 0.0], [-1.0, 1e-9]])
    optimizer.tell([0.5, 0], 2.0, constraints=[-1.0, np.nan])
    with pytest.warns(UserWarning, match="left out"):
        optimizer.tell([0, 0.5], 0.0)
    assert_array_equal(optimizer.feasible_, [True, False, False, False])
    assert_array_equal(optimizer.constraints_, [[-1, 0], [-1, 1e-9], [-1, np.nan], [np.nan] * 2])
    assert optimizer.best_y_ == 5.0
    assert_array_equal(optimizer.best_x_, [0, 0])


def test_no_feasible_point_means_no_best():
    optimizer = SILBO(BOUNDS).tell([0, 0], 1.0, constraints=1.0).tell([0, 1], np.nan)
    with pytest.raises(NotFittedError, match=r"\b2\b values.*1"):
        optimizer.best_x_  # noqa: B018
    assert SILBO(BOUNDS).tell([0, 0], 1.0).feasible_.all()


@pytest.mark.parametrize(
    ("x", "constraints", "shape"),
    [
        ([0, 0], [1.0], (1, 1)),
        ([0, 0], [1.0, 2.0], (1, 2)),
        ([[0, 0], [1, 1]], [1.0, 2.0], (2, 1)),
        ([[0, 0], [1, 1]], np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]]), (2, 2)),
    ],
)
def test_shapes(x, constraints, shape):
    y = np.zeros(len(x)) if np.ndim(x) == 2 else 0.0
    optimizer = SILBO(BOUNDS).tell(x, y, constraints=constraints)
    assert optimizer.constraints_.shape == shape
    assert np.isnan(optimizer.constraints_).any() == np.ma.is_masked(constraints)


@pytest.mark.parametrize(
    ("constraints", "match"),
    [
        ([[1.0]], r"must be of shape \(m,\) for one point, and \(2, m\) for 2 points"),
        ([[], []], r"got shape \(2, 0\)"),
        ([[1.0], [1.0]], r"m being 2 as before, got shape \(2, 1\)"),
        ([[True, False], [True, True]], "got booleans"),
        ([[-1.0, np.True_], [1.0, np.nan]], r"Pass -1.0"),
    ],
)
def test_what_is_refused_leaves_no_trace(constraints, match):
    optimizer = SILBO(BOUNDS).tell([0, 0], 0.0, constraints=[0.0, 0.0])
    with pytest.raises(ValueError, match=match):
        optimizer.tell([[0, 1], [1, 0]], [1.0, 2.0], constraints=constraints)
    assert optimizer.constraints_.shape == (1, 2)
    assert len(optimizer.func_vals_) == 1


def test_methods_that_cannot_learn_them_refuse():
    optimizer = SILBO(BOUNDS, acquisition="ucb")
    with pytest.raises(ValueError, match=r"acquisition must be 'ei' .* got 'ucb' and 1"):
        optimizer.tell([0, 0], 0.0, constraints=[1.0])
    optimizer.tell([0, 0], 0.0)
    calls = []
    with pytest.raises(ValueError, match=r"acquisition.*got 'ucb'"):
        minimize(calls.append, BOUNDS, method="silbo-td", n_constraints=1)
    assert calls == []


def test_log_acquisition_by_function_equals_ei_by_name():
    named, given = (told(8, acquisition=a, n_initial=6) for a in ("ei", log_expected_improvement))
    assert_array_equal(named.ask(3), given.ask(3))


def test_own_log_acquisition_works_with_constraints():
    def log_probability(mean, std, best, *, return_gradient=False):
        u = (best - mean) / std
        value = norm.logcdf(u)
        slope = np.exp(norm.logpdf(u) - value) / std
        return (value, -slope, -slope * u) if return_gradient else value

    with pytest.raises(ValueError, match="set is_log on your function"):
        told(8, acquisition=log_probability)
    log_probability.is_log = True
    optimizer = told(8, acquisition=log_probability, n_initial=6)
    before = optimizer.best_y_
    for _ in range(8):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x), constraints=excess(x))
    assert optimizer.best_y_ < before
    assert optimizer.feasible_[8:].mean() > 0.5


@pytest.mark.parametrize("make", [SILBO, HeSBO, RandomSearch])
def test_every_other_optimiser_takes_them_through_json(make):
    optimizer = told(8, make, **({} if make is RandomSearch else {"n_initial": 6}))
    optimizer.ask()
    data = json.loads(json.dumps(optimizer.to_dict()))
    again = make.from_dict(data)
    assert_array_equal(again.constraints_, optimizer.constraints_)
    assert_array_equal(again.ask(), optimizer.ask())
    assert again.best_y_ == optimizer.best_y_


def test_order_of_telling_and_repeats_do_not_matter():
    X, rng = sobol(16), np.random.default_rng(0)
    X[8:12] = X[:4]  # measured twice, once on either side
    y = np.array([bowl(x) for x in X])
    C = np.array([[excess(x), x[0] - 0.9] for x in X]) + 0.05 * rng.standard_normal((16, 2))
    C[5, 0] = np.nan
    asked = []
    for order in (np.arange(16), rng.permutation(16)):
        optimizer = SILBO(BOUNDS, random_state=0)
        for i in order:
            optimizer.tell(X[i], y[i], constraints=C[i])
        asked.append(optimizer.ask())
    assert_array_equal(*asked)


# --- searching ------------------------------------------------------------------------------------


def test_feasibility_alone_is_sought_first():
    """Where values are low is far from where the constraint may hold; -.2 is the nearest known."""
    X = sobol(64)
    X = X[X[:, 0] > -0.2][:16]
    optimizer = SILBO(BOUNDS, random_state=0)
    optimizer.tell(X, -X[:, 0], constraints=X[:, 0] + 0.8)
    asked = optimizer.ask(3)
    assert (asked[:, 0] < -0.4).all()
    gaps = np.linalg.norm(asked[:, None] - asked, axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 0.01  # and not one place three times


@pytest.mark.slow
def test_the_constrained_optimum_is_found():
    """(0.3, 0.3), of value 0.08, by symmetry."""
    optimizer = told(6)
    for _ in range(20):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x), constraints=excess(x))
    assert 0.08 <= optimizer.best_y_ < 0.081
    assert excess(optimizer.best_x_) <= 0.0


@pytest.mark.parametrize("worked", [np.nan, 0.0])
def test_odd_constraints_do_not_end_a_search(worked):
    """Never known; always satisfied exactly; infinite; and all evaluations failed."""
    space = {"a": [1, 2, 3, 4], "b": ["x", "y", "z"]}
    optimizer = SILBO(space, random_state=0, n_initial=3)
    for i in range(7):
        point = optimizer.ask()
        optimizer.tell(point, worked, constraints=[np.nan, 0.0, (-1.0) ** i * np.inf])
    assert len(optimizer.func_vals_) == 7


# --- minimize -------------------------------------------------------------------------------------


def both(x):
    return bowl(x), [excess(x), x[0] - 0.9]


def test_maximize():
    def func(x):
        value, constraints = both(x)
        return -value, constraints

    options = {"n_constraints": 2, "maximize": True, "random_state": 0, "n_initial": 8}
    result = minimize(func, BOUNDS, n_calls=10, **options)
    assert_allclose(result.constraints[:, 0], result.x_iters.sum(axis=1) - 0.6)
    feasible = (result.constraints <= 0.0).all(axis=1)
    assert 0 < feasible.sum() < 10
    assert result.fun == result.func_vals[feasible].max()


def test_only_feasible_point_reaches_target():
    result = minimize(
        lambda x: (0.0, 1.0), BOUNDS, method="random", target=1.0, n_calls=6, n_constraints=1
    )
    assert (result.stop_reason, result.success, result.x) == ("budget", False, None)
    assert np.isnan(result.fun)
    assert "constraints" not in minimize(bowl, BOUNDS, n_calls=2, random_state=0)


def test_known_values_and_a_journal(tmp_path):
    known = sobol(6)
    y0 = [bowl(x) for x in known], [both(x)[1] for x in known]
    options = {"x0": known, "y0": y0, "n_constraints": 2, "random_state": 0}
    whole = minimize(both, BOUNDS, n_calls=4, **options)
    path = tmp_path / "run.jsonl"
    minimize(both, BOUNDS, n_calls=2, journal=path, **options)
    resumed = minimize(both, BOUNDS, n_calls=4, journal=path, **options)
    assert_array_equal(resumed.constraints, whole.constraints)
    assert_array_equal(resumed.x_iters, whole.x_iters)
    with pytest.raises(ValueError, match=r"n_constraints.*2"):
        minimize(bowl, BOUNDS, journal=path, random_state=0)


@pytest.mark.parametrize(
    ("func", "n_constraints", "match"),
    [
        (both, 0, r"pass n_constraints=m"),
        (bowl, 2, r"`func` must return \(value, constraints\)"),
        (lambda x: (bowl(x), [x[0] < 0.5]), 1, r"numbers.*got \("),
        (lambda x: (x[0] < 2, bowl(x)), 1, r"numbers.*got \("),
        (lambda x: ([1.0], bowl(x)), 1, r"func.*got \(\[1.0\]"),
    ],
)
def test_what_is_returned_is_checked(func, n_constraints, match):
    with pytest.raises(TypeError, match=match) as caught:
        minimize(func, BOUNDS, n_constraints=n_constraints)
    assert caught.value.optimize_result.nfev == 1
    assert len(caught.value.optimize_x) == 2
    assert "func returned this at the point" in caught.value.__notes__[0]


def test_known_values_without_their_constraints_are_warned_of():
    first = minimize(both, BOUNDS, n_calls=6, n_constraints=2, n_initial=3, random_state=0)
    options = {"n_calls": 1, "n_constraints": 2, "n_initial": 3, "x0": first.x_iters}
    with pytest.warns(UserWarning, match=r"y0=\(values, constraints\).*earlier"):
        minimize(both, BOUNDS, y0=first.func_vals, **options)
    more = minimize(both, BOUNDS, y0=(first.func_vals, first.constraints), **options)
    assert_array_equal(more.constraints[:6], first.constraints)


def test_a_result_says_that_no_point_is_feasible():
    result = minimize(lambda x: (x[0], 1.0), BOUNDS, n_calls=3, n_constraints=1, n_initial=3)
    assert result.x is None
    assert result.message == "All 3 calls made. No point is feasible."


def test_a_failure_need_not_show_constraints():
    def func(x):
        return float("nan") if x[0] > 0.6 else both(x)

    result = minimize(func, BOUNDS, n_calls=7, n_constraints=2, n_initial=5, random_state=0)
    failed = np.isnan(result.func_vals)
    assert 0 < failed.sum() < 7
    assert_array_equal(np.isnan(result.constraints).all(axis=1), failed)
