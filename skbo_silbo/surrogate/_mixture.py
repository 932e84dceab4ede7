"""Several surrogates at once, where the data do not say which is right."""

import numpy as np
from scipy.special import logsumexp, ndtr


class MixtureSurrogate:
    """Mixture of surrogates, as one with the mixture's mean and standard deviation.

    Where the members disagree the deviation grows by how far their means lie apart: so a search
    also goes where it can be learnt which of them is right.

    Parameters
    ----------
    members : list
        Surrogates conditioned on the same data, in the same units.
    shares : ndarray of shape (k,)
        Their probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate import GaussianProcessSurrogate, MixtureSurrogate
    >>> Z = np.linspace(-1, 1, 9)[:, None]
    >>> members = [GaussianProcessSurrogate(prior=p).fit(Z, Z[:, 0]) for p in ("sparse",) * 2]
    >>> mean, std = MixtureSurrogate(members, np.array([0.5, 0.5])).predict(np.array([[0.1]]))
    >>> bool(abs(mean[0] - 0.1) < 0.01)
    True
    """

    def __init__(self, members, shares):
        self.members = members
        self.shares = shares

    @property
    def weights_(self):
        """Inverse squared length scales, (r,), averaged."""
        return self.shares @ [member.weights_ for member in self.members]

    def predict(self, Z):
        """Return mean and standard deviation of the mixture at the rows of Z, (m,) each."""
        means, stds = np.array([member.predict(Z) for member in self.members]).swapaxes(0, 1)
        mean, variance = self._moments(means, stds)
        return mean, np.sqrt(variance)

    def predict_gradient(self, Z):
        """Return mean, standard deviation and their gradients, (m, r), at the rows of Z."""
        parts = [member.predict_gradient(Z) for member in self.members]
        means, stds, by_means, by_stds = (np.array(part) for part in zip(*parts, strict=True))
        mean, variance = self._moments(means, stds)
        std, shares = np.sqrt(variance), self.shares[:, None, None]
        by_mean = (shares * by_means).sum(axis=0)
        apart = (means - mean)[:, :, None] * (by_means - by_mean)
        by_variance = 2.0 * (shares * (stds[:, :, None] * by_stds + apart)).sum(axis=0)
        return mean, std, by_mean, by_variance / (2.0 * std[:, None])

    def log_predictive_density(self, Z, y):
        """Return the log density of every held-out target under the mixture, of shape (m,)."""
        each = [member.log_predictive_density(Z, y) for member in self.members]
        return logsumexp(each, axis=0, b=self.shares[:, None])

    def with_points(self, Z, y):
        """Return a mixture whose members all believe in the values y, (m,), at Z, (m, r)."""
        return MixtureSurrogate([m.with_points(Z, y) for m in self.members], self.shares)

    def to_state(self):
        """Return the members' states and their shares as plain data, exactly."""
        states = [member.to_state() for member in self.members]
        return {"members": states, "shares": self.shares.tolist()}

    def _moments(self, means, stds):
        mean = self.shares @ means
        return mean, self.shares @ (stds**2 + (means - mean) ** 2)


def probability_better(one, other):
    """Return the probability that the first of two models predicts better, from its log densities.

    Parameters
    ----------
    one, other : ndarray of shape (n,)
        Log densities that the models give to the same left-out values.

    Returns
    -------
    probability : float
        That the mean difference is above 0, normal about the one observed with its standard error;
        0.5 where they are the same.
    """
    difference = one - other
    error = difference.std() / np.sqrt(difference.size)
    return float(ndtr(difference.mean() / error)) if error > 0.0 else 0.5
