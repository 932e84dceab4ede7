"""Random candidates round the best points known, for every search of the acquisition."""

import numpy as np

from skbo_silbo._typing import FloatArray

N_BEST = 5  # points that candidates are drawn round
LOG_STEPS = (-3.5, -0.3)  # decimal logarithms of the steps: from rounding to half the cube


def steps_near(n: int, widths: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return n normal steps, (n, r), each of its own size, in units of the half widths."""
    sizes = 10.0 ** rng.uniform(*LOG_STEPS, (n, 1)) * widths
    return sizes * rng.standard_normal((n, widths.size))


def points_near(
    centres: FloatArray, n: int, widths: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return n points of the box, (n, r), near rows of `centres`, (k, r)."""
    near = centres[rng.integers(len(centres), size=n)] + steps_near(n, widths, rng)
    return np.clip(near, -widths, widths)
