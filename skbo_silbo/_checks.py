"""Validation of arguments; every error message names the parameter, the rule and the value."""

import inspect
import os
import warnings
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np

# Packages to skip when looking for the line of user code that caused a warning
PASSED_THROUGH = ("skbo_silbo", "sklearn", "joblib", "contextlib")
LONGEST_SHOWN = 200  # characters of a value in a message


def warn_user(message, category=UserWarning):
    """Issue a warning that points to the user's line that called this package."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def did_you_mean(given, allowed):
    """Suggest the allowed name that is most similar to an unknown name."""
    similar = (match for name in given for match in get_close_matches(name, allowed, 1))
    return next((f"Did you mean {match!r}? " for match in similar), "")


def require(holds, name, rule, value):
    """Raise a ValueError that states the rule for a parameter if its value violates it."""
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {brief(value)}.")


def check_integer(name, value, minimum=1, special=None):
    """Check that a parameter is an integer of at least `minimum`, or that its repr is `special`."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    holds = (is_integer and value >= minimum) or special == repr(value)
    require(holds, name, f"{f'{special} or ' if special else ''}an integer >= {minimum}", value)


def check_nonnegative(name, value, special=None):
    """Check that a parameter is a finite number of at least 0, or that its repr is `special`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    holds = (is_number and 0 <= value < np.inf) or special == repr(value)
    require(holds, name, f"{f'{special} or ' if special else ''}a finite number >= 0", value)


def check_share(name, value, *, default):
    """Check that a parameter is a number between 0 and 1, both excluded."""
    holds = isinstance(value, Real) and 0 < value < 1
    require(holds, name, f"a number in (0, 1), such as the default {default:g}", value)


def check_switch(name, value):
    """Check that a parameter is "auto", True or False."""
    is_auto = isinstance(value, str) and value == "auto"
    require(is_auto or isinstance(value, bool), name, "'auto', True or False", value)


def check_flag(name, value):
    """Check that a parameter is a bool and return it as a Python bool."""
    require(isinstance(value, bool | np.bool_), name, "True or False", value)
    return bool(value)


def check_choice(name, value, choices):
    """Check that a parameter is one of the allowed strings, or None if that is allowed."""
    is_one = (value is None or isinstance(value, str)) and value in choices
    require(is_one, name, f"one of {', '.join(map(repr, choices))}", value)


def check_count(name, value, least=1):
    """Check that a parameter is an integer of at least `least` and return it as an int."""
    check_integer(name, value, least)
    return int(value)


def as_reals(given):
    """Convert real numbers to a float array, or return None for other objects.

    Masked numbers become NaN, and integers that exceed the range of floats become infinite.
    """
    mask = np.ma.getmaskarray(given) if np.ma.isMaskedArray(given) else False
    try:
        values = np.asarray(given)
    except OverflowError:  # a huge integer in a list of floats
        values = np.array(given, dtype=object)
    except (ValueError, RuntimeError, TypeError):  # ragged, or a tensor that requires a gradient
        return None
    if values.dtype.kind == "O" and all(is_real(value) for value in values.flat):
        values = np.reshape([_as_float(value) for value in values.flat], values.shape)
    if values.dtype.kind not in "fiub":
        return None
    with np.errstate(over="ignore"):  # long doubles may exceed the range
        return np.where(mask, np.nan, values.astype(float))


def is_real(value):
    """Return whether an object is a real number, including `decimal.Decimal`."""
    return isinstance(value, Real | Decimal)


def has_booleans(given):
    """Return whether an array-like contains booleans, which are not accepted as numbers."""
    return any(isinstance(v, bool | np.bool_) for v in np.asarray(given, dtype=object).flat)


def has_text(given):
    """Return whether an array-like contains strings, which NumPy might convert to numbers."""
    return any(isinstance(v, str | bytes) for v in np.asarray(given, dtype=object).flat)


def _as_float(number):
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def as_numbers(name, given, remedy):
    """Convert real numbers to a float array, with NaN for masked entries.

    Raises
    ------
    ValueError
        If they are not real numbers.
    """
    values = as_reals(given)
    if values is None:
        raise ValueError(f"{name} must be real numbers, got {brief(given)}. {remedy}")
    return values


def as_noise(noise_std, shape):
    """Validate noise standard deviations and broadcast them to `shape`.

    Raises
    ------
    ValueError
        If they are negative or infinite, or have another shape.
    """
    if noise_std is None:
        return np.full(shape, np.nan)
    noise_std = as_numbers("noise_std", noise_std, "Give NaN where it is not known.")
    fits = noise_std.shape in ((), shape)
    if not fits or (noise_std < 0).any() or np.isinf(noise_std).any():
        raise ValueError(
            f"noise_std must be a finite number >= 0 or an array of {shape[0]} of them, one per "
            f"value in y, got {brief(noise_std.tolist())}. Use NaN for unknown noise."
        )
    return np.broadcast_to(noise_std, shape)


def brief(value):
    """Return the repr of a value, truncated for an error message."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def check_pairs_fit(owner, n):
    """Check that an n x n matrix fits into memory.

    Raises
    ------
    MemoryError
        If the matrix is too large. The check precedes the allocation, because the operating system
        may kill the process instead of reporting an error.
    """
    needed = 8 * n**2
    if needed > _physical_memory():
        raise MemoryError(
            f"X has too many rows for {owner}, which needs a matrix of all pairs of rows, got "
            f"{n} rows, {needed / 2**30:.0f} GiB. Fit it on a random sample of the rows, or use "
            "SlicedInverseRegression, SlicedAverageVarianceEstimation, DirectionalRegression or "
            "PrincipalHessianDirections, which do not need this matrix."
        )


def _physical_memory():
    """Return the size of the physical memory in bytes, or infinity if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return np.inf


def check_picklable(name, given, dumps, workers, remedy):
    """Check that an object can be sent to worker processes.

    Parameters
    ----------
    name : str
        Name of the argument, used in the error message.
    given : object
    dumps : callable
        Function that pickles an object as the workers do.
    workers, remedy : str
        Description of the workers and advice on how to fix the error, used in the error message.

    Raises
    ------
    ValueError
    """
    try:
        dumps(given)
    except Exception as error:  # custom pickling methods may raise anything
        raise ValueError(
            f"{name} must be picklable, to be sent to {workers}, got {brief(given)} "
            f"({type(error).__name__}: {error}). {remedy}"
        ) from error
