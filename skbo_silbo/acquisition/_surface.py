"""The acquisition function on the search space, and the protocol for maximising it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._acquisition_functions import AcquisitionFunction
from skbo_silbo.acquisition._restricted_space import Part
from skbo_silbo.embedding import Embedding
from skbo_silbo.space.keys import first_rows
from skbo_silbo.surrogate import Surrogate
from skbo_silbo.surrogate._feasibility import Feasibility

MOST_ROWS = 4096  # predicted at once, to bound the memory for large discrete spaces


@dataclass(frozen=True, eq=False)
class AcquisitionSurface:
    """The acquisition function as a function of points x.

    Attributes
    ----------
    acquisition : AcquisitionFunction
    surrogate : Surrogate
    embedding : Embedding
    best : float
        The value to improve on.
    feasibility : Feasibility or None
        Models of learnt constraints. Their log probability of feasibility is added to the
        acquisition function, which must be a logarithm.
    observed : Surrogate or None
        The surrogate of the observed values only; `surrogate` also has predicted values at pending
        points.
    part : Part or None
        The region allowed by fixed parameters and known constraints.
    """

    acquisition: AcquisitionFunction
    surrogate: Surrogate
    embedding: Embedding
    best: float
    feasibility: Feasibility | None = None
    observed: Surrogate | None = None
    part: Part | None = None

    def values(self, X: FloatArray) -> FloatArray:
        """Return the acquisition values at the rows of X, of shape (n,)."""
        if len(X) > MOST_ROWS:
            starts = range(0, len(X), MOST_ROWS)
            return np.concatenate([self.values(X[i : i + MOST_ROWS]) for i in starts])
        mean, std = self.surrogate.predict(self.embedding.project(X))
        values = self.acquisition(mean, std, self.best)
        return values if self.feasibility is None else values + self.feasibility.log_probability(X)

    def values_at(self, Z: FloatArray) -> FloatArray:
        """Return the acquisition values, (n,), at coordinates Z, (n, r).

        Constraints are evaluated at the preimages of least norm.
        """
        values = self.acquisition(*self.surrogate.predict(Z), self.best)
        if self.feasibility is None:
            return values
        X = np.clip(self.embedding.expand(Z), -1.0, 1.0)
        return values + self.feasibility.log_probability(X)

    @property
    def relevance(self) -> FloatArray:
        """Relevance of every input to the surrogate, (d,), non-negative.

        For an embedding, it is the norm of the relevances of the coordinates weighted by the
        input's coefficients.
        """
        basis, relevance = self.embedding.basis, self.surrogate.relevance_
        return relevance if basis is None else np.sqrt(basis**2 @ relevance**2)

    def value_and_gradient(self, x: FloatArray, sign: float = 1.0) -> tuple[float, FloatArray]:
        """Return the acquisition value at one point x, (d,), and its gradient, (d,).

        Both are multiplied by `sign`, which is -1 for scipy's minimisers.
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
    """Candidates of a search, best acquisition first.

    Attributes
    ----------
    Z : ndarray of shape (m, r)
        Coordinates in the embedding.
    X : ndarray of shape (m, d) or None
        The candidates as points; None if only coordinates were searched.
    """

    Z: FloatArray
    X: FloatArray | None = None

    def portions(self, size: int) -> "Iterator[Found]":
        """Yield batches of candidates with distinct coordinates, of `size`, 2 `size`, ..."""
        rows = first_rows(self.Z)
        while rows:
            some, rows = rows[:size], rows[size:]
            yield Found(self.Z[some], None if self.X is None else self.X[some])
            size *= 2


class Search(Protocol):
    """Protocol of objects that maximise the acquisition function."""

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator, /
    ) -> Found:
        """Return the best candidates as `Found`.

        Parameters
        ----------
        surface : AcquisitionSurface
        ranked : ndarray of shape (n, d)
            The evaluated points, best first.
        space : Space or Box
            The space that candidates are rounded to.
        rng : numpy.random.Generator
            The only source of random numbers.
        """
