"""ActiveSubspace: what it finds, how it moves with the data, and the estimator contract."""

import numpy as np
import pytest
from drawn import sine

from skbo_silbo.decomposition import ActiveSubspace, _active_subspace


def even_problem(seed=0, n=60, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] ** 2 + 0.1 * rng.normal(size=n)


def ridge_problem(seed, n=100, d=10):
    rng = np.random.default_rng(seed)
    X, direction = rng.normal(size=(n, d)), rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    return X, (X @ direction) ** 2 + 0.1 * rng.normal(size=n), direction


# What it finds. A component estimated with noise of relative size s in each of d coordinates from n
# labels is off by about s sqrt(d / n): .04 for the even problem, .03 for the ridge.


def test_finds_an_even_direction():
    X, y = even_problem()
    subspace = ActiveSubspace().fit(X, y)
    assert subspace.n_components_ == 1
    assert sine(subspace.components_, np.eye(10)[0]) < 0.08


@pytest.mark.parametrize("seed", [3, 4])  # the start of a search loses an input of them
def test_finds_two_of_fifty_from_sixty_labels(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(60, 50))
    y = 3 * X[:, 3] ** 2 + np.sin(3 * X[:, 17]) + 0.1 * rng.normal(size=60)
    subspace = ActiveSubspace().fit(X, y)
    assert subspace.n_components_ == 2
    assert sine(subspace.components_, np.eye(50)[[3, 17]]) < 0.05
    assert set(np.argsort(subspace.length_scale_)[:2]) == {3, 17}


def test_refinement_sharpens_a_dense_direction(monkeypatch):
    X, y, direction = ridge_problem(0)
    refined = ActiveSubspace(1).fit(X, y)
    monkeypatch.setattr(_active_subspace, "MAX_REFITS", 0)
    once = ActiveSubspace(1).fit(X, y)
    assert sine(refined.components_, direction) < 0.06
    assert sine(refined.components_, direction) < sine(once.components_, direction) < 0.15


def test_eigenvalues_are_mean_squared_slopes():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(150, 3)) * [1.0, 10.0, 0.1]
    y = 3 * X[:, 0] ** 2 + 0.2 * X[:, 1]
    subspace = ActiveSubspace(2).fit(X, y)
    scale = X.std(axis=0)
    slopes = np.column_stack([6 * X[:, 0] * scale[0], np.full(150, 0.2 * scale[1])])
    expected = np.linalg.eigvalsh(slopes.T @ slopes / 150)[::-1]
    np.testing.assert_allclose(subspace.eigenvalues_[:2], expected, rtol=0.02)
    assert subspace.eigenvalues_[2] < 1e-3 * expected[0]
    assert np.all(np.diff(subspace.eigenvalues_) <= 0)


def test_average_goes_over_unlabelled_rows_too():
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, size=(80, 2))
    y = X[:, 0] ** 2 + 1.5 * X[:, 1]
    flat = np.column_stack([rng.uniform(-0.1, 0.1, 2000), rng.uniform(-2, 2, 2000)])
    steep = flat + np.array([1.8, 0.0])
    where_flat = ActiveSubspace(1).fit(X, y, X_unlabeled=flat)
    where_steep = ActiveSubspace(1).fit(X, y, X_unlabeled=steep)
    assert sine(where_flat.components_, [[0.0, 1.0]]) < 0.1
    assert np.abs(where_steep.components_[0, 0]) > 0.8  # gradient (3.6, 1.5)


# How it moves with the data


# Components


def test_components_are_orthonormal_signed_and_nested():
    X, y = even_problem(6, n=50, d=8)
    X = X * np.geomspace(1e-4, 1e4, 8)
    five = ActiveSubspace(5).fit(X, y).components_
    np.testing.assert_allclose(five @ five.T, np.eye(5), atol=1e-12)
    assert (five[np.arange(5), np.abs(five).argmax(axis=1)] > 0).all()
    two = ActiveSubspace(2).fit(X, y).components_
    np.testing.assert_allclose(two, five[:2], atol=1e-12)


def test_more_features_than_rows():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(30, 200))
    subspace = ActiveSubspace(3).fit(X, X[:, 7] + 0.01 * rng.normal(size=30))
    assert subspace.components_.shape == (3, 200)
    assert subspace.eigenvalues_.shape == (30,)
    assert sine(subspace.components_[:1], np.eye(200)[7]) < 0.1


# The number of components


# The estimator contract


def test_more_components_than_the_rows_identify_are_refused():
    rng = np.random.default_rng(13)
    with pytest.raises(ValueError, match=r"n_components.*got 4"):
        ActiveSubspace(4).fit(rng.normal(size=(3, 9)), rng.normal(size=3))


