"""An optimiser, or a fitted search, that is pickled goes on as the one that it was made from."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from skbo_silbo import SILBO, SILBOSearchCV
from skbo_silbo.acquisition import log_expected_improvement
from skbo_silbo.minimization._methods import METHODS
from skbo_silbo.optimizers._design import random_points

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
    "a design of the library": {"design": random_points},
    "scikit-learn's process": {"surrogate": "sklearn"},
}
OPTIONS = {method: {} if method == "random" else {"n_initial": N_INITIAL} for method in METHODS}
MADE = {
    **{
        method: lambda m=method: METHODS[m](BOUNDS, random_state=0, **OPTIONS[m])
        for method in METHODS
    },
    **{
        f"silbo with {name}": lambda o=options: SILBO(
            BOUNDS, n_initial=N_INITIAL, random_state=0, **o
        )
        for name, options in SILBO_WITH.items()
    },
    "silbo with constraints": lambda: SILBO(BOUNDS, n_initial=N_INITIAL, random_state=0).constrain(
        [DISC, PLANE]
    ),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("n_told", [2, N_INITIAL + 2])
def test_an_optimiser_that_was_pickled_proposes_the_same(name, n_told):
    optimizer = MADE[name]()
    for _ in range(n_told):
        x = optimizer.ask()
        optimizer.tell(x, float(((x - 0.5) ** 2).sum()))
    optimizer.ask()
    other = pickle.loads(pickle.dumps(optimizer))
    assert_array_equal(other.ask(3), optimizer.ask(3))


def test_an_optimiser_that_learns_constraints_goes_on_from_a_pickle():
    optimizer = MADE["silbo"]()
    for _ in range(N_INITIAL + 2):
        x = optimizer.ask()
        optimizer.tell(x, float((x**2).sum()), constraints=[1.0 - x[0]])
    other = pickle.loads(pickle.dumps(optimizer))
    assert_array_equal(other.ask(2), optimizer.ask(2))


def test_a_fitted_search_with_constraints_is_pickled_whole():
    space = {"C": loguniform(1e-3, 1e3), "tol": loguniform(1e-5, 1e-2)}
    search = SILBOSearchCV(
        LogisticRegression(max_iter=5000),
        space,
        n_iter=9,
        cv=2,
        constraints=small,
        random_state=0,
    ).fit(*load_iris(return_X_y=True))
    other = pickle.loads(pickle.dumps(search))
    assert other.best_params_ == search.best_params_
    assert other.optimizer_.ask(2) == search.optimizer_.ask(2)
