"""Principal Hessian directions: statsmodels, closed forms, level of the tests."""

import numpy as np
import pytest
from conformance import conformance
from scipy import linalg, stats
from statsmodels.regression.dimred import PrincipalHessianDirections as Peer

from skbo_silbo import PrincipalHessianDirections

WIDE = {"check_sample_weight_equivalence_on_dense_data": "15 rows of 30 features are refused"}


@pytest.mark.filterwarnings("ignore:No direction was found")
@conformance(
    [PrincipalHessianDirections(), PrincipalHessianDirections(1, on="response")],
    but=lambda estimator: WIDE,
)
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


def make_data(seed=0, n=300, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + 2
    Z = X - X.mean(axis=0)
    return X, Z[:, 0] + Z[:, 1] ** 2 - 0.5 * Z[:, 2] ** 2 + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize(("on", "resid"), [("residuals", True), ("response", False)])
def test_statsmodels_finds_the_same_directions(on, resid):
    X, y = make_data()
    phd = PrincipalHessianDirections(2, on=on).fit(X, y)
    peer = Peer(y, X - X.mean(axis=0)).fit(resid=resid)
    order = np.argsort(-np.abs(peer.eigs))
    sines = np.sin(linalg.subspace_angles(phd.components_.T, peer.params[:, order[:2]]))
    assert sines.max() < 1e-6


def test_eigenvalues_are_those_of_the_definition():
    X, y = make_data(1)
    phd = PrincipalHessianDirections(2).fit(X, y)
    Z = X - X.mean(axis=0)
    design = np.column_stack([np.ones(len(y)), X])
    e = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    expected = linalg.eigvals((Z.T * e) @ Z / len(y), Z.T @ Z / len(y)).real
    expected = expected[np.argsort(-np.abs(expected))]
    np.testing.assert_allclose(phd.eigenvalues_, expected, rtol=1e-8)
    scores = phd.transform(X)
    np.testing.assert_allclose(scores.T @ scores / len(X), np.eye(2), atol=1e-10)


def test_the_mean_hessian_of_a_quadratic():
    """For normal X of unit variance the eigenvalues are the second derivatives (Stein's lemma)."""
    X = np.random.default_rng(0).normal(size=(40_000, 3))
    y = 3 * X[:, 0] ** 2 - X[:, 1] ** 2 + 5 * X[:, 2]
    phd = PrincipalHessianDirections().fit(X, y)
    np.testing.assert_allclose(phd.eigenvalues_, [6, -2, 0], atol=0.25)
    assert phd.n_components_ == 2
    np.testing.assert_allclose(np.abs(phd.components_), np.eye(3)[:2], atol=0.05)


def test_tests_hold_their_level_without_curvature():
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, noise = rng.normal(size=(300, 4)), rng.normal(size=300)
        tests = PrincipalHessianDirections().fit(X, X[:, 0] + noise).dimension_tests_
        rejected += tests["p_value"][0] < 0.05
    assert stats.binomtest(rejected, 200, 0.05).pvalue > 1e-3


def test_number_of_directions_without_tests():
    X, y = make_data(2, n=1000)
    phd = PrincipalHessianDirections(on="response").fit(X, y)
    assert not hasattr(phd, "dimension_tests_")
    assert 1 <= phd.n_components_ <= 2


def test_affine_maps_do_not_change_the_scores():
    X, y = make_data(3)
    A = np.random.default_rng(0).normal(size=(5, 5))
    one = PrincipalHessianDirections(2).fit_transform(X, y)
    other = PrincipalHessianDirections(2).fit_transform(X @ A + 1, y)
    np.testing.assert_allclose(np.abs(other), np.abs(one), atol=1e-7)


@pytest.mark.parametrize(
    ("parameters", "n", "message"),
    [
        ({"on": "y"}, 50, "on must be one of 'residuals', 'response': got 'y'"),
        ({"n_components": 6}, 50, r"n_components must be at most 5 \(n_features\): got 6"),
        ({}, 6, "more labelled rows than features"),
    ],
)
def test_bad_arguments_are_refused(parameters, n, message):
    X, y = make_data(n=n)
    with pytest.raises(ValueError, match=message):
        PrincipalHessianDirections(**parameters).fit(X, y)