def exact(seed=0, n=200):
    """Rows of uneven scales, a response of two of them, and its slopes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * np.array([1.0, 3.0, 0.2, 1.0, 1.0]) + 1
    y = np.exp(0.7 * X[:, 0] + 0.1 * X[:, 1])
    return X, y, y[:, None] * np.array([0.7, 0.1, 0, 0, 0])


def test_given_gradients_are_averaged_and_nothing_is_fitted():
    """Constantine, Dow and Wang (2014), eq. 1.2, for columns of unit deviation."""
    X, y, G = exact()
    G = G + 0.1 * np.random.default_rng(1).normal(size=G.shape)
    subspace = ActiveSubspace(2).fit(X, y, gradients=G)
    scale = X.std(axis=0)
    squares, W = np.linalg.eigh((G * scale).T @ (G * scale) / len(X))
    np.testing.assert_allclose(subspace.eigenvalues_, squares[::-1], rtol=1e-10)
    expected = W[:, :-3:-1].T / scale
    both = np.vstack([expected / np.linalg.norm(expected, axis=1)[:, None], subspace.components_])
    assert np.linalg.matrix_rank(both, tol=1e-8) == 2
    assert not hasattr(subspace, "length_scale_")


def test_given_gradients_recover_ridge_direction():
    X, y, G = exact(n=3)
    subspace = ActiveSubspace().fit(X, y, gradients=G)
    assert subspace.n_components_ == 1
    np.testing.assert_allclose(subspace.components_[0], np.array([7, 1, 0, 0, 0]) / 50**0.5)


def test_weights_and_missing_labels_of_given_gradients():
    X, y, G = exact()
    G = G + np.random.default_rng(1).normal(size=G.shape)
    counts = np.arange(200) % 3
    rows = np.repeat(np.arange(200), counts)
    one = ActiveSubspace(2).fit(X, y, sample_weight=counts, gradients=G)
    other = ActiveSubspace(2).fit(X[rows], y[rows], gradients=G[rows])
    np.testing.assert_allclose(one.components_, other.components_)
    y[::4] = np.nan
    part = np.isfinite(y)
    one = ActiveSubspace(2).fit(X, y, gradients=G)
    other = ActiveSubspace(2).fit(X[part], y[part], gradients=G[part])
    np.testing.assert_allclose(one.components_, other.components_)


@pytest.mark.parametrize(
    ("parameters", "gradients", "words"),
    [
        ({}, np.zeros((40, 5)), r"gradients.*0"),
        ({}, np.ones((40, 4)), r"gradients.*\(40, 5\)"),
        ({}, np.full((40, 5), np.nan), "gradients contains NaN"),
        ({"n_components": 2}, np.ones((40, 5)), r"n_components.*at most 1"),
    ],
)
def test_gradients_that_cannot_be_are_refused(parameters, gradients, words):
    X, y, _ = exact(n=40)
    with pytest.raises(ValueError, match=words):
        ActiveSubspace(**parameters).fit(X, y, gradients=gradients)


def test_gradients_of_ignored_rows_have_no_effect():
    X, y, G = exact(n=40)
    y[20:], G[:20] = np.nan, 0
    with pytest.raises(ValueError, match=r"gradients.*0"):
        ActiveSubspace().fit(X, y, gradients=G)
    X[:, 0], G[:] = 1.0, np.eye(5)[0]
    with pytest.raises(ValueError, match=r"gradients.*0"):
        ActiveSubspace().fit(X, y, gradients=G)


def test_multiple_responses_are_weighted_equally():
    X = np.random.default_rng(0).normal(size=(80, 5))
    Y = np.column_stack([np.sin(X[:, 1]), 1e6 * X[:, 3] ** 2])
    both = ActiveSubspace().fit(X, Y)
    assert both.n_components_ == 2
    assert set(np.abs(both.components_).argmax(axis=1).tolist()) == {1, 3}
    single = [ActiveSubspace(1).fit(X, y) for y in Y.T]
    np.testing.assert_allclose(both.length_scale_, [one.length_scale_ for one in single], 0.01)
    np.testing.assert_allclose(both.noise_, [one.noise_ for one in single], 0.01)
    shares = [one.eigenvalues_.sum() / y.var() for one, y in zip(single, Y.T, strict=True)]
    np.testing.assert_allclose(both.eigenvalues_.sum(), np.mean(shares), rtol=0.01)
    with pytest.raises(ValueError, match=r"\by\b.*constant.*1"):
        ActiveSubspace().fit(X, np.column_stack([Y[:, 0], np.ones(80)]))


def test_slopes_of_several_responses_have_an_axis_more():
    X, y, G = exact()
    other = np.zeros_like(G)
    other[:, 4] = 5.0
    Y = np.column_stack([y, 5 * X[:, 4]])
    subspace = ActiveSubspace(2).fit(X, Y, gradients=np.stack([G, other], axis=1))
    np.testing.assert_allclose(np.linalg.norm(subspace.components_[:, 4]), 1.0)
    with pytest.raises(ValueError, match=r"gradients.*\(200, 2, 5\)"):
        ActiveSubspace(2).fit(X, Y, gradients=G)


@pytest.mark.parametrize(
    ("eigenvalues", "expected"),
    [
        ([1.0, 0.9, 0.8], 3),  # no fall before the end
        ([1.0, 0.5, 1e-5, 1e-9], 2),  # the fall from 1e-5 to 1e-9 is below the floor
        ([1.0, 1e-12, 0.0], 1),
        ([5.0], 1),
        ([1.0, 0.03, 0.02, 1e-6], 1),  # 31 times, then 1.5, then 21
    ],
)
@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_auto_takes_the_steepest_fall(eigenvalues, expected, unit):
    rng, d = np.random.default_rng(0), len(eigenvalues)
    X = rng.normal(size=(40, d))
    slopes = np.linalg.qr(rng.normal(size=(40, d)))[0] * np.sqrt(40 * unit * np.array(eigenvalues))
    fitted = ActiveSubspace().fit(X, X[:, 0], gradients=slopes / X.std(axis=0))
    np.testing.assert_allclose(fitted.eigenvalues_, unit * np.array(eigenvalues), atol=1e-12 * unit)
    assert fitted.n_components_ == expected
