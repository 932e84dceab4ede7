"""The one number from which all random numbers of an optimiser come."""

import numpy as np
from sklearn.utils import check_random_state


class RootSeed(int):
    """A root seed itself, in place of a random state to draw one from."""


def root_seed(random_state):
    """Return the integer from which all random numbers of an optimiser come."""
    if isinstance(random_state, RootSeed):
        return int(random_state)
    if random_state is None:
        return np.random.SeedSequence().entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1, a RandomState or a "
            f"Generator: got {random_state!r}. Write random_state=0."
        ) from error
