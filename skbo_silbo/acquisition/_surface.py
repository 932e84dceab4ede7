"""The acquisition as a function of the point x, seen through the embedding."""

from dataclasses import dataclass

import numpy as np

from skbo_silbo.acquisition._search_protocol import AcquisitionFunction
from skbo_silbo.embedding import Embedding
from skbo_silbo.surrogate import Surrogate


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
    """

    acquisition: AcquisitionFunction
    surrogate: Surrogate
    embedding: Embedding
    best: float

    def values(self, X):
        """Return the acquisition at the rows of X, of shape (n,)."""
        return self.values_at(self.embedding.project(X))

    def values_at(self, Z):
        """Return the acquisition at coordinates Z, (n, r), of shape (n,)."""
        return self.acquisition(*self.surrogate.predict(Z), self.best)

    @property
    def relevance(self):
        """How much the surrogate lets every input matter, (d,), >= 0.

        For an embedding the norm of the relevances of the coordinates that the input acts through.
        """
        basis, relevance = self.embedding.basis, self.surrogate.relevance_
        return relevance if basis is None else np.sqrt(basis**2 @ relevance**2)

    def value_and_gradient(self, x):
        """Return the acquisition at one point x, (d,), and its gradient, (d,)."""
        Z = self.embedding.project(x[None])
        mean, std, mean_by_z, std_by_z = self.surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        by_z = by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z
        return value[0], self.embedding.pull_back(by_z)[0]
