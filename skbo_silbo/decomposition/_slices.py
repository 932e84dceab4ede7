"""Slices of the response: which labelled row belongs to which, and how many each holds."""

import warnings
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import sparse

ROWS_PER_CLASS = 5
"""Rows a value from which integers look like classes."""


@dataclass(frozen=True)
class Slices:
    """A partition of the labelled rows by their response.

    Attributes
    ----------
    codes : ndarray of shape (n_l,)
        Slice of each row, from 0 in the order of the response.
    counts : ndarray of shape (H,)
        Rows in each slice, all positive.
    """

    codes: np.ndarray
    counts: np.ndarray

    @property
    def n_slices(self):
        """Number of slices, H."""
        return len(self.counts)

    def of_rows(self, rows):
        """Slices of some rows only; those that no row is left in are dropped."""
        _, codes, counts = np.unique(self.codes[rows], return_inverse=True, return_counts=True)
        return Slices(codes, counts)

    def membership(self):
        """Plain Omega (n_l, H): 1/sqrt(n_h) where row i lies in slice h."""
        weights = 1 / np.sqrt(self.counts[self.codes])
        places = (np.arange(len(self.codes)), self.codes)
        return sparse.csr_array((weights, places), shape=(len(self.codes), self.n_slices))


def slice_response(y, n_slices):
    """Cut the response as R's ``dr`` does, at given edges, or by category.

    Parameters
    ----------
    y : ndarray of shape (n_l,)
        Numbers, or strings (each category a slice).
    n_slices : int or array-like of increasing edges
        An int is the number aimed at: slices of ``max(2, n_l // n_slices)`` rows, each extended
        to the end of a run of ties, the last taking the rest; a response with at most `n_slices`
        values gets a slice a value. Edges e cut into (-inf, e_0), [e_0, e_1), ..., [e_k, inf).

    Returns
    -------
    Slices

    Raises
    ------
    ValueError
        If `n_slices` is neither, or the edges leave fewer than two slices with rows.
    """
    n_slices = check_n_slices(n_slices)
    if y.dtype.kind not in "fiu":
        codes = np.unique(y, return_inverse=True)[1]
    elif isinstance(n_slices, np.ndarray):
        codes = np.searchsorted(n_slices, y, side="right")
    else:
        codes = _codes_by_count(y, n_slices)
    return _compact(codes)


def warn_of_classes(y, n_slices):
    """Say so when integers that look like classes are cut as numbers."""
    y = np.asarray(y)
    if y.dtype.kind not in "iu" or not isinstance(n_slices, Integral):
        return
    n_values = len(np.unique(y))
    if n_slices < n_values <= len(y) / ROWS_PER_CLASS:
        warnings.warn(
            f"y holds {n_values} different integers and was taken for numbers, cut in about "
            f"{n_slices} slices. If they are classes, pass categorical=True; if numbers, "
            "categorical=False says so.",
            UserWarning,
            stacklevel=4,
        )


def check_n_slices(n_slices):
    """Return `n_slices` as an int, or as an array of increasing edges."""
    if isinstance(n_slices, Integral) and not isinstance(n_slices, bool):
        if n_slices < 2:
            raise ValueError(f"n_slices must be at least 2: got {n_slices}.")
        return int(n_slices)
    edges = np.asarray(n_slices)
    if edges.ndim != 1 or edges.dtype.kind not in "fiu" or len(edges) == 0:
        raise ValueError(
            f"n_slices must be an int or a 1-d array of slice edges: got {n_slices!r}."
        )
    if not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(f"n_slices given as edges must be finite and increase: got {n_slices!r}.")
    return edges.astype(np.float64)


def _codes_by_count(y, n_slices):
    values, ranks, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(values) <= n_slices:
        return ranks
    first_values = _first_values(np.cumsum(counts), max(2, len(y) // n_slices))
    return np.searchsorted(first_values, ranks, side="right")


def _first_values(last_rows, size):
    """Index of the value with which each slice after the first begins.

    `last_rows` counts the rows up to each distinct value. Where one run of ties would swallow
    every row, it becomes a slice of its own: R's rule would leave a single slice.
    """
    n, end, last_values = last_rows[-1], 0, []
    while end < n - 2:
        value = np.searchsorted(last_rows, min(end + size, n))
        end = last_rows[value]
        last_values.append(value)
    if len(last_values) == 1:
        return np.array([max(last_values[0], 1)])
    return np.array(last_values[:-1]) + 1


def _compact(codes):
    occupied, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if len(occupied) < 2:
        raise ValueError(
            "n_slices given as edges must part the labelled y in at least 2 slices: all "
            f"{len(codes)} labels fall into one. Place an edge inside the range of y."
        )
    return Slices(codes, counts)
