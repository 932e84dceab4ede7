"""The grid on which every continuous coordinate lives, and which of its points are new.

A share u in [0, 1] is kept as a multiple of 2^-30. That makes decoding and encoding exact inverses
on canonical points: a round trip through a value v = F^-1(u) returns u with a floating-point error
far below half a step, and the snap removes it.
"""

from collections.abc import Collection, Container

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray, SpaceLike

STEP = 2.0**-30
BATCHES, BATCH_SIZE = 1000, 1024  # random draws tried before giving up


class SpaceExhausted(RuntimeError):
    """The space is finite and holds fewer new points than asked for.

    Attributes
    ----------
    n_left : int
        How many new points there are: ask for at most so many.
    """

    def __init__(self, message: str, n_left: int = 0) -> None:
        super().__init__(message)
        self.n_left = n_left


def snap(u):
    """Round shares in [0, 1] to the grid, halves upwards."""
    return np.floor(u / STEP + 0.5) * STEP


def to_cube(u):
    """Map shares [0, 1] to cube coordinates [-1, 1]."""
    return 2.0 * u - 1.0


def check_cube(X: ArrayLike, n_features: int) -> FloatArray:
    """Return X as a float64 array (n, n_features) after refusing anything outside [-1, 1].

    Raises
    ------
    ValueError
        If X has another shape, or holds NaN or a number outside [-1, 1].
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != n_features or not np.all(np.abs(X) <= 1.0):
        seen = f", values from {X.min()} to {X.max()}" if X.size else ""
        raise ValueError(
            f"X must have shape (n, {n_features}) and lie in the cube [-1, 1]: got shape "
            f"{X.shape}{seen}. Use encode() to make it."
        )
    return X


def key_of(x: FloatArray) -> bytes:
    """Return what makes a point of the cube the same as another: its coordinates to 9 decimals.

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
    """Return the `key_of` of every row of X, as a list."""
    return list(map(np.ndarray.tobytes, np.round(X, 9) + 0.0))


def first_rows(X: FloatArray, seen: Container[bytes] = ()) -> list[int]:
    """Return which rows of X, a list, are new: not in `seen`, and unlike every row before."""
    rows: dict[bytes, int] = {}
    for row, key in enumerate(keys_of(X)):
        if key not in seen:
            rows.setdefault(key, row)
    return list(rows.values())


def too_few_left(space, seen, n):
    """Return the `SpaceExhausted` for n new points of a finite space that has fewer."""
    left = int(max(space.n_points - len(seen), 0))
    return SpaceExhausted(
        f"n must be at most the number of new points left: got {n}, but of the "
        f"{space.n_points} points of this finite space {left} are left. "
        "End the search, or widen the space.",
        n_left=left,
    )


def draw_unseen(space: SpaceLike, seen: Collection[bytes], rng: np.random.Generator) -> FloatArray:
    """Return a random point of the cube that is not known yet.

    Parameters
    ----------
    space : Space, SpaceUnion or Box
    seen : set of bytes
        The `key_of` every known point.
    rng : numpy.random.Generator

    Returns
    -------
    x : ndarray of shape (m,)

    Raises
    ------
    SpaceExhausted
        When a million draws hold no new point: what is left has almost no probability.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import Space
    >>> space = Space({"kind": ["a", "b"]})
    >>> draw_unseen(space, {key_of(np.array([1.0]))}, np.random.default_rng(0))
    array([-1.])
    """
    size = 1  # nearly always new; then larger batches
    for _ in range(BATCHES):
        X = space.round(rng.uniform(-1.0, 1.0, (size, space.n_features_)))
        if new := first_rows(X, seen):
            return X[new[0]]
        size = BATCH_SIZE
    raise SpaceExhausted(
        f"no new point among {BATCHES * BATCH_SIZE} random draws: of the {space.n_points} "
        f"points of the space {len(seen)} have been asked for or observed. "
        "End the search, or widen the space."
    )
