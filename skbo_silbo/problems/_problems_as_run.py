"""Functions as the authors of SILBO ran them, where their code differs from the textbook.

Their published curves are of these, so comparisons with those curves must be too. Seen in the
authors' repository (cjfcsjt/SILBO, ``functions.py``), which scales the first k inputs of the cube
to the box of the function and reads inputs by number.
"""

import numpy as np

from skbo_silbo.problems._problem import Problem


def colville_as_run() -> Problem:
    """Colville as SILBO's authors ran it: its fourth term reads a fifth, unscaled input.

    `colville` has ``90 (c^2 - e)^2``. Here the fourth input e is replaced, in this term alone, by
    the input after it, which lies in [-1, 1] where e lies in [-10, 10]. The steep valley in (c, e)
    is gone. After 50 random points the best value is -1836 on average in place of -2639, better by
    a third.

    Returns
    -------
    problem : Problem
        ``100 (a^2 - b)^2 + (a - 1)^2 + (c - 1)^2 + 90 (c^2 - w)^2 + 10.1 ((b - 1)^2 + (e - 1)^2) +
        19.8 (b - 1) (e - 1)`` of ``x = (a, b, c, e, w)`` on [-10, 10]^4 x [-1, 1], least value 0 at
        (1, 1, 1, 1, 1).

    References
    ----------
    Chen, Zhu, Yuan, Huang (2020), arXiv 2005.14601: the curves of its figure 3.

    Examples
    --------
    >>> from skbo_silbo.problems import colville, colville_as_run
    >>> colville_as_run()([0.0, 0.0, 1.0, 0.0, 1.0]), colville()([0.0, 0.0, 1.0, 0.0])
    (41.0, 131.0)
    """
    bounds = [(-10.0, 10.0)] * 4 + [(-1.0, 1.0)]
    return Problem("colville-as-run", _colville_as_run, bounds, 0.0, np.ones((1, 5)), np.eye(5))


def three_hump_camel() -> Problem:
    """Three-hump camel: 2 inputs in [-5, 5]^2, least value 0 at (0, 0).

    The second embedding plot of the SILBO paper ("Camel") is of this one, not of the six-hump
    `camel`.

    Returns
    -------
    problem : Problem
        ``2 a^2 - 1.05 a^4 + a^6 / 6 + a b + b^2`` of ``x = (a, b)``.

    References
    ----------
    F. H. Branin (1972), Widely convergent method for finding multiple solutions of simultaneous
    nonlinear equations, IBM Journal of Research and Development 16.

    Examples
    --------
    >>> from skbo_silbo.problems import three_hump_camel
    >>> round(three_hump_camel()([1.0, 0.0]), 6)
    1.116667
    """
    bounds = [(-5.0, 5.0)] * 2
    return Problem("three-hump-camel", _three_humps, bounds, 0.0, np.zeros((1, 2)), np.eye(2))


def _colville_as_run(X):
    a, b, c, e, w = X.T
    valleys = 100 * (a**2 - b) ** 2 + (a - 1) ** 2 + (c - 1) ** 2 + 90 * (c**2 - w) ** 2
    return valleys + 10.1 * ((b - 1) ** 2 + (e - 1) ** 2) + 19.8 * (b - 1) * (e - 1)


def _three_humps(X):
    a, b = X.T
    return (2 - 1.05 * a**2 + a**4 / 6) * a**2 + a * b + b**2
