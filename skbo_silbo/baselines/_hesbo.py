"""HeSBO: Bayesian optimisation on a count sketch."""

from skbo_silbo.baselines._sketched import SketchedOptimizer
from skbo_silbo.embedding._count_sketch import CountSketch


class HeSBO(SketchedOptimizer):
    """Bayesian optimisation on a count sketch: every input follows one of few coordinates.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates of the sketch, searched in ``[-1, 1]``. "auto": 10, or d if lower.
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int or "auto", default="auto"
        Points before the first model, observed ones included.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`; `embedding_` is a `CountSketch` from the first model on.

    References
    ----------
    Nayebi, Munteanu and Poloczek (2019), "A Framework for Bayesian Optimization in Embedded
    Subspaces", Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.baselines import HeSBO
    >>> optimizer = HeSBO([(-1, 1)] * 20, n_components=2, random_state=0)
    >>> len(np.unique(np.abs(optimizer.ask()).round(6)))
    2
    """

    def _draw_sketch(self, d, r, rng):
        return CountSketch.draw(d, r, rng)
