"""Values of any type, and ranges of parameters, in words that are the same in every process."""

import re

import joblib
import numpy as np

from skbo_silbo.journal._describe import describe

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs from process to process
MOST = 6  # values of a parameter that are written out
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
        return f"{type(value).__qualname__} {joblib.hash(described)[:16]}"
    parts = {name: part for name, part in described.items() if name != "class"}
    shown = ", ".join(f"{name}={part!r}" for name, part in parts.items())
    if len(shown) > LONGEST:
        shown = joblib.hash(parts)[:16]
    return f"{described['class']}({shown})"


def range_in_words(parameter):
    """Return name and range: the ends of a distribution with its name, or the values.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from skbo_silbo.space._parse import read_parameter
    >>> range_in_words(read_parameter("C", loguniform(1e-3, 1e3)))
    'C: 0.001 to 1000 (loguniform)'
    >>> range_in_words(read_parameter("depth", range(1, 100)))
    'depth: 1, 2, 3, ..., 99'
    >>> range_in_words(read_parameter("kernel", ["rbf", "poly"]))
    "kernel: 'rbf', 'poly'"
    """
    if parameter.values is not None:
        return f"{parameter.name}: {_values(parameter.values)}"
    ends = np.array(parameter.distribution.support(), dtype=float)
    searched = parameter.decode(np.array([[-1.0], [1.0]]))
    low, high = np.where(np.isfinite(ends), ends, searched)
    kind = getattr(getattr(parameter.distribution, "dist", None), "name", None)
    return f"{parameter.name}: {low:.6g} to {high:.6g}" + (f" ({kind})" if kind else "")


def _values(values):
    words = [in_words(value) for value in values]
    return ", ".join(words if len(words) <= MOST else [*words[:3], "...", words[-1]])
