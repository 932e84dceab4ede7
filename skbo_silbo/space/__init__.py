"""Search spaces: boxes, and named parameters of mixed types, encoded in the cube [-1, 1]^m."""

from skbo_silbo.space._box import Box
from skbo_silbo.space._domains import ParameterDomain, parameter_domains
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion
from skbo_silbo.space.default_ranges import default_space
from skbo_silbo.space.keys import SpaceExhausted, draw_unseen, key_of

__all__ = [
    "Box",
    "ParameterDomain",
    "Space",
    "SpaceExhausted",
    "SpaceUnion",
    "default_space",
    "draw_unseen",
    "key_of",
    "parameter_domains",
]
