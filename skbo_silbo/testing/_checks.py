"""Checks for acquisition functions, embedding learners, optimisers and surrogates."""

import json
from collections.abc import Callable
from copy import copy
from typing import Any, cast

import numpy as np

from skbo_silbo._checks import brief, check_flag, check_integer
from skbo_silbo._members import check_members, check_methods, missing_members
from skbo_silbo._typing import FloatArray, TransformerLike
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.embedding import Embedding, Learner
from skbo_silbo.embedding.choice import choose_embedding, is_transformer
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.surrogate import Surrogate, SurrogateOptions


def require(condition: Any, message: str) -> None:
    """Raise an AssertionError with the given message unless a condition is true."""
    if not condition:
        raise AssertionError(message)


def require_close(
    actual: Any, expected: Any, message: str, *, rtol: float = 1e-7, atol: float = 1e-9
) -> None:
    """Raise an AssertionError unless two arrays agree within the tolerances."""
    try:
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)
    except AssertionError as error:
        raise AssertionError(f"{message}: {error}") from None


STEP = 1e-4  # step of the central differences, in standard deviations
FAR = 30.0  # standard deviations above the best value, where naive formulas give 0 or NaN


def check_acquisition(acquisition: AcquisitionFunction, *, random_state: int = 0) -> None:
    """Check that an acquisition function follows the `AcquisitionFunction` protocol.

    Parameters
    ----------
    acquisition : AcquisitionFunction
        The acquisition function to check.
    random_state : int, default=0
        Seed of the random test data.

    Raises
    ------
    ValueError
        If the function has the wrong signature.
    AssertionError
        If values or derivatives have the wrong shape or are not finite, the derivatives do not
        match the values, the value of a point depends on other points, the arguments are modified,
        or a mean far above `best` is preferred to one far below.

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
    before = np.array((mean, std))
    value, *slopes = acquisition(mean, std, best, return_gradient=True)
    require(len(slopes) == 2, "with return_gradient, values and two derivatives must be returned")
    for array in (value, *slopes):
        require(np.shape(array) == (40,), f"shapes must be (n,), got {np.shape(array)}")
        require(np.isfinite(array).all(), "values and derivatives must be finite")
    without_gradient = acquisition(mean, std, best)
    require_close(without_gradient, value, "return_gradient must not change the values")
    message = "the value of a point must not depend on other points"
    require_close(acquisition(mean[:7], std[:7], best), value[:7], message)
    _check_slopes(acquisition, mean, std, best, slopes)
    low, high = acquisition(best + np.array([-3.0, 3.0]), np.ones(2), best)
    message = "larger must be better: a low mean must not have a smaller value"
    require(low >= high - 1e-9 * abs(high), message)
    message = "the acquisition function must not modify its arguments"
    require(np.array_equal((mean, std), before), message)


def _check_slopes(
    acquisition: AcquisitionFunction,
    mean: FloatArray,
    std: FloatArray,
    best: float,
    slopes: list[FloatArray],
) -> None:
    h = STEP * std
    for name, slope, a, b in zip(("mean", "std"), slopes, (h, 0.0 * h), (0.0 * h, h), strict=True):
        up, down = acquisition(mean + a, std + b, best), acquisition(mean - a, std - b, best)
        message = f"the derivative by {name} must match finite differences of the values"
        require_close(slope, (up - down) / (2.0 * h), message, rtol=1e-3, atol=1e-6)


REMEDY = (
    "Return skbo_silbo.embedding.LinearEmbedding.from_components(rows) with one row per direction."
)


def check_learner(
    learner: Learner | TransformerLike, *, n_inputs: int = 6, random_state: int = 0
) -> None:
    """Check that an embedding learner follows the `Learner` protocol.

    Parameters
    ----------
    learner : Learner or transformer
        Any object that the parameter `embedding` of `skbo_silbo.SILBO` accepts.
    n_inputs : int, default=6
        Number d of inputs in the test data.
    random_state : int, default=0
        Seed of the random test data.

    Raises
    ------
    ValueError
        If `name` or `learn` is missing, `learn` has the wrong signature, or its result lacks a
        member of `skbo_silbo.embedding.Embedding`.
    AssertionError
        If coordinates, points or gradients have the wrong shape or are not finite, the basis is not
        orthonormal, the arguments are modified, learning twice from the same data gives different
        embeddings, or learning from two rows, equal values or constant columns fails.

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
    y, X_unlabeled = np.tanh(2.0 * X[:, 0] - X[:, 1]), rng.uniform(-1.0, 1.0, (15, n_inputs))
    for unlabelled in (X[:0], X_unlabeled):
        _check_embedding(learner, learner.learn(X, y, unlabelled), X)
    _check_determinism(learner, X, y, X_unlabeled)
    constant = X.copy()
    constant[:, -1] = 0.25
    for case, rows, values in (
        ("two rows", X[:2], y[:2]),
        ("equal values", X[:12], np.ones(12)),
        ("a column that does not vary", constant, y),
    ):
        try:
            with np.errstate(all="ignore"):
                embedding = learner.learn(rows, values, X[:0])
        except Exception as error:
            message = f"learn must accept {case}, but raised {type(error).__name__}: {error}"
            raise AssertionError(message) from error
        _check_embedding(learner, embedding, X)


