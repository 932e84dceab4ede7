"""Support for Dask arrays, which works without importing Dask."""

import sys

import numpy as np

FLOATS = (np.float64, np.float32)


def is_dask_array(X):
    """Return whether X is a Dask array."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def check_in_memory(name, rows):
    """Raise ValueError for a Dask collection if all samples are needed at once."""
    dask = sys.modules.get("dask")
    if dask is not None and dask.is_dask_collection(rows):
        raise ValueError(
            f"{name} must be in memory, since all samples are needed at once, got "
            f"a Dask {type(rows).__name__}. Pass np.asarray({name}) if it fits in memory, or use "
            "SemiSlicedInverseRegression: its fit processes Dask arrays block by block (convert a "
            "frame by to_dask_array(lengths=True)), and its partial_fit accepts chunks."
        )


def map_blocks(function, X, n_columns):
    """Apply a function of rows (n, d) lazily to each block of a Dask array.

    The result has `n_columns` columns, and dtype float32 if X has.
    """
    rows = X.rechunk({1: -1})
    dtype = X.dtype if X.dtype in FLOATS else np.dtype(np.float64)
    chunks = (rows.chunks[0], (n_columns,))
    return rows.map_blocks(function, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))
