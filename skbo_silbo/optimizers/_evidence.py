"""The choice between embeddings, by how well each predicts values it has not seen.

The labels held out take no part in learning the embedding: leave-one-out with an embedding learnt
from all labels prefers the learnt one even on pure noise (MATH section 4).
"""

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from skbo_silbo.surrogate import EnsembleSurrogate, GaussianProcessSurrogate

N_FOLDS = 5
LEAST_LABELS = 2 * N_FOLDS
LEAST_VALUES = 5
DOUBT = 0.1  # share of the constant in every learner's density
LARGEST_WORK = 10**7  # labels squared times inputs: what a choice may look at, a few seconds
STANDARD_ERRORS = 1.0  # by which another learner must beat the first
ENSEMBLE_WORK = LARGEST_WORK // 4  # the same for an ensemble, which has four fits in every fold
LEAST_FOR_TURNS = 30  # labels: with fewer, whoever is sure of few inputs looks bad
ENSEMBLE_ERRORS = 2.0  # by which the process must beat the ensemble to have all turns


def rows_for_evidence(n, d, rng, largest_work=LARGEST_WORK):
    """Return which of n labels with d inputs to choose by, sorted: all, or some to save time.

    Parameters
    ----------
    n, d : int
    rng : numpy.random.Generator
        Draws them.
    largest_work : int
    """
    most = max(LEAST_LABELS, int(np.sqrt(largest_work / d)))
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def choose_learner(learners, X, y, X_unlabeled, rng):
    """Return the learner whose embedding and prior predict held-out values best.

    The first learner is kept unless another has a higher mean log density of the held-out values
    than both the first and the claim that x says nothing (one normal distribution for all values),
    by more than the standard error of the difference. The second rival matters on noise, where a
    model of all inputs can be worse than nothing, and whatever is simpler looks good beside it.
    Every learner's density is mixed with a tenth of that claim's: a mode of the sparse prior
    with one input wrong is very sure and very wrong, and few such values decided for all inputs.

    Parameters
    ----------
    learners : list
        The first one is to be beaten.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Finite.
    X_unlabeled : ndarray of shape (m, d)
        Given to the learners in every fold.
    rng : numpy.random.Generator
        Draws the folds.

    Returns
    -------
    learner : object
        A member of `learners`.
    """
    first, *others = learners
    if not others or y.size < LEAST_LABELS or np.ptp(y) == 0.0:
        return first
    folds = rng.permutation(y.size) % N_FOLDS
    constant = held_out_constant(y, folds)

    def density_of(learner):
        return doubted(held_out_log_density(learner, X, y, X_unlabeled, folds), constant)

    rivals = density_of(first), constant
    best, best_gain = first, 0.0
    for learner in others:
        density = density_of(learner)
        gain = min(sure_gain(density - rival) for rival in rivals)
        if gain > best_gain:
            best, best_gain = learner, gain
    return best


def choose_turns(learner, X, y, rng):
    """Return the learner, with or without an ensemble that takes turns with its process.

    There is one unless the process predicts held-out values surely better, by two standard errors
    of the mean difference: then few inputs do not tell enough, and the ensemble's turns are lost.

    Parameters
    ----------
    learner : object
        Returned as it is where its `takes_turns` is None or missing, or the labels are few.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Finite.
    rng : numpy.random.Generator
        Draws labels, folds and the ensembles' scales.
    """
    can = getattr(learner, "takes_turns", None) is not None
    if not can or y.size < LEAST_FOR_TURNS or np.ptp(y) == 0.0:
        return learner
    some = rows_for_evidence(*X.shape, rng, ENSEMBLE_WORK)
    X, y = X[some], y[some]
    folds = rng.permutation(y.size) % N_FOLDS
    constant = held_out_constant(y, folds)
    process = held_out_log_density(learner, X, y, X[:0], folds)
    gain = doubted(process, constant) - doubted(held_out_ensemble(X, y, folds, rng), constant)
    return replace(learner, takes_turns=bool(sure_gain(gain, ENSEMBLE_ERRORS) <= 0.0))


def choose_warp(warps, learner, Z, y):
    """Return the warp under which a Gaussian process gives the values the highest density.

    Every value is predicted from all others (leave-one-out), and its density under the warp is
    multiplied by the warp's slope: so all are densities of the values told.

    Parameters
    ----------
    warps : tuple
        The first is kept while there are too few values.
    learner : object
        Whose prior the process has.
    Z : ndarray of shape (n, r)
        Coordinates in the embedding in use.
    y : ndarray of shape (n,)
        Finite.
    """
    if len(warps) == 1 or y.size < LEAST_VALUES or np.ptp(y) == 0.0:
        return warps[0]
    prior = getattr(learner, "prior", "dimension-scaled")

    def evidence(warp):
        surrogate = GaussianProcessSurrogate(prior=prior).fit(Z, warp(y))
        return float(np.mean(surrogate.leave_one_out_log_density() + warp.log_slope(y)))

    return max(warps, key=evidence)


def sure_gain(differences, errors=STANDARD_ERRORS):
    """Return the mean of the differences, (n,), less its standard error, or several."""
    error = differences.std(ddof=1) / np.sqrt(differences.size)
    return differences.mean() - errors * error


def doubted(density, constant):
    """Return log densities of the mixture with a little of the claim that x says nothing, (n,).

    So what one wrong prediction costs is bounded, however sure of itself the model was.
    """
    return np.logaddexp(np.log1p(-DOUBT) + density, np.log(DOUBT) + constant)


def held_out_constant(y, folds):
    """Return the log density of every value under a normal fitted to the other folds."""
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        center, scale = y[~out].mean(), y[~out].std(ddof=1)
        density[out] = norm.logpdf(y[out], center, max(scale, np.ptp(y) * 1e-6))
    return density


def held_out_log_density(learner, X, y, X_unlabeled, folds):
    """Return the log density of every value, embedding and surrogate learnt without its fold.

    Parameters
    ----------
    learner : object
    X, y, X_unlabeled
        As in `choose_learner`.
    folds : ndarray of int of shape (n,)
        The fold of every row.

    Returns
    -------
    density : ndarray of shape (n,)
        In nats.
    """
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        embedding = learner.learn(X[~out], y[~out], X_unlabeled)
        prior = getattr(learner, "prior", "dimension-scaled")
        surrogate = GaussianProcessSurrogate(prior=prior).fit(embedding.project(X[~out]), y[~out])
        density[out] = surrogate.log_predictive_density(embedding.project(X[out]), y[out])
    return density


def held_out_ensemble(X, y, folds, rng):
    """Return the log density of every value, (n,), under an ensemble fitted without its fold."""
    density = np.empty(y.size)
    for fold in np.unique(folds):
        out = folds == fold
        ensemble = EnsembleSurrogate().fit(X[~out], y[~out], rng=rng)
        density[out] = ensemble.log_predictive_density(X[out], y[out])
    return density
