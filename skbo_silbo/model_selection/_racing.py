"""Stopping a candidate that surely loses after some of its folds.

A candidate is compared with the incumbent, the best so far, on the same folds: racing by paired
differences (Maron and Moore, 1994; Birattari et al., 2002). With j of k folds run, differences
d_1 ... d_j of mean m and variance s^2, the final mean difference is m up to an error of standard
deviation

    s sqrt((k - j) / (j k)),

which is that of a mean of j out of k (Cochran, 1977, ch. 2). A variance from two or three folds
is next to worthless by itself, so it is moderated by those of the candidates before it: they are
taken to be draws of one distribution, s_0^2 d_0 / chi^2(d_0), whose parameters are estimated from
them (Smyth, 2004, sections 3 and 6.2). Then m over its error follows Student's t with
d_0 + j - 1 degrees of freedom; with fewer than three it has no variance, and nothing is stopped.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma
from scipy.stats import t as student

from skbo_silbo.model_selection._candidates import searched_scores

LEVEL = 0.05  # most that the probability of stopping what would have won may be
FEWEST_FOLDS = 2  # before a candidate is stopped
FEWEST_FREEDOM = 3  # degrees of freedom
FEWEST_VARIANCES = 5  # from which their distribution is estimated
SMALLEST, LARGEST = 1e-2, 1e4  # of the degrees of freedom that it is looked for in


@dataclass(frozen=True)
class Prediction:
    """What the mean score of a stopped candidate would have been.

    Attributes
    ----------
    mean, noise : float
        And the standard deviation of what it really is.
    """

    mean: float
    noise: float


class Race:
    """The incumbent of a search, and how differences to it vary over the folds.

    Parameters
    ----------
    n_folds : int
        At least 3.
    refit : object
        Says which metric counts, as for `mean_score`.
    level : float, default=LEVEL
        Bound on the probability that a candidate is stopped that would have won. It is shared
        equally by the looks at a candidate, one after each fold but the first and the last.
    """

    def __init__(self, n_folds, refit, level=LEVEL):
        self.n_folds, self.refit = n_folds, refit
        self._level = level / (n_folds - FEWEST_FOLDS)
        self._incumbent = None  # its scores by fold
        self._variances = []
        self._prior = 0.0, 0.0

    def note(self, candidate):
        """Take note of a candidate that has been evaluated."""
        if candidate.rows is None or candidate.is_stopped:
            return
        scores = np.array(searched_scores(candidate.rows, self.refit), dtype=float)
        if not np.isfinite(scores).all():
            return
        if self._incumbent is not None:
            self._note_variance(scores - self._incumbent)
        if self._incumbent is None or scores.mean() > self._incumbent.mean():
            self._incumbent = scores

    def n_folds_at_first(self):
        """Return how many folds to run before the first look."""
        return self.n_folds if self._incumbent is None else FEWEST_FOLDS

    def judge(self, results):
        """Return a `Prediction` if a candidate is to be stopped, None if it goes on.

        Parameters
        ----------
        results : list of dict
            What scikit-learn returned for its first folds, in their order.
        """
        n_run = len(results)
        if self._incumbent is None or not FEWEST_FOLDS <= n_run < self.n_folds:
            return None
        if len({isinstance(row["test_scores"], dict) for row in results}) > 1:
            return None  # a callable gave several scores, and in a fit that failed none of them
        scores = np.array(searched_scores(results, self.refit), dtype=float)
        differences = scores - self._incumbent[:n_run]
        if not np.isfinite(differences).all():
            return None
        freedom, variance = moderated(*self._prior, n_run - 1, float(differences.var(ddof=1)))
        if freedom < FEWEST_FREEDOM or variance == 0.0:  # zero: equal by coincidence
            return None
        error = math.sqrt(variance * (self.n_folds - n_run) / (n_run * self.n_folds))
        mean = float(differences.mean())
        if mean + student.isf(self._level, freedom) * error >= 0.0:
            return None
        noise = error * math.sqrt(freedom / (freedom - 2.0))
        return Prediction(float(self._incumbent.mean()) + mean, noise)

    def _note_variance(self, differences):
        with np.errstate(over="ignore"):
            variance = float(differences.var(ddof=1))
        if 0.0 < variance < math.inf:
            self._variances.append(variance)
        if len(self._variances) >= FEWEST_VARIANCES:
            self._prior = variance_prior(np.array(self._variances), self.n_folds - 1)


def moderated(freedom_0, variance_0, freedom, variance):
    """Return degrees of freedom and variance, those of the prior added (Smyth, 2004, section 3)."""
    total = freedom_0 + freedom
    return total, (freedom_0 * variance_0 + freedom * variance) / total


def variance_prior(variances, freedom):
    """Fit the distribution of variances: degrees of freedom and variance of the prior.

    By the mean and variance of their logarithms (Smyth, 2004, section 6.2). The degrees of freedom
    are at most those of all the variances together.

    Parameters
    ----------
    variances : ndarray of shape (n,)
        Positive.
    freedom : int
        Degrees of freedom of each.

    Returns
    -------
    freedom_0, variance_0 : float
    """
    logs = np.log(variances) - digamma(freedom / 2) + math.log(freedom / 2)
    spread = float(logs.var(ddof=1)) - float(polygamma(1, freedom / 2))
    freedom_0 = min(_inverse_trigamma(spread), float(freedom * len(variances)))
    return freedom_0, math.exp(
        float(logs.mean()) + float(digamma(freedom_0 / 2)) - math.log(freedom_0 / 2)
    )


def _inverse_trigamma(value):
    """Return x with trigamma(x / 2) = `value`, within bounds; trigamma falls from infinity to 0."""
    if value <= polygamma(1, LARGEST / 2):
        return LARGEST
    if value >= polygamma(1, SMALLEST / 2):
        return SMALLEST
    return 2.0 * brentq(lambda x: polygamma(1, x) - value, SMALLEST / 2, LARGEST / 2)
