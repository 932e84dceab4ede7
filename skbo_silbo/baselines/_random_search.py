"""Random search: the baseline that no dimension can hurt."""

import numpy as np

from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.optimizers import AskTellOptimizer


class RandomSearch(AskTellOptimizer):
    """Independent draws from the space, without repeats.

    Bergstra and Bengio (2012). A named parameter is drawn from its distribution.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_ : ndarray of shape (d,) or dict
        The observed point with the lowest value.
    best_y_ : float
        That value.
    x_iters_ : ndarray of shape (n, d) or list of n dicts
        All observed points.
    func_vals_ : ndarray of shape (n,)
        All observed values.

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
        """Return None: a random new point is taken."""
