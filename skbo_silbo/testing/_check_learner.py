"""Check of a learner of embeddings."""

from typing import cast

import numpy as np

from skbo_silbo._members import check_members, missing_members
from skbo_silbo._typing import TransformerLike
from skbo_silbo.embedding import Embedding, Learner
from skbo_silbo.embedding._choice import choose_embedding, is_transformer
from skbo_silbo.testing._comparison import require, require_close

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
