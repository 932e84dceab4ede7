import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import loguniform, randint, uniform

from skbo_silbo import SILBO, Space
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._climb import categorical_columns, polish
from skbo_silbo.acquisition._functions import log_expected_improvement
from skbo_silbo.acquisition._near_or_far import NearOrFar, draw_near
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.space import Box
from skbo_silbo.surrogate._process import GaussianProcessSurrogate

SPACE = Space(
    {
        "C": loguniform(1e-3, 1e3),
        "kernel": ["rbf", "poly", "sigmoid"],
        "whiten": [False, True],
        "size": [10, 20],
        "degree": randint(1, 3),
        "u": uniform(0, 1),
    }
)
CATEGORICAL = np.array([False, True, True, True, True, False, False, False])


def make_surface(n=25, seed=0):
    rng = np.random.default_rng(seed)
    X = SPACE.round(rng.uniform(-1, 1, (n, SPACE.n_features_)))
    y = (X[:, 0] - 0.1) ** 2 + (X[:, 7] - 0.9) ** 2 + 0.1 * X[:, 1] + 0.1 * X[:, 4]
    surrogate = GaussianProcessSurrogate().fit(X, y)
    embedding = LinearEmbedding(X.shape[1])
    surface = AcquisitionSurface(log_expected_improvement, surrogate, embedding, y.min())
    return X[np.argsort(y)], surface


def test_columns_of_categories():
    assert_array_equal(categorical_columns(SPACE), CATEGORICAL)
    assert not categorical_columns(Box([(0, 1)] * 4)).any()
    assert not categorical_columns(Space({"n": randint(0, 2), "x": [1e-3, 1e9]})).any()


def test_climbing_leaves_categories_and_stays_between_the_bounds():
    X, surface = make_surface()
    low, high = np.full(8, -0.5), np.full(8, 0.5)
    starts = np.where(CATEGORICAL, X, 0.5 * X)
    ends = polish(surface, starts, surface.values(starts), (low, high), held=CATEGORICAL)
    kinds = {tuple(row) for row in X[:, CATEGORICAL]}
    assert all(tuple(row) in kinds for row in ends[:, CATEGORICAL])
    assert np.abs(ends[:, ~CATEGORICAL]).max() <= 0.5
    assert surface.values(ends).max() > surface.values(starts).max()


def test_points_near_differ_in_few_to_all_coordinates_and_some_categories():
    x = SPACE.round(np.full((1, 8), 0.3))[0]
    X = draw_near(x, 0.4, CATEGORICAL, np.random.default_rng(0), np.ones(8))
    assert np.abs(X).max() <= 1
    assert np.abs(X - x)[:, ~CATEGORICAL].max() <= 0.4
    moved = (np.abs(X - x) > 0)[:, ~CATEGORICAL].sum(axis=1)
    assert set(moved) == {0, 1, 2, 3, 4}
    rounded = SPACE.round(X)
    for columns in (slice(1, 4), slice(4, 5)):
        share = (rounded[:, columns] != x[columns]).any(axis=1).mean()
        assert 0.1 < share < 0.25


def test_points_near_a_corner_fill_its_side_of_the_box():
    X = draw_near(np.ones(2), 0.4, np.zeros(2, dtype=bool), np.random.default_rng(0), np.ones(2))
    assert X.max() == 1
    assert 0.6 <= X.min() < 0.61


@pytest.mark.parametrize(("share", "near"), [(0.0, 0), (0.5, 20), (1.0, 40)])
def test_so_many_searches_stay_near_the_incumbent(share, near):
    ranked, surface = make_surface()
    continuous = [0, 7]
    found = 0
    for seed in range(40):
        search = NearOrFar(near_share=share)
        best = search.find(surface, ranked, SPACE, np.random.default_rng(seed))
        Z, X = best.Z, best.X
        assert_array_equal(X, SPACE.round(X))
        assert_array_equal(Z, X)
        values = surface.values(X)
        assert (np.diff(values) <= 0).all()
        found += np.abs(X[:, continuous] - ranked[0, continuous]).max() <= 0.4 + 1e-8
    assert abs(found - near) <= (0 if share != 0.5 else 9)


def test_a_category_that_is_best_is_found_and_kept():
    def objective(p):
        return (np.log10(p["C"]) - 1) ** 2 + {"rbf": 3.0, "poly": 0.0, "sigmoid": 5.0}[p["kernel"]]

    optimizer = SILBO(SPACE, random_state=0)
    for _ in range(30):
        point = optimizer.ask()
        optimizer.tell(point, objective(point))
    assert optimizer.best_x_["kernel"] == "poly"
    assert optimizer.best_y_ < 0.05
