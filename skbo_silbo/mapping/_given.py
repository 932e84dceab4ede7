"""A mapping of the user's own, with `lift` and `carry` alone."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._checks import check_members
from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import Embedding
from skbo_silbo.mapping._mapping_protocol import FullMapping, Mapping


@dataclass(frozen=True)
class GivenMapping(FullMapping):
    """A mapping of two methods as one that the loop can work with.

    Points stay when the embedding changes, and every point is made from coordinates.

    Attributes
    ----------
    given : Mapping
    """

    given: Mapping

    keeps_coordinates = False

    def lift(self, Z: FloatArray, embedding: Embedding, incumbent: FloatArray | None) -> FloatArray:
        """Return what the mapping given does, after a look at it."""
        X = np.asarray(self.given.lift(Z, embedding, incumbent), dtype=float)
        self._check_shape("lift", X, (len(Z), embedding.d))
        if not (np.abs(X) <= 1.0).all():
            raise ValueError(
                f"lift of {self.given!r} must return points of the cube [-1, 1]^d: got values from "
                f"{X.min():g} to {X.max():g}. Clip them: np.clip(X, -1, 1)."
            )
        return X

    def carry(self, X: FloatArray, embedding: Embedding) -> FloatArray:
        """Return what the mapping given does, after a look at it."""
        Z = np.asarray(self.given.carry(X, embedding), dtype=float)
        self._check_shape("carry", Z, (len(X), embedding.r))
        if not np.isfinite(Z).all():
            raise ValueError(
                f"carry of {self.given!r} must return finite coordinates: got "
                f"{(~np.isfinite(Z)).sum()} of {Z.size} that are not. Start from "
                "embedding.project(X)."
            )
        return Z

    def _check_shape(self, method, values, shape):
        if values.shape != shape:
            raise ValueError(
                f"{method} of {self.given!r} must return an array of shape {shape}, a row for each "
                f"of its first argument: got {values.shape}. Try skbo_silbo.testing.check_mapping."
            )


def as_mapping(mapping: Mapping) -> FullMapping:
    """Return a mapping that the loop can work with.

    Raises
    ------
    ValueError
        When `lift` or `carry` is missing, or it is a class.
    """
    check_members("mapping", mapping, Mapping)
    return mapping if isinstance(mapping, FullMapping) else GivenMapping(mapping)
