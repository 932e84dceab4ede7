"""Real problems: neural network of the paper, weighted Lasso and support vector regression."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVR

from benchmarks.search import network_weights
from benchmarks.search.network_weights import mlp_weights
from benchmarks.search.tuning_problems import (
    solve_weighted_lasso,
    svr_length_scales,
    weighted_lasso,
)

pytestmark = pytest.mark.bench
MAKERS = [mlp_weights, weighted_lasso, svr_length_scales]


@pytest.mark.parametrize("make", MAKERS)
def test_deterministic_seeded_and_picklable(make):
    problem = make()
    X = problem.sample(3, 0)
    before = X.copy()
    values = problem.evaluate(X)
    assert np.isfinite(values).all()
    assert len(set(values)) == 3
    assert_array_equal(X, before)
    assert_array_equal(make(random_state=0).evaluate(X), values)
    assert_array_equal(pickle.loads(pickle.dumps(problem)).evaluate(X), values)
    assert (make(random_state=1).evaluate(X) != values).all()
    assert problem.optimum is None
    assert problem.optimisers is None
    assert problem.active_directions is None


def test_training_is_that_of_scikit_learn():
    # with the same initial weights and batches, MLPClassifier must give the same weights
    X, classes = load_digits(return_X_y=True)
    X, classes = X[:450] / 16, classes[:450]
    model = MLPClassifier(
        (50,),
        alpha=0.0,
        batch_size=network_weights.BATCH_SIZE,
        learning_rate_init=network_weights.LEARNING_RATE,
        max_iter=2,
        shuffle=False,
        warm_start=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, classes)
        start = [model.coefs_[0], model.intercepts_[0], model.coefs_[1], model.intercepts_[1]]
        start = [p.copy() for p in start]
        model.fit(X, classes)
    batches = np.split(np.arange(450), [100, 200, 300, 400]) * 2
    V, a, W, b = network_weights.train(X, np.eye(10)[classes], start, batches)
    assert np.abs(V - start[0]).max() > 0.01
    assert_allclose(V, model.coefs_[0], atol=1e-9)
    assert_allclose(a, model.intercepts_[0], atol=1e-9)
    assert_allclose(W, model.coefs_[1], atol=1e-9)
    assert_allclose(b, model.intercepts_[1], atol=1e-9)
    loss = network_weights.cross_entropy(X, np.eye(10)[classes], [V, a, W, b])
    assert_allclose(loss, log_loss(classes, model.predict_proba(X)), rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), n=st.sampled_from([15, 60]))
def test_weighted_lasso_meets_its_optimality_conditions(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    y = X[:, :3].sum(axis=1) + rng.normal(size=n)
    penalties = 10.0 ** rng.uniform(-2, 0.5, 20)
    b = solve_weighted_lasso(X, y, penalties)
    slope = X.T @ (y - X @ b) / n
    assert (np.abs(slope) <= penalties * (1 + 1e-3)).all()
    active = np.abs(b) > 1e-8
    assert_allclose(slope[active], (penalties * np.sign(b))[active], rtol=1e-3)


def test_support_vectors_with_the_stated_kernel():
    problem = svr_length_scales()
    x = problem.sample(1, 0)[0]
    scales, (C, epsilon, g) = 10.0 ** x[:10], 10.0 ** x[10:]
    kernel = RBF(scales * np.sqrt(10 / (2 * g)))  # exp(-|x - x'|^2 / (2 l^2))
    errors = []
    for X, y, X_test, y_test in problem.function.args[1]:
        model = SVR(kernel="precomputed", C=C, epsilon=epsilon).fit(kernel(X), y)
        errors.append(np.mean((model.predict(kernel(X_test, X)) - y_test) ** 2))
    assert_allclose(problem(x), np.mean(errors), rtol=1e-6)
