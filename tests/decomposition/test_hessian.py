"""Principal Hessian directions: statsmodels, closed forms, level of the tests."""

import numpy as np
import pytest
from conformance import conformance
from scipy import linalg, stats
from statsmodels.regression.dimred import PrincipalHessianDirections as Peer

from skbo_silbo import PrincipalHessianDirections
from skbo_silbo.decomposition.significance import _hessian_tests
from skbo_silbo.decomposition.significance._weighted_chi_square import moments_of_squares

WIDE = {"check_sample_weight_equivalence_on_dense_data": "15 rows of 30 features are refused"}


@pytest.mark.filterwarnings("ignore:No direction was found", "ignore:The condition of")
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


@pytest.mark.filterwarnings(
    "ignore:No direction was found", "ignore:Little was found", "ignore:The condition of"
)
@pytest.mark.parametrize("law", ["normal", "exponential", "t3"])
def test_the_wild_bootstrap_holds_its_level_off_the_normal(law):
    """Noise that grows with X as well, where normal theory rejects .22 to .57 for .05."""
    rejected, by_normal_theory = 0, 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(100, 4)) if law == "t3" else getattr(rng, law)(size=(100, 4))
        y = X[:, 0] + np.exp(0.5 * np.clip(X[:, 0], -3, 3)) * rng.normal(size=100)
        phd = PrincipalHessianDirections().fit(X, y)
        rejected += phd.bootstrap_tests_["p_value"][0] <= 0.05
        by_normal_theory += phd.dimension_tests_["p_value_normal"][0] <= 0.05
    assert stats.binomtest(rejected, 150, 0.05).pvalue > 1e-3
    assert by_normal_theory > rejected


@pytest.mark.filterwarnings("ignore:The condition of")
def test_the_level_given_a_direction():
    """At 100 x 5 it was 0.082 of 1000 sets; the bound is passed by none of 10^5 at 0.05."""
    rejected = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 5))
        e = X[:, 0] ** 2 + 0.3 * rng.normal(size=100)
        rejected += PrincipalHessianDirections().fit(X, e).n_components_ > 1
    assert rejected <= 400 * 0.1


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


def test_both_forms_of_the_general_variance_agree():
    """Of pairs of columns, and of pairs of rows."""
    rng = np.random.default_rng(0)
    U, e, weights = rng.normal(size=(40, 6)), rng.normal(size=40), rng.uniform(1, 2, size=40)
    wide = moments_of_squares(U, e, weights)
    long = moments_of_squares(np.tile(U, (2, 1)), np.tile(e, 2), np.tile(weights, 2))
    np.testing.assert_allclose(wide, moments_by_definition(U, e, weights), rtol=1e-10)
    np.testing.assert_allclose(long, wide, rtol=1e-10)


def moments_by_definition(U, e, weights):
    rows = np.array([(a * (np.outer(u, u) - np.eye(6))).ravel() for u, a in zip(U, e, strict=True)])
    V = np.cov(rows.T, aweights=weights, bias=True)
    return np.trace(V), np.sum(V**2)


@pytest.mark.filterwarnings("ignore:No direction was found")
def test_noise_has_no_direction():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found.append(
            PrincipalHessianDirections().fit(rng.normal(size=(80, 4)), rng.normal(size=80))
        )
    assert sum(phd.n_components_ == 0 for phd in found) >= 15
    assert all(phd.components_.shape == (max(phd.n_components_, 1), 4) for phd in found)


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


def test_chi_square_tests_are_left_out_where_they_would_take_minutes(monkeypatch):
    """The number is chosen by the wild bootstrap, so nothing else changes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = X[:, 0] ** 2 + 0.3 * rng.normal(size=200)
    before = PrincipalHessianDirections().fit(X, y)
    monkeypatch.setattr(_hessian_tests, "MOST_PRODUCTS", 200 * 200 * 8 - 1)
    after = PrincipalHessianDirections().fit(X, y)
    assert hasattr(before, "dimension_tests_")
    assert not hasattr(after, "dimension_tests_")
    np.testing.assert_array_equal(after.components_, before.components_)
    assert "R^2" in after.summary(X, y)
    few = X[:, :5]  # cheap by pairs of columns, whatever the number of rows
    assert hasattr(PrincipalHessianDirections().fit(few, y), "dimension_tests_")
