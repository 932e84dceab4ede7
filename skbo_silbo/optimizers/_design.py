"""The first points, before there is anything to learn from."""

import numpy as np
from scipy.stats import qmc

from skbo_silbo._checks import check_count
from skbo_silbo._typing import FloatArray


def n_initial_points(d):
    """Return how many points to evaluate before the first model: 6 for d = 1, 10 for 9, then 11.

    A Gaussian process needs a few points to be better than chance, not a number in proportion
    to d; and every point of the design is one that is not chosen by a model.
    """
    return round(4 + 2 * min(np.sqrt(d), 3.5))


def check_n_initial(n_initial, d):
    """Return `n_initial` after checking it; for "auto" as many as `n_initial_points` says."""
    return check_count("n_initial", n_initial_points(d) if n_initial == "auto" else n_initial)


def sobol_points(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Return n points of ``[-1, 1]^d`` from a scrambled Sobol sequence, of shape (n, d).

    Beyond the dimensions that scipy has direction numbers for (21201), a Latin hypercube.
    """
    if d == 0:
        return np.empty((n, 0))
    if d > qmc.Sobol.MAXDIM:
        return 2.0 * qmc.LatinHypercube(d, seed=rng).random(n) - 1.0
    sequence = qmc.Sobol(d, scramble=True, seed=rng)
    return 2.0 * sequence.random_base2(int(np.ceil(np.log2(max(n, 2)))))[:n] - 1.0


def random_points(n, d, rng):
    """Return n independent uniform points of ``[-1, 1]^d``, of shape (n, d): the paper's design."""
    return rng.uniform(-1.0, 1.0, (n, d))
