"""Principal Hessian directions: statsmodels, closed forms, level of the tests."""

import numpy as np
import pytest
from drawn import sine
from levels import assert_level, sets
from statsmodels.regression.dimred import PrincipalHessianDirections as Peer

from skbo_silbo import PrincipalHessianDirections
from skbo_silbo.decomposition.significance._sequential_tests import moments_of_squares


def make_data(seed=0, n=300, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 2
    Z = X - X.mean(axis=0)
    return X, Z[:, 0] + Z[:, 1] ** 2 - 0.5 * Z[:, 2] ** 2 + 0.2 * rng.normal(size=n)


def test_statsmodels_finds_the_same_directions():
    X, y = make_data()
    phd = PrincipalHessianDirections(2).fit(X, y)
    peer = Peer(y, X - X.mean(axis=0)).fit(resid=True)
    order = np.argsort(-np.abs(peer.eigs))
    assert sine(phd.components_, peer.params[:, order[:2]].T) < 1e-6


def test_the_mean_hessian_of_a_quadratic():
    """For normal X of unit variance the eigenvalues are the second derivatives (Stein's lemma)."""
    X = np.random.default_rng(0).normal(size=(40_000, 3))
    y = 3 * X[:, 0] ** 2 - X[:, 1] ** 2 + 5 * X[:, 2]
    phd = PrincipalHessianDirections().fit(X, y)
    np.testing.assert_allclose(phd.eigenvalues_, [6, -2, 0], atol=0.25)
    assert phd.n_components_ == 2
    np.testing.assert_allclose(np.abs(phd.components_), np.eye(3)[:2], atol=0.05)


@pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The condition of"
)
@pytest.mark.parametrize(
    "law", ["normal", pytest.param("exponential", marks=pytest.mark.statistical), "t3"]
)
@sets(20, 150)
def test_wild_bootstrap_holds_level(law, n_sets):
    """Noise that grows with X as well, where normal theory rejects .22 to .57 for .05."""
    rejected, by_normal_theory = 0, 0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(100, 4)) if law == "t3" else getattr(rng, law)(size=(100, 4))
        y = X[:, 0] + np.exp(0.5 * np.clip(X[:, 0], -3, 3)) * rng.normal(size=100)
        phd = PrincipalHessianDirections().fit(X, y)
        rejected += phd.bootstrap_tests_["p_value"][0] <= 0.05
        by_normal_theory += phd.dimension_tests_["p_value_normal"][0] <= 0.05
    assert_level(rejected, n_sets)
    assert by_normal_theory >= rejected


@pytest.mark.statistical
@sets(30, 400)
@pytest.mark.filterwarnings("ignore:The condition of")
def test_the_level_given_a_direction(n_sets):
    """At 100 x 5 it was 0.082 of 1000 sets."""
    rejected = 0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 5))
        e = X[:, 0] ** 2 + 0.3 * rng.normal(size=100)
        rejected += PrincipalHessianDirections().fit(X, e).n_components_ > 1
    assert_level(rejected, n_sets)


@pytest.mark.statistical
@pytest.mark.filterwarnings("ignore:The condition of")
def test_what_a_bend_granted_explains_is_no_noise():
    """Beside a strong bend a weak one is found: the errors that are flipped are without it."""
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 5))
        y = 5 * X[:, 0] ** 2 + X[:, 1] ** 2 + 0.3 * rng.normal(size=150)
        found += PrincipalHessianDirections().fit(X, y).n_components_ > 1
    assert found >= 9


def test_general_variance_agrees_by_rows_and_columns():
    """Ten columns have 55 pairs: more than 40 rows, fewer than 80."""
    X, y = make_data(n=40, d=10)
    by_rows = moments_of_squares(X, y, np.ones(40))
    many = (np.repeat(rows, 30, axis=0) for rows in (X, y))
    by_columns = moments_of_squares(*many, np.ones(1200))
    np.testing.assert_allclose(by_rows, by_columns, 1e-8)
