"""Add-BO: a Gaussian process that is a sum over disjoint groups of inputs.

=========  ========  ========================================================================
symbol     shape     meaning
=========  ========  ========================================================================
R          (n, n)    mean over the groups of Matern-5/2 correlations, one length scale
C          (n, n)    ``R + eta I``, so that the covariance is ``K = v C``
a          (n,)      dual coefficients ``K^-1 y``
=========  ========  ========================================================================
"""

from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from skbo_silbo._checks import check_count
from skbo_silbo._numerics.matern import matern52, scaled_squared_distances
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import Found
from skbo_silbo.acquisition.acquisition_functions import confidence_gain
from skbo_silbo.acquisition.searches import N_BEST, N_NEAR, points_near
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.optimizers.configuration import DESIGNS, Configuration, check_n_initial

from .exact_process import ExactProcess

LENGTHS = np.geomspace(0.1, 10.0, 9)
NOISES = np.geomspace(1e-6, 1.0, 7)  # noise variances relative to the signal variance
N_GROUPINGS = 10  # random groupings compared with the current one in every search
N_WIDE = 256  # random candidates for each group, besides those around the incumbents
N_FOUND = 5  # number of points combined from the best, second best, ... candidates of each group
LEAST_VARIANCE = 1e-12  # smallest predicted variance relative to the signal variance


