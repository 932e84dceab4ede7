"""Search spaces: boxes of numbers and named, mixed parameters, seen as one cube [-1, 1]^m."""

from skbo_silbo.space._box import Box
from skbo_silbo.space._description import (
    box_difference,
    describe_space,
    space_difference,
)
from skbo_silbo.space._domains import ParameterDomain, parameter_domains
from skbo_silbo.space._keys import (
    SpaceExhausted,
    draw_unseen,
    first_rows,
    key_of,
    keys_of,
    require_left,
)
from skbo_silbo.space._read import AnySpace, as_space, refuse_intervals, warn_of_intervals
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion

__all__ = [
    "AnySpace",
    "Box",
    "ParameterDomain",
    "Space",
    "SpaceExhausted",
    "SpaceUnion",
    "as_space",
    "box_difference",
    "describe_space",
    "draw_unseen",
    "first_rows",
    "key_of",
    "keys_of",
    "parameter_domains",
    "refuse_intervals",
    "require_left",
    "space_difference",
    "warn_of_intervals",
]
