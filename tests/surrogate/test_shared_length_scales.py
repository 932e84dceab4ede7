"""Length scales that inputs of a Gaussian process share, as the columns of a category do."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skbo_silbo.surrogate import GaussianProcessSurrogate

pytestmark = pytest.mark.quick

CATEGORY = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


SHARED = [*range(12), 12, 12, 12]


def fitted_to_two_levels(**options):
    """Return a process of 12 numbers and a category of three levels, the last of them untried."""
    rng = np.random.default_rng(0)
    level = np.arange(30) % 2
    Z = np.column_stack([rng.uniform(-1.0, 1.0, (30, 12)), CATEGORY[level]])
    return GaussianProcessSurrogate(prior="sparse", **options).fit(Z, 0.3 * Z[:, 0] + level)


def test_untried_level_keeps_variance_of_shared_length_scale():
    at = np.column_stack([np.zeros((3, 12)), CATEGORY])
    _, own = fitted_to_two_levels().predict(at)
    _, shared = fitted_to_two_levels(shared=SHARED).predict(at)
    assert shared[2] > 10.0 * shared[:2].max()
    assert shared[2] > 1.5 * own[2]


def test_shared_length_scales_equal_a_process_that_has_them():
    process = fitted_to_two_levels(shared=SHARED)
    assert process.theta_.shape == (15,)
    assert len(set(process.relevance_[12:])) == 1
    data = process.observations_
    everywhere = np.concatenate([process.theta_[:14], process.theta_[[13, 13, 14]]])
    own = replace(data, shared=None).condition(everywhere)
    assert_allclose(own.dual, process.posterior_.dual)


def test_gradient_by_shared_length_scales_agrees_with_differences():
    process = fitted_to_two_levels(shared=SHARED)
    theta = np.append(np.zeros(14), -2.0)
    data = process.observations_
    _, gradient = data.log_likelihood(theta)
    for k, step in enumerate(1e-4 * np.eye(15)):
        ends = [data.log_likelihood(theta + s) for s in (step, -step)]
        assert_allclose((ends[0][0] - ends[1][0]) / 2e-4, gradient[k], rtol=1e-5, atol=1e-6)
