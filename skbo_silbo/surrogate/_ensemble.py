"""Several Gaussian processes that believe in different sets of inputs."""

import numpy as np
from scipy.special import logsumexp

from skbo_silbo.surrogate._prior import UNIT_SCALE, half_cauchy_prior
from skbo_silbo.surrogate._process import GaussianProcessSurrogate

N_MEMBERS = 4
LEAST_WEIGHT = 1e-6  # an inverse squared length scale below is taken to be zero
MIDDLE = 0.02, 0.98  # of the half-Cauchy that scales are drawn from: its ends are no scales


class SelectedProcess:
    """A Gaussian process of some of the inputs.

    Parameters
    ----------
    process : GaussianProcessSurrogate
        Conditioned on the columns selected.
    columns : ndarray of int of shape (k,)
    r : int
        How many columns there are.
    """

    def __init__(self, process, columns, r):
        self.process, self.columns, self.r = process, columns, r

    @classmethod
    def without_idle(cls, process, Z, y, noise_variance):
        """Return a process on all inputs without those whose weight is next to nothing.

        What it costs no longer grows with the inputs that it ignores.
        """
        columns = np.flatnonzero(process.weights_ > LEAST_WEIGHT)
        if not columns.size:
            columns = process.weights_.argmax(keepdims=True)
        first, *lengths, last = process.theta_
        theta = [first, *np.array(lengths)[columns], last]
        state = {"process": {"theta": theta}, "columns": columns.tolist()}
        return cls.from_state(state, Z, y, noise_variance)

    @classmethod
    def from_state(cls, state, Z, y, noise_variance):
        """Return the process of this state, conditioned on data."""
        columns = np.array(state["columns"])
        process = GaussianProcessSurrogate()
        process.from_state(state["process"], Z[:, columns], y, noise_variance)
        return cls(process, columns, Z.shape[1])

    def to_state(self):
        """Return columns and hyperparameters as plain data, exactly."""
        return {"process": self.process.to_state(), "columns": self.columns.tolist()}

    @property
    def weights_(self):
        """Inverse squared length scales, (r,); 0 for the inputs ignored."""
        return self._spread(self.process.weights_)

    def with_points(self, Z, y):
        """Return a process that believes in values."""
        process = self.process.with_points(Z[:, self.columns], y)
        return SelectedProcess(process, self.columns, self.r)

    def predict(self, Z):
        """Return mean and standard deviation at the rows of Z, (m,) each."""
        return self.process.predict(Z[:, self.columns])

    def predict_gradient(self, Z):
        """Return mean, standard deviation, (m,), and their gradients, (m, r)."""
        mean, std, *gradients = self.process.predict_gradient(Z[:, self.columns])
        return mean, std, *map(self._spread, gradients)

    def log_predictive_density(self, Z, y):
        """Return the log density of every held-out target, noise included, of shape (m,)."""
        return self.process.log_predictive_density(Z[:, self.columns], y)

    def _spread(self, values):
        """Return values by column selected, (..., k), as values by column, (..., r)."""
        spread = np.zeros((*values.shape[:-1], self.r))
        spread[..., self.columns] = values
        return spread


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
    members : list of SelectedProcess
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
        priors = [half_cauchy_prior(Z.shape[1], scale) for scale in scales]
        fitted = [GaussianProcessSurrogate(prior=p).fit(Z, y, noise_variance) for p in priors]
        self.members = [SelectedProcess.without_idle(f, Z, y, noise_variance) for f in fitted]
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
            SelectedProcess.from_state(member, Z, y, noise_variance) for member in state["members"]
        ]
        return self

    def with_points(self, Z, y):
        """Return an ensemble that believes in values, as `GaussianProcessSurrogate.with_points`."""
        return EnsembleSurrogate([member.with_points(Z, y) for member in self.members])

    def predict(self, Z):
        """Return mean and standard deviation of the mixture at the rows of Z, (m,) each."""
        means, stds = map(np.array, zip(*(m.predict(Z) for m in self.members), strict=True))
        return means.mean(axis=0), np.sqrt((stds**2).mean(axis=0) + means.var(axis=0))

    def log_predictive_density(self, Z, y):
        """Return the log density of every held-out target under the mixture, of shape (m,)."""
        each = [member.log_predictive_density(Z, y) for member in self.members]
        return logsumexp(each, axis=0) - np.log(len(each))

    def mean_gradient(self, Z):
        """Return the gradient of the mixture's mean at the rows of Z, (m, r)."""
        return np.mean([member.predict_gradient(Z)[2] for member in self.members], axis=0)
