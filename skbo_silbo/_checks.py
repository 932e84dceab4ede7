"""Checks of arguments; every message gives the name, the rule and the value."""

import inspect
import os
import warnings
from decimal import Decimal
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

# Packages between the user's line and a warning
PASSED_THROUGH = ("skbo_silbo", "sklearn", "joblib", "contextlib")
LONGEST_SHOWN = 200  # characters of a value in a message


def warn_user(message, category=UserWarning):
    """Warn as from the nearest line that is neither ours nor scikit-learn's."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def refuse_beside(owner, what, why_not):
    """Refuse attributes that are set, neither None nor False, beside something else.

    Parameters
    ----------
    owner : object
    what : str
        What they do not go with.
    why_not : mapping
        Names to reasons.

    Raises
    ------
    ValueError
    """
    for name, why in why_not.items():
        value = getattr(owner, name)
        if value is not None and not (isinstance(value, (bool, np.bool_)) and not value):
            raise ValueError(f"{name} must not be given with {what}: {why}. Leave one of them out.")


def did_you_mean(given, known):
    """Return a question about the first name that is like a known one, and a space; or nothing."""
    like = (match for name in given for match in get_close_matches(name, known, 1))
    return next((f"Did you mean {match!r}? " for match in like), "")


def _require(holds, name, rule, value):
    """Raise ValueError that names parameter, rule and value unless it holds."""
    if not holds:
        raise ValueError(f"{name} must be {rule}: got {brief(value)}.")


def check_integer(name, value, minimum=1, special=None):
    """Refuse what is not an integer of at least `minimum`; `special` shows what else is allowed."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    holds = (is_integer and value >= minimum) or special == repr(value)
    _require(holds, name, f"{f'{special} or ' if special else ''}an integer >= {minimum}", value)


def check_nonnegative(name, value, special=None):
    """Refuse what is not a finite number of at least 0; `special` shows what else is allowed."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    holds = (is_number and 0 <= value < np.inf) or special == repr(value)
    _require(holds, name, f"{f'{special} or ' if special else ''}a finite number >= 0", value)


def check_share(name, value, *, default):
    """Refuse what is not a number between 0 and 1, both left out."""
    holds = isinstance(value, Real) and 0 < value < 1
    _require(holds, name, f"a number in (0, 1), such as the default {default:g}", value)


def check_switch(name, value):
    """Refuse what is neither "auto" nor a bool."""
    is_auto = isinstance(value, str) and value == "auto"
    _require(is_auto or isinstance(value, bool), name, "'auto', True or False", value)


def check_flag(name, value):
    """Return value as a bool after refusing what is neither True nor False."""
    _require(isinstance(value, bool | np.bool_), name, "True or False", value)
    return bool(value)


def check_choice(name, value, choices):
    """Refuse what is not one of `choices`, strings or None."""
    is_one = (value is None or isinstance(value, str)) and value in choices
    _require(is_one, name, f"one of {', '.join(map(repr, choices))}", value)


def check_count(name, value, least=1):
    """Return value as an int after refusing what is not an integer of at least `least`."""
    check_integer(name, value, least)
    return int(value)


def check_seed(random_state):
    """Refuse what `sklearn.utils.check_random_state` cannot use."""
    try:
        check_random_state(random_state)
    except ValueError as error:
        rule = "None, an integer from 0 to 2**32 - 1 or a RandomState"
        raise ValueError(f"random_state must be {rule}: got {brief(random_state)}.") from error


def as_reals(given):
    """Return real numbers as an array of floats, NaN where masked; None if given anything else.

    Whole numbers have any size: beyond all floats they are infinite.
    """
    mask = np.ma.getmaskarray(given) if np.ma.isMaskedArray(given) else False
    try:
        values = np.asarray(given)
    except OverflowError:  # a whole number beyond all floats, beside a fraction
        values = np.array(given, dtype=object)
    except (ValueError, RuntimeError, TypeError):  # ragged; a tensor that needs a gradient
        return None
    if values.dtype.kind == "O" and all(is_real(value) for value in values.flat):
        values = np.reshape([_as_float(value) for value in values.flat], values.shape)
    if values.dtype.kind not in "fiub":
        return None
    with np.errstate(over="ignore"):  # of a long double
        return np.where(mask, np.nan, values.astype(float))


def is_real(value):
    """Tell a real number, those of databases among them."""
    return isinstance(value, Real | Decimal)


def has_booleans(given):
    """Tell whether an array-like has a boolean in it, where True could mean 1 or its opposite."""
    return any(isinstance(v, bool | np.bool_) for v in np.asarray(given, dtype=object).flat)


def has_text(given):
    """Tell whether an array-like has a string in it, which numpy may read as a number."""
    return any(isinstance(v, str | bytes) for v in np.asarray(given, dtype=object).flat)


def _as_float(number):
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def as_numbers(name, given, remedy):
    """Return real numbers as floats, NaN where they are masked.

    Raises
    ------
    ValueError
        When they are no real numbers.
    """
    values = as_reals(given)
    if values is None:
        raise ValueError(f"{name} must be real numbers: got {brief(given)}. {remedy}")
    return values


def as_noise(noise_std, shape):
    """Return standard deviations of this shape, (n,), NaN where they are not known.

    Raises
    ------
    ValueError
        When they are negative, infinite or of another number.
    """
    if noise_std is None:
        return np.full(shape, np.nan)
    noise_std = as_numbers("noise_std", noise_std, "Give NaN where it is not known.")
    fits = noise_std.shape in ((), shape)
    if not fits or (noise_std < 0).any() or np.isinf(noise_std).any():
        raise ValueError(
            "noise_std must be at least 0 and finite, one number or one for every value in y, "
            f"{shape[0]}: got {brief(noise_std.tolist())}. Give NaN where it is not known."
        )
    return np.broadcast_to(noise_std, shape)


def brief(value, longest=LONGEST_SHOWN):
    """Return the repr of a value for a message, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def check_pairs_fit(owner, n):
    """Refuse more rows than this machine has memory for a matrix of all their pairs.

    Raises
    ------
    MemoryError
        Before anything is allocated: numpy's own error says nothing of rows, and a system that
        grants more than it has ends the process.
    """
    needed = 8 * n**2
    if needed > _physical_memory():
        raise MemoryError(
            f"X must have fewer rows for {owner}, which forms a matrix of all pairs of rows: got "
            f"{n} rows, {needed / 2**30:.0f} GiB. Fit it to a random sample of the rows, or use "
            "SlicedInverseRegression, SlicedAverageVarianceEstimation, DirectionalRegression or "
            "PrincipalHessianDirections, which need no such matrix."
        )


def _physical_memory():
    """Return the bytes of memory of this machine; infinite where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return np.inf


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
            f"{name} must be picklable, to be sent to {workers}: got {brief(given)} "
            f"({type(error).__name__}: {error}). {remedy}"
        ) from error
