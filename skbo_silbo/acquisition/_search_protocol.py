"""What the loop asks of an acquisition function and of a search for where it is largest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.space._keys import first_rows

if TYPE_CHECKING:
    from skbo_silbo.acquisition._surface import AcquisitionSurface


class AcquisitionFunction(Protocol):
    """What a point is worth, from what the surrogate says of it; larger is better."""

    def __call__(
        self,
        mean: FloatArray,
        std: FloatArray,
        best: float,
        /,
        *,
        return_gradient: bool = False,
    ) -> Any:
        """Return values, (n,); with `return_gradient` also their derivatives by mean and std.

        Parameters
        ----------
        mean, std : ndarray of shape (n,)
            What the surrogate says of each point, std positive, on the scale on which it sees the
            values; these are minimised.
        best : float
            The lowest mean at a point told or pending: noise makes values too low.
        return_gradient : bool
        """


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found, best acquisition first.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates in the embedding.
    X : ndarray of shape (m, d) or None
        The points of the space that they are of; None where only coordinates were searched.
    """

    Z: FloatArray
    X: FloatArray | None = None

    def portions(self, size: int) -> "Iterator[Found]":
        """Yield the rows whose coordinates no row before has: `size`, then twice as many, ..."""
        rows = first_rows(self.Z)
        while rows:
            some, rows = rows[:size], rows[size:]
            yield Found(self.Z[some], None if self.X is None else self.X[some])
            size *= 2


class Search(Protocol):
    """A way to find where the acquisition is largest."""

    def find(
        self,
        surface: "AcquisitionSurface",
        ranked: FloatArray,
        space: SpaceLike,
        rng: np.random.Generator,
        /,
    ) -> Found:
        """Return the best candidates as `Found`.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The points evaluated, the lowest value first.
        space : Space or Box
            Points are rounded to it.
        rng : numpy.random.Generator
            The only source of random numbers.
        """
