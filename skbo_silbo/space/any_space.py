"""Convert the search spaces that users may pass to a Box, Space or SpaceUnion."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import BoundsLike
from skbo_silbo.space._box import Box
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space.values import describe_pair, is_interval

NamedSpace: TypeAlias = Space | SpaceUnion
AnySpace: TypeAlias = NamedSpace | Box


def branches_of(space: AnySpace) -> list[Space]:
    """Return the branches of a union, [space] for a single space, and [] for a box."""
    if isinstance(space, Box):
        return []
    return space.branches if isinstance(space, SpaceUnion) else [space]


def as_space(bounds: BoundsLike, scale: str | Sequence[str | None] | None = None) -> AnySpace:
    """Create a search space from bounds, a dict or a list of dicts.

    Parameters
    ----------
    bounds : Space, SpaceUnion, Box, dict, list of dicts, array-like of shape (d, 2) or \
scipy.optimize.Bounds
        The search space to convert. A dict becomes a `Space`, a list of several dicts a
        `SpaceUnion`, and an array or `Bounds` a `Box`.
    scale : "log", list of "log" and None, or None, default=None
        Scale on which the inputs of a `Box` are searched, as in `Box`.

    Returns
    -------
    space : Space, SpaceUnion or Box
        The converted search space, or `bounds` itself if it already is a search space.

    Raises
    ------
    ValueError
        If the space is invalid, if bounds leave no input free, or if `scale` is passed together
        with named parameters.

    Examples
    --------
    >>> as_space([(0, 1), (0, 2)])
    Box(d=2)
    >>> as_space({"C": [1, 10]})
    Space(C: 1, 10)
    >>> as_space([{"C": [1, 10]}, {"nu": [0.1, 0.5]}])
    SpaceUnion(Space(C: 1, 10), Space(nu: 0.1, 0.5))
    """
    if scale is not None:
        space = as_space(bounds)
        if not isinstance(space, Box):
            raise ValueError(
                f"`scale` must be None for named parameters, got {brief(scale)}. Use a "
                "distribution such as scipy.stats.loguniform(low, high) instead."
            )
        return Box(np.column_stack([space.lower, space.upper]), scale)
    if isinstance(bounds, (Space, SpaceUnion, Box)):
        return bounds
    if isinstance(bounds, Mapping):
        return Space(bounds)
    if isinstance(bounds, (list, tuple)) and any(isinstance(b, (Mapping, Space)) for b in bounds):
        branches = [b if isinstance(b, Space) else Space(b) for b in bounds]
        return SpaceUnion(branches) if len(branches) > 1 else branches[0]
    box = Box(bounds)
    if not box.n_features_:
        raise ValueError(
            "`bounds` must leave at least one input free, but every lower bound equals its upper "
            f"bound, got {brief(bounds)}. Pass one (low, high) pair per input."
        )
    return box


def refuse_intervals(bounds: BoundsLike) -> None:
    """Raise an error if the values of a parameter are a tuple of two increasing numbers.

    Such a tuple is ambiguous. In an array of bounds, ``(0, 1)`` is an interval; in scikit-learn's
    searches, it is a list of two values.

    Raises
    ------
    ValueError
        If a parameter is such a tuple. The message shows how to write either meaning.

    Examples
    --------
    >>> refuse_intervals({"lr": [0.0, 1.0], "shape": (3, 5, 7)})
    >>> refuse_intervals({"lr": (0.0, 1.0)})
    Traceback (most recent call last):
    ...
    ValueError: Parameter 'lr' is a tuple of two numbers, (0.0, 1.0), which may mean an interval or
    two values. Write scipy.stats.uniform(0.0, 1.0) for the interval or the list [0.0, 1.0] for the
    two values.
    """
    branches = bounds if isinstance(bounds, (list, tuple)) else [bounds]
    parameters = [item for b in branches if isinstance(b, Mapping) for item in b.items()]
    for name, values in parameters:
        if is_interval(values):
            raise ValueError(describe_pair(name, values))
