"""Names of the types that public signatures share."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds

__all__ = [
    "ArrayLike",
    "BoundsLike",
    "FloatArray",
    "Options",
    "Point",
    "Points",
    "RandomState",
]

FloatArray: TypeAlias = NDArray[np.float64]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
BoundsLike: TypeAlias = ArrayLike | Bounds | Mapping[str, Any] | list[Mapping[str, Any]] | Any
Point: TypeAlias = FloatArray | dict[str, Any]
Points: TypeAlias = FloatArray | list[dict[str, Any]]
Options: TypeAlias = Mapping[str, Any]
