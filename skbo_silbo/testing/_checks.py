"""Checks of an acquisition function, a learner of embeddings, an optimiser and a surrogate."""

import json
from collections.abc import Callable
from copy import copy
from typing import cast

import numpy as np

from skbo_silbo._checks import brief, check_flag, check_integer
from skbo_silbo._members import check_members, check_methods, missing_members
from skbo_silbo._typing import TransformerLike
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.embedding import Embedding, Learner
from skbo_silbo.embedding._choice import choose_embedding, is_transformer
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.surrogate import Surrogate, SurrogateOptions


def require(holds, what):
    """Raise AssertionError with this sentence unless it holds."""
    if not holds:
        raise AssertionError(what)


def require_close(got, wanted, what, *, rtol=1e-7, atol=1e-9):
    """Raise AssertionError unless two arrays agree."""
    try:
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol)
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from None


STEP = 1e-4  # of the central differences, in standard deviations: their error is its square
FAR = 30.0  # standard deviations above the best value, where naive formulas end in 0 or NaN


def check_acquisition(acquisition: AcquisitionFunction, *, random_state: int = 0) -> None:
    """Check that a function does what `skbo_silbo.acquisition.AcquisitionFunction` says.

    Parameters
    ----------
    acquisition : AcquisitionFunction
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When it takes other arguments.
    AssertionError
        When values or derivatives have the wrong shape or are not finite, derivatives are not those
        of the values, a value depends on other points, data are changed, or what lies far above
        `best` is worth more than what lies far below.

    Examples
    --------
    >>> from skbo_silbo.acquisition import log_expected_improvement
    >>> from skbo_silbo.testing import check_acquisition
    >>> check_acquisition(log_expected_improvement)
    """
    check_members("acquisition", acquisition, AcquisitionFunction)
    check_flag("is_log of acquisition", getattr(acquisition, "is_log", False))
    rng, best = np.random.default_rng(random_state), 1.5
    std = rng.uniform(0.1, 2.0, 40)
    mean = best + std * rng.permutation(np.linspace(-10.0, FAR, 40))
    before = mean.copy(), std.copy()
    value, *slopes = acquisition(mean, std, best, return_gradient=True)
    require(len(slopes) == 2, "return_gradient must give values, and two derivatives")
    for array in (value, *slopes):
        require(np.shape(array) == (40,), f"shapes must be (n,): got {np.shape(array)}")
        require(np.isfinite(array).all(), "values and derivatives must be finite")
    require_close(acquisition(mean, std, best), value, "return_gradient must give the same values")
    require_close(acquisition(mean[:7], std[:7], best), value[:7], "points must not meet")
    _check_slopes(acquisition, mean, std, best, slopes)
    far = acquisition(best + np.array([-3.0, 3.0]), np.ones(2), best)
    require(far[0] >= far[1] - 1e-9 * abs(far[1]), "larger must be better, and a low mean is")
    require((mean == before[0]).all() and (std == before[1]).all(), "it must not change its data")


def _check_slopes(acquisition, mean, std, best, slopes):
    h = STEP * std
    for name, got, a, b in zip(("mean", "std"), slopes, (h, 0.0 * h), (0.0 * h, h), strict=True):
        up, down = acquisition(mean + a, std + b, best), acquisition(mean - a, std - b, best)
        what = f"the derivative by {name} must be that of the values"
        require_close(got, (up - down) / (2.0 * h), what, rtol=1e-3, atol=1e-6)


REMEDY = "Return skbo_silbo.embedding.LinearEmbedding.from_components(rows), a row a direction."


def check_learner(
    learner: Learner | TransformerLike, *, n_inputs: int = 6, random_state: int = 0
) -> None:
    """Check that a learner does what `skbo_silbo.embedding.Learner` says.

    Parameters
    ----------
    learner : Learner or transformer
        What `embedding` of `skbo_silbo.SILBO` takes as an object.
    n_inputs : int, default=6
        Inputs d of the trial data.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When `name` or `learn` is missing, `learn` takes other arguments, or what it returns lacks a
        member of `skbo_silbo.embedding.Embedding`.
    AssertionError
        When coordinates, points or gradients of an embedding have the wrong shape or are not
        finite, its basis is not orthonormal, data are changed, the same data give another
        embedding, or two rows, equal values or columns that do not vary are not survived.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from skbo_silbo.testing import check_learner
    >>> check_learner(PCA(2))
    """
    if missing_members(learner, Learner) and is_transformer(learner):
        learner = choose_embedding(learner, "auto", n_inputs)
    check_members("learner", learner, Learner)
    learner = cast(Learner, learner)
    require(isinstance(learner.name, str), "name must be a string")
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1.0, 1.0, (40, n_inputs))
    y, more = np.tanh(2.0 * X[:, 0] - X[:, 1]), rng.uniform(-1.0, 1.0, (15, n_inputs))
    for extra in (X[:0], more):
        _check_embedding(learner, learner.learn(X, y, extra), X)
    _check_repeats(learner, X, y, more)
    level = X.copy()
    level[:, -1] = 0.25
    for what, few, values in (
        ("two rows", X[:2], y[:2]),
        ("equal values", X[:12], np.ones(12)),
        ("a column that does not vary", level, y),
    ):
        _check_embedding(learner, _survivor(learner, what, few, values), X)


