"""OPG and MAVE: closed forms, what they find, and the estimator contract."""

import numpy as np
import pytest
from conformance import conformance
from scipy import linalg

from skbo_silbo import MAVE, OuterProductGradients, SemiSlicedInverseRegression
from skbo_silbo._numerics._local_linear import local_predictions, local_slopes, mave_step

WIDE = {"check_sample_weight_equivalence_on_dense_data": "15 rows of 30 features are refused"}


@pytest.mark.filterwarnings(
    "ignore:No direction was found",
    "ignore:Little was found",  # of 30 rows of noise that count thrice
)
@conformance(
    [MAVE(), OuterProductGradients(1)],
    but=lambda estimator: WIDE,
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


def sine(components, truth):
    return np.sin(linalg.subspace_angles(components.T, np.atleast_2d(truth).T)).max()


def rational(seed, n=200, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * rng.normal(size=n)
    return X, y, np.eye(d)[:2]


def even(seed, n=200, d=10):
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(n, d)), np.r_[np.ones(4), np.zeros(d - 4)] / 2
    return X, (X @ direction) ** 2 + 0.2 * rng.normal(size=n), direction


# -- closed forms --------------------------------------------------------------------------------


def weighted_fit(Z, y, weights):
    """Intercept and slope of a weighted least-squares line."""
    design = np.column_stack([np.ones(len(Z)), Z]) * np.sqrt(weights)[:, None]
    return np.linalg.lstsq(design, y * np.sqrt(weights), rcond=None)[0]


def test_slopes_are_those_of_weighted_least_squares():
    X, y, _ = rational(0, n=60, d=3)
    slopes = local_slopes(X, y[:, None], X[:, :2], 0.9, 1e-12)[:, :, 0]
    for j in (0, 17, 59):
        gap = X[:, :2] - X[j, :2]
        weights = np.exp(-np.sum(gap**2, axis=1) / (2 * 0.9**2))
        np.testing.assert_allclose(slopes[j], weighted_fit(X, y, weights)[1:], rtol=1e-6)


@pytest.mark.parametrize("gap", [1.0, 3.0, 5.0, 6.0])
@pytest.mark.parametrize("far", [0.0, 4.0])
def test_the_slope_between_two_rows_is_right_however_far_they_are_apart(gap, far):
    """Weights of 1 and w: a variance of ``w gap^2 / (1 + w)^2``, of 4e-15 for a gap of 6."""
    X = np.array([[far, 1.0], [far + gap, 1.0]])
    slopes = local_slopes(X, np.array([[2.0], [5.0]]), X, 0.7, 1e-3)[:, :, 0]
    expected = 3 / gap / (1 + 1e-3 / 2)  # half of the trace: the other feature does not vary
    np.testing.assert_allclose(slopes, [[expected, 0.0]] * 2, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gap", [6.0, 9.0, 12.0, 15.0])
def test_the_slope_from_weighted_copies_to_a_far_row_is_right(gap):
    """The rounding error of the copies' mean, squared, can be more than the far row's weight."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        near, weights = rng.normal(size=2), rng.uniform(0.1, 3, size=4)
        far = near + np.array([gap, 0.0])
        X, y = np.vstack([near, near, near, far]), rng.normal(size=4)
        slopes = local_slopes(X, y[:, None], X, 0.7, 1e-3, row_weights=weights)[:, :, 0]
        level = np.average(y[:3], weights=weights[:3])
        expected = (y[3] - level) / (X[3, 0] - near[0]) / (1 + 1e-3 / 2)
        np.testing.assert_allclose(slopes[:, 0], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(slopes[:, 1], 0.0, atol=1e-9)


def test_predictions_are_those_of_weighted_least_squares():
    X, y, _ = rational(1, n=50, d=2)
    at = np.array([[0.0, 0.0], [0.5, -1.0]])
    values = local_predictions(X, y[:, None], at, 0.8, 1e-12)[:, 0]
    for point, value in zip(at, values, strict=True):
        weights = np.exp(-np.sum((X - point) ** 2, axis=1) / (2 * 0.8**2))
        coefficients = weighted_fit(X, y, weights)
        assert value == pytest.approx(coefficients[0] + point @ coefficients[1:], rel=1e-6)


def test_a_step_of_mave_minimises_its_objective_over_the_directions():
    X, y, truth = rational(2, n=80, d=4)
    B = np.linalg.qr(truth.T + 0.3 * np.random.default_rng(0).normal(size=(4, 2)))[0]
    V = X @ B
    weights = np.exp(-((V[:, None] - V) ** 2).sum(axis=2) / (2 * 0.7**2))
    weights /= weights.sum(axis=1, keepdims=True)
    rows, targets = [], []
    for j in range(80):
        root = np.sqrt(weights[j])
        slope = weighted_fit(V, y, weights[j])[1:]
        gap = X - weights[j] @ X
        rows.append((root[:, None, None] * slope[None, :, None] * gap[:, None, :]).reshape(80, -1))
        targets.append(root * (y - weights[j] @ y))
    best = np.linalg.lstsq(np.concatenate(rows), np.concatenate(targets), rcond=None)[0]
    stepped = mave_step(X, y[:, None], B, 0.7, 1e-10)
    assert sine(stepped.T, best.reshape(2, 4)) < 1e-5


def test_a_linear_function_gives_its_coefficients():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 5)) * np.geomspace(0.01, 100, 5)
    coefficients = rng.normal(size=5) / np.geomspace(0.01, 100, 5)
    opg = MAVE().fit(X, X @ coefficients)
    assert opg.n_components_ == 1
    scale = X.std(axis=0)
    assert sine(opg.components_ * scale, coefficients * scale) < 0.01
    assert opg.eigenvalues_[0] == pytest.approx(np.sum((coefficients * scale) ** 2), rel=0.02)


# -- what they find ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [MAVE, OuterProductGradients])
def test_finds_two_directions(method):
    sines = []
    for seed in range(5):
        X, y, truth = rational(seed)
        opg = method(2).fit(X, y)
        sines.append(sine(opg.components_, truth))
    assert np.mean(sines) < 0.22


def test_finds_an_even_direction_that_slices_cannot():
    for seed in range(3):
        X, y, truth = even(seed)
        assert sine(MAVE(1).fit(X, y).components_, truth) < 0.12
        with pytest.warns(UserWarning, match="coverage condition fails"):
            sir = SemiSlicedInverseRegression(1).fit(X, y)
        assert sine(sir.components_, truth) > 0.5


def test_number_of_directions_by_cross_validation():
    for seed in range(3):
        assert MAVE().fit(*rational(seed)[:2]).n_components_ == 2
        assert MAVE().fit(*even(seed)[:2]).n_components_ == 1


def test_units_shift_and_order_do_not_matter():
    X, y, _ = rational(4, n=120, d=5)
    one = MAVE(2).fit(X, y)
    units = np.geomspace(1e-3, 1e3, 5)
    order = np.random.default_rng(0).permutation(120)
    other = MAVE(2).fit((X * units + 5)[order], 3 * y[order] - 1)
    assert sine(other.components_ * units, one.components_ * 1.0) < 1e-5
    np.testing.assert_allclose(other.eigenvalues_, 9 * one.eigenvalues_, rtol=1e-5)


def test_unlabelled_rows_and_constant_columns_are_left_out():
    X, y, _ = rational(5, n=120, d=4)
    padded = np.column_stack([X, np.full(120, 3.0)])
    y[100:] = np.nan
    opg = MAVE(2).fit(padded, y)
    alone = MAVE(2).fit(X[:100], y[:100])
    np.testing.assert_allclose(opg.components_[:, :4], alone.components_, atol=1e-8)
    np.testing.assert_array_equal(opg.components_[:, 4], 0)


@pytest.mark.parametrize("method", [MAVE, OuterProductGradients])
def test_the_central_subspace_holds_scales_that_the_mean_does_not_show(method):
    found, missed = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 5))
        y = np.exp(X[:, 0]) * rng.normal(size=200)
        found.append(sine(method(1, target="central").fit(X, y).components_, np.eye(5)[:1]))
        missed.append(sine(method(1).fit(X, y).components_, np.eye(5)[:1]))
    assert np.median(found) < 0.35 < np.median(missed)


@pytest.mark.parametrize("parameters", [{"response": "rank"}, {"target": "central"}])
def test_ranks_and_slices_are_unchanged_by_monotone_maps_and_to_outliers(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] + 0.5 * rng.standard_cauchy(200)
    one, other = (MAVE(1, **parameters).fit(X, values) for values in (y, np.arctan(y)))
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-8)
    assert sine(one.components_, np.eye(5)[:1]) < 0.35
    assert sine(MAVE(1).fit(X, y).components_, np.eye(5)[:1]) > 0.35


def test_noise_has_no_direction():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="No direction was found"):
        mave = MAVE().fit(rng.normal(size=(100, 4)), rng.normal(size=100))
    assert mave.n_components_ == 0
    assert mave.components_.shape == (1, 4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 6}, r"n_components must be at most 5 \(n_features\): got 6"),
        ({"target": "median"}, "target must be one of 'mean', 'central': got 'median'"),
        ({"response": "log"}, "response must be one of 'value', 'rank': got 'log'"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1: got 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y, _ = rational(0, n=60, d=5)
    with pytest.raises(ValueError, match=message):
        MAVE(**parameters).fit(X, y)


@pytest.mark.quick
def test_a_fit_that_takes_minutes_says_so_before_it_begins():
    X = np.random.default_rng(0).normal(size=(400, 210))
    with pytest.raises(UserWarning, match="minutes or more for 400 labelled rows and 210 features"):
        MAVE().fit(X, X[:, 0])  # a warning is an error here, so nothing is fitted


def test_too_few_rows_are_refused():
    X, y, _ = rational(0, n=11)
    with pytest.raises(ValueError, match="more labelled rows than features"):
        MAVE().fit(X, y)
