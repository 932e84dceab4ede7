"""A space as readable plain data, so that one in a file can be compared with the one at hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from skbo_silbo.journal._describe import describe
from skbo_silbo.journal._differences import differences_in_words
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space._value_words import ADDRESS


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
        {
            p.name: {key: _described(value) for key, value in p.summary().items()}
            for p in s.parameters
        }
        for s in (space.branches if isinstance(space, SpaceUnion) else [space])
    ]


def space_difference(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """Return in words the differences between two descriptions; nothing where there are none.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> old, new = (describe_space(Space({"C": values})) for values in ([1, 10], [1, 100]))
    >>> space_difference(old, new)
    'parameter C.levels was [1, 10] and is [1, 100]'
    """
    before, now = ([list(branch) for branch in space] for space in (old, new))
    if before != now:
        return f"the parameters were {before} and are {now}"  # also where only their order differs
    return differences_in_words(*(_by_name(space) for space in (old, new)))


def box_difference(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> str:
    """Return in words the differences between bounds, (d, 2), as lists."""
    return differences_in_words(
        *({f"bounds of input {j}": list(row) for j, row in enumerate(rows)} for rows in (old, new))
    )


def _by_name(branches):
    """Return the parameters of all branches, by what messages call them."""
    place = "parameter {name}" if len(branches) == 1 else "branch {b}, parameter {name}"
    return {
        place.format(b=b, name=name): parameter
        for b, branch in enumerate(branches)
        for name, parameter in branch.items()
    }


def _described(value):
    """Return what tells a value from others; its class and text where that cannot be seen."""
    if isinstance(value, list):
        return [_described(member) for member in value]
    try:
        return describe(value)
    except ValueError:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        return f"{kind}: {ADDRESS.sub('', repr(value))}"
