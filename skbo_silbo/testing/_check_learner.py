"""Check of a learner of embeddings."""

import numpy as np

from skbo_silbo._checks import check_members
from skbo_silbo.embedding import Embedding, Learner
from skbo_silbo.testing._comparison import require, require_close


def check_learner(learner: Learner, *, n_inputs: int = 6, random_state: int = 0) -> None:
    """Check that a learner does what `skbo_silbo.embedding.Learner` says.

    Parameters
    ----------
    learner : Learner
    n_inputs : int, default=6
        Inputs d of the trial data.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When `name` or `learn` is missing.
    AssertionError
        When an embedding has the wrong shape or is not finite, its basis is not orthonormal, data
        are changed, the same data give another embedding, or two rows or equal values are not
        survived.

    Examples
    --------
    >>> from skbo_silbo.embedding import IdentityLearner
    >>> from skbo_silbo.testing import check_learner
    >>> check_learner(IdentityLearner())
    """
    check_members("learner", learner, Learner)
    require(isinstance(learner.name, str), "name must be a string")
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1.0, 1.0, (40, n_inputs))
    y, more = np.tanh(2.0 * X[:, 0] - X[:, 1]), rng.uniform(-1.0, 1.0, (15, n_inputs))
    for extra in (X[:0], more):
        _check_embedding(learner.learn(X, y, extra), n_inputs, X)
    _check_repeats(learner, X, y, more)
    for few, values in ((X[:2], y[:2]), (X[:12], np.ones(12))):
        _check_embedding(learner.learn(few, values, X[:0]), n_inputs, X)


def _check_embedding(embedding, d, X):
    check_members("embedding", embedding, Embedding)
    require(embedding.d == d, f"d of the embedding must be {d}: got {embedding.d}")
    require(1 <= embedding.r <= d, f"r must be from 1 to {d}: got {embedding.r}")
    Z = embedding.project(X)
    require(Z.shape == (len(X), embedding.r), f"project must give (n, r): got {Z.shape}")
    require(np.isfinite(Z).all(), "coordinates must be finite")
    require((np.abs(Z) <= embedding.half_widths + 1e-9).all(), "points must be in the box of z")
    if embedding.basis is not None:
        gram = embedding.basis.T @ embedding.basis
        require_close(gram, np.eye(embedding.r), "the basis must be orthonormal", atol=1e-8)


def _check_repeats(learner, X, y, more):
    before = X.copy(), y.copy(), more.copy()
    first, second = learner.learn(X, y, more), learner.learn(X, y, more)
    require_close(second.project(X), first.project(X), "the same data must give the same")
    unchanged = all((a == b).all() for a, b in zip((X, y, more), before, strict=True))
    require(unchanged, "learn must not change its data")
