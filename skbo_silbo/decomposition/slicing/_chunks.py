"""Summaries of chunks of samples and of the blocks of Dask arrays.

The slices are fixed in advance. The moments include all samples. A random sample of at most
`MAX_ROWS` labelled samples is kept for tests: those with the smallest random keys. Keys are drawn
in the order of the samples, so the sample does not depend on how they are divided into chunks.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_array, column_or_1d

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.decomposition.rows._columns import check_extremes
from skbo_silbo.decomposition.rows._moments import SliceMoments
from skbo_silbo.decomposition.rows._reading import FLOATS, check_sample_weight
from skbo_silbo.decomposition.rows._response import as_label_array, as_numeric_labels
from skbo_silbo.decomposition.rows._weights import as_effective_counts
from skbo_silbo.decomposition.slicing._slices import (
    MAX_ROWS,
    Slices,
    check_n_slices,
    slice_response,
)

# A warning is raised if the share of a slice grows, or the share of all other slices shrinks, by
# more than this factor. Chunks in random order stay far below it.
MOST_GROWTH = 5


@dataclass(frozen=True, eq=False)
class SliceCoding:
    """Slices that are defined before the samples are seen, by edges or by classes.

    Attributes
    ----------
    edges : ndarray of shape (H - 1,) or None
    classes : ndarray of shape (H,) or None
        The categories in sorted order. None for a numeric response.
    n_slices_asked : int or ndarray or None
        The value of `n_slices` with which the edges were computed.
    shares : ndarray of shape (H,) or None
        Share of the first chunk's samples that fall into each slice. None if the edges do not
        depend on the first chunk.
    """

    edges: np.ndarray | None
    classes: np.ndarray | None
    n_slices_asked: int | np.ndarray | None = None
    shares: np.ndarray | None = None

    @classmethod
    def from_first_chunk(cls, y, n_slices, classes, weights=None):
        """Define the slices from `classes`, from edges in `n_slices`, or from the first chunk."""
        if classes is not None:
            return cls(None, np.unique(np.asarray(classes)))
        n_slices = check_n_slices(n_slices)
        if isinstance(n_slices, np.ndarray):
            return cls(n_slices, None, n_slices)
        coding = cls(slice_edges(y, n_slices, sample_weight=weights), None, n_slices)
        counts = np.bincount(coding.codes(y), weights)
        return replace(coding, shares=counts / counts.sum())

    def check_unchanged(self, n_slices):
        """Raise a ValueError if `n_slices` has changed since the first chunk."""
        if self.edges is not None and not np.array_equal(self.n_slices_asked, n_slices):
            raise ValueError(
                "n_slices must not change between calls to partial_fit, got "
                f"{n_slices!r}, but the first call used {self.n_slices_asked!r}. Start again with "
                "a clone of the estimator."
            )

    def warn_if_uneven(self, counts, before):
        """Warn if one slice contains far more samples than the others."""
        slices = self._overfull(counts)
        if not len(slices) or (before is not None and len(self._overfull(before))):
            return
        largest = slices[np.argmax(counts[slices])]
        warn_user(
            f"Slice {largest + 1} of {self.n_slices} holds {counts[largest] / counts.sum():.0%} of "
            f"the samples seen, but {self.shares[largest]:.0%} of the first chunk, which defined "
            "the slices. The directions then depend on few slices. Shuffle the samples, or set "
            "n_slices to slice_edges(y, n_slices), computed on all of y."
        )

    def _overfull(self, counts):
        if self.shares is None:
            return np.array([], dtype=int)
        few_others = 1 - (1 - self.shares) / MOST_GROWTH
        limits = np.minimum(MOST_GROWTH * self.shares, few_others)
        return np.flatnonzero(counts > limits * counts.sum())

    @property
    def n_slices(self):
        """Number of slices."""
        return len(self.classes) if self.edges is None else len(self.edges) + 1

    def codes(self, y):
        """Return the slice number of each sample, counted from 0."""
        if self.edges is not None:
            return np.searchsorted(self.edges, y, side="right")
        y = np.asarray(y).astype(self.classes.dtype)
        codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        unknown = self.classes[codes] != y
        if unknown.any():
            raise ValueError(
                f"y must hold classes passed on the first call to partial_fit, got {y[unknown][0]}"
                f" and classes {self.classes.tolist()}. Pass every class in `classes`."
            )
        return codes


def slice_edges(
    y: ArrayLike, n_slices: int, *, sample_weight: ArrayLike | None = None
) -> FloatArray:
    """Return the edges of the slices into which ``fit`` would divide y.

    Pass them as `n_slices` so that ``partial_fit`` on chunks gives the same result as ``fit`` on
    all samples.

    Parameters
    ----------
    y : array-like of shape (n,)
        Response of each sample, without missing values.
    n_slices : int
        Target number of slices, which can be lower if values repeat.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples, as in ``fit``.

    Returns
    -------
    edges : ndarray of shape (H - 1,)
        Smallest value in each slice except the first.

    Raises
    ------
    ValueError
        If y is constant, `n_slices` is not an integer of at least 2, or a weight is negative.

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
    """Moments and a random sample of all labelled samples seen so far.

    Attributes
    ----------
    moments : SliceMoments
    drawn : tuple of ndarray
        Random sample of m rows, as a tuple of four arrays: the rows, of shape (m, d), and the
        slice, weight and random key of each row, each of shape (m,).
    """

    moments: SliceMoments
    drawn: tuple[np.ndarray, ...]

    @classmethod
    def from_chunk(cls, X, codes, n_slices, keys, weights=None):
        """Summarise a chunk of samples, given the slice number of each sample."""
        moments = SliceMoments.from_rows(X, codes, n_slices, weights=weights)
        weights = np.ones(len(X), dtype=np.int64) if weights is None else weights
        return cls(moments, (X.astype(np.float64), codes, weights, keys))._with_smallest_keys()

    def merged(self, other):
        """Combine the summaries of two chunks."""
        drawn = map(np.concatenate, zip(self.drawn, other.drawn, strict=True))
        return ChunkSummary(self.moments.merged(other.moments), tuple(drawn))._with_smallest_keys()

    def _with_smallest_keys(self):
        keys = self.drawn[-1]
        if len(keys) <= MAX_ROWS:
            return self
        kept = keys <= np.partition(keys, MAX_ROWS - 1)[MAX_ROWS - 1]
        return replace(self, drawn=tuple(part[kept] for part in self.drawn))

    def sample(self, columns):
        """Return the random sample without constant columns, and its slices."""
        X, codes, weights, _ = self.drawn
        weights = as_effective_counts(weights)
        weights = None if (weights == 1).all() else weights
        codes = np.unique(codes, return_inverse=True)[1]
        return columns.select(X), Slices(codes, np.bincount(codes, weights), weights)


def summarise_blocks(X, labelled, slices):
    """Summarise a Dask array block by block, on the workers that hold the blocks.

    Parameters
    ----------
    X : dask.array.Array
    labelled : ndarray of shape (n,) of bool
        Mask of the rows that are labelled.
    slices : Slices
        Slices of the labelled rows, for the whole array.
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
