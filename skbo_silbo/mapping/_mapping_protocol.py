"""What the loop asks of a mapping between coordinates z and points x of the cube."""

from typing import Protocol, runtime_checkable

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import Embedding


class Mapping(Protocol):
    """The two methods of a mapping: all that one of your own needs."""

    def lift(
        self, Z: FloatArray, embedding: Embedding, incumbent: FloatArray | None, /
    ) -> FloatArray:
        """Return points of the cube, (m, d), for coordinates Z, (m, r).

        `incumbent`, (d,), is the best point known, None where there is none to be near.
        """

    def carry(self, X: FloatArray, embedding: Embedding, /) -> FloatArray:
        """Return the coordinates, (n, r), of evaluated points X, (n, d), under this embedding."""


@runtime_checkable
class FullMapping(Mapping, Protocol):
    """What the loop works with; it makes one of any `Mapping`.

    A class that derives from it makes every point from coordinates, by `lift` alone, unless it
    says otherwise.
    """

    keeps_coordinates: bool
    """Whether coordinates stay, and points move, when the embedding changes."""

    def carry(self, X: FloatArray, embedding: Embedding) -> FloatArray:
        """Return the coordinates, (n, r), of points X that were not made from coordinates."""
        return embedding.project(X)

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return points of the cube, (m, d), for coordinates that a search found.

        X are the points that it found them at, None where only coordinates were searched.
        """
        return self.lift(Z, embedding, incumbent)

    def refine(
        self, x: FloatArray, z: FloatArray, embedding: Embedding, rng: np.random.Generator
    ) -> FloatArray:
        """Return the point to evaluate, given the one chosen, (d,): a costlier preimage, or x."""
        return x
