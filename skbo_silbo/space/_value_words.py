"""Values of any type in words that are the same in every process."""

import json
import re

from skbo_silbo.journal._describe import describe, digest

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs from process to process
LONGEST = 60  # characters of an object's parts that are written out


def in_words(value):
    """Return the text of a value: its repr, unless that holds an address in memory.

    Functions then are module and name (lambdas with a digest of their code), objects their class
    and parts, or a digest of these; what cannot be described is its repr without the address.

    Examples
    --------
    >>> class Wall:
    ...     def __init__(self, width):
    ...         self.width = width
    >>> in_words(1.5), in_words(Wall(3)).partition("(")[2]
    ('1.5', 'width=3)')
    """
    text = repr(value)
    if not ADDRESS.search(text):
        return text
    try:
        described = describe(value)
    except ValueError:
        return ADDRESS.sub("", text)
    if isinstance(described, str):
        return described
    if not isinstance(described, dict) or "class" not in described:
        return f"{type(value).__qualname__} {digest(json.dumps(described).encode())}"
    parts = {name: part for name, part in described.items() if name != "class"}
    shown = ", ".join(f"{name}={part!r}" for name, part in parts.items())
    if len(shown) > LONGEST:
        shown = digest(json.dumps(parts, sort_keys=True).encode())
    return f"{described['class']}({shown})"
