"""Checks of arguments; every message gives the name, the rule and the value."""

import inspect
import warnings
from numbers import Integral, Real

import numpy as np

PASSED_THROUGH = ("skbo_silbo", "sklearn", "joblib")
"""Packages between the user's line and a warning."""


def warn_user(message, category=UserWarning):
    """Warn as from the nearest line that is neither ours nor scikit-learn's."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def missing_members(given, protocol):
    """Return the names that a `typing.Protocol` asks for and an object has not, sorted."""
    asked = {*vars(protocol), *getattr(protocol, "__annotations__", {})}
    public = {name for name in asked if not name.startswith("_")} | ({"__call__"} & asked)
    return sorted(name for name in public if not hasattr(given, name))


def check_members(name, given, protocol):
    """Refuse a class, and an object without the members that a `typing.Protocol` asks for."""
    if isinstance(given, type):
        raise ValueError(
            f"{name} must be an object: got the class {given.__name__}. Write {given.__name__}()."
        )
    missing = missing_members(given, protocol)
    if missing:
        raise ValueError(
            f"{name} must have {', '.join(missing)}, as {protocol.__module__}.{protocol.__name__} "
            f"says: got {given!r}. Add what is missing."
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


def check_switch(name, value):
    """Refuse what is neither "auto" nor a bool."""
    if isinstance(value, bool) or (isinstance(value, str) and value == "auto"):
        return
    raise ValueError(f"{name} must be 'auto', True or False: got {value!r}.")


def check_choice(name, value, choices):
    """Refuse what is not one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}: got {value!r}.")


def check_count(name, value, least=1):
    """Return value as an int after refusing what is not an integer of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}: got {value!r}. Give a whole number."
        )
    return int(value)


def check_picklable(name, given, dumps, workers, remedy):
    """Refuse an object that cannot be sent to another process.

    Parameters
    ----------
    name : str
        Of the argument.
    given : object
    dumps : callable
        The pickler of the workers.
    workers, remedy : str
        Who they are, and what to do, for the message.

    Raises
    ------
    ValueError
        With the pickler's own error as its cause.
    """
    try:
        dumps(given)
    except Exception as error:  # whatever an object's own methods raise
        raise ValueError(
            f"{name} must be picklable, to be sent to {workers}: got {given!r} "
            f"({type(error).__name__}: {error}). {remedy}"
        ) from error
