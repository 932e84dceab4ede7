"""Neighbours by pynndescent, which is compiled for a minute in every process."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from skbo_silbo._numerics.graphs import neighbor_indices


@pytest.mark.quick
def test_pynndescent_excludes_row_itself(monkeypatch):
    """Where points coincide it may come late among its neighbours, or not at all."""
    found = np.array([[1, 0, 2], [1, 0, 2], [0, 1, 3], [3, -1, -1]])

    def descend(X, n_neighbors, random_state):
        assert (n_neighbors, random_state) == (3, 7)
        return SimpleNamespace(neighbor_graph=(found, None))

    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=descend))
    others = neighbor_indices(np.zeros((4, 2)), 2, method="pynndescent", random_state=7)
    np.testing.assert_array_equal(others, [[1, 2], [0, 2], [0, 1], [-1, -1]])


@pytest.mark.slow
def test_pynndescent_gives_nearly_the_graph_of_brute_force():  # numba compiles for a minute
    X = np.random.default_rng(10).normal(size=(800, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's own deprecations
        found = neighbor_indices(X, 5, method="pynndescent", random_state=0)
    exact = neighbor_indices(X, 5, method="brute")
    assert all(row not in neighbours for row, neighbours in enumerate(found))
    shared = [len(set(a) & set(b)) for a, b in zip(found, exact, strict=True)]
    assert np.mean(shared) > 0.9 * 5
