"""One way from a `random_state` to a generator that leaves numpy's global generator alone."""

import numpy as np
from sklearn.utils import check_random_state


def as_generator(random_state):
    """Return a `numpy.random.Generator`; a Generator given is used (and advanced) itself."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))
