"""Rows about the means of their groups, where a further predictor is a category."""

from dataclasses import replace

import numpy as np

from ._labels import is_known
from ._weights import are_counts


def check_group(group, n):
    """Return categories (n,) as strings, one for every row.

    Raises
    ------
    ValueError
    """
    values = np.asarray(group)
    if values.shape != (n,):
        raise ValueError(
            f"group must hold a category for each of the {n} rows: got shape {values.shape}. Pass "
            "a column, labelled or not."
        )
    missing = ~is_known(values)
    if missing.any():
        raise ValueError(
            f"group must hold the category of every row: row {missing.argmax()} has none. Drop "
            "such rows, or give them a category of their own."
        )
    return values.astype(str)


def about_group_means(data, group):
    """Return a `LabelledData` whose labelled rows lost the means of their groups, numbered from 0.

    The (weighted) mean of all labelled rows stays. Where `group` is None the data are as they were.
    """
    if group is None:
        return data
    group = check_group(group, len(data.is_labeled))
    if data.weights is not None and not are_counts(data.weights):
        data = data.without_weights(
            "or counts of an integer type, with group. Leave the weights, or the group, out."
        )
    groups = np.unique(group[data.is_labeled], return_inverse=True)[1]
    X = data.labelled_mean() + less_group_means(data.X_labeled, groups, data.weights)
    return replace(data, X_labeled=X, groups=groups)


def less_group_means(values, groups, weights=None):
    """Values (n, p) less the (weighted) means of their groups (n,): 0 where a group is constant."""
    values = values - values[np.unique(groups, return_index=True)[1]][groups]
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values if weights is None else weights[:, None] * values)
    return values - (sums / np.bincount(groups, weights)[:, None])[groups]
