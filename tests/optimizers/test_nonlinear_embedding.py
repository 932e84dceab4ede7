"""Embeddings that are not linear: what is searched, what is refused, what is stored."""

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBO, minimize
from skbo_silbo.sensitivity import NotLowDimensionalWarning

BOUNDS = [(-1, 1)] * 6


class Circle(TransformerMixin, BaseEstimator):
    """Points on a circle in the first two inputs, by their angle."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.arctan2(X[:, 1], X[:, 0])

    def inverse_transform(self, Z):
        angle = np.ravel(Z)
        rest = np.zeros((len(angle), self.n_features_in_ - 2))
        return np.column_stack([1.5 * np.cos(angle), 1.5 * np.sin(angle), rest])


def kernel_pca():
    return KernelPCA(2, kernel="rbf", gamma=0.2, fit_inverse_transform=True)


def bowl(x):
    return float(((x - 0.2) ** 2).sum())


def made(embedding, **options):
    return SILBO(BOUNDS, embedding=embedding, n_initial=8, random_state=0, **options)


def run(optimizer, n, func=bowl):
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, func(x))
    return optimizer


@pytest.mark.parametrize(
    "transformer",
    [kernel_pca(), make_pipeline(StandardScaler(), PCA(2)), Circle()],
    ids=["kernel-pca", "pipeline", "own"],
)
def test_nonlinear_search_is_clipped_to_box(transformer):
    optimizer = run(made(transformer), 9)
    x = optimizer.ask()
    embedding = optimizer.embedding_
    Z = embedding.project(np.vstack([optimizer.x_iters_, optimizer.x_iters_[:0]]))
    assert (np.abs(Z) <= embedding.half_widths + 1e-9).all()  # the box holds all that was told
    corner = np.abs(np.array([embedding.half_widths, -embedding.half_widths]))
    assert_allclose(corner, [embedding.half_widths] * 2)
    # x is an inverse, clipped: the nearest inverse of a fine set of coordinates is x itself
    grid = np.random.default_rng(0).uniform(-1, 1, (4000, embedding.r)) * embedding.half_widths
    X = np.clip(embedding.expand(grid), -1, 1)
    assert np.abs(X - x).max(axis=1).min() < 0.1


def test_search_on_circle_finds_minimum():
    target = np.array([np.cos(2.0), np.sin(2.0), 0, 0, 0, 0])

    def func(x):
        return float(((x - target) ** 2).sum())

    on_circle = run(made(Circle()), 20, func).best_y_
    in_box = run(SILBO(BOUNDS, embedding="identity", n_initial=8, random_state=0), 8, func).best_y_
    assert on_circle < 0.1 < in_box


@pytest.mark.parametrize(
    ("transformer", "reason"),
    [
        (KernelPCA(2), "fit_inverse_transform"),
        (make_pipeline(StandardScaler(), KernelPCA(2)), "inverse_transform"),
        (PCA(60), "n_components=60"),
    ],
)
def test_transformer_without_inverse_raises_before_evaluation(transformer, reason):
    calls = []
    with pytest.raises(ValueError, match=r"`embedding` must be (.|\n)*" + reason):
        minimize(calls.append, BOUNDS, embedding=transformer)
    assert calls == []


@pytest.mark.parametrize(
    "option",
    [{"search": "climb"}, {"n_components": 3}],
    ids=str,
)
def test_options_that_need_a_linear_embedding_are_refused(option):
    [name] = option
    with pytest.raises(ValueError, match=f"{name} must be"):
        made(kernel_pca(), **option)


def test_an_optimiser_that_was_stored_learns_it_again():
    optimizer = run(made(kernel_pca()), 9)
    optimizer.ask()
    data = json.loads(json.dumps(optimizer.to_dict()))
    restored = SILBO.from_dict(data, embedding=kernel_pca())
    assert_array_equal(restored.x_iters_, optimizer.x_iters_)
    run(restored, 1)
    again = run(SILBO.from_dict(data, embedding=kernel_pca()), 1)
    assert_array_equal(again.x_iters_, restored.x_iters_)


@pytest.mark.usefixtures("few_draws")
def test_shares_need_no_embedding_derivatives():
    optimizer = run(made(kernel_pca()), 12)
    optimizer.ask()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotLowDimensionalWarning)  # 12 values are few
        assert len(optimizer.subspace_.feature_names) == 6
    with pytest.raises(NotImplementedError, match="KernelPCA has no derivatives"):
        optimizer.embedding_.pull_back(np.ones((1, 2)))
