"""The shape of what is read: saved states and journals, checked before anything is made of it.

A checksum says that a line is as it was written, not by whom. Each check here is called with a
value and its place, and raises ValueError that names the place and the rule.
"""

import sys
from contextlib import contextmanager
from numbers import Integral

from skbo_silbo._checks import brief

NOTHING = object()
LARGEST = sys.float_info.max


class OutOfShapeError(ValueError):
    """Something read is not of the shape that it was written in."""


def require(data, place, fields, optional=()):
    """Check the members of a dict.

    Parameters
    ----------
    data : object
    place : str
        What it is called in messages.
    fields : dict
        Names to checks: callables of (value, place).
    optional : collection of str
        Names that older data lack.

    Raises
    ------
    ValueError
        When it is no dict, or a member is missing or fails its check.
    """
    of_kind(dict)(data, place)
    for name, check in fields.items():
        value = data.get(name, NOTHING)
        if value is not NOTHING:
            check(value, f"{place}[{name!r}]")
        elif name not in optional:
            raise OutOfShapeError(f"{place} lacks {name!r}")


def of_kind(*kinds):
    """Return the check that a value is of one of some types."""
    names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)

    def check(value, place):
        if not isinstance(value, kinds):
            raise OutOfShapeError(f"{place} must be of type {names}: got {brief(value)}")

    return check


def whole(least=0, most=None):
    """Return the check that a value is an integer in a range."""
    up_to = "" if most is None else f" and at most {most}"

    def check(value, place):
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not is_whole or value < least or (most is not None and value > most):
            raise OutOfShapeError(
                f"{place} must be an integer of at least {least}{up_to}: got {brief(value)}"
            )

    return check


def rows(m, *, in_cube=True):
    """Return the check that a value is a list of lists of m finite numbers, in [-1, 1] or not."""
    rule = f"lists of {m} numbers" + (" in [-1, 1]" if in_cube else "")

    def check(value, place):
        of_kind(list)(value, place)
        for i, row in enumerate(value):
            good = isinstance(row, list) and len(row) == m and all(map(_is_number, row))
            if not good or (in_cube and any(abs(number) > 1.0 for number in row)):
                raise OutOfShapeError(f"{place}[{i}] must be one of {rule}: got {brief(row)}")

    return check


def values(value, place):
    """Check a list of numbers, None for NaN, "inf" and "-inf"."""
    of_kind(list)(value, place)
    for i, one in enumerate(value):
        if not (one is None or one in ("inf", "-inf") or _is_number(one)):
            raise OutOfShapeError(f"{place}[{i}] must be a number, None or 'inf': got {brief(one)}")


def told(space):
    """Return the check of evaluations, as `told_event` writes them."""
    n_inputs = space.n_features_ if space.is_dict else len(space.lower)
    fields = {
        "told": rows(n_inputs, in_cube=space.is_dict),
        "y": values,
        "noise_std": values,
        "constraints": of_kind(list),
    }

    def check(event, place):
        require(event, place, fields, optional=["constraints"])
        n = len(event["told"])
        for name in ("y", "noise_std", "constraints"):
            if len(event.get(name, event["y"])) != n:
                raise OutOfShapeError(f"{place}[{name!r}] must have {n} members, as 'told' has")
        for i, row in enumerate(event.get("constraints", ())):
            values(row, f"{place}['constraints'][{i}]")
            if len(row) != len(event["constraints"][0]):
                raise OutOfShapeError(f"{place}['constraints'] must have rows of one length")
        if not space.is_dict and n:
            space.encode(event["told"])  # refuses what is outside the bounds

    return check


def require_belief(state, d, n_warps):
    """Check what an optimiser with a model has learnt; parts read themselves what is theirs."""
    fields = {
        "embedding": of_kind(dict, str, type(None)),
        "warp": whole(0, n_warps - 1),
        "counts": of_kind(list),
        "path": of_kind(list),
        "surrogate": of_kind(object),
        "feasibility": of_kind(object),
        "moved": of_kind(bool),
        "fresh": of_kind(bool),
        "unlabeled": rows(d),
        "ledger": of_kind(dict),
    }
    require(state, "state", fields, optional=["feasibility"])
    if len(state["counts"]) != 2:
        raise OutOfShapeError("state['counts'] must be two integers")
    for i, count in enumerate(state["counts"]):
        whole()(count, f"state['counts'][{i}]")
    if isinstance(state["embedding"], dict):
        _require_basis(state["embedding"], "state['embedding']", d)


def _require_basis(embedding, place, d):
    require(embedding, place, {"basis": of_kind(list, type(None))})
    basis = embedding["basis"]
    if basis is None:
        return
    require(embedding, place, {"order": of_kind(str)})
    if len(basis) != d:
        raise OutOfShapeError(f"{place}['basis'] must have {d} rows, one for every column")
    r = len(basis[0]) if isinstance(basis[0], list) else 0
    rows(r, in_cube=False)(basis, f"{place}['basis']")


@contextmanager
def as_written(what, remedy):
    """Say what is not as it was written, and what to do, where reading it fails in any way.

    Parts of the user's own restore themselves from what they wrote, and have no check here.
    """
    try:
        yield
    except OutOfShapeError as error:
        raise ValueError(f"{what} must be as it was written: {error}. {remedy}") from error
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{what} must be as it was written: {why}. {remedy}") from error


def _is_number(value):
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST
