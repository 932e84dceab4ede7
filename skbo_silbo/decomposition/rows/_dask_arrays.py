"""Rows that may be a Dask array, and the types of number that are kept as they are."""

import sys

import numpy as np

FLOATS = (np.float64, np.float32)


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
            f"a Dask {type(rows).__name__}. Pass np.asarray({name}) where memory holds it, or use "
            "SemiSlicedInverseRegression: its fit reads a Dask array block by block (of a frame, "
            "to_dask_array(lengths=True)), and its partial_fit takes chunks."
        )


def map_blocks(function, X, n_columns):
    """Apply a function of rows (n, d) to a Dask array block by block, when it is computed.

    The result has `n_columns` columns, and dtype float32 where X has.
    """
    rows = X.rechunk({1: -1})
    dtype = X.dtype if X.dtype in FLOATS else np.dtype(np.float64)
    chunks = (rows.chunks[0], (n_columns,))
    return rows.map_blocks(function, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))
