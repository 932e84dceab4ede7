"""RecursiveFeatureMachine: its gradients, what it finds, and unlabelled rows in the average."""

import numpy as np
import pytest
from drawn import sine
from scipy.spatial.distance import cdist, pdist

from skbo_silbo import RecursiveFeatureMachine
from skbo_silbo._numerics.laplace_ridge import LaplaceRidge


def rotated(seed, n=150, d=8):
    """An even response along a direction that no column has."""
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(n, d)), np.r_[1.0, -1.0, np.zeros(d - 2)]
    return X, (X @ direction) ** 2 + 0.1 * rng.normal(size=n), direction


# -- the regression and its gradients ------------------------------------------------------------


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(30, 3)), rng.uniform(0.5, 2, size=30)
    T = np.column_stack([Z[:, 0] ** 2, Z[:, 1] - Z[:, 2]]) + rng.normal(size=(30, 2))
    T -= np.average(T, axis=0, weights=weights)
    return Z, T, weights, LaplaceRidge(Z, T, weights)


@pytest.mark.parametrize("diagonal", [True, False])
def test_outer_products_match_finite_differences(machine, diagonal):
    at, step = np.random.default_rng(1).normal(size=(5, 3)), 1e-6
    fit = machine[3]
    steps = step * np.eye(3)
    slopes = np.stack([(fit.predict(at + e) - fit.predict(at - e)) / (2 * step) for e in steps])
    weights = np.arange(1.0, 6.0)
    expected = np.einsum("kmt,lmt,m->kl", slopes, slopes, weights) / weights.sum()
    expected = np.diag(expected) if diagonal else expected
    found = fit.outer_product(at, weights, diagonal=diagonal)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_fit_satisfies_the_normal_equations(machine):
    """The weighted squared errors and the penalty balance, and errors have weighted mean 0."""
    Z, T, weights, fit = machine
    errors = T - fit.predict(Z)
    np.testing.assert_allclose(weights @ errors, 0, atol=1e-10)
    pull = weights[:, None] * errors
    ridge = np.sum(pull * fit.coefficients) / np.sum(fit.coefficients**2)
    np.testing.assert_allclose(pull, ridge * fit.coefficients, atol=1e-9 * np.abs(T).max())


def test_variances_are_those_of_a_gaussian_process(machine):
    Z, _, weights, fit = machine
    at, shares = np.random.default_rng(1).normal(size=(5, 3)), weights / weights.sum()
    K = np.exp(-cdist(np.vstack([Z, at]), np.vstack([Z, at])) / fit.bandwidth)
    means = K[:, :30] @ shares
    K += shares @ means[:30] - means - means[:, None]  # about the weighted mean of the rows
    rows = K[:30, :30] + np.diag((fit.noise / fit.signal)[0] / weights)
    left = K[30:, 30:] - K[30:, :30] @ np.linalg.solve(rows, K[:30, 30:])
    expected = fit.noise + np.outer(np.diag(left), fit.signal)
    np.testing.assert_allclose(fit.variance(at), expected, rtol=1e-6)


# -- what it finds -------------------------------------------------------------------------------


def test_diagonal_metric_ranks_the_relevant_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20)) * np.geomspace(1e-3, 1e3, 20)
    u = X / X.std(axis=0)
    machine = RecursiveFeatureMachine(2, metric="diagonal").fit(X, u[:, 3] ** 2 + 2 * u[:, 11])
    assert machine.importance_.argsort()[-2:].tolist() == [3, 11]
    assert machine.importance_.sum() == pytest.approx(1)
    assert np.abs(machine.components_).argmax(axis=1).tolist() == [11, 3]
    assert (np.count_nonzero(machine.components_, axis=1) == 1).all()


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda a, b: a + b, [[1, 1]]),
        pytest.param(lambda a, b: np.sin(a + b), [[1, 1]], marks=pytest.mark.slow),
        (lambda a, b: (a - b) ** 2, [[1, -1]]),
        pytest.param(lambda a, b: a * (a + b + 1), np.eye(2), marks=pytest.mark.slow),
        (lambda a, b: a / (0.5 + (b + 1.5) ** 2), np.eye(2)),
    ],
)
def test_default_finds_directions_and_their_number(draw, truth):
    sines, numbers = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 8))
        y = draw(X[:, 0], X[:, 1])
        y += 0.2 * y.std() * rng.normal(size=150)
        given = RecursiveFeatureMachine(len(truth)).fit(X, y)
        sines.append(sine(given.components_, np.pad(truth, ((0, 0), (0, 6)))))
        numbers.append(RecursiveFeatureMachine().fit(X, y).n_components_)
    assert np.mean(sines) < 0.3
    assert np.median(numbers) == len(truth)


def test_weak_direction_is_counted():
    rng = np.random.default_rng([1, 200, 10])
    X = rng.normal(size=(200, 10))
    y = X[:, 0] * (X[:, 0] + X[:, 1] + 1) + 0.5 * rng.normal(size=200)
    machine = RecursiveFeatureMachine().fit(X, y)
    assert machine.n_components_ == 2
    assert machine.eigenvalues_[0] > 0.95 * machine.eigenvalues_.sum()


def test_classes_do_not_depend_on_their_coding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    by_number = RecursiveFeatureMachine(categorical=True).fit(X, y)
    by_name = RecursiveFeatureMachine().fit(X, np.array(["z", "a", "m"])[y])
    np.testing.assert_allclose(by_name.components_, by_number.components_, rtol=1e-8)
    assert by_name.importance_.argmax() == 2


def test_eigenvalues_are_in_squared_units_of_y():
    X, y, _ = rotated(0)
    one, other = (RecursiveFeatureMachine(metric="full").fit(X, u * y) for u in (1.0, 100.0))
    np.testing.assert_allclose(other.eigenvalues_, 1e4 * one.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(other.components_, one.components_, rtol=1e-6, atol=1e-9)


def test_mean_distance_between_scores_is_one():
    X, y, _ = rotated(0)
    Z = RecursiveFeatureMachine().fit_transform(X, y)
    assert pdist(Z).mean() * (1 - 1 / len(Z)) == pytest.approx(1)


# -- rows ----------------------------------------------------------------------------------------


def test_unlabelled_rows_move_the_average():
    """A feature gains importance if the fit is steep in it at the unlabelled rows."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 2))
    y = np.where(X[:, 0] > 0, X[:, 0] ** 2, X[:, 1] ** 2)
    extra = rng.uniform(-1, 1, size=(300, 2))
    shares = [
        RecursiveFeatureMachine(n_iter=1).fit(X, y, X_unlabeled=extra[kept]).importance_[0]
        for kept in (extra[:, 0] > 0, extra[:, 0] < 0)
    ]
    assert shares[0] > shares[1] + 0.1


def test_large_data_are_subsampled_in_order_of_y(monkeypatch):
    X, y, _ = rotated(0)
    exact = RecursiveFeatureMachine().fit(X, y)
    for name, most in (("MOST_ROWS", 100), ("MOST_CENTRES", 60), ("MOST_GRADIENTS", 130)):
        monkeypatch.setattr(f"skbo_silbo.decomposition._recursive_feature_machine.{name}", most)
    machine = RecursiveFeatureMachine().fit(X, y)
    assert np.corrcoef(machine.importance_, exact.importance_)[0, 1] > 0.9
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = RecursiveFeatureMachine().fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.components_, machine.components_, atol=1e-8)
