"""Add-BO: a Gaussian process that is a sum over disjoint groups of inputs, searched by groups.

=========  ========  ========================================================================
symbol     shape     meaning
=========  ========  ========================================================================
R          (n, n)    mean over the groups of Matern-5/2 correlations, one length scale
C          (n, n)    ``R + eta I``, so that the covariance is ``K = v C``
a          (n,)      dual coefficients ``K^-1 y``
=========  ========  ========================================================================
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.stats import norm

from skbo_silbo._checks import check_count
from skbo_silbo._numerics._matern import gradient_by_points, matern52, scaled_squared_distances
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import Found
from skbo_silbo.acquisition._box_search import N_NEAR
from skbo_silbo.acquisition._climb import N_BEST, points_near
from skbo_silbo.acquisition._functions import confidence_gain
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.embedding._learners import IdentityLearner
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import DESIGNS
from skbo_silbo.optimizers._design import n_initial_points
from skbo_silbo.surrogate import central_differences
from skbo_silbo.surrogate._warps import location_and_scale

LENGTHS = np.geomspace(0.1, 10.0, 9)
NOISES = np.geomspace(1e-6, 1.0, 7)  # relative to the signal
N_GROUPINGS = 10  # random ones compared at every search, and the one in use
LEAST_VARIANCE = 1e-12  # relative to the signal


@dataclass(eq=False, repr=False, kw_only=True)
class AddBO(Baseline):
    """Bayesian optimisation of a sum over disjoint groups of inputs, each searched for itself.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Inputs in a group, at most. "auto": 4, or d if lower.
    n_initial : int or "auto", default="auto"
        Points before the first model, observed ones included. "auto": as for `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`; `embedding_` stays the identity.

    References
    ----------
    Kandasamy, Schneider and Poczos (2015), "High Dimensional Bayesian Optimisation and Bandits via
    Additive Models": groups by marginal likelihood among random ones (section 4), confidence bounds
    maximised group by group (Algorithm 1) with ``beta_t = .2 (group size) log(2 t)``.

    Examples
    --------
    >>> from skbo_silbo.baselines import AddBO
    >>> AddBO([(-1, 1)] * 20, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        size = max(min(d, 4), 1) if self.n_components == "auto" else self.n_components
        size = check_count("n_components", size)
        n_initial = n_initial_points(d) if self.n_initial == "auto" else self.n_initial
        return Configuration(
            learner=IdentityLearner(),
            mapping=TopDown(),
            search=GroupSearch(),
            acquisition=partial(_group_confidence, size=size),
            design=DESIGNS["random"],
            surrogate=AdditiveProcess(size),
            n_initial=check_count("n_initial", n_initial),
        )


def _group_confidence(t, size):
    return partial(confidence_gain, beta=0.2 * size * log(2 * t))


@dataclass(frozen=True)
class GroupSearch:
    """Every group of an additive surrogate for itself (Kandasamy et al. 2015, Algorithm 1).

    Attributes
    ----------
    n_points : int
        Candidates for each group, besides those round the incumbents.
    """

    n_points: int = 256
    n_best = 5  # points put together from the best, second best, ... of every group

    def find(self, surface, ranked, space, rng):
        """Return points put together from the best of every group (see `Search`)."""
        Z = np.empty((self.n_best, surface.embedding.r))
        for index, group in enumerate(surface.surrogate.groups_):
            candidates = self._candidates(ranked[:N_BEST, group], rng)
            mean, std = surface.surrogate.predict_group(index, candidates)
            values = surface.acquisition(mean, std, 0.0)
            Z[:, group] = candidates[np.argsort(-values, kind="stable")[: self.n_best]]
        return Found(Z)

    def _candidates(self, incumbents, rng):
        size = incumbents.shape[1]
        wide = rng.uniform(-1.0, 1.0, (self.n_points, size))
        return np.vstack([wide, points_near(incumbents, N_NEAR, np.ones(size), rng)])


class AdditiveProcess:
    """Sum of independent Gaussian processes on groups of inputs, and noise.

    Groupings, length scale and noise are those of the highest marginal likelihood: among random
    groupings and the one in use, and on a grid (Kandasamy, Schneider and Poczos 2015, section 4).

    Parameters
    ----------
    group_size : int
        Inputs in a group, at most.

    Attributes
    ----------
    groups_ : list of ndarray of int
        A partition of the inputs.
    length_, signal_, noise_ : float
        Length scale, and variances for standardised targets; noise relative to the signal.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines._add_bo import AdditiveProcess
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.uniform(-1, 1, (40, 4))
    >>> process = AdditiveProcess(2).fit(Z, Z[:, 0] ** 2 - Z[:, 3], rng=rng)
    >>> sorted(np.concatenate(process.groups_).tolist())
    [0, 1, 2, 3]
    """

    takes_noise = False

    def __init__(self, group_size):
        self.group_size = group_size

    def fit(self, Z, y, noise=None, *, state=None, tune=True, rng=None):
        """Choose groups and hyperparameters, and condition on data.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
        y : ndarray of shape (n,)
        noise : None
            Not used.
        state : dict or None, default=None
            What `to_state` of a former process returned: kept unless others are more likely.
        tune : bool, default=True
            Search, else keep `state`.
        rng : numpy.random.Generator
            Draws the groupings.
        """
        targets = self._standardise(y)
        if state is not None:
            self._set(state)
        if tune or state is None:
            self._search(Z, targets, rng, state)
        self._condition(Z, targets)
        return self

    def to_state(self):
        """Return groups and hyperparameters as plain data, exactly."""
        groups = [group.tolist() for group in self.groups_]
        values = {"length": self.length_, "signal": self.signal_, "noise": self.noise_}
        return {"groups": groups, **values}

    def with_points(self, Z, y):
        """Return a process with points added, hyperparameters and standardisation kept."""
        other = copy(self)
        targets = np.append(self._targets, (y - self.y_mean_) / self.y_scale_)
        other._condition(np.vstack([self._Z, Z]), targets)
        return other

    def predict(self, Z):
        """Return mean and standard deviation of the sum at the rows of Z."""
        covariance = self.signal_ * mean_correlation(Z, self._Z, self.groups_, self.length_)
        mean, std = self._posterior(covariance, self.signal_)
        return self.y_mean_ + mean, std

    def predict_group(self, index, Z):
        """Return mean and standard deviation of one summand at the rows of Z, (m, size of group).

        The summands' means add up to that of the sum less the mean of the targets.
        """
        old = self._Z[:, self.groups_[index]]
        share = self.signal_ / len(self.groups_)
        return self._posterior(share * _correlation(Z, old, self.length_), share)

    def mean_gradient(self, Z):
        """Return the gradients of the mean of the sum, (m, d), at the rows of Z."""
        gradient = np.zeros_like(Z)
        share = self.y_scale_ * self.signal_ / len(self.groups_)
        for group in self.groups_:
            new, old = Z[:, group], self._Z[:, group]
            weights = np.full(group.size, self.length_**-2.0)
            _, derivative = matern52(scaled_squared_distances(new, old, weights))
            gradient[:, group] = gradient_by_points(
                derivative * share * self._dual, new, old, weights
            )
        return gradient

    def predict_gradient(self, Z):
        """Return mean, standard deviation and their gradients at the rows of Z.

        That of the deviation is taken by central differences: the search goes group by group and
        needs none.
        """
        *moments, _, by_std = central_differences(self.predict, Z)
        return *moments, self.mean_gradient(Z), by_std

    @property
    def relevance_(self):
        """Ones, (d,): all inputs share one length scale."""
        return np.ones(self._Z.shape[1])

    def log_predictive_density(self, Z, y):
        """Return the log density of every value, noise included, (m,), in nats."""
        mean, std = self.predict(Z)
        noise = self.y_scale_ * np.sqrt(self.noise_ * self.signal_)
        return norm.logpdf(y, mean, np.hypot(std, noise))

    def _posterior(self, covariance, variance):
        explained = np.einsum("ij,ji->i", covariance, cho_solve(self._factor, covariance.T))
        left = np.maximum(variance - explained, LEAST_VARIANCE * variance)
        return self.y_scale_ * (covariance @ self._dual), self.y_scale_ * np.sqrt(left)

    def _standardise(self, y):
        self.y_mean_, self.y_scale_ = location_and_scale(y)
        return (y - self.y_mean_) / self.y_scale_

    def _set(self, state):
        self.groups_ = [np.array(group, dtype=int) for group in state["groups"]]
        self.length_, self.signal_, self.noise_ = state["length"], state["signal"], state["noise"]

    def _search(self, Z, targets, rng, former):
        d = Z.shape[1]
        groupings = [self._draw_groups(d, rng) for _ in range(N_GROUPINGS if d > 1 else 1)]
        length = float(np.sqrt(self.group_size)) if former is None else self.length_
        groupings += [] if former is None else [self.groups_]
        best = max(groupings, key=lambda g: _likeliest(Z, targets, g, length)[0])
        fits = [(*_likeliest(Z, targets, best, length), length) for length in LENGTHS]
        _, signal, noise, length = max(fits)
        self.groups_ = best
        self.length_, self.signal_, self.noise_ = float(length), float(signal), float(noise)

    def _draw_groups(self, d, rng):
        count = int(np.ceil(d / self.group_size))
        return [np.sort(group) for group in np.array_split(rng.permutation(d), count)]

    def _condition(self, Z, targets):
        self._Z, self._targets = Z, targets
        C = mean_correlation(Z, Z, self.groups_, self.length_)
        C[np.diag_indices_from(C)] += self.noise_
        self._factor = cho_factor(self.signal_ * C, lower=True)
        self._dual = cho_solve(self._factor, targets)


def mean_correlation(A, B, groups, length):
    """Return the mean over the groups of the correlations of A, (n_a, d), and B, (n_b, d)."""
    total = np.zeros((len(A), len(B)))
    for group in groups:
        a = A[:, group]
        total += _correlation(a, a if A is B else B[:, group], length)
    return total / len(groups)


def _correlation(A, B, length):
    weights = np.full(A.shape[1], length**-2.0)
    return matern52(scaled_squared_distances(A, B, weights))[0]


def _likeliest(Z, targets, groups, length):
    """Return the log density of the targets (up to a constant), signal and noise that maximise it.

    With R = U diag(l) U' the density is a sum over l for every noise, and the signal is explicit.
    """
    eigenvalues, U = eigh(mean_correlation(Z, Z, groups, length))
    squares, n = (U.T @ targets) ** 2, targets.size
    fits = []
    for noise in NOISES:
        shifted = np.maximum(eigenvalues, 0.0) + noise
        signal = max(float((squares / shifted).mean()), 1e-12)
        fits.append((-0.5 * (n * np.log(signal) + np.log(shifted).sum()), signal, noise))
    return max(fits)