@dataclass(eq=False, repr=False, kw_only=True)
class AddBO(Baseline):
    """Bayesian optimisation with an additive model of disjoint groups of inputs.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Largest number of inputs in a group. "auto" is 4, or d if that is lower.
    n_initial : int or "auto", default="auto"
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed. "auto" is the same number as in `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`; `embedding_` is always the identity.

    References
    ----------
    Kandasamy, Schneider and Poczos (2015), "High Dimensional Bayesian Optimisation and Bandits via
    Additive Models": groups by marginal likelihood among random ones (section 4), confidence bounds
    maximised group by group (Algorithm 1) with ``beta_t = .2 (group size) log(2 t)``.

    Examples
    --------
    >>> from benchmarks.engine.baselines import AddBO
    >>> AddBO([(-1, 1)] * 20, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        size = max(min(d, 4), 1) if self.n_components == "auto" else self.n_components
        size = check_count("n_components", size)
        return Configuration(
            search=GroupSearch(),
            acquisition=partial(_group_confidence, size=size),
            design=DESIGNS["random"],
            surrogate=AdditiveProcess(size),
            n_initial=check_n_initial(self.n_initial, d),
        )


def _group_confidence(t, size):
    return partial(confidence_gain, beta=0.2 * size * log(2 * t))


class GroupSearch:
    """Search that maximises each group of inputs separately (Kandasamy et al. 2015)."""

    def find(self, surface, ranked, space, rng):
        """Return candidates that combine the best values of each group of inputs."""
        Z = np.empty((N_FOUND, surface.embedding.r))
        for index, group in enumerate(surface.surrogate.groups_):
            wide = rng.uniform(-1.0, 1.0, (N_WIDE, group.size))
            near = points_near(ranked[:N_BEST, group], N_NEAR, np.ones(group.size), rng)
            candidates = np.vstack([wide, near])
            mean, std = surface.surrogate.predict_group(index, candidates)
            values = surface.acquisition(mean, std, 0.0)
            Z[:, group] = candidates[np.argsort(-values, kind="stable")[:N_FOUND]]
        return Found(Z)


class AdditiveProcess(ExactProcess):
    """Sum of independent Gaussian processes on disjoint groups of inputs, plus noise.

    Several random groupings are compared with the current one, and the length scale and the noise
    are chosen on a grid. The combination with the highest marginal likelihood is used (Kandasamy,
    Schneider and Poczos 2015, section 4).

    Parameters
    ----------
    group_size : int
        Largest number of inputs that a group may have.

    Attributes
    ----------
    groups_ : list of ndarray of int
        Indices of the inputs in each group.
    length_, signal_, noise_ : float
        Hyperparameters for standardised targets: the length scale, the signal variance, and the
        noise variance relative to the signal variance.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.engine.baselines.add_bo import AdditiveProcess
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.uniform(-1, 1, (40, 4))
    >>> process = AdditiveProcess(2).fit(Z, Z[:, 0] ** 2 - Z[:, 3], rng=rng)
    >>> sorted(np.concatenate(process.groups_).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, group_size):
        self.group_size = group_size

    def fit(self, Z, y, noise=None, *, state=None, tune=True, rng=None):
        """Select the groups and hyperparameters, and condition the process on data.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        noise : None
            Ignored, present for consistency with other surrogates.
        state : dict or None, default=None
            Groups and hyperparameters that `to_state` returned after a previous fit. They are kept
            unless a random grouping has a higher marginal likelihood.
        tune : bool, default=True
            Whether to search for groups and hyperparameters. If False, those in `state` are used.
        rng : numpy.random.Generator
            Random number generator for drawing the groups.
        """
        targets = self._standardise(y)
        if state is not None:
            self.groups_ = [np.array(group, dtype=int) for group in state["groups"]]
            self.length_, self.signal_ = state["length"], state["signal"]
            self.noise_ = state["noise"]
        if tune or state is None:
            self._search(Z, targets, rng, state)
        self._condition(Z, targets)
        return self

    def to_state(self):
        """Return the groups and hyperparameters as JSON-compatible data."""
        groups = [group.tolist() for group in self.groups_]
        values = {"length": self.length_, "signal": self.signal_, "noise": self.noise_}
        return {"groups": groups, **values}

    def predict(self, Z):
        """Predict the mean and standard deviation of the sum at each row of Z."""
        covariance = self.signal_ * mean_correlation(Z, self._Z, self.groups_, self.length_)
        mean, std = self._posterior(covariance, self.signal_)
        return self.y_mean_ + mean, std

    def predict_group(self, index, Z):
        """Predict the mean and standard deviation of one group's process at each row of Z.

        Z has only the columns of this group. The means of all summands add up to the mean of the
        sum minus the mean of the targets.
        """
        old = self._Z[:, self.groups_[index]]
        share = self.signal_ / len(self.groups_)
        return self._posterior(share * _correlation(Z, old, self.length_), share)

    def _posterior(self, covariance, variance):
        explained = np.einsum("ij,ji->i", covariance, cho_solve(self._factor, covariance.T))
        left = np.maximum(variance - explained, LEAST_VARIANCE * variance)
        return self.y_scale_ * (covariance @ self._dual), self.y_scale_ * np.sqrt(left)

    def _search(self, Z, targets, rng, former):
        d = Z.shape[1]
        groupings = [self._draw_groups(d, rng) for _ in range(N_GROUPINGS if d > 1 else 1)]
        length = float(np.sqrt(self.group_size)) if former is None else self.length_
        groupings += [] if former is None else [self.groups_]
        self.groups_ = max(
            groupings, key=lambda g: _best_signal_and_noise(Z, targets, g, length)[0]
        )
        fits = [
            (*_best_signal_and_noise(Z, targets, self.groups_, length), length)
            for length in LENGTHS
        ]
        _, signal, noise, length = max(fits)
        self.length_, self.signal_, self.noise_ = float(length), float(signal), float(noise)

    def _draw_groups(self, d, rng):
        count = int(np.ceil(d / self.group_size))
        return [np.sort(group) for group in np.array_split(rng.permutation(d), count)]

    def _condition(self, Z, targets):
        self._Z, self._targets = Z, targets
        self._noise = self.noise_ * self.signal_
        C = mean_correlation(Z, Z, self.groups_, self.length_)
        C[np.diag_indices_from(C)] += self.noise_
        self._factor = cho_factor(self.signal_ * C, lower=True)
        self._dual = cho_solve(self._factor, targets)


def mean_correlation(A, B, groups, length):
    """Return the correlation between rows of A and B, averaged over the groups of inputs."""
    total = np.zeros((len(A), len(B)))
    for group in groups:
        a = A[:, group]
        total += _correlation(a, a if A is B else B[:, group], length)
    return total / len(groups)


def _correlation(A, B, length):
    weights = np.full(A.shape[1], length**-2.0)
    return matern52(scaled_squared_distances(A, B, weights))[0]


def _best_signal_and_noise(Z, targets, groups, length):
    """Return the highest log density of the targets, and the variances that attain it.

    The density is returned up to a constant. After an eigendecomposition of R, each noise variance
    is cheap to try. The best signal variance has a closed form.
    """
    eigenvalues, U = eigh(mean_correlation(Z, Z, groups, length))
    squares, n = (U.T @ targets) ** 2, targets.size
    fits = []
    for noise in NOISES:
        shifted = np.maximum(eigenvalues, 0.0) + noise
        signal = max(float((squares / shifted).mean()), 1e-12)
        fits.append((-0.5 * (n * np.log(signal) + np.log(shifted).sum()), signal, noise))
    return max(fits)
