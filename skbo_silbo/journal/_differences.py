"""Where two descriptions differ, to the leaf."""

import json
from collections.abc import Iterator
from typing import Any

SHOWN = 5  # differences that a message names
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
