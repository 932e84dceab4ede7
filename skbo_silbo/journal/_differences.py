"""Where two descriptions differ, to the leaf, and what of one lasts while it is used."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from skbo_silbo.journal._describe import describe

SHOWN = 5  # differences that a message names
CHANGES = "changes while it is used"
REMEDY = "Search as before, or give another path."


def require_same(old: Any, new: Any, path: str, remedy: str = REMEDY) -> None:
    """Refuse a description that is not that of a journal, naming the differences.

    Parameters
    ----------
    old, new : object
        What a journal has and what is now, as `describe` returns it.
    path : str
        Of the journal.
    remedy : str, default="Search as before, or give another path."

    Raises
    ------
    ValueError
        Unless they are the same.
    """
    shown = differences_in_words(old, new)
    if shown:
        raise ValueError(
            f"journal must be of the same search: {path!r} is of another one. {shown}. {remedy}"
        )


def differences_in_words(old: Any, new: Any) -> str:
    """Return the first differences between two descriptions; nothing where there are none."""
    found = differences(old, new)
    return "; ".join(f"{where} was {_short(a)} and is {_short(b)}" for where, a, b in found)


def differences(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (place, old, new) for the first differences between two descriptions."""
    yield from list(_differences(old, new, where))[:SHOWN]


def _differences(old, new, where):
    """Yield the parts that differ; all of it where the parts that are compared do not say how."""
    if text_of(old) == text_of(new):
        return
    parts, others, found = _parts(old), _parts(new), []
    if _is_like(old, new, parts, others):
        for key in dict.fromkeys([*parts, *others]):
            inner = f"{where}.{key}" if where else key
            found += _differences(parts.get(key, "absent"), others.get(key, "absent"), inner)
    yield from found or [(where, old, new)]


def text_of(value):
    """Return what tells values apart, 1, 1.0 and True too; the order of keys says nothing."""
    return json.dumps(value, sort_keys=True)


def _parts(value):
    """Return the parts of a description that are compared one by one; None if it is one itself."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not any(isinstance(part, dict | list) for part in value):
        return None
    return _steps(value) or {str(i): part for i, part in enumerate(value)}


def _steps(parts):
    """Return (name, rest) members, as those of a Pipeline, by name; None if they are others."""
    if not all(isinstance(part, list) and part and isinstance(part[0], str) for part in parts):
        return None
    if not any(isinstance(part, dict) for _, *rest in parts for part in rest):
        return None
    steps = {name: rest[0] if len(rest) == 1 else rest for name, *rest in parts}
    return steps if len(steps) == len(parts) else None


def _is_like(old, new, parts, others):
    """Whether to compare part by part; the parameters of another class say nothing."""
    if parts is None or others is None or type(old) is not type(new):
        return False
    if isinstance(old, list):
        return list(parts) == list(others)
    return old.get("class") == new.get("class")


def _short(value):
    if isinstance(value, dict) and (value.keys() == {"float"} or "class" in value):
        value = value.get("float", value.get("class"))
    if isinstance(value, list):
        value = list(_steps(value) or value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


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
