"""Base classes of the baselines, and random search."""

from dataclasses import KW_ONLY, dataclass

from numpy.random import Generator

from skbo_silbo._typing import BoundsLike, RandomState
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer


@dataclass(eq=False, repr=False)
class Baseline(EmbeddedOptimizer):
    """Base class of baseline optimisers with an embedding and a surrogate."""

    bounds: BoundsLike
    _: KW_ONLY
    random_state: RandomState = None

    def __post_init__(self):
        super().__init__(self.bounds, self.random_state)


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

    def propose(self, rng: Generator, restricted: RestrictedSpace | None) -> None:
        """Return None, which makes `ask` draw a random new point."""
