"""Checks of parameters that several transformers share."""

import numpy as np

from .._checks import check_integer

COMPONENT_WORDS = ("auto", "criterion")
"""What n_components can be, beside a number, where there are tests and a criterion."""


def check_n_components(value, n_features, words=("auto",)):
    """Refuse what is none of the `words` nor an integer from 1 to `n_features`."""
    if isinstance(value, str) and value in words:
        return
    check_integer("n_components", value, 1, special=", ".join(map(repr, words)))
    if value > n_features:
        raise ValueError(
            f"n_components must be at most {n_features} (n_features): got {value}. "
            "Use n_components='auto' or fewer components."
        )


def check_switch(name, value):
    """Refuse what is neither "auto" nor a bool."""
    if isinstance(value, bool) or (isinstance(value, str) and value == "auto"):
        return
    raise ValueError(f"{name} must be 'auto', True or False: got {value!r}.")


def check_a_column_varies(X):
    """Refuse labelled rows, (n, d), that are all the same.

    Raises
    ------
    ValueError
    """
    if not (X[0] != X[-1]).any() and not np.ptp(X, axis=0).any():
        raise ValueError(
            f"X must have a column that varies over the labelled rows: all {X.shape[1]} are "
            "constant. Label rows that differ."
        )
