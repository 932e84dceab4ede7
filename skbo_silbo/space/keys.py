"""The grid of cube coordinates, and the search for points that were not evaluated yet.

A probability u in [0, 1] is rounded to a multiple of 2^-30. This makes encoding the exact inverse
of decoding: a round trip through the value v = F^-1(u) changes u by far less than half a grid
step, and rounding removes this error.
"""

from collections.abc import Collection, Container
from typing import TYPE_CHECKING

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from skbo_silbo.space.any_space import AnySpace

STEP = 2.0**-30
BATCHES, BATCH_SIZE = 1000, 1024  # random draws tried before giving up


class SpaceExhausted(RuntimeError):
    """Raised when a finite search space has fewer new points left than requested.

    Attributes
    ----------
    n_left : int
        Number of new points that are left in the space.
    """

    def __init__(self, message: str, n_left: int = 0) -> None:
        super().__init__(message)
        self.n_left = n_left


def snap(u: FloatArray) -> FloatArray:
    """Round probabilities in [0, 1] to a fine grid, with halves rounded up."""
    return np.floor(u / STEP + 0.5) * STEP


def to_cube(u: FloatArray) -> FloatArray:
    """Scale probabilities in [0, 1] to encoded coordinates in [-1, 1]."""
    return 2.0 * u - 1.0


def check_cube(X: ArrayLike, n_features: int) -> FloatArray:
    """Validate encoded points and return them as a float64 array.

    Raises
    ------
    ValueError
        If X does not have shape (n, n_features), or contains NaN or a number outside [-1, 1].
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != n_features or not np.all(np.abs(X) <= 1.0):
        seen = f", values from {X.min()} to {X.max()}" if X.size else ""
        raise ValueError(
            f"X must have shape (n, {n_features}) and values in [-1, 1], got shape "
            f"{X.shape}{seen}. Use encode() to obtain it."
        )
    return X


def key_of(x: FloatArray) -> bytes:
    """Return a hashable key that identifies an encoded point to nine decimals.

    Parameters
    ----------
    x : ndarray of shape (m,)

    Returns
    -------
    key : bytes

    Examples
    --------
    >>> import numpy as np
    >>> key_of(np.array([0.1 + 0.2])) == key_of(np.array([0.3]))
    True
    """
    return (np.round(x, 9) + 0.0).tobytes()  # + 0.0: no negative zero


def keys_of(X: FloatArray) -> list[bytes]:
    """Return the hashable key of each encoded point in X."""
    return list(map(np.ndarray.tobytes, np.round(X, 9) + 0.0))


def first_rows(X: FloatArray, seen: Container[bytes] = ()) -> list[int]:
    """Return the indices of distinct rows of X whose keys are not in the set `seen`."""
    rows: dict[bytes, int] = {}
    for row, key in enumerate(keys_of(X)):
        if key not in seen:
            rows.setdefault(key, row)
    return list(rows.values())


def too_few_left(space: "AnySpace", seen: Collection[bytes], n: int) -> SpaceExhausted:
    """Return the error for a request of more new points than the finite space contains."""
    left = int(max(space.n_points - len(seen), 0))
    return SpaceExhausted(
        f"`n` must be at most the number of new points that are left, got {n}. Only {left} of the "
        f"{space.n_points} points of this finite space are left. End the search or widen the "
        "space.",
        n_left=left,
    )


def draw_unseen(space: "AnySpace", seen: Collection[bytes], rng: np.random.Generator) -> FloatArray:
    """Draw a random encoded point that has not been evaluated or proposed before.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    seen : set of bytes
        Keys of the evaluated and pending points, as returned by `key_of`.
    rng : numpy.random.Generator

    Returns
    -------
    x : ndarray of shape (m,)

    Raises
    ------
    SpaceExhausted
        If a million draws contain no new point.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import Space
    >>> space = Space({"kind": ["a", "b"]})
    >>> draw_unseen(space, {key_of(np.array([1.0]))}, np.random.default_rng(0))
    array([-1.])
    """
    size = 1  # a single draw is nearly always new
    for _ in range(BATCHES):
        X = space.round(rng.uniform(-1.0, 1.0, (size, space.n_features_)))
        if new := first_rows(X, seen):
            return X[new[0]]
        size = BATCH_SIZE
    raise SpaceExhausted(
        f"{BATCHES * BATCH_SIZE} random draws contained no new point: {len(seen)} of the "
        f"{space.n_points} points of the space have been evaluated or are pending. "
        "End the search or widen the space."
    )
