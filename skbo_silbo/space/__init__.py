"""Search spaces: boxes of numbers and named, mixed parameters, seen as one cube [-1, 1]^m."""

from skbo_silbo.space._box import Box
from skbo_silbo.space._description import box_difference as box_difference
from skbo_silbo.space._description import describe_space as describe_space
from skbo_silbo.space._description import same_columns as same_columns
from skbo_silbo.space._description import space_difference as space_difference
from skbo_silbo.space._domains import ParameterDomain, parameter_domains
from skbo_silbo.space._keys import SpaceExhausted, draw_unseen, key_of
from skbo_silbo.space._keys import first_rows as first_rows
from skbo_silbo.space._keys import keys_of as keys_of
from skbo_silbo.space._keys import require_left as require_left
from skbo_silbo.space._read import AnySpace as AnySpace
from skbo_silbo.space._read import as_space as as_space
from skbo_silbo.space._read import refuse_intervals as refuse_intervals
from skbo_silbo.space._read import warn_of_intervals as warn_of_intervals
from skbo_silbo.space._space import Space
from skbo_silbo.space._union import SpaceUnion

__all__ = [  # what the reference has; the other names are for the packages above
    "Box",
    "ParameterDomain",
    "Space",
    "SpaceExhausted",
    "SpaceUnion",
    "draw_unseen",
    "key_of",
    "parameter_domains",
]
