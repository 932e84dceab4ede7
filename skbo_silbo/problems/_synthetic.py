"""Standard test functions with known minima.

Definitions are from S. Surjanovic and D. Bingham, Virtual Library of Simulation Experiments
(https://www.sfu.ca/~ssurjano/optimization.html). Optimisers without a closed form were computed by
Newton's method in extended precision.
"""

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.problems._problem import Problem

# weights, inverse widths and centres of the four terms
HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
HARTMANN_OPTIMISER = (
    *(0.20168951100670542, 0.15001069182345797, 0.47687397422189700),
    *(0.27533243049405607, 0.31165161660011324, 0.65730053406562031),
)


def branin() -> Problem:
    """Create the Branin problem with 2 inputs, three optimisers and the minimum 5 / (4 pi).

    The box is [-5, 10] x [0, 15].

    Returns
    -------
    problem : Problem
        The function ``(b - 5.1 a^2 / (4 pi^2) + 5 a / pi - 6)^2 + 10 (1 - 1 / (8 pi)) cos(a) + 10``
        of ``x = (a, b)``.

    References
    ----------
    F. H. Branin (1972), Widely convergent method for finding multiple solutions of simultaneous
    nonlinear equations, IBM Journal of Research and Development 16.

    Examples
    --------
    >>> from skbo_silbo.problems import branin
    >>> problem = branin()
    >>> round(problem.optimum, 6), len(problem.optimisers)
    (0.397887, 3)
    """
    pi = np.pi
    optimisers = [(-pi, 12.275), (pi, 2.275), (3 * pi, 2.475)]
    bounds = [(-5.0, 10.0), (0.0, 15.0)]
    return Problem("branin", _branin, bounds, 5 / (4 * pi), optimisers, np.eye(2))


def hartmann6() -> Problem:
    """Create the Hartmann problem with 6 inputs in [0, 1] and the minimum -3.32237.

    The second lowest local minimum is -3.20316.

    Returns
    -------
    problem : Problem
        The function ``- sum_i alpha_i exp(- sum_j A_ij (x_j - P_ij)^2)``, with four terms in the
        outer sum.

    References
    ----------
    L. C. W. Dixon, G. P. Szegö (1978), The global optimization problem: an introduction, Towards
    Global Optimization 2.

    Examples
    --------
    >>> from skbo_silbo.problems import hartmann6
    >>> round(hartmann6().optimum, 5)
    -3.32237
    """
    optimum = _hartmann6(np.array([HARTMANN_OPTIMISER]))[0]
    bounds, optimisers = [(0.0, 1.0)] * 6, [HARTMANN_OPTIMISER]
    return Problem("hartmann6", _hartmann6, bounds, optimum, optimisers, np.eye(6))


def _branin(X: FloatArray) -> FloatArray:
    a, b = X.T
    valley = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def _hartmann6(X: FloatArray) -> FloatArray:
    distances = ((X[:, None, :] - HARTMANN_P) ** 2 * HARTMANN_A).sum(axis=2)
    return -np.exp(-distances) @ HARTMANN_ALPHA
