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
    """Return a `LabelledData` whose labelled rows lost the means of their groups, and the groups.

    The (weighted) mean of all labelled rows stays. Groups are numbered from 0. Where `group` is
    None the data are as they were, and the groups None.
    """
    if group is None:
        return data, None
    group = check_group(group, len(data.is_labeled))
    if data.weights is not None and not are_counts(data.weights):
        data = data.without_weights(
            "or counts of an integer type, with group. Leave the weights, or the group, out."
        )
    groups = np.unique(group[data.is_labeled], return_inverse=True)[1]
    mean = data.labelled_mean()
    X = mean + less_group_means(data.X_labeled - mean, groups, data.weights)
    return replace(data, X_labeled=X), groups


def less_group_means(values, groups, weights=None):
    """Values (n, p) less the (weighted) means of their groups (n,)."""
    sums = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(sums, groups, values if weights is None else weights[:, None] * values)
    return values - (sums / np.bincount(groups, weights)[:, None])[groups]
