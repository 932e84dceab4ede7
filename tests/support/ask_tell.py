"""What many tests do with an optimiser."""

import numpy as np

from skbo_silbo import SILBO


def observed_optimizer(space, func, n, seed=0, **options):
    """Return an optimiser that has observed a function at n random points."""
    optimizer = SILBO(space, random_state=seed, **options)
    m = optimizer.space_.n_features_
    points = optimizer.space_.decode(np.random.default_rng(seed).uniform(-1, 1, (n, m)))
    return optimizer.tell(points, [func(x) for x in points])


def run(optimizer, func, n):
    """Ask for and tell n points, one at a time; return the optimiser."""
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, func(x))
    return optimizer
