"""How well a model predicts values that it has not seen.

The labels held out take no part in learning the embedding: leave-one-out with an embedding learnt
from all labels prefers the learnt one even on pure noise (MATH section 4).
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from skbo_silbo._typing import FloatArray, IntArray
from skbo_silbo.surrogate._process import held_out_log_density

N_FOLDS = 5
LEAST_LABELS = 2 * N_FOLDS
STANDARD_ERRORS = 1.0  # by which one model must beat another
DOUBT = 0.1  # share of the constant in a density that is to be compared


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The log densities of values held out by a model of all inputs and by a constant.

    Attributes
    ----------
    X : ndarray of shape (n, m)
    y : ndarray of shape (n,)
        On the scale of the model.
    folds : ndarray of int of shape (n,)
    identity, constant : ndarray of shape (n,)
        In nats; `contaminated_log_density` that of the model.
    """

    X: FloatArray
    y: FloatArray
    folds: IntArray
    identity: FloatArray
    constant: FloatArray

    def through(self, learner, surrogate, X_unlabeled, rng):
        """Return the same of the surrogate seen through an embedding, (n,)."""

        def coordinates(kept):
            return learner.learn(self.X[kept], self.y[kept], X_unlabeled).project(self.X)

        density = held_out_log_density(surrogate, coordinates, self.y, self.folds, rng)
        return contaminated_log_density(density, self.constant)


def rows_for_evidence(n, d, rng, largest_work):
    """Return which of n labels with d inputs to evaluate, sorted: all, or some to save time.

    Parameters
    ----------
    n, d : int
    rng : numpy.random.Generator
        Draws them.
    largest_work : int
        Labels squared times inputs.
    """
    most = max(LEAST_LABELS, int(np.sqrt(largest_work / d)))
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def contaminated_log_density(density, constant):
    """Return log densities of the mixture with a little of the claim that x says nothing, (n,).

    So what one wrong prediction costs is bounded, however sure of itself the model was.
    """
    return np.logaddexp(np.log1p(-DOUBT) + density, np.log(DOUBT) + constant)


def lower_bound_of_gain(differences, errors=STANDARD_ERRORS):
    """Return the mean of the differences, (n,), less its standard error, or several."""
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    return differences.mean() - errors * error


def held_out_constant(y, folds):
    """Return the log density of every value under a normal fitted to the other folds."""
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        center, scale = y[~out].mean(), y[~out].std(ddof=1)
        density[out] = norm.logpdf(y[out], center, max(scale, np.ptp(y) * 1e-6))
    return density
