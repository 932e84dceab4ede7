"""A mapping of the user's own, with `lift` and `carry` alone."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._checks import check_members
from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import Embedding
from skbo_silbo.mapping._mapping_protocol import FoundLike, FullMapping, Mapping


@dataclass(frozen=True)
class GivenMapping:
    """A mapping of two methods as one that the loop can work with.

    Points stay when the embedding changes, and every point is made from coordinates.

    Attributes
    ----------
    given : Mapping
    """

    given: Mapping

    keeps_coordinates = False

    def lift(self, Z: FloatArray, embedding: Embedding, incumbent: FloatArray | None) -> FloatArray:
        """Return what the mapping given does."""
        return self.given.lift(Z, embedding, incumbent)

    def carry(self, X: FloatArray, embedding: Embedding) -> FloatArray:
        """Return what the mapping given does."""
        return self.given.carry(X, embedding)

    def place(
        self, found: FoundLike, embedding: Embedding, incumbent: FloatArray | None
    ) -> FloatArray:
        """Return the points of the coordinates that a search found."""
        return self.lift(found.Z, embedding, incumbent)

    def settle(
        self, x: FloatArray, z: FloatArray, embedding: Embedding, rng: np.random.Generator
    ) -> FloatArray:
        """Return x."""
        return x


def as_mapping(mapping: Mapping) -> FullMapping:
    """Return a mapping that the loop can work with.

    Raises
    ------
    ValueError
        When `lift` or `carry` is missing, or it is a class.
    """
    check_members("mapping", mapping, Mapping)
    return mapping if isinstance(mapping, FullMapping) else GivenMapping(mapping)
