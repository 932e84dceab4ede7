"""What has changed from one piece of plain data to the next, so that only that is written."""

from typing import Any

SET, ADDED, INSIDE = "=", "+", "in"


def changes(old: Any, new: Any) -> dict[str, Any]:
    """Return by what plain data differ from older ones, in plain JSON.

    Examples
    --------
    >>> changes({"rows": [1], "n": 1, "seed": 7}, {"rows": [1, 2], "n": 2, "seed": 7})
    {'in': {'rows': {'+': [2]}, 'n': {'=': 2}}}
    """
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return {INSIDE: {k: changes(old[k], new[k]) for k in new if not _same(old[k], new[k])}}
    if isinstance(old, list) and isinstance(new, list) and old and _same(old, new[: len(old)]):
        return {ADDED: new[len(old) :]}
    return {SET: new}


def changed(old: Any, change: dict[str, Any]) -> Any:
    """Return the data that `changes` was given last.

    Raises
    ------
    AttributeError, LookupError, TypeError
        If the change is of something else.

    Examples
    --------
    >>> changed({"rows": [1], "n": 1}, {"in": {"rows": {"+": [2]}}})
    {'rows': [1, 2], 'n': 1}
    """
    if INSIDE in change:
        return {**old, **{key: changed(old[key], c) for key, c in change[INSIDE].items()}}
    return [*old, *change[ADDED]] if ADDED in change else change[SET]


def _same(old, new):
    return old == new and repr(old) == repr(new)  # 0.0 is -0.0 and True is 1 otherwise
