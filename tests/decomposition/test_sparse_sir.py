"""Sparse sliced inverse regression: closed forms, what it finds, and the estimator contract."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LassoCV

from skbo_silbo import SemiSlicedInverseRegression, SparseSlicedInverseRegression


def make_data(seed=0, n=110, d=100, active=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = np.zeros(d)
    truth[rng.choice(d, active, replace=False)] = 1 / np.sqrt(active)
    return X, X @ truth + 0.5 * rng.normal(size=n), truth


def correlation(component, truth):
    """Correlation of the scores with the true ones, for white features."""
    return abs(component @ truth) / np.linalg.norm(component) / np.linalg.norm(truth)


# -- closed forms --------------------------------------------------------------------------------


def test_zero_penalty_eigenvalues_match_sir():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5)) @ rng.normal(size=(5, 5))
    y = X[:, 0] + 0.5 * (X[:, 1] + 1) ** 2 + rng.normal(size=4000)
    sparse = SparseSlicedInverseRegression(2, n_slices=6, penalty=1e-9).fit(X, y)
    plain = SemiSlicedInverseRegression(2, n_slices=6, ridge=0.0).fit(X, y)
    np.testing.assert_allclose(sparse.eigenvalues_, plain.eigenvalues_, atol=0.01)
    Q = np.linalg.qr(sparse.transform(X))[0]
    R = np.linalg.qr(plain.transform(X))[0]
    assert np.linalg.svd(Q.T @ R)[1].min() > 0.999


# -- what it finds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "correlated", "response"),
    [
        (60, 10, 0.5, lambda z, e: z + 0.5 * e),
        (150, 40, 0.5, lambda z, e: np.tanh(4 * z) + 0.2 * e),
        (300, 20, 0.0, lambda z, e: np.sin(2 * z) * np.exp(z) + 0.3 * e),
    ],
)
def test_one_direction_matches_rank_lasso(n, d, correlated, response):
    root = np.linalg.cholesky(correlated ** np.abs(np.subtract.outer(range(d), range(d))))
    ours, lasso = [], []
    for seed in range(2):
        X, _, truth = make_data(seed, n, d, active=3)
        y = response(X @ truth, np.random.default_rng(seed + 100).normal(size=n))
        sparse = SparseSlicedInverseRegression(1).fit(X @ root.T, y)
        peer = LassoCV(alphas=50).fit(X @ root.T, np.argsort(np.argsort(y)))
        ours.append(correlation(sparse.components_[0] @ root, truth))
        lasso.append(correlation(peer.coef_ @ root, truth))
    assert np.mean(ours) > np.mean(lasso) - 0.01
    assert np.mean(ours) > 0.95


def test_two_directions_and_their_number():
    numbers, recovered = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 30))
        y = (X[:, 0] + X[:, 1]) / (0.5 + (X[:, 2] + 1.5) ** 2) + 0.1 * rng.normal(size=500)
        numbers.append(SparseSlicedInverseRegression().fit(X, y).n_components_)
        two = SparseSlicedInverseRegression(2).fit(X, y)
        basis = np.linalg.qr(two.components_.T)[0]
        recovered.append(np.linalg.norm(basis[:3], axis=0).min())
        assert two.support_[:3].all()
    assert min(recovered) > 0.9
    assert numbers == [2, 2]


def test_noise_has_no_direction():
    numbers = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sparse = SparseSlicedInverseRegression().fit(X, y)
        numbers.append(sparse.n_components_)
        assert sparse.components_.shape == (1, 20)
        assert [str(w.message)[:22] for w in said] == ["No direction was found"] * (
            sparse.n_components_ == 0
        )
    assert np.mean(numbers) < 0.3


def test_a_penalty_that_keeps_nothing_is_told():
    X, y, truth = make_data(active=1)
    frame = pd.DataFrame(X).add_prefix("f")
    with pytest.warns(UserWarning, match=rf"1e\+03.* is column 'f{truth.argmax()}' of X"):
        sparse = SparseSlicedInverseRegression(1, penalty=1e3).fit(frame, y)
    assert sparse.support_.sum() == 1
    assert correlation(sparse.components_[0], truth) == pytest.approx(1.0)
