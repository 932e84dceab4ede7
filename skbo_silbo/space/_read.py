"""Reading what a user may give as a search space."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from skbo_silbo._typing import BoundsLike
from skbo_silbo.space._box import Box
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space._values import interval, is_interval

AnySpace: TypeAlias = Space | SpaceUnion | Box


def as_space(bounds: BoundsLike, scale: str | Sequence[str | None] | None = None) -> AnySpace:
    """Return the search space that `bounds` describes.

    Parameters
    ----------
    bounds : Space, SpaceUnion, Box, dict, list of dicts, array-like of shape (d, 2) or \
scipy.optimize.Bounds
        A dict is read as a `Space`, a list of dicts as a `SpaceUnion` (of one, as a `Space`), an
        array or `Bounds` as a `Box`.
    scale : "log", list of "log" and None, or None, default=None
        Of a `Box`.

    Returns
    -------
    space : Space, SpaceUnion or Box
        Given back itself if it is one already.

    Raises
    ------
    ValueError
        As `Space`, `SpaceUnion` and `Box` do; and if there is a scale for named parameters.

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
                "scale must be None for named parameters, whose distributions say it: got "
                f"{scale!r}. Write scipy.stats.loguniform(low, high) for a parameter."
            )
        return Box(np.column_stack([space.lower, space.upper]), scale)
    if isinstance(bounds, (Space, SpaceUnion, Box)):
        return bounds
    if isinstance(bounds, Mapping):
        return Space(bounds)
    if isinstance(bounds, (list, tuple)) and any(isinstance(b, (Mapping, Space)) for b in bounds):
        return SpaceUnion(bounds) if len(bounds) > 1 else as_space(bounds[0])
    return Box(bounds)


def refuse_intervals(bounds: BoundsLike) -> None:
    """Refuse a dict, or dicts, in which a tuple of two increasing numbers is a parameter.

    In an array of bounds ``(0, 1)`` is an interval; for scikit-learn's searches it is two values.
    Where both habits meet, nothing is guessed. In a `Space` it is two values, with a warning.

    Raises
    ------
    ValueError
        Naming both readings.

    Examples
    --------
    >>> refuse_intervals({"lr": [0.0, 1.0], "shape": (3, 5, 7)})
    >>> refuse_intervals({"lr": (0.0, 1.0)})
    Traceback (most recent call last):
    ...
    ValueError: parameter 'lr' must not be a tuple of two numbers, which can be read as an interval
    or as two values: got (0.0, 1.0). Write scipy.stats.uniform(0.0, 1.0) for the interval from 0.0
    to 1.0 or the list [0.0, 1.0] for the two values.
    """
    branches = bounds if isinstance(bounds, (list, tuple)) else [bounds]
    parameters = [item for b in branches if isinstance(b, Mapping) for item in b.items()]
    for name, values in parameters:
        if is_interval(values):
            low, high = values
            raise ValueError(
                f"parameter {name!r} must not be a tuple of two numbers, which can be read as an "
                f"interval or as two values: got {values!r}. Write {interval(low, high)} for the "
                f"interval from {low!r} to {high!r} or the list [{low!r}, {high!r}] for the two "
                "values."
            )
