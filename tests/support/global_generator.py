from contextlib import contextmanager

import numpy as np


@contextmanager
def global_generator_unchanged():
    """Check the complete state of NumPy's global generator: one draw changes its position only."""
    before = np.random.get_state()  # noqa: NPY002
    yield
    np.testing.assert_equal(np.random.get_state(), before)  # noqa: NPY002
