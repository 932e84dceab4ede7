"""Check of an optimiser: what every one of this library keeps."""

import json
from collections.abc import Callable

import numpy as np

from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.testing._comparison import require, require_close

BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0], [-1.0, 1.0]])


def check_optimizer(make: Callable[..., AskTellOptimizer], *, n_calls: int = 14) -> None:
    """Check that an optimiser keeps the rules of ask and tell.

    Parameters
    ----------
    make : callable
        ``make(bounds, random_state=...)`` returns a new optimiser, for example its class. Give it
        a short first design, so that few calls go through all of it.
    n_calls : int, default=14
        How many evaluations a run of the check has.

    Raises
    ------
    AssertionError
        Saying which rule is broken: points lie inside the bounds and are distinct, pending ones
        included; the same seed gives the same points; the order of `tell` does not matter; with
        `maximize` -y gives the points of y; failed evaluations are kept; a point outside is refused
        and nothing changes; JSON keeps all.

    Examples
    --------
    >>> from skbo_silbo import RandomSearch
    >>> from skbo_silbo.testing import check_optimizer
    >>> check_optimizer(RandomSearch)
    """
    for check in (
        _check_points,
        _check_seed,
        _check_order,
        _check_sign,
        _check_failures,
        _check_refusal,
        _check_json,
    ):
        check(make, n_calls)


def _bowl(x):
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


def _run(optimizer, n, func=_bowl):
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, func(x))
    return optimizer


def _check_points(make, n_calls):
    optimizer = _run(make(BOUNDS, random_state=0), n_calls)
    pending = optimizer.ask(3)
    require(pending.shape == (3, 4), f"ask(3) must give (3, d): got {pending.shape}")
    X = np.vstack([optimizer.x_iters_, pending])
    require(((BOUNDS[:, 0] <= X) & (BOUNDS[:, 1] >= X)).all(), "points must be inside the bounds")
    require(len(np.unique(X, axis=0)) == n_calls + 3, "points must be distinct, pending ones too")
    require_close(optimizer.func_vals_, [_bowl(x) for x in X[:n_calls]], "values must be kept")
    require(optimizer.best_y_ == optimizer.func_vals_.min(), "best_y_ must be the lowest value")


def _check_seed(make, n_calls):
    a, b, c = (_run(make(BOUNDS, random_state=s), n_calls).x_iters_ for s in (0, 0, 1))
    require_close(a, b, "the same seed must give the same points")
    require(not np.allclose(a, c), "another seed must give other points")


def _check_order(make, n_calls):
    X = np.random.default_rng(0).uniform(BOUNDS[:, 0], BOUNDS[:, 1], (n_calls, 4))
    y, asked = np.append([_bowl(x) for x in X[:-1]], np.nan), []
    for order in (np.arange(n_calls), np.random.default_rng(1).permutation(n_calls)):
        optimizer = make(BOUNDS, random_state=0)
        for i in order:
            optimizer.tell(X[i], y[i])
        asked.append(optimizer.ask())
    first, second = asked
    require_close(first, second, "the order of tell must not matter")


def _check_sign(make, n_calls):
    low, high = make(BOUNDS, random_state=0), make(BOUNDS, random_state=0)
    high.maximize = True
    a, b = _run(low, n_calls).x_iters_, _run(high, n_calls, lambda x: -_bowl(x)).x_iters_
    require_close(a, b, "with maximize -y must give the points of y, as minimize(maximize=True)")


def _check_failures(make, n_calls):
    def sometimes(x):
        return np.nan if x[3] > 0.3 else _bowl(x)

    optimizer = _run(make(BOUNDS, random_state=0), n_calls, sometimes)
    require(len(optimizer.func_vals_) == n_calls, "failed evaluations must be kept")
    require(np.isfinite(optimizer.best_y_), "best_y_ must pass over failures")


def _check_refusal(make, n_calls):
    optimizer = _run(make(BOUNDS, random_state=0), 2)
    try:
        optimizer.tell(BOUNDS[:, 1] + 1.0, 0.0)
    except ValueError:
        require(len(optimizer.func_vals_) == 2, "a point that is refused must leave no trace")
    else:
        raise AssertionError("a point outside the bounds must be refused with a ValueError")


def _check_json(make, n_calls):
    optimizer = _run(make(BOUNDS, random_state=0), n_calls)
    data = json.loads(json.dumps(optimizer.to_dict()))
    given = {name: getattr(optimizer, name) for name in data["objects"]}
    other = type(optimizer).from_dict(data, **given)
    require_close(other.x_iters_, optimizer.x_iters_, "JSON must keep the points")
    require_close(other.ask(), optimizer.ask(), "JSON must go on with the same points")