def _survivor(learner, what, X, y):
    """Return what is learnt from rows that are hard to learn from."""
    try:
        with np.errstate(all="ignore"):
            return learner.learn(X, y, X[:0])
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{what} must be survived: learn ended in {said}") from error


def _check_embedding(learner, embedding, X):
    name, d = f"what {learner.name}.learn returns", X.shape[1]
    check_members(name, embedding, Embedding, REMEDY)
    fits = embedding.d == d and 1 <= embedding.r <= d
    got = f"d = {embedding.d} and r = {embedding.r}"
    require(fits, f"{name} must have d = {d} and r from 1 to {d}: got {got}. {REMEDY}")
    Z = embedding.project(X)
    require(Z.shape == (len(X), embedding.r), f"project must give (n, r): got {Z.shape}")
    require(np.isfinite(Z).all(), "coordinates must be finite")
    require((np.abs(Z) <= embedding.half_widths + 1e-9).all(), "points must be in the box of z")
    _check_back(embedding, "expand", Z, X)
    if embedding.is_identity or embedding.basis is not None:  # others may have no derivatives
        _check_back(embedding, "pull_back", Z, X)
    if embedding.basis is not None:
        gram = embedding.basis.T @ embedding.basis
        require_close(gram, np.eye(embedding.r), "the basis must be orthonormal", atol=1e-8)


def _check_back(embedding, method, Z, X):
    back = getattr(embedding, method)(Z)
    require(back.shape == X.shape, f"{method} must give (n, d): got {back.shape}")
    require(np.isfinite(back).all(), f"what {method} gives must be finite")


def _check_repeats(learner, X, y, more):
    before = X.copy(), y.copy(), more.copy()
    first, second = learner.learn(X, y, more), learner.learn(X, y, more)
    require_close(second.project(X), first.project(X), "the same data must give the same")
    unchanged = all((a == b).all() for a, b in zip((X, y, more), before, strict=True))
    require(unchanged, "learn must not change its data")


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
    ValueError
        When `make` cannot be called so, or what it returns is no
        `skbo_silbo.optimizers.AskTellOptimizer`.
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
    check_integer("n_calls", n_calls, 2)
    _check_makes_optimizer(make)

    def run(seed=0, func=_bowl, maximize=False):
        optimizer = make(BOUNDS, random_state=seed)
        optimizer.maximize = maximize
        for _ in range(n_calls):
            x = optimizer.ask()
            optimizer.tell(x, func(x))
        return optimizer

    first = run()
    _check_points(first, n_calls)
    X = run().x_iters_
    require_close(first.x_iters_, X, "the same seed must give the same points")
    require(not np.allclose(run(seed=1).x_iters_, X), "another seed must give other points")
    high = run(func=lambda x: -_bowl(x), maximize=True).x_iters_
    require_close(high, X, "with maximize -y must give the points of y, as minimize(maximize=True)")
    failing = run(func=lambda x: np.nan if x[3] > 0.3 else _bowl(x))
    require(len(failing.func_vals_) == n_calls, "failed evaluations must be kept")
    require(np.isfinite(failing.best_y_), "best_y_ must pass over failures")
    _check_order(make, n_calls)
    _check_refusal(first)
    _check_json(first)


def _check_makes_optimizer(make):
    remedy = "Give a class derived from it, or lambda bounds, random_state: MyOptimizer(...)."
    rule = "make must return a skbo_silbo.optimizers.AskTellOptimizer for (bounds, random_state=0)"
    if not callable(make):
        raise ValueError(f"{rule}: got {brief(make)}, which cannot be called. {remedy}")
    try:
        made = make(BOUNDS, random_state=0)
    except TypeError as error:
        raise ValueError(f"{rule}: {make!r} raised TypeError: {error}. {remedy}") from error
    if not isinstance(made, AskTellOptimizer):
        raise ValueError(f"{rule}: {make!r} returned {brief(made)}. {remedy}")


def _bowl(x):
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


def _check_points(optimizer, n_calls):
    pending = optimizer.ask(3)
    require(pending.shape == (3, 4), f"ask(3) must give (3, d): got {pending.shape}")
    X = np.vstack([optimizer.x_iters_, pending])
    require(((BOUNDS[:, 0] <= X) & (BOUNDS[:, 1] >= X)).all(), "points must be inside the bounds")
    require(len(np.unique(X, axis=0)) == n_calls + 3, "points must be distinct, pending ones too")
    require_close(optimizer.func_vals_, [_bowl(x) for x in X[:n_calls]], "values must be kept")
    require(optimizer.best_y_ == optimizer.func_vals_.min(), "best_y_ must be the lowest value")


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


def _check_refusal(optimizer):
    n = len(optimizer.func_vals_)
    try:
        optimizer.tell(BOUNDS[:, 1] + 1.0, 0.0)
    except ValueError:
        require(len(optimizer.func_vals_) == n, "a point that is refused must leave no trace")
    else:
        raise AssertionError("a point outside the bounds must be refused with a ValueError")


