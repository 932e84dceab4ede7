"""Check of a mapping between coordinates and points."""

import numpy as np

from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.mapping import Mapping
from skbo_silbo.optimizers._given_parts import as_mapping
from skbo_silbo.testing._comparison import require, require_close


def check_mapping(mapping: Mapping, *, n_inputs: int = 6, random_state: int = 0) -> None:
    """Check that a mapping does what `skbo_silbo.mapping.Mapping` says.

    Parameters
    ----------
    mapping : Mapping
    n_inputs : int, default=6
        Inputs d of the trial embeddings: the identity, and one of two directions.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When `lift` or `carry` is missing or takes other arguments; when one of a mapping of these
        two methods alone returns another shape, points outside the cube or no finite coordinates.
    AssertionError
        When shapes are wrong, a point leaves the cube, coordinates are not finite, or those near
        the centre do not come back from the points that were made for them.

    Examples
    --------
    >>> from skbo_silbo.mapping import TopDown
    >>> from skbo_silbo.testing import check_mapping
    >>> check_mapping(TopDown())
    """
    full, rng = as_mapping(mapping), np.random.default_rng(random_state)
    rows = rng.standard_normal((2, n_inputs))
    for embedding in (LinearEmbedding(n_inputs), LinearEmbedding.from_components(rows)):
        _check_on(full, embedding, rng)


def _check_on(mapping, embedding, rng):
    incumbent = rng.uniform(-0.5, 0.5, embedding.d)
    wide = rng.uniform(-1.5, 1.5, (20, embedding.r)) * embedding.half_widths
    X = mapping.lift(wide, embedding, incumbent)
    require(X.shape == (20, embedding.d), f"lift must give (m, d): got {X.shape}")
    require((np.abs(X) <= 1.0).all(), "points must be in the cube [-1, 1]^d")
    told = rng.uniform(-1.0, 1.0, (7, embedding.d))
    carried = mapping.carry(told, embedding)
    require(carried.shape == (7, embedding.r), f"carry must give (n, r): got {carried.shape}")
    require(np.isfinite(carried).all(), "coordinates must be finite")
    near = embedding.project(rng.uniform(-0.05, 0.05, (20, embedding.d)))
    back = embedding.project(mapping.lift(near, embedding, np.zeros(embedding.d)))
    require_close(back, near, "points must have the coordinates they were made for", atol=1e-6)
