"""Optimisers that several threads ask and tell at once."""

import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skbo_silbo import SILBO
from skbo_silbo.baselines import RandomSearch


@pytest.mark.parametrize("kind", [RandomSearch, SILBO])
def test_threads_ask_and_tell_at_once(kind):
    optimizer, n_threads, n = kind([(-1.0, 2.0)] * 3, random_state=0), 4, 3
    start, errors = threading.Barrier(n_threads), []

    def work():
        try:
            start.wait()
            for _ in range(n):
                x = optimizer.ask()
                optimizer.tell(x, float(sum(x)))
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(n_threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    X = optimizer.x_iters_
    assert len(X) == n_threads * n == len(np.unique(X, axis=0))
    assert_array_equal(optimizer.func_vals_, [float(sum(x)) for x in X])
    assert len(optimizer.pending_) == 0
