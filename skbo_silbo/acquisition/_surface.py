"""The acquisition as a function of the point x, seen through the embedding."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from skbo_silbo.embedding import LinearEmbedding


@dataclass(frozen=True)
class Acquisition:
    """An acquisition of one process, and how it is averaged over several.

    Attributes
    ----------
    of_one : callable
        ``of_one(mean, std, best, return_gradient=...)``, larger is better.
    average : callable
        Of values (k, n) of k processes: their mean, (n,), and its derivatives by them, (k, n).
    """

    of_one: object
    average: object

    def __call__(self, mean, std, best, **options):
        """Return `of_one`."""
        return self.of_one(mean, std, best, **options)


def mean_of_logs(values):
    """Return the logarithm of the mean of ``exp(values)`` over the first axis, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.acquisition import mean_of_logs
    >>> mean_of_logs(np.log([[1.0], [3.0]]))
    (array([0.69314718]), array([[0.25],
           [0.75]]))
    """
    return logsumexp(values, axis=0) - np.log(len(values)), softmax(values, axis=0)


def plain_mean(values):
    """Return the mean over the first axis, and its gradient."""
    return values.mean(axis=0), np.full(values.shape, 1.0 / len(values))


@dataclass(frozen=True, eq=False)
class AcquisitionSurface:
    """The acquisition as a function of x.

    Attributes
    ----------
    acquisition : Acquisition or callable
        ``acquisition(mean, std, best, return_gradient=...)``, larger is better.
    surrogate : object
        With ``predict`` and ``predict_gradient``, or with ``members`` that have them: then the
        acquisition is averaged over these.
    embedding : LinearEmbedding
    best : float
        The lowest value so far.
    """

    acquisition: object
    surrogate: object
    embedding: LinearEmbedding
    best: float

    def values(self, X):
        """Return the acquisition at the rows of X, of shape (n,)."""
        return self.values_at(self.embedding.project(X))

    def values_at(self, Z):
        """Return the acquisition at coordinates Z, (n, r), of shape (n,)."""
        if self.is_averaged:
            each = [self.acquisition(*m.predict(Z), self.best) for m in self.surrogate.members]
            return self.acquisition.average(np.array(each))[0]
        return self.acquisition(*self.surrogate.predict(Z), self.best)

    @property
    def is_averaged(self):
        """Whether the surrogate is an ensemble."""
        return hasattr(self.surrogate, "members")

    @property
    def relevance(self):
        """How much the surrogate lets every input matter, (d,), >= 0; ones where it does not say.

        The inverse length scale, for an embedding the norm of those that the input acts through.
        """
        weights = getattr(self.surrogate, "weights_", None)
        if weights is None:
            return np.ones(self.embedding.d)
        basis = self.embedding.basis
        return np.sqrt(weights if basis is None else basis**2 @ weights)

    def value_and_gradient(self, x):
        """Return the acquisition at one point x, (d,), and its gradient, (d,)."""
        Z = self.embedding.project(x[None])
        if self.is_averaged:
            values, by_z = zip(*(self._by_z(m, Z) for m in self.surrogate.members), strict=True)
            value, shares = self.acquisition.average(np.array(values))
            by_z = np.einsum("kn,knr->nr", shares, np.array(by_z))
        else:
            value, by_z = self._by_z(self.surrogate, Z)
        return value[0], self.embedding.pull_back(by_z)[0]

    def _by_z(self, surrogate, Z):
        """Return the acquisition of one surrogate, (n,), and its gradient by z, (n, r)."""
        mean, std, mean_by_z, std_by_z = surrogate.predict_gradient(Z)
        value, by_mean, by_std = self.acquisition(mean, std, self.best, return_gradient=True)
        return value, by_mean[:, None] * mean_by_z + by_std[:, None] * std_by_z
