import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, lsq_linear, minimize

from skbo_silbo._numerics.preimages import nearest_preimages

pytestmark = pytest.mark.quick


def make_case(seed, d, r):
    rng = np.random.default_rng(seed)
    B, _ = np.linalg.qr(rng.normal(size=(d, r)))
    return rng, B, rng.uniform(-1, 1, d)


shapes = st.tuples(st.integers(1, 30), st.integers(1, 6)).map(lambda s: (s[0], min(s)))
seeds = st.integers(0, 2**20)


@settings(max_examples=25)
@given(seed=seeds, shape=shapes, spread=st.sampled_from([0.3, 1.0, 3.0, 100.0]))
def test_preimage_is_nearest_point_in_box(seed, shape, spread):
    rng, B, centre = make_case(seed, *shape)
    Z = rng.normal(size=(4, shape[1])) * spread
    X = nearest_preimages(Z, B, centre)
    assert np.abs(X).max() <= 1.0
    for x, z in zip(X, Z, strict=True):
        reference = lsq_linear(B.T, z, bounds=(-1, 1), tol=1e-14).x
        distance, least = np.linalg.norm(x @ B - z), np.linalg.norm(reference @ B - z)
        assert distance <= least + 1e-6 * (1 + np.linalg.norm(z))


@pytest.mark.parametrize(("d", "r", "seed"), [(3, 1, 0), (6, 2, 1), (12, 3, 2), (25, 4, 3)])
def test_nearest_the_centre_among_the_preimages(d, r, seed):
    # an independent solver for: minimise |x - centre| with B'x = z in the box
    rng, B, centre = make_case(seed, d, r)
    start = rng.uniform(-1, 1, d)
    z = start @ B
    reference = minimize(
        lambda x: (x - centre) @ (x - centre),
        start,
        jac=lambda x: 2 * (x - centre),
        bounds=[(-1, 1)] * d,
        constraints=LinearConstraint(B.T, z, z),
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert reference.success
    [x] = nearest_preimages(z[None], B, centre)
    assert_allclose(x, reference.x, atol=1e-5)


def test_one_centre_for_each_target():
    rng, B, _ = make_case(6, 20, 2)
    centres = rng.uniform(-1, 1, (3, 20))
    Z = rng.uniform(-1, 1, (3, 20)) @ B
    together = nearest_preimages(Z, B, centres)
    alone = [nearest_preimages(z[None], B, c)[0] for z, c in zip(Z, centres, strict=True)]
    assert_allclose(together, alone, atol=1e-8)


def test_zero_basis_rows_stay_at_centre():
    B = np.zeros((5, 1))
    B[2] = 1.0
    centre = np.array([0.1, -0.2, 0.3, -0.4, 0.5])
    X = nearest_preimages(np.array([[0.7], [4.0]]), B, centre)
    expected = np.tile(centre, (2, 1))
    expected[:, 2] = [0.7, 1.0]
    assert_allclose(X, expected, atol=1e-8)


def test_a_thousand_inputs():
    rng, B, centre = make_case(7, 1000, 8)
    Z = np.sign(rng.normal(size=(3, 8)) @ B.T) @ B * 0.95  # near the rim of the image
    X = nearest_preimages(Z, B, centre)
    assert np.abs(X).max() <= 1.0
    assert_allclose(X @ B, Z, atol=1e-6)
