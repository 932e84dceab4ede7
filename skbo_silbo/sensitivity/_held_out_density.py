"""Log density of held-out values, used to compare models.

The embedding is learnt without the held-out values. Leave-one-out cross-validation with an
embedding learnt from all values prefers the embedding even on pure noise.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from skbo_silbo._typing import FloatArray, IntArray
from skbo_silbo.surrogate.process import held_out_log_density

N_FOLDS = 5
MIN_VALUES = 2 * N_FOLDS
STANDARD_ERRORS = 1.0  # number of standard errors by which one model must outperform another
CONSTANT_WEIGHT = 0.1  # weight of the constant in `contaminated_log_density`


@dataclass(frozen=True, eq=False)
class HeldOutDensities:
    """Log predictive densities of held-out values under several models.

    Attributes
    ----------
    X : ndarray of shape (n, m)
        Encoded points, one per row.
    y : ndarray of shape (n,)
        Observed values, on the scale on which they are modelled.
    folds : ndarray of int of shape (n,)
        Index of the cross-validation fold in which each value is held out.
    identity : ndarray of shape (n,)
        Log density of each held-out value, in nats, under the model of all inputs. It is bounded by
        `contaminated_log_density`.
    constant : ndarray of shape (n,)
        Log density of each held-out value, in nats, under a constant prediction.
    """

    X: FloatArray
    y: FloatArray
    folds: IntArray
    identity: FloatArray
    constant: FloatArray

    def with_embedding(self, learner, surrogate, X_unlabeled, rng):
        """Return log predictive densities of held-out values for a surrogate on an embedding.

        Parameters
        ----------
        learner : Learner
            Learner of the embedding, which is applied to the training points of each fold.
        surrogate : Surrogate
            Surrogate that is fitted to the embedded training points of each fold.
        X_unlabeled : ndarray of shape (k, m)
            Unlabelled points that are passed to the learner.
        rng : numpy.random.Generator
            Source of all random numbers.

        Returns
        -------
        density : ndarray of shape (n,)
        """

        def coordinates(kept):
            return learner.learn(self.X[kept], self.y[kept], X_unlabeled).project(self.X)

        density = held_out_log_density(surrogate, coordinates, self.y, self.folds, rng)
        return contaminated_log_density(density, self.constant)


def contaminated_log_density(density, constant):
    """Return log densities under the model with a small probability of outliers.

    The mixture bounds the penalty of a single overconfident prediction.
    """
    return np.logaddexp(np.log1p(-CONSTANT_WEIGHT) + density, np.log(CONSTANT_WEIGHT) + constant)


def lower_bound_of_gain(differences, n_errors=STANDARD_ERRORS):
    """Return a lower confidence bound of the mean difference in log density."""
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    return differences.mean() - n_errors * error


def held_out_constant(y, folds):
    """Return the log density of each value under a normal fitted to the other folds."""
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        center, scale = y[~out].mean(), y[~out].std(ddof=1)
        density[out] = norm.logpdf(y[out], center, max(scale, np.ptp(y) * 1e-6))
    return density
