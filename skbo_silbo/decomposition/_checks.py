"""Checks of constructor parameters; every message gives the name, the rule and the value."""

from numbers import Integral, Real

import numpy as np


def check_n_components(value, n_features):
    """Refuse what is neither "auto" nor an integer from 1 to `n_features`."""
    if isinstance(value, str) and value == "auto":
        return
    check_integer("n_components", value, 1, special="'auto'")
    if value > n_features:
        raise ValueError(
            f"n_components must be at most {n_features} (n_features): got {value}. "
            "Use n_components='auto' or fewer components."
        )


def check_integer(name, value, minimum, special=None):
    """Refuse what is not an integer of at least `minimum`; `special` names what else is allowed."""
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= minimum:
        return
    allowed = f"{special} or an integer" if special else "an integer"
    raise ValueError(f"{name} must be {allowed} >= {minimum}: got {value!r}.")


def check_nonnegative(name, value, special=None):
    """Refuse what is not a finite number of at least 0; `special` names what else is allowed."""
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= value < np.inf:
        return
    allowed = f"{special} or a finite number" if special else "a finite number"
    raise ValueError(f"{name} must be {allowed} >= 0: got {value!r}.")


def check_choice(name, value, choices):
    """Refuse what is not one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}: got {value!r}.")
