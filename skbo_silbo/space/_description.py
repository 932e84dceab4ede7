"""A space as readable plain data, so that one in a file can be compared with the one at hand."""

from typing import Any

from skbo_silbo.journal._describe import describe
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion, branches_of
from skbo_silbo.space._value_words import in_words


def describe_space(space: Space | SpaceUnion) -> list[list[list[Any]]]:
    """Return the parameters of a space of named parameters, as data for JSON.

    Parameters
    ----------
    space : Space or SpaceUnion

    Returns
    -------
    description : list of list of [str, dict]
        For every branch (a `Space` is its own) the parameters in order: name, and what the values
        are.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> describe_space(Space({"C": [1, 10], "kernel": ["rbf", None]}))
    [[['C', {'levels': [1, 10], 'centres': [-0.5, 0.5]}],
      ['kernel', {'categories': ['rbf', None]}]]]
    """
    return [
        [[p.name, {k: _described(v) for k, v in p.summary().items()}] for p in branch.parameters]
        for branch in branches_of(space)
    ]


def _described(value):
    """Return what tells a value from others; its text where they cannot be seen."""
    if isinstance(value, list):
        return [_described(member) for member in value]
    try:
        return describe(value)
    except ValueError:
        return in_words(value)
