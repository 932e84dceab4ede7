"""Rows that come in chunks, or in the blocks of a Dask array: moments, and the few that tests need.

Moments are of all rows. The sample is of at most `MAX_ROWS` labelled rows, those of the least keys,
which are drawn for the rows in turn: however these are cut, it is the same.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_array

from ..rows._dask_arrays import FLOATS
from ..rows._extremes import check_extremes
from ..rows._moments import SliceMoments
from ..rows._weights import as_numbers_of_rows
from ._evenly_spaced import MAX_ROWS
from ._slices import Slices


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Labelled rows seen so far.

    Attributes
    ----------
    moments : SliceMoments
    X : ndarray of shape (m, d)
        The sample.
    codes, weights, keys : ndarray of shape (m,)
    """

    moments: SliceMoments
    X: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    keys: np.ndarray

    @classmethod
    def of(cls, X, codes, n_slices, keys, weights=None):
        """One chunk; codes are in 0..n_slices - 1."""
        moments = SliceMoments.of(X, codes, n_slices, weights=weights)
        weights = np.ones(len(X), dtype=np.int64) if weights is None else weights
        return cls(moments, X.astype(np.float64), codes, weights, keys)._of_least_keys()

    def merged(self, other):
        """Both sets of rows together."""
        names = ("X", "codes", "weights", "keys")
        sample = {n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in names}
        return SeenRows(self.moments.merged(other.moments), **sample)._of_least_keys()

    def _of_least_keys(self):
        if len(self.keys) <= MAX_ROWS:
            return self
        kept = self.keys <= np.partition(self.keys, MAX_ROWS - 1)[MAX_ROWS - 1]
        names = ("X", "codes", "weights", "keys")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    def sample(self, columns):
        """Rows (m, n_varying), less their offset, and their slices."""
        weights = as_numbers_of_rows(self.weights)
        weights = None if (weights == 1).all() else weights
        codes = np.unique(self.codes, return_inverse=True)[1]
        return columns.part(self.X), Slices(codes, np.bincount(codes, weights), weights)


def seen_in_blocks(X, labelled, slices):
    """Return the `SeenRows` of a Dask array X (n, d), block by block, where the blocks are.

    Parameters
    ----------
    X : dask.array.Array
    labelled : ndarray of shape (n,) of bool
    slices : Slices
        Of the labelled rows.
    """
    from dask import delayed

    place = np.cumsum(labelled) - 1
    keys = np.random.RandomState(0).random_sample(len(slices.codes))
    stops = np.cumsum(X.chunks[0])
    parts = []
    for block, start, stop in zip(
        X.rechunk({1: -1}).to_delayed().ravel(), stops - X.chunks[0], stops, strict=True
    ):
        kept = labelled[start:stop]
        rows = place[start:stop][kept]
        weights = None if slices.weights is None else slices.weights[rows]
        given = slices.codes[rows], slices.n_slices, keys[rows], weights
        parts.append(delayed(_seen_in_block)(block, kept, *given))
    while len(parts) > 1:
        parts = [delayed(_merged)(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def _seen_in_block(block, kept, *given):
    block = check_array(block, dtype=FLOATS, ensure_min_samples=0, input_name="X")
    if not kept.any():
        return None
    block = block if kept.all() else block[kept]
    check_extremes(block)
    return SeenRows.of(block, *given)


def _merged(one, other=None):
    if one is None or other is None:
        return other if one is None else one
    return one.merged(other)
