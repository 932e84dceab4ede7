"""Search spaces: boxes of numbers and named, mixed parameters, seen as one cube [-1, 1]^m."""

from skbo_silbo.space._box import Box
from skbo_silbo.space._space import Space, as_space

__all__ = ["Box", "Space", "as_space"]