def _check_embedding(learner: Learner, embedding: Embedding, X: FloatArray) -> None:
    name, d = f"the embedding that {learner.name}.learn returns", X.shape[1]
    check_members(name, embedding, Embedding, REMEDY)
    message = f"must have d = {d} and 1 <= r <= {d}, got d = {embedding.d} and r = {embedding.r}"
    require(embedding.d == d and 1 <= embedding.r <= d, f"{name} {message}. {REMEDY}")
    Z = embedding.project(X)
    require(Z.shape == (len(X), embedding.r), f"project must return shape (n, r), got {Z.shape}")
    require(np.isfinite(Z).all(), "project must return finite coordinates")
    excess = np.abs(Z) - embedding.half_widths
    require((excess <= 1e-9).all(), "project must return coordinates within half_widths")
    is_linear = embedding.is_identity or embedding.basis is not None
    for method in ("expand", "pull_back") if is_linear else ("expand",):
        points = getattr(embedding, method)(Z)
        require(points.shape == X.shape, f"{method} must return shape (n, d), got {points.shape}")
        require(np.isfinite(points).all(), f"{method} must return finite points")
    if embedding.basis is not None:
        gram = embedding.basis.T @ embedding.basis
        require_close(gram, np.eye(embedding.r), "the basis must be orthonormal", atol=1e-8)


def _check_determinism(
    learner: Learner, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray
) -> None:
    data = X, y, X_unlabeled
    before = [array.copy() for array in data]
    first, second = learner.learn(*data), learner.learn(*data)
    message = "the same data must give the same embedding"
    require_close(second.project(X), first.project(X), message)
    unchanged = all(map(np.array_equal, data, before))
    require(unchanged, "learn must not modify its arguments")


BOUNDS = np.array([[-5.0, 10.0], [0.0, 15.0], [1.0, 2.0], [-1.0, 1.0]])


