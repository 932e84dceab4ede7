"""Some of many rows, evenly spaced over the slices."""

from dataclasses import replace

import numpy as np

from ..rows._weights import rows_by_weight


def evenly_spaced(X, slices, n_rows):
    """Places of at most `n_rows` rows X (n, d), evenly spaced in the order of `stratified`.

    Weighted rows come as often as they weigh: those at these places have equal weights.
    """
    if slices.weights is not None:
        order = stratified(X, slices)
        return np.sort(order[rows_by_weight(slices.weights[order], n_rows)])
    if len(X) <= n_rows:
        return np.arange(len(X))
    return stratified(X, slices)[np.linspace(0, len(X) - 1, n_rows).round().astype(int)]


def stratified(X, slices):
    """Places of the rows by slice, and by length within it: whatever order they come in."""
    return np.lexsort((np.einsum("ij,ij->i", X, X), slices.codes))


MAX_ROWS = 2000  # rows, evenly spaced in the order of y, that are shuffled where there are more


def counts_written_out(X, slices):
    """Places of the rows X (n, d) as often as they count, `MAX_ROWS` or n at most; or all."""
    if slices.weights is None or not slices.is_counted:
        return np.arange(len(X))
    return evenly_spaced(X, slices, max(len(X), MAX_ROWS))


def rows_to_shuffle(X, slices):
    """Places of the rows X (n, d) that are shuffled: counted ones as often as they count."""
    if not slices.is_counted:
        slices = replace(slices, weights=None)
    return evenly_spaced(X, slices, MAX_ROWS)
