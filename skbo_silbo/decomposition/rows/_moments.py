"""Moments of samples in memory or in the blocks of a Dask array: mean, scatter and slice means."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, gen_batches

from skbo_silbo.decomposition.rows._columns import (
    Columns,
    are_far_from_zero,
    check_extremes,
    is_constant,
)

# Number of rows centred, or converted from float32, at a time. They fit in the processor's cache.
PIECE = 1024
# Means up to this many standard deviations are subtracted from the scatter, not from the rows. This
# loses no digits and saves a pass over the rows.
SAFE_MEAN = 1.0


def centred_scatter(X, mean, weights):
    """Return the weighted scatter matrix ``sum w (x - mean)(x - mean)'`` of the rows of X.

    Without weights and with means of at most `SAFE_MEAN` standard deviations, the result is
    corrected for the means instead of the rows, which is faster.
    """
    if X.dtype == np.float64 and weights is None:
        scatter = X.T @ X
        scatter -= len(X) * np.outer(mean, mean)
        if (len(X) * mean**2 <= SAFE_MEAN**2 * np.diag(scatter)).all():
            return scatter
    scatter = np.zeros((X.shape[1], X.shape[1]))
    buffer = np.empty((PIECE, X.shape[1]))
    for rows in gen_batches(len(X), PIECE):
        centred = np.subtract(X[rows], mean, out=buffer[: len(X[rows])])
        if weights is not None:
            centred *= np.sqrt(weights[rows, None])
        scatter += centred.T @ centred
    return scatter


def membership(codes, n_slices, weights):
    """Return a matrix whose product with the samples gives the weighted sum of each slice."""
    pointers = np.arange(len(codes) + 1)
    return sparse.csc_array((weights, codes, pointers), (n_slices, len(codes)))


@dataclass(frozen=True)
class SliceMoments:
    """Mean, scatter matrix and slice means of samples.

    Attributes
    ----------
    offset : ndarray of shape (d,)
        Value subtracted from each column before the means are computed.
    mean : ndarray of shape (d,)
    scatter : ndarray of shape (d, d)
        Scatter matrix of the samples: the sum of ``w (x - mean)(x - mean)'``, where w is the weight
        of a sample, or 1 without weights.
    counts : ndarray of shape (H,)
        Sum of the weights of the samples in each slice.
    slice_means : ndarray of shape (H, d)
        Mean of the samples in each slice, or 0 if the slice is empty.
    """

    offset: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    counts: np.ndarray
    slice_means: np.ndarray

    @classmethod
    def from_rows(cls, X, codes, n_slices, *, weights=None):
        """Compute the moments of samples, given the slice of each sample.

        Slices are numbered from 0. Float32 data are converted to double precision in pieces.
        """
        offset = np.where(are_far_from_zero(X), X[0], 0)
        X = X - offset if offset.any() else X
        offset = offset.astype(np.float64, copy=False)
        counts = np.bincount(codes, weights, minlength=n_slices)
        w = np.ones(len(X)) if weights is None else weights
        sums = sum(
            membership(codes[rows], n_slices, w[rows]) @ X[rows].astype(np.float64, copy=False)
            for rows in gen_batches(len(X), len(X) if X.dtype == np.float64 else PIECE)
        )
        mean = sums.sum(axis=0) / counts.sum()
        slice_means = sums / np.where(counts > 0, counts, 1)[:, None]
        return cls(offset, mean, centred_scatter(X, mean, weights), counts, slice_means)

    @property
    def n(self):
        """Number of samples, or the sum of their weights."""
        return self.counts.sum()

    def merged(self, other):
        """Combine the moments of two sets of samples (Chan, Golub and LeVeque 1983)."""
        n, moved = self.n + other.n, other.offset - self.offset
        shift = other.mean - self.mean + moved
        scatter = self.scatter + other.scatter
        scatter += self.n * (other.n / n) * np.outer(shift, shift)
        counts = self.counts + other.counts
        weight = (other.counts / np.where(counts > 0, counts, 1))[:, None]
        slice_means = self.slice_means + weight * (other.slice_means - self.slice_means + moved)
        mean = self.mean + shift * (other.n / n)
        return SliceMoments(self.offset, mean, scatter, counts, slice_means)

    def drop_constant_columns(self):
        """Return the moments of the non-constant columns, and the `Columns`."""
        spread = np.sqrt(np.diag(self.scatter) / self.n)
        varying = ~is_constant(spread, self.offset + self.mean)
        columns = Columns(varying, self.offset + np.where(varying, 0.0, self.mean))
        part = replace(
            self,
            offset=np.zeros(varying.sum()),
            mean=self.mean[varying],
            scatter=self.scatter[np.ix_(varying, varying)],
            slice_means=self.slice_means[:, varying],
        )
        return part, columns

    def slice_sums(self):
        """Return the centred mean of each slice times ``sqrt(n_h)``."""
        return np.sqrt(self.counts)[:, None] * (self.slice_means - self.mean)


def moments_of_blocks(X, labelled, slices, drawn):
    """Compute the moments of a Dask array on the workers that hold its blocks.

    Each block is read once.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d)
    labelled : ndarray of shape (n,) of bool
        Mask of the labelled rows.
    slices : Slices
        Slices of the labelled rows.
    drawn : ndarray of shape (n_l,) of bool
        Mask of the labelled rows that are returned.

    Returns
    -------
    moments : SliceMoments
    rows : ndarray of shape (drawn.sum(), d)
    """
    from dask import delayed

    place, stops, parts = np.cumsum(labelled) - 1, np.cumsum(X.chunks[0]), []
    for block, start, stop in zip(
        X.rechunk({1: -1}).to_delayed().ravel(), stops - X.chunks[0], stops, strict=True
    ):
        kept = labelled[start:stop]
        rows = place[start:stop][kept]
        weights = None if slices.weights is None else slices.weights[rows]
        given = slices.codes[rows], slices.n_slices, weights, drawn[rows]
        parts.append(delayed(_summarise_block)(block, kept, *given))
    while len(parts) > 1:
        parts = [delayed(_merged)(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0].compute()


def _summarise_block(block, kept, codes, n_slices, weights, drawn):
    """Return the moments and the drawn rows of a block, or None without labelled rows."""
    block = check_array(block, dtype=(np.float64, np.float32), ensure_min_samples=0, input_name="X")
    if not kept.any():
        return None
    block = block if kept.all() else block[kept]
    check_extremes(block)
    moments = SliceMoments.from_rows(block, codes, n_slices, weights=weights)
    return moments, block[drawn].astype(np.float64)


def _merged(one, other=None):
    if one is None or other is None:
        return other if one is None else one
    return one[0].merged(other[0]), np.concatenate([one[1], other[1]])
