"""Base classes of the baselines, and random search."""

from copy import copy
from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.stats import norm

from skbo_silbo._typing import BoundsLike, RandomState
from skbo_silbo.acquisition.restricted_space import Part
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer
from skbo_silbo.surrogate.regressor import StandardisedSurrogate


@dataclass(eq=False, repr=False)
class Baseline(EmbeddedOptimizer):
    """Base class of baseline optimisers with an embedding and a surrogate."""

    bounds: BoundsLike
    _: KW_ONLY
    random_state: RandomState = None

    def __post_init__(self):
        super().__init__(self.bounds, self.random_state)


class ExactProcess(StandardisedSurrogate):
    """Base class of surrogates that are Gaussian processes on standardised targets.

    A subclass implements `predict` and ``_condition(Z, targets)``, which stores its arguments as
    `_Z` and `_targets`, and the noise variance of standardised targets as `_noise`.
    """

    def with_points(self, Z, y):
        """Return a copy that is conditioned on additional points, without refitting."""
        other = copy(self)
        targets = np.append(self._targets, self._standardised(y))
        other._condition(np.vstack([self._Z, Z]), targets)
        return other

    def log_predictive_density(self, Z, y):
        """Return the log predictive density, in nats, of each observed value with its noise."""
        mean, std = self.predict(Z)
        return norm.logpdf(y, mean, np.hypot(std, self.y_scale_ * np.sqrt(self._noise)))


class RandomSearch(AskTellOptimizer):
    """Random search without repeated points (Bergstra and Bengio 2012).

    Points are drawn independently. Named parameters are drawn from their distributions.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_ : ndarray of shape (d,) or dict
        The evaluated point with the lowest observed value.
    best_y_ : float
        The lowest observed value, which belongs to `best_x_`.
    x_iters_ : ndarray of shape (n, d) or list of n dicts
        All observed points, in the order of ``tell``.
    func_vals_ : ndarray of shape (n,)
        The observed value of each point in `x_iters_`.

    Examples
    --------
    >>> from skbo_silbo.baselines import RandomSearch
    >>> optimizer = RandomSearch([(0, 1), (0, 10)], random_state=0)
    >>> for x in optimizer.ask(20):
    ...     _ = optimizer.tell(x, x.sum())
    >>> optimizer.best_x_.shape, bool(optimizer.best_y_ < 5)
    ((2,), True)
    """

    def propose(self, rng: np.random.Generator, part: Part | None) -> None:
        """Return None, which makes `ask` draw a random new point."""
