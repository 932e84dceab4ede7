"""Checks of arguments; every message gives the name, the rule, the value and the remedy."""

from numbers import Integral


def check_integer(name, value, least):
    """Return value as an int after refusing what is not an integer of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}: got {value!r}. Give a whole number."
        )
    return int(value)


def check_choice(name, value, choices):
    """Refuse what is not one of the strings `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}: got {value!r}.")
