"""The acquisition as a function of points of the cube, and what a search of it returns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._acquisition_functions import AcquisitionFunction
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.embedding import Embedding
from skbo_silbo.space._keys import first_rows
from skbo_silbo.surrogate import Surrogate
from skbo_silbo.surrogate._feasibility import Feasibility

MOST_ROWS = 4096  # predicted at once: all points of a discrete space are many


@dataclass(frozen=True, eq=False)
class AcquisitionSurface:
    """The acquisition as a function of x.

    Attributes
    ----------
    acquisition : AcquisitionFunction
    surrogate : Surrogate
    embedding : Embedding
    best : float
        The lowest value so far.
    feasibility : Feasibility or None
        Of learnt constraints: its log probability is added to the acquisition, which must be a
        logarithm then.
    observed : Surrogate or None
        The surrogate of the observed values alone; `surrogate` has predicted values of pending
        points besides.
    part : Part or None
        Of the space: where parameters are fixed or constraints are known.
    """

    acquisition: AcquisitionFunction
    surrogate: Surrogate
    embedding: Embedding
    best: float
    feasibility: Feasibility | None = None
    observed: Surrogate | None = None
    part: Part | None = None

    def values(self, X: FloatArray) -> FloatArray:
        """Return the acquisition at the rows of X, of shape (n,)."""
        if len(X) > MOST_ROWS:
            starts = range(0, len(X), MOST_ROWS)
            return np.concatenate([self.values(X[i : i + MOST_ROWS]) for i in starts])
        mean, std = self.surrogate.predict(self.embedding.project(X))
        values = self.acquisition(mean, std, self.best)
        return values if self.feasibility is None else values + self.feasibility.log_probability(X)

    def values_at(self, Z: FloatArray) -> FloatArray:
        """Return the acquisition at coordinates Z, (n, r), of shape (n,).

        Constraints are evaluated where the point of least norm with these coordinates is.
        """
        values = self.acquisition(*self.surrogate.predict(Z), self.best)
        if self.feasibility is None:
            return values
        X = np.clip(self.embedding.expand(Z), -1.0, 1.0)
        return values + self.feasibility.log_probability(X)

    @property
    def relevance(self) -> FloatArray:
        """How much the surrogate lets every input matter, (d,), >= 0.

        For an embedding the norm of the relevances of the coordinates that the input acts through.
        """
        basis, relevance = self.embedding.basis, self.surrogate.relevance_
        return relevance if basis is None else np.sqrt(basis**2 @ relevance**2)

    def value_and_gradient(self, x: FloatArray, sign: float = 1.0) -> tuple[float, FloatArray]:
        """Return the acquisition at one point x, (d,), and its gradient, (d,).

        Both are multiplied by `sign`: a minimiser of scipy takes -1 as one of its ``args``.
        """
        Z = self.embedding.project(x[None])
        mean, std, mean_by_z, std_by_z = self.surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        by_z = by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z
        gradient = self.embedding.pull_back(by_z)[0]
        if self.feasibility is None:
            return sign * value[0], sign * gradient
        weight, weight_by_x = self.feasibility.log_probability_gradient(x[None])
        return sign * (value[0] + weight[0]), sign * (gradient + weight_by_x[0])


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
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator, /
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
