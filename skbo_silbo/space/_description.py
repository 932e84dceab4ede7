"""A space as readable plain data, so that one in a file can be compared with the one at hand."""

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo.journal._describe import describe
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion, branches_of
from skbo_silbo.space._value_words import ADDRESS

TOLERANCE = 1e-8  # relative: versions of scipy differ in the last digits of a quantile


def describe_space(space: Space | SpaceUnion) -> list[dict[str, dict[str, Any]]]:
    """Return the parameters of a space of named parameters, as data for JSON.

    Parameters
    ----------
    space : Space or SpaceUnion

    Returns
    -------
    description : list of dict
        A dict for every branch (a `Space` is its own): names to what the parameter's values are.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> describe_space(Space({"C": [1, 10], "kernel": ["rbf", None]}))
    [{'C': {'levels': [1, 10], 'centres': [-0.5, 0.5]}, 'kernel': {'categories': ['rbf', None]}}]
    """
    return [
        {p.name: {k: _plain(v) for k, v in p.summary().items()} for p in s.parameters}
        for s in branches_of(space)
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
                return _in_words(f"{key} of parameter {name!r}", before[key], now[key])
    return None


def _in_words(what, before, now):
    """Return two values that differ; of two long lists the members that do."""
    shown = brief(before), brief(now)
    pairs = list(zip(before, now, strict=False)) if isinstance(before, list) else []
    i = next((i for i, pair in enumerate(pairs) if not _alike(*pair)), None)
    is_object = i is not None and any(isinstance(one, (dict, str)) for one in pairs[i])
    if is_object and any(text.endswith("...") for text in shown):
        return f"{i} of {what} was {brief(before[i])} and is {brief(now[i])}"
    return f"{what} were {shown[0]} and are {shown[1]}"


def _alike(a, b):
    """Whether two described values are the same; floats up to the last digits."""
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        if all(isinstance(v, float) for v in [*a, *b]):
            scale = max(map(abs, [*a, *b]), default=0.0)
            return np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE**2 * scale)
        return all(map(_alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
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
    if isinstance(value, tuple):
        return {"class": "builtins.tuple", "members": [_plain(v) for v in value]}
    return _described(value)


def _described(value):
    """Return what tells an object from others; its class and text where that cannot be seen."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    try:
        described = describe(value)
    except ValueError:
        return f"{kind}: {ADDRESS.sub('', repr(value))}"
    return described if isinstance(described, dict) else {"class": kind, "is": described}


def _kind(description):
    return " and ".join(description)
