"""Rows that come in chunks, or in the blocks of a Dask array: slices, moments, the rows of tests.

Slices are fixed beforehand. Moments are of all rows. The sample is of at most `MAX_ROWS` labelled
rows, those of the least keys, which are drawn for the rows in turn: however these are cut, it is
the same.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ..._checks import warn_user
from ..._typing import ArrayLike, FloatArray
from ..rows._columns import check_extremes
from ..rows._dask_arrays import FLOATS
from ..rows._labels import as_label_array, as_numeric_labels
from ..rows._moments import SliceMoments
from ..rows._weights import as_effective_counts, check_sample_weight
from ._slices import MAX_ROWS, Slices, check_n_slices, slice_response

# Times its share of the first chunk by which the largest slice may grow, or the others together
# may shrink, before a warning: chunks in random order stay far below this
MOST_GROWTH = 5


@dataclass(frozen=True, eq=False)
class SliceCoding:
    """Slices that are fixed before the rows are seen: edges of numbers, or classes.

    Attributes
    ----------
    edges : ndarray of shape (H - 1,) or None
    classes : ndarray of shape (H,) or None
        Sorted.
    n_slices_asked : int or ndarray or None
        The parameter that the edges come from.
    shares : ndarray of shape (H,) or None
        Shares of the first chunk, where it fixed the edges.
    """

    edges: np.ndarray | None
    classes: np.ndarray | None
    n_slices_asked: int | np.ndarray | None = None
    shares: np.ndarray | None = None

    @classmethod
    def from_first_chunk(cls, y, n_slices, classes, weights=None):
        """Coding by `classes`, by the edges `n_slices`, or by the slices of y itself."""
        if classes is not None:
            return cls(None, np.unique(np.asarray(classes)))
        n_slices = check_n_slices(n_slices)
        if isinstance(n_slices, np.ndarray):
            return cls(n_slices, None, n_slices)
        coding = cls(slice_edges(y, n_slices, sample_weight=weights), None, n_slices)
        counts = np.bincount(coding.codes(y), weights)
        return replace(coding, shares=counts / counts.sum())

    def check_unchanged(self, n_slices):
        """Reject another `n_slices` than that of the first chunk."""
        if self.edges is not None and not np.array_equal(self.n_slices_asked, n_slices):
            raise ValueError(
                "n_slices must not change between calls of partial_fit: got "
                f"{n_slices!r}, and the first call used {self.n_slices_asked!r}. Start again with "
                "a clone of the estimator."
            )

    def warn_if_uneven(self, counts, before):
        """Warn once a slice outgrows the others; `before` are the counts (H,) at the last call."""
        slices = self._overfull(counts)
        if not len(slices) or (before is not None and len(self._overfull(before))):
            return
        largest = slices[np.argmax(counts[slices])]
        warn_user(
            f"Slice {largest + 1} of {self.n_slices} holds {counts[largest] / counts.sum():.0%} of "
            f"the samples seen, after {self.shares[largest]:.0%} of the first chunk, which fixed "
            "the slices. The directions then depend on few slices. Shuffle the samples, or set "
            "n_slices to the edges that slice_edges(y, n_slices) gives for all of y."
        )

    def _overfull(self, counts):
        if self.shares is None:
            return np.array([], dtype=int)
        few_others = 1 - (1 - self.shares) / MOST_GROWTH
        limits = np.minimum(MOST_GROWTH * self.shares, few_others)
        return np.flatnonzero(counts > limits * counts.sum())

    @property
    def n_slices(self):
        """Number of slices, H."""
        return len(self.classes) if self.edges is None else len(self.edges) + 1

    def codes(self, y):
        """Slice of each row, from 0."""
        if self.edges is not None:
            return np.searchsorted(self.edges, y, side="right")
        y = np.asarray(y).astype(self.classes.dtype)
        codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        unknown = self.classes[codes] != y
        if unknown.any():
            raise ValueError(
                f"y must hold classes given at the first call of partial_fit: got {y[unknown][0]}"
                f" and the classes {self.classes.tolist()}. List every class in `classes`."
            )
        return codes


def slice_edges(
    y: ArrayLike, n_slices: int, *, sample_weight: ArrayLike | None = None
) -> FloatArray:
    """Edges that cut a response into the slices that `slice_response` makes of it.

    For chunks: a first pass over y alone gives edges, and passed as ``n_slices`` they make
    ``partial_fit`` agree with ``fit`` on all rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Numbers without NaN.
    n_slices : int
        Slices aimed at.
    sample_weight : array-like of shape (n,), default=None
        As ``fit`` takes it.

    Returns
    -------
    edges : ndarray of shape (H - 1,)
        The least value of every slice after the first.

    Raises
    ------
    ValueError
        If y takes a single value, `n_slices` is no integer of at least 2, or a weight is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.decomposition import slice_edges
    >>> slice_edges(np.arange(12.0), 3)
    array([4., 8.])
    """
    labels = as_numeric_labels(as_label_array(y))
    labels = column_or_1d(check_array(labels, ensure_2d=False, input_name="y"))
    weights = check_sample_weight(sample_weight, len(labels))
    if weights is not None:
        labels, weights = labels[weights > 0], as_effective_counts(weights[weights > 0])
    codes = slice_response(labels, n_slices, sample_weight=weights).codes
    order = np.argsort(labels, kind="stable")
    return labels[order][1:][np.diff(codes[order]) > 0]


@dataclass(frozen=True, eq=False)
class ChunkSummary:
    """Labelled rows seen so far.

    Attributes
    ----------
    moments : SliceMoments
    drawn : tuple of ndarray
        Of the sample: rows (m, d), their codes, weights and keys, (m,) each.
    """

    moments: SliceMoments
    drawn: tuple[np.ndarray, ...]

    @classmethod
    def from_chunk(cls, X, codes, n_slices, keys, weights=None):
        """One chunk; codes are in 0..n_slices - 1."""
        moments = SliceMoments.from_rows(X, codes, n_slices, weights=weights)
        weights = np.ones(len(X), dtype=np.int64) if weights is None else weights
        return cls(moments, (X.astype(np.float64), codes, weights, keys))._with_smallest_keys()

    def merged(self, other):
        """Both sets of rows together."""
        drawn = map(np.concatenate, zip(self.drawn, other.drawn, strict=True))
        return ChunkSummary(self.moments.merged(other.moments), tuple(drawn))._with_smallest_keys()

    def _with_smallest_keys(self):
        keys = self.drawn[-1]
        if len(keys) <= MAX_ROWS:
            return self
        kept = keys <= np.partition(keys, MAX_ROWS - 1)[MAX_ROWS - 1]
        return replace(self, drawn=tuple(part[kept] for part in self.drawn))

    def sample(self, columns):
        """Rows (m, n_varying), less their offset, and their slices."""
        X, codes, weights, _ = self.drawn
        weights = as_effective_counts(weights)
        weights = None if (weights == 1).all() else weights
        codes = np.unique(codes, return_inverse=True)[1]
        return columns.select(X), Slices(codes, np.bincount(codes, weights), weights)


def summarise_blocks(X, labelled, slices):
    """Return the `ChunkSummary` of a Dask array X (n, d), block by block, where the blocks are.

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
        parts.append(delayed(_summarise_block)(block, kept, *given))
    while len(parts) > 1:
        parts = [delayed(_merged)(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def _summarise_block(block, kept, *given):
    block = check_array(block, dtype=FLOATS, ensure_min_samples=0, input_name="X")
    if not kept.any():
        return None
    block = block if kept.all() else block[kept]
    check_extremes(block)
    return ChunkSummary.from_chunk(block, *given)


def _merged(one, other=None):
    if one is None or other is None:
        return other if one is None else one
    return one.merged(other)
