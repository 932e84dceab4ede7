"""The acquisition as a function of the point x, seen through the embedding."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition._search_protocol import AcquisitionFunction
from skbo_silbo.embedding import Embedding
from skbo_silbo.surrogate import Surrogate
from skbo_silbo.surrogate._feasibility import Feasibility


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
    """

    acquisition: AcquisitionFunction
    surrogate: Surrogate
    embedding: Embedding
    best: float
    feasibility: Feasibility | None = None
    observed: Surrogate | None = None

    def values(self, X: FloatArray) -> FloatArray:
        """Return the acquisition at the rows of X, of shape (n,)."""
        mean, std = self.surrogate.predict(self.embedding.project(X))
        return self._weighted(self.acquisition(mean, std, self.best), X)

    def values_at(self, Z: FloatArray) -> FloatArray:
        """Return the acquisition at coordinates Z, (n, r), of shape (n,).

        Constraints are looked at where the point of least norm with these coordinates is.
        """
        values = self.acquisition(*self.surrogate.predict(Z), self.best)
        if self.feasibility is None:
            return values
        return self._weighted(values, np.clip(self.embedding.expand(Z), -1.0, 1.0))

    def _weighted(self, values, X):
        if self.feasibility is None:
            return values
        return values + self.feasibility.log_probability(X)

    @property
    def relevance(self) -> FloatArray:
        """How much the surrogate lets every input matter, (d,), >= 0.

        For an embedding the norm of the relevances of the coordinates that the input acts through.
        """
        basis, relevance = self.embedding.basis, self.surrogate.relevance_
        return relevance if basis is None else np.sqrt(basis**2 @ relevance**2)

    def value_and_gradient(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the acquisition at one point x, (d,), and its gradient, (d,)."""
        Z = self.embedding.project(x[None])
        mean, std, mean_by_z, std_by_z = self.surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        by_z = by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z
        gradient = self.embedding.pull_back(by_z)[0]
        if self.feasibility is None:
            return value[0], gradient
        weight, weight_by_x = self.feasibility.log_probability_gradient(x[None])
        return value[0] + weight[0], gradient + weight_by_x[0]
