"""The blocks of a Dask array, read one after the other: moments, and the few rows tests need."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..rows._dask_arrays import FLOATS
from ..rows._extremes import check_extremes
from ..rows._moments import SliceMoments
from ._evenly_spaced import MAX_ROWS, rows_to_shuffle
from ._slices import Slices


@dataclass(frozen=True, eq=False)
class LabelledBlocks:
    """The labelled rows of a Dask array, of which few are ever taken at a time.

    Attributes
    ----------
    X : dask.array.Array
    labelled : ndarray of shape (n,) of bool
    slices : Slices
        Of the labelled rows.
    """

    X: Any
    labelled: np.ndarray
    slices: Slices

    def of_columns(self, columns):
        """Return the same rows with the columns that vary, less their offset."""
        return replace(self, X=columns.part(self.X))

    def of_all(self, values, fill):
        """Values of the labelled rows (n_l,), or None, as ones of all rows (n,)."""
        if values is None:
            return None
        spread = np.full(len(self.labelled), fill, dtype=values.dtype)
        spread[self.labelled] = values
        return spread

    def take(self, places):
        """Rows (m, d) at some places among the labelled ones, which may repeat."""
        rows, where = np.unique(np.flatnonzero(self.labelled)[places], return_inverse=True)
        return np.asarray(self.X[rows].compute(), dtype=np.float64)[where]

    def lengths(self, mean, scale):
        """Distances (n_l, 1) of the rows from the mean, columns divided by `scale`."""
        rows = (self.X.astype(np.float64) - mean) / scale
        return np.sqrt((rows**2).sum(axis=1).compute()[self.labelled])[:, None]

    def shuffled(self, mean, scale):
        """Return the centred rows that permutation tests shuffle, (m, d), and their slices."""
        n = len(self.slices.codes)
        fewer = max(n, self.slices.n_rows) > MAX_ROWS
        places = rows_to_shuffle(
            self.lengths(mean, scale) if fewer else np.zeros((n, 1)), self.slices
        )
        slices = self.slices.part_to_shuffle(places)
        rows = self.take(places) / scale
        return rows - np.average(rows, axis=0, weights=slices.weights), slices


def moments_of_blocks(rows, looked_at=()):
    """Moments of labelled rows, block by block, where the blocks are.

    Parameters
    ----------
    rows : LabelledBlocks
    looked_at : array-like of shape (m,)
        Rising places among the labelled rows.

    Returns
    -------
    moments : SliceMoments
    sample : ndarray of shape (m, d)
        The rows at these places.
    """
    from dask import delayed

    X, n_slices = rows.X, rows.slices.n_slices
    codes, weights = rows.of_all(rows.slices.codes, -1), rows.of_all(rows.slices.weights, 0)
    places = np.flatnonzero(rows.labelled)[looked_at]
    blocks = X.rechunk({1: -1}).to_delayed().ravel()
    stops = np.cumsum(X.chunks[0])
    starts = stops - X.chunks[0]
    parts = [
        delayed(_moments_of_block)(
            block,
            codes[start:stop],
            n_slices,
            None if weights is None else weights[start:stop],
            places[(start <= places) & (places < stop)] - start,
        )
        for block, start, stop in zip(blocks, starts, stops, strict=True)
    ]
    while len(parts) > 1:
        parts = [delayed(_merged)(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def _moments_of_block(block, codes, n_slices, weights, looked_at):
    kept = codes >= 0
    block = check_array(block, dtype=FLOATS, ensure_min_samples=0, input_name="X")
    if not kept.any():
        return None
    sample = np.asarray(block[looked_at], dtype=np.float64)
    block = block if kept.all() else block[kept]
    check_extremes(block)
    weights = None if weights is None else weights[kept]
    return SliceMoments.of(block, codes[kept], n_slices, weights=weights), sample


def _merged(one, other=None):
    if one is None or other is None:
        return other if one is None else one
    return one[0].merged(other[0]), np.concatenate([one[1], other[1]])
