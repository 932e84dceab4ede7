"""Expected improvement per second: candidates are weighed by how long their fits take.

What a search maximises is, with t(x) the seconds of a candidate and s the share of the budget that
is spent,

    EI(x) / t(x)^(1 - s),                                                                    (1)

so that cheap candidates come first, and the best ones at whatever price in the end ("cost cooling":
Lee, Perrone, Archambeau and Seeger 2020, "Cost-aware Bayesian optimization", section 3; s = 0
throughout is Snoek, Larochelle and Adams 2012, section 3.2). The log of the seconds of the fits is
modelled by a Gaussian process, and the seconds of a proposal are added to its prediction: what
takes no time to fit is not free.
"""

import time
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from skbo_silbo._numerics._priors import LEAST_SPARSE_DIMENSION
from skbo_silbo._numerics._threads import one_thread
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.optimizers import SILBO
from skbo_silbo.surrogate._process import GaussianProcessSurrogate, refit

SHORTEST = 1e-4  # seconds of the fits of a candidate: clocks do not tell shorter times apart
N_RECENT = 5  # proposals, whose median says how long the next one will take


@dataclass(frozen=True, eq=False)
class Price:
    """What the seconds of a candidate count for.

    Attributes
    ----------
    process : GaussianProcessSurrogate
        Of the log of the seconds of the fits, over the cube.
    proposing : float
        Seconds of a proposal.
    exponent : float
        1 where improvement per second counts, 0 where improvement does.
    """

    process: GaussianProcessSurrogate
    proposing: float
    exponent: float

    def log_price(self, X):
        """Return ``log t(x)^exponent`` at the rows of X, (n,)."""
        fitting = np.exp(self.process.predict(X)[0])
        return self.exponent * np.log(self.proposing + fitting)

    def log_price_gradient(self, X):
        """Return the same, and its gradient by the coordinates of the points, (n, d)."""
        mean, _, mean_by_x, _ = self.process.predict_gradient(X)
        fitting = np.exp(mean)
        total = self.proposing + fitting
        slope = self.exponent * (fitting / total)[:, None] * mean_by_x
        return self.exponent * np.log(total), slope


@dataclass(frozen=True, eq=False)
class PricedSurface(AcquisitionSurface):
    """The acquisition, a logarithm, less the log of the price."""

    price: Price | None = None

    def values(self, X):
        """Return the acquisition less the price at the rows of X, (n,)."""
        return super().values(X) - self.price.log_price(X)

    def values_at(self, Z):
        """Return the same at coordinates Z, (n, r), where their points of least norm are."""
        X = np.clip(self.embedding.expand(Z), -1.0, 1.0)
        return super().values_at(Z) - self.price.log_price(X)

    def value_and_gradient(self, x, sign=1.0):
        """Return the same at one point x, (d,), and its gradient, (d,), times `sign`."""
        value, gradient = super().value_and_gradient(x, sign)
        price, by_x = self.price.log_price_gradient(x[None])
        return value - sign * price[0], gradient - sign * by_x[0]


class TimeAwareSILBO(SILBO):
    """`SILBO` that divides its acquisition by a price, if it has one.

    Attributes
    ----------
    price : Price or None
        For the proposals to come.
    """

    price: Price | None = None

    def expected_gain(self):
        """Return what `SILBO` says: an improvement, not one per second."""
        price, self.price = self.price, None
        try:
            return super().expected_gain()
        finally:
            self.price = price

    def _surface(self, part=None):
        surface = super()._surface(part)
        return surface if self.price is None else PricedSurface(**vars(surface), price=self.price)


class Times:
    """What candidates and proposals of a search have taken.

    Parameters
    ----------
    search : SILBOSearchCV
        With its `TimeAwareSILBO`.
    stopping : Stopping
        Says how much of the budget is spent.
    """

    def __init__(self, search, stopping):
        self._optimizer, self._stopping = search.optimizer_, stopping
        self._n_workers = effective_n_jobs(search.n_jobs)  # they share the fits of a candidate
        self._places, self._logs, self._proposing = [], [], []
        self._process = self._state = None

    def note(self, candidate):
        """Take note of a candidate of the space that has been evaluated, if its times are known."""
        rows = candidate.rows or ()
        known = np.array([row["fit_time"] + row["score_time"] for row in rows])
        known = known[np.isfinite(known)]
        if known.size:
            seconds = known.mean() * len(rows) / self._n_workers
            self._places.append(self._optimizer.space_.encode([candidate.params])[0])
            self._logs.append(np.log(max(seconds, SHORTEST)))
            self._process = None

    def ask(self, n):
        """Return n points that promise the most improvement for the time that they take."""
        since = time.monotonic()
        with one_thread():
            self._optimizer.price = self._price() if self._logs else None
        points = self._optimizer.ask(n)
        self._proposing.append((time.monotonic() - since) / n)
        return points

    def _price(self):
        if self._process is None:
            data = np.array(self._places), np.array(self._logs), np.zeros(len(self._logs))
            self._process, self._state = refit(_template(data[0]), self._state, *data)
        proposing = np.median(self._proposing[-N_RECENT:]) if self._proposing else 0.0
        return Price(self._process, float(proposing), 1.0 - self._stopping.share_spent)


def _template(X):
    sparse = X.shape[1] >= LEAST_SPARSE_DIMENSION
    return GaussianProcessSurrogate(prior="sparse" if sparse else "dimension-scaled")
