"""Rows in chunks: slices fixed beforehand, attributes solved on demand."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ..._typing import ArrayLike, FloatArray
from ..rows._weights import as_numbers_of_rows, check_sample_weight
from ._slices import check_n_slices, slice_response


@dataclass(frozen=True, eq=False)
class SliceCoding:
    """Slices that are fixed before the rows are seen: edges of numbers, or classes.

    Attributes
    ----------
    edges : ndarray of shape (H - 1,) or None
    classes : ndarray of shape (H,) or None
        Sorted.
    """

    edges: np.ndarray | None
    classes: np.ndarray | None

    @classmethod
    def of_first_chunk(cls, y, n_slices, classes, weights=None):
        """Coding by `classes`, by the edges `n_slices`, or by the slices of y itself."""
        if classes is not None:
            return cls(None, np.unique(np.asarray(classes)))
        n_slices = check_n_slices(n_slices)
        if not isinstance(n_slices, np.ndarray):
            n_slices = slice_edges(y, n_slices, sample_weight=weights)
        return cls(n_slices, None)

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
    labels = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"))
    weights = check_sample_weight(sample_weight, len(labels))
    if weights is not None:
        labels, weights = labels[weights > 0], as_numbers_of_rows(weights[weights > 0])
    codes = slice_response(labels, n_slices, sample_weight=weights).codes
    order = np.argsort(labels, kind="stable")
    return labels[order][1:][np.diff(codes[order]) > 0]
