"""Where two descriptions differ, in words: a search that is another one is refused."""

import json
from collections.abc import Iterator
from typing import Any

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import CODE

SHOWN = 5  # differences that a message names


def require_same(old: Any, new: Any, path: str) -> None:
    """Refuse a description that is not that of a journal, naming the differences.

    Parameters
    ----------
    old, new : object
        What a journal has and what is now, as `describe` returns it.
    path : str
        Of the journal.

    Raises
    ------
    ValueError
        Unless they are the same, but for the text of functions, of which a warning says.
    """
    if shown := differences_in_words(old, new):
        raise ValueError(
            f"journal must be of the same search: {path!r} is of another one. {shown}. Search as "
            "before, or give another path. What is not to be compared of an object is left out in "
            "the __getstate__ of its class."
        )
    warn_of_functions(old, new, f"journal {path!r}")


def warn_of_functions(old: Any, new: Any, holder: str) -> None:
    """Warn of functions whose text is not that of then, though their names are.

    Parameters
    ----------
    old, new : object
        What `holder`, a text, has and what is now, as `describe` returns it.
    """
    changed = [where.rpartition(".")[0] for where, *_ in _leaves(old, new) if _is_code(where)]
    if changed:
        warn_user(
            f"{holder} was written with other functions of these names, or bound to other values: "
            f"{', '.join(changed)}. Nothing is lost, and the search goes on from what it has. Give "
            "another path if they decide otherwise now; go on if they would say the same."
        )


def differences_in_words(old: Any, new: Any) -> str:
    """Return the first differences between two descriptions; nothing where there are none."""
    found = [leaf for leaf in _leaves(old, new) if not _is_code(leaf[0])][:SHOWN]
    return "; ".join(f"{where} was {_short(a)} and is {_short(b)}" for where, a, b in found)


def _leaves(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (place, old, new) of the parts that differ; the parameters of another class say none.

    1, 1.0 and True are different; the order of keys says nothing.
    """
    if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True):
        return
    parts, others = _parts(old), _parts(new)
    if parts is None or others is None or parts.get("class") != others.get("class"):
        yield where, old, new
        return
    for key in dict.fromkeys([*parts, *others]):
        inner = f"{where}.{key}" if where else key
        yield from _leaves(parts.get(key, "absent"), others.get(key, "absent"), inner)


def _is_code(where):
    return where.rpartition(".")[2] == CODE


def _parts(value):
    """Return the parts of a description that are compared one by one; None if it is one itself."""
    if not isinstance(value, list) or not any(isinstance(part, (dict, list)) for part in value):
        return value if isinstance(value, dict) else None
    parts = {str(i): part for i, part in enumerate(value)}
    if all(isinstance(part, list) and part and isinstance(part[0], str) for part in value):
        steps = {name: _only(rest) for name, *rest in value}  # as those of a Pipeline
        return {**steps, "order": list(steps)} if len(steps) == len(value) else parts
    return parts


def _only(rest):
    return rest[0] if len(rest) == 1 and isinstance(rest[0], dict) else rest


def _short(value):
    if isinstance(value, dict) and (value.keys() == {"float"} or "class" in value):
        value = value.get("float", value.get("class"))
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
