"""An optimiser, or a fitted search, that is pickled goes on as the one that it was made from."""

import pickle
from functools import partial

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_array_equal
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import loguniform
from sklearn.base import BaseEstimator

from skbo_silbo import SILBO, SILBOSearchCV
from skbo_silbo.acquisition import log_expected_improvement

BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0], [-1.0, 1.0], [0.0, 1.0]])
N_INITIAL = 5
DISC = NonlinearConstraint(np.linalg.norm, 0.0, 12.0)
PLANE = LinearConstraint([[1.0, 1.0, 0.0, 0.0, 0.0]], 2.0, 2.0)


class MostlyImproved:
    """An acquisition of one's own, as an object."""

    def __call__(self, mean, std, best, *, return_gradient=False):
        return log_expected_improvement(mean, std, best + 0.1, return_gradient=return_gradient)


def corner_points(n, d, rng):
    return rng.choice([-1.0, 0.5, 1.0], size=(n, d))


def small(params):
    return params["C"] < 100.0


# options of SILBO in which a function of this library or of the user's own is kept
SILBO_WITH = {
    "an acquisition": {"acquisition": MostlyImproved()},
    "a design": {"design": corner_points},
    "a design of the library": {"design": "random"},
    "scikit-learn's process": {"surrogate": "sklearn"},
}


def made(**options):
    return SILBO(BOUNDS, n_initial=N_INITIAL, random_state=0, **options)


MADE = {f"silbo with {name}": partial(made, **o) for name, o in SILBO_WITH.items()}
MADE["silbo with constraints"] = lambda: made().constrain([DISC, PLANE])


@pytest.mark.parametrize("name", MADE)
def test_an_optimiser_that_was_pickled_proposes_the_same(name):
    """What is put in goes along; that of every method is in the conformance suite."""
    optimizer = run(MADE[name](), lambda x: float(((x - 0.5) ** 2).sum()), N_INITIAL + 1)
    optimizer.ask()
    other = pickle.loads(pickle.dumps(optimizer))
    assert_array_equal(other.ask(), optimizer.ask())


def test_an_optimiser_that_learns_constraints_goes_on_from_a_pickle():
    optimizer = made()
    for _ in range(N_INITIAL + 1):
        x = optimizer.ask()
        optimizer.tell(x, float((x**2).sum()), constraints=[1.0 - x[0]])
    other = pickle.loads(pickle.dumps(optimizer))
    assert_array_equal(other.ask(), optimizer.ask())


class Model(BaseEstimator):
    def __init__(self, C=1.0, tol=1e-3):
        self.C, self.tol = C, tol

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return -self.C - self.tol


def test_a_fitted_search_with_constraints_is_pickled_whole():
    space = {"C": loguniform(1e-3, 1e3), "tol": loguniform(1e-5, 1e-2)}
    options = {"n_iter": 5, "n_initial": 4, "cv": 2, "constraints": small, "random_state": 0}
    search = SILBOSearchCV(Model(), space, **options).fit([[0.0]] * 4, [0.0] * 4)
    other = pickle.loads(pickle.dumps(search))
    assert other.best_params_ == search.best_params_
    assert other.optimizer_.ask() == search.optimizer_.ask()
