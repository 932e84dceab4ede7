"""Several Gaussian processes that believe in different sets of inputs."""

import numpy as np

from skbo_silbo.surrogate._gaussian_process import GaussianProcessSurrogate
from skbo_silbo.surrogate._prior import UNIT_SCALE, half_cauchy_prior

N_MEMBERS = 4
MIDDLE = 0.02, 0.98  # of the half-Cauchy that scales are drawn from: its ends are no scales


class EnsembleSurrogate:
    """Gaussian processes with sparse priors of different scales: where they differ, nobody knows.

    With fewer labels than inputs many small sets of inputs explain the values. Each member is the
    most likely process under half-Cauchy densities of the inverse squared length scales, whose
    scale is drawn at random: 1 / tau on the unit cube, tau half-Cauchy with scale 0.1. So it comes
    to a set of its own, and ignores all other inputs. An acquisition is to be averaged over the
    `members`, as over samples of a fully Bayesian fit (Eriksson and Jankowiak 2021, section 4; the
    scales are those of ``EnsembleMapSaasSingleTaskGP`` in BoTorch).

    Parameters
    ----------
    members : list of GaussianProcessSurrogate
        Conditioned on the same data; `fit` and `from_state` make them.
    """

    def __init__(self, members=()):
        self.members = members

    def fit(self, Z, y, noise_variance=0.0, *, rng):
        """Search the hyperparameters of every member, and condition on data.

        Parameters
        ----------
        Z : ndarray of shape (n, r)
        y : ndarray of shape (n,)
        noise_variance : float or ndarray of shape (n,), default=0.0
            As in `GaussianProcessSurrogate.fit`.
        rng : numpy.random.Generator
            Draws the scales.

        Returns
        -------
        self : object
        """
        tau = np.tan(0.5 * np.pi * rng.uniform(*MIDDLE, N_MEMBERS))
        scales = UNIT_SCALE / (0.1 * tau)
        self.members = [
            GaussianProcessSurrogate(prior=half_cauchy_prior(Z.shape[1], scale)).fit(
                Z, y, noise_variance
            )
            for scale in scales
        ]
        return self

    @property
    def weights_(self):
        """Inverse squared length scales, (r,), the mean over the members."""
        return np.mean([member.weights_ for member in self.members], axis=0)

    def to_state(self):
        """Return the hyperparameters as plain data, exactly."""
        return {"members": [member.to_state() for member in self.members]}

    def from_state(self, state, Z, y, noise_variance=0.0):
        """Condition on data with the hyperparameters that `to_state` returned, bit for bit.

        Returns
        -------
        self : object
        """
        self.members = [
            GaussianProcessSurrogate().from_state(member, Z, y, noise_variance)
            for member in state["members"]
        ]
        return self

    def with_points(self, Z, y):
        """Return an ensemble that believes in values, as `GaussianProcessSurrogate.with_points`."""
        return EnsembleSurrogate([member.with_points(Z, y) for member in self.members])

    def predict(self, Z):
        """Return mean and standard deviation of the mixture at the rows of Z, (m,) each."""
        means, stds = map(np.array, zip(*(m.predict(Z) for m in self.members), strict=True))
        return means.mean(axis=0), np.sqrt((stds**2).mean(axis=0) + means.var(axis=0))

    def mean_gradient(self, Z):
        """Return the gradient of the mixture's mean at the rows of Z, (m, r)."""
        return np.mean([member.predict_gradient(Z)[2] for member in self.members], axis=0)