def check_optimizer(make: Callable[..., AskTellOptimizer], *, n_calls: int = 14) -> None:
    """Check that an optimiser follows the rules of ask and tell.

    The rules are:

    - Proposed points lie inside the bounds and are distinct, including pending points.
    - The same seed gives the same points.
    - The order of calls to `tell` does not matter.
    - Maximising -y gives the same points as minimising y.
    - Failed evaluations are kept.
    - A point outside the bounds is rejected and leaves the optimiser unchanged.
    - An optimiser restored from JSON continues with the same points.

    Parameters
    ----------
    make : callable
        Function or class that creates an optimiser, called as ``make(bounds, random_state=...)``.
        Use a small initial design, so that the model is tested within `n_calls` evaluations.
    n_calls : int, default=14
        Number of evaluations in each test run.

    Raises
    ------
    ValueError
        If `make` cannot be called like this or does not return a
        `skbo_silbo.optimizers.AskTellOptimizer`.
    AssertionError
        If a rule is violated. The message states which one.

    Examples
    --------
    >>> from skbo_silbo.baselines import RandomSearch
    >>> from skbo_silbo.testing import check_optimizer
    >>> check_optimizer(RandomSearch)
    """
    check_integer("n_calls", n_calls, 2)
    _check_makes_optimizer(make)

    def run(
        seed: int = 0, func: Callable[[Any], float] = _bowl, maximize: bool = False
    ) -> AskTellOptimizer:
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
    require_close(high, X, "maximising -y must give the same points as minimising y")
    failing = run(func=lambda x: np.nan if x[3] > 0.3 else _bowl(x))
    require(len(failing.func_vals_) == n_calls, "failed evaluations must be kept")
    require(np.isfinite(failing.best_y_), "best_y_ must ignore failed evaluations")
    _check_order(make, n_calls)
    _check_rejection(first)
    _check_json(first)


def _check_makes_optimizer(make: Callable[..., Any]) -> None:
    rule = "make must return a skbo_silbo.optimizers.AskTellOptimizer for (bounds, random_state=0)"
    remedy = "Pass a subclass, or lambda bounds, random_state: MyOptimizer(...)."
    try:
        optimizer = make(BOUNDS, random_state=0)
    except TypeError as error:
        raise ValueError(f"{rule}, but {make!r} raised TypeError: {error}. {remedy}") from error
    if not isinstance(optimizer, AskTellOptimizer):
        raise ValueError(f"{rule}, but {make!r} returned {brief(optimizer)}. {remedy}")


def _bowl(x: Any) -> float:
    return float(((x - BOUNDS.mean(axis=1)) ** 2).sum())


def _check_points(optimizer: AskTellOptimizer, n_calls: int) -> None:
    pending = optimizer.ask(3)
    require(pending.shape == (3, 4), f"ask(3) must return shape (3, d), got {pending.shape}")
    X = np.vstack([optimizer.x_iters_, pending])
    require(((BOUNDS[:, 0] <= X) & (BOUNDS[:, 1] >= X)).all(), "points must be inside the bounds")
    n_distinct = len(np.unique(X, axis=0))
    require(n_distinct == n_calls + 3, "points must be distinct, including pending points")
    values = [_bowl(x) for x in X[:n_calls]]
    require_close(optimizer.func_vals_, values, "func_vals_ must contain the observed values")
    require(optimizer.best_y_ == optimizer.func_vals_.min(), "best_y_ must be the lowest value")


def _check_order(make: Callable[..., AskTellOptimizer], n_calls: int) -> None:
    X = np.random.default_rng(0).uniform(BOUNDS[:, 0], BOUNDS[:, 1], (n_calls, 4))
    y, proposals = np.append([_bowl(x) for x in X[:-1]], np.nan), []
    for order in (np.arange(n_calls), np.random.default_rng(1).permutation(n_calls)):
        optimizer = make(BOUNDS, random_state=0)
        for i in order:
            optimizer.tell(X[i], y[i])
        proposals.append(optimizer.ask())
    first, second = proposals
    require_close(first, second, "the order of calls to tell must not matter")


def _check_rejection(optimizer: AskTellOptimizer) -> None:
    n = len(optimizer.func_vals_)
    try:
        optimizer.tell(BOUNDS[:, 1] + 1.0, 0.0)
    except ValueError:
        require(len(optimizer.func_vals_) == n, "a rejected point must not be recorded")
    else:
        raise AssertionError("tell must raise a ValueError for a point outside the bounds")


