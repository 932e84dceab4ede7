"""Rows in chunks: slices fixed beforehand, attributes solved on demand."""

import sys
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, column_or_1d

from .._typing import ArrayLike, FloatArray
from ._slices import check_n_slices, slice_response
from ._weights import as_numbers_of_rows, check_sample_weight

FLOATS = (np.float64, np.float32)


class SolvedOnDemand:
    """An attribute of ``fit`` that chunks leave to be computed when it is first read.

    It is no data descriptor: what ``fit`` stores in the instance under the same name wins. The
    owner has ``_unsolved`` (moments, or absent), ``_moments`` and ``_solve_moments(moments)``.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        state = instance.__dict__
        moments = state.pop("_unsolved", None)
        if moments is not None and moments is state["_moments"]:
            instance._solve_moments(moments)
        if self.name in state:
            return state[self.name]
        if "components_" in state:
            moments = None
        if moments is not None:
            state["_unsolved"] = moments
        raise _missing(instance, self.name, moments)


def _missing(instance, name, moments):
    if moments is None:
        return AttributeError(f"{type(instance).__name__!r} object has no attribute {name!r}")
    return NotFittedError(
        f"{name} is not known yet: the {moments.n:.12g} rows seen lie in "
        f"{int((moments.counts > 0).sum())} slices, too few for n_components="
        f"{instance.n_components!r}. Pass more rows to partial_fit."
    )


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
        strangers = self.classes[codes] != y
        if strangers.any():
            raise ValueError(
                f"y must hold classes given at the first call of partial_fit: got {y[strangers][0]}"
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


def is_dask_array(X):
    """Tell whether X is a Dask array, without importing Dask."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def check_in_memory(name, rows):
    """Refuse a Dask collection where all rows are needed at once: it may be larger than memory."""
    dask = sys.modules.get("dask")
    if dask is not None and dask.is_dask_collection(rows):
        raise ValueError(
            f"{name} must be in memory here, where all of its rows are needed at once: got "
            f"{type(rows).__module__.partition('.')[0]}'s {type(rows).__name__}. Pass "
            f"np.asarray({name}) where memory holds it; SemiSlicedInverseRegression.fit reads a "
            "Dask array block by block (of a Dask frame, take to_dask_array(lengths=True)), and "
            "its partial_fit takes chunks."
        )


def map_blocks(function, X, n_columns):
    """Apply a function of rows (n, d) to a Dask array block by block, when it is computed.

    The result has `n_columns` columns, and dtype float32 where X has.
    """
    rows = X.rechunk({1: -1})
    dtype = X.dtype if X.dtype in FLOATS else np.dtype(np.float64)
    chunks = (rows.chunks[0], (n_columns,))
    return rows.map_blocks(function, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))
