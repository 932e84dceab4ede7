"""What an object is, apart from what it counts and keeps while it is used."""

from collections.abc import Callable
from typing import Any

from skbo_silbo.journal._describe import describe
from skbo_silbo.journal._differences import text_of

CHANGES = "changes while it is used"


def describe_lasting(value: object, use: Callable[[], object]) -> Any:
    """Return what a value is, as `describe` has it, whatever has been made of it before.

    Where using it changes it, as one that counts its calls or remembers their results, the parts
    that change are left out, and nested functions are described part by part.

    Parameters
    ----------
    value : object
    use : callable
        Uses the value. Called twice: a part that only the first use makes is there before the
        second.

    Raises
    ------
    ValueError
        As `describe` does.

    Examples
    --------
    >>> class Counting:
    ...     def __init__(self, limit):
    ...         self.limit, self.n_calls = limit, 0
    ...     def __call__(self, x):
    ...         self.n_calls += 1
    ...         return x - self.limit
    >>> counting = Counting(3)
    >>> described = describe_lasting(counting, lambda: counting(0.0))
    >>> described["limit"], described["n_calls"]
    (3, 'changes while it is used')
    """
    unused = describe(value, opened=True)
    use()
    closed, before = describe(value), describe(value, opened=True)
    use()
    if text_of(closed) == text_of(describe(value)):
        lasting = _not_made_by_use(unused, before)
        return closed if CHANGES not in text_of(lasting) else lasting
    return _not_made_by_use(unused, _what_stays(before, describe(value, opened=True)))


def agreeing(then: Any, now: Any) -> tuple[Any, Any]:
    """Return two descriptions of `describe_lasting`, what changes in either left out of both.

    Which parts of an object its use changes may depend on what it was used with.

    Examples
    --------
    >>> agreeing({"limit": 3, "seen": CHANGES}, {"limit": 3, "seen": 7})[1]
    {'limit': 3, 'seen': 'changes while it is used'}
    """
    if CHANGES in (then, now):
        return CHANGES, CHANGES
    if isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys():
        pairs = {key: agreeing(then[key], now[key]) for key in then}
        return {key: pair[0] for key, pair in pairs.items()}, {
            key: pair[1] for key, pair in pairs.items()
        }
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        parts = [agreeing(*pair) for pair in zip(then, now, strict=True)]
        return [part[0] for part in parts], [part[1] for part in parts]
    return then, now


def _not_made_by_use(unused, used):
    """Return what was the same before any use; what use has added stays."""
    if isinstance(unused, dict) and isinstance(used, dict) and "digest" not in used:
        return {k: _not_made_by_use(unused[k], v) if k in unused else v for k, v in used.items()}
    if isinstance(unused, list) and isinstance(used, list) and _are_objects(unused, used):
        return [_not_made_by_use(*pair) for pair in zip(unused, used, strict=True)]
    return used if text_of(unused) == text_of(used) else CHANGES


def _what_stays(before, after):
    if text_of(before) == text_of(after):
        return before
    is_dict = isinstance(before, dict) and isinstance(after, dict)
    if is_dict and before.keys() == after.keys() and "digest" not in before:
        return {key: _what_stays(before[key], after[key]) for key in before}
    if isinstance(before, list) and isinstance(after, list) and _are_objects(before, after):
        return [_what_stays(*pair) for pair in zip(before, after, strict=True)]
    return CHANGES


def _are_objects(before, after):
    """Whether to look into lists: one of plain values changes as a whole."""
    is_object = any(isinstance(part, dict) and "class" in part for part in before)
    return is_object and len(before) == len(after)