def _check_json(optimizer):
    data = json.loads(json.dumps(optimizer.to_dict()))
    given = {name: getattr(optimizer, name) for name in data["objects"]}
    other = type(optimizer).from_dict(data, **given)
    require_close(other.x_iters_, optimizer.x_iters_, "JSON must keep the points")
    require_close(other.ask(), optimizer.ask(), "JSON must go on with the same points")


def check_surrogate(surrogate: Surrogate, *, n_coordinates: int = 3, random_state: int = 0) -> None:
    """Check that a surrogate does what `skbo_silbo.surrogate.Surrogate` says.

    Parameters
    ----------
    surrogate : Surrogate
        Unfitted, as an optimiser is given it; it is copied before every fit.
    n_coordinates : int, default=3
        Coordinates r of the trial data.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When a member is missing, or takes other arguments.
    AssertionError
        When `fit` does not return the surrogate, predictions have the wrong shape or
        are not finite, gradients are not those of the predictions, the state does not go through
        JSON or gives another surrogate, a pending value makes nothing surer or changes the
        surrogate itself, data are changed, or equal values are not survived.

    Examples
    --------
    >>> from skbo_silbo.surrogate import GaussianProcessSurrogate
    >>> from skbo_silbo.testing import check_surrogate
    >>> check_surrogate(GaussianProcessSurrogate())
    """
    check_members("surrogate", surrogate, Surrogate)
    check_methods("surrogate", surrogate, SurrogateOptions)
    check_flag("takes_noise of surrogate", surrogate.takes_noise)
    rng = np.random.default_rng(random_state)
    Z = rng.uniform(-1.0, 1.0, (25, n_coordinates))
    y, new = 3.0 + np.sin(2.0 * Z[:, 0]) + 0.1 * rng.standard_normal(25), 0.9 * Z[:5] + 0.05
    before = Z.copy(), y.copy()
    fitted = _fit(surrogate, None, Z, y)
    _check_prediction(fitted, new)
    _check_state(surrogate, fitted, Z, y, new)
    _check_pending(fitted, new)
    more = np.vstack([Z, new]), np.append(y, np.full(5, 3.0))
    _check_prediction(_fit(surrogate, fitted.to_state(), *more), new)
    _check_prediction(_fit(surrogate, None, Z, np.full(25, 2.0)), new)
    require((before[0] == Z).all() and (y == before[1]).all(), "fit must not change its data")


def _fit(surrogate, state, Z, y):
    rng = np.random.default_rng(1)
    own = copy(surrogate)
    made = own.fit(Z, y, np.zeros(y.size), state=state, tune=True, rng=rng)
    require(made is own, f"fit must return the surrogate itself: got {made!r}")
    return made


def _check_prediction(surrogate, new):
    mean, std = surrogate.predict(new)
    require(mean.shape == std.shape == (len(new),), "predict must give (m,) and (m,)")
    require(np.isfinite(mean).all() and np.isfinite(std).all(), "predictions must be finite")
    if hasattr(surrogate, "predict_mean"):
        require_close(surrogate.predict_mean(new), mean, "predict_mean must predict the same")
    if hasattr(surrogate, "unexplained_share"):
        require(0.0 <= surrogate.unexplained_share() <= 1.0, "unexplained_share must be 0 to 1")
    require((std > 0.0).all(), "standard deviations must be positive")
    require(surrogate.relevance_.shape == (new.shape[1],), "a relevance a coordinate")
    require((surrogate.relevance_ >= 0.0).all(), "relevances must not be negative")
    require(surrogate.log_predictive_density(new, mean).shape == mean.shape, "a density a value")
    _check_gradient(surrogate, new)


def _check_gradient(surrogate, new):
    mean, std, by_mean, by_std = surrogate.predict_gradient(new)
    require_close((mean, std), surrogate.predict(new), "predict_gradient must predict the same")
    for k in range(new.shape[1]):
        step = STEP * np.eye(new.shape[1])[k]
        up, down = surrogate.predict(new + step), surrogate.predict(new - step)
        for got, above, below in zip((by_mean, by_std), up, down, strict=True):
            wanted = (above - below) / (2.0 * STEP)
            scale = 1e-3 * max(1.0, np.abs(wanted).max())
            require_close(got[:, k], wanted, "gradients must be those of predict", atol=scale)


def _check_state(template, surrogate, Z, y, new):
    try:
        stored = json.loads(json.dumps(surrogate.to_state()))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the state must be plain data for JSON: {error}") from None
    again = copy(template).fit(Z, y, np.zeros(y.size), state=stored, tune=False, rng=None)
    require_close(again.predict(new), surrogate.predict(new), "a state must give the same fit")


def _check_pending(surrogate, new):
    before = surrogate.predict(new)
    conditioned = surrogate.with_points(new[:1], before[0][:1] - 1.0)
    require_close(surrogate.predict(new), before, "with_points must leave the surrogate as it is")
    require(
        conditioned.predict(new)[0][0] < before[0][0], "the value of a pending point must count"
    )