def _check_json(optimizer: AskTellOptimizer) -> None:
    data = json.loads(json.dumps(optimizer.to_dict()))
    objects = {name: getattr(optimizer, name) for name in data["objects"]}
    restored = type(optimizer).from_dict(data, **objects)
    again, points = (np.vstack([one.x_iters_, one.ask()]) for one in (restored, optimizer))
    message = "an optimiser restored from JSON must have and propose the same points"
    require_close(again, points, message)


def check_surrogate(surrogate: Surrogate, *, n_coordinates: int = 3, random_state: int = 0) -> None:
    """Check that a surrogate follows the `Surrogate` protocol.

    Parameters
    ----------
    surrogate : Surrogate
        The unfitted surrogate to check. It is copied before each fit.
    n_coordinates : int, default=3
        Number r of coordinates in the test data.
    random_state : int, default=0
        Seed of the random test data.

    Raises
    ------
    ValueError
        If a member is missing or has the wrong signature.
    AssertionError
        If `fit` does not return the surrogate, predictions have the wrong shape or are not finite,
        gradients do not match the predictions, the state is not JSON-serialisable or restores a
        different surrogate, conditioning on a pending point has no effect or modifies the
        surrogate, the arguments are modified, or fitting to equal values fails.

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
    unchanged = all(map(np.array_equal, (Z, y), before))
    require(unchanged, "fit must not modify its arguments")


def _fit(surrogate: Surrogate, state: Any, Z: FloatArray, y: FloatArray) -> Surrogate:
    rng = np.random.default_rng(1)
    surrogate = copy(surrogate)
    fitted = surrogate.fit(Z, y, np.zeros(y.size), state=state, tune=True, rng=rng)
    require(fitted is surrogate, f"fit must return the surrogate itself, got {fitted!r}")
    return fitted


def _check_prediction(surrogate: Surrogate, new: FloatArray) -> None:
    mean, std = surrogate.predict(new)
    message = "predict must return means and standard deviations of shape (m,)"
    require(mean.shape == std.shape == (len(new),), message)
    require(np.isfinite([mean, std]).all(), "predictions must be finite")
    if hasattr(surrogate, "unexplained_share"):
        message = "unexplained_share must be between 0 and 1"
        require(0.0 <= surrogate.unexplained_share() <= 1.0, message)
    require((std > 0.0).all(), "standard deviations must be positive")
    relevance = surrogate.relevance_
    require(relevance.shape == (new.shape[1],), "relevance_ must have shape (r,)")
    require((relevance >= 0.0).all(), "relevance_ must not be negative")
    *values, by_mean, by_std = surrogate.predict_gradient(new)
    require_close(values, (mean, std), "predict_gradient must agree with predict")
    for k in range(new.shape[1]):
        step = STEP * np.eye(new.shape[1])[k]
        up, down = surrogate.predict(new + step), surrogate.predict(new - step)
        for gradient, above, below in zip((by_mean, by_std), up, down, strict=True):
            expected = (above - below) / (2.0 * STEP)
            atol = 1e-3 * max(1.0, np.abs(expected).max())
            message = "gradients must match finite differences of predict"
            require_close(gradient[:, k], expected, message, atol=atol)


def _check_state(
    template: Surrogate, surrogate: Surrogate, Z: FloatArray, y: FloatArray, new: FloatArray
) -> None:
    try:
        stored = json.loads(json.dumps(surrogate.to_state()))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the state must be JSON-serialisable: {error}") from None
    restored = copy(template).fit(Z, y, np.zeros(y.size), state=stored, tune=False, rng=None)
    message = "fit with a stored state must restore the same surrogate"
    require_close(restored.predict(new), surrogate.predict(new), message)


def _check_pending(surrogate: Surrogate, new: FloatArray) -> None:
    before = surrogate.predict(new)
    conditioned = surrogate.with_points(new[:1], before[0][:1] - 1.0)
    require_close(surrogate.predict(new), before, "with_points must not modify the surrogate")
    message = "with_points must condition on the values of pending points"
    require(conditioned.predict(new)[0][0] < before[0][0], message)
