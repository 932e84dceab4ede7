"""A space as readable plain data, so that one in a file can be compared with the one at hand."""

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion

ADDRESS = re.compile(r" at 0x[0-9a-f]+", re.IGNORECASE)  # differs from process to process
TOLERANCE = 1e-8  # relative: versions of scipy differ in the last digits of a quantile


def describe_space(space: Space | SpaceUnion) -> list[dict[str, dict[str, Any]]]:
    """Return the parameters of a space of named parameters, as data for JSON.

    Returns
    -------
    description : list of dict
        A dict for every branch (a `Space` is its own): names to what the parameter's values are.
        Members of lists that JSON does not have are described by class and text.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> describe_space(Space({"C": [1, 10], "kernel": ["rbf", None]}))
    [{'C': {'levels': [1, 10], 'centres': [-0.5, 0.5]}, 'kernel': {'categories': ['rbf', None]}}]
    """
    return [
        {p.name: {key: _plain(value) for key, value in p.summary().items()} for p in s.parameters}
        for s in (space.branches if isinstance(space, SpaceUnion) else [space])
    ]


def space_difference(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> str | None:
    """Return in words the first difference between two descriptions, or None.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> old, new = (describe_space(Space({"C": values})) for values in ([1, 10], [1, 100]))
    >>> space_difference(old, new)
    "levels of parameter 'C' were [1, 10] and are [1, 100]"
    """
    if len(old) != len(new):
        return f"there were {len(old)} branches and are {len(new)}"
    for b, (before, now) in enumerate(zip(old, new, strict=True)):
        different = _branch_difference(before, now)
        if different is not None:
            return different + (f" in branch {b}" if len(old) > 1 else "")
    return None


def box_difference(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> str | None:
    """Return in words the first difference between bounds, (d, 2), as lists; or None."""
    if len(old) != len(new):
        return f"there were {len(old)} inputs and are {len(new)}"
    for j, (before, now) in enumerate(zip(old, new, strict=True)):
        if list(before) != list(now):
            return f"bounds of input {j} were {list(before)} and are {list(now)}"
    return None


def _branch_difference(old, new):
    if list(old) != list(new):
        return f"the parameters were {list(old)} and are {list(new)}"
    for name in old:
        before, now = old[name], new[name]
        if before.keys() != now.keys():
            return f"parameter {name!r} had {_kind(before)} and has {_kind(now)}"
        for key in before:
            if not _alike(before[key], now[key]):
                return (
                    f"{key} of parameter {name!r} were {_brief(before[key])} "
                    f"and are {_brief(now[key])}"
                )
    return None


def _alike(a, b):
    """Whether two described values are the same; floats up to the last digits."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        if all(isinstance(v, float) for v in [*a, *b]):
            scale = max(map(abs, [*a, *b]), default=0.0)
            return np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE**2 * scale)
        return all(map(_alike, a, b))
    return type(a) is type(b) and a == b


def _plain(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, list):
        return [_plain(member) for member in value]
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}: {ADDRESS.sub('', repr(value))}"


def _kind(description):
    return " and ".join(description)


def _brief(value):
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
