"""A category of a space, and how often points have each of its levels."""

from typing import Any, NamedTuple

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray


class Category(NamedTuple):
    """A categorical parameter in the cube.

    Attributes
    ----------
    name : str
    values : list
        One for each of the k levels.
    columns : list of int
    levels : ndarray of shape (k, len(columns))
        What the columns are at each level.
    """

    name: str
    values: list[Any]
    columns: list[int]
    levels: FloatArray

    def counts(self, X: FloatArray) -> IntArray:
        """Return how many of the rounded places X, (n, m), have each level, (k,).

        In a union, places without this parameter have none of its levels.
        """
        return (X[:, None, self.columns] == self.levels).all(axis=2).sum(axis=0)

    def nearest(self, x: FloatArray) -> int:
        """Return the level that a place x, (m,), is rounded to."""
        return int((self.levels @ x[self.columns]).argmax())

    def at_every_level(self, x: FloatArray) -> FloatArray:
        """Return copies of a place x, (m,), one at each level: (k, m)."""
        X = np.repeat(x[None], len(self.levels), axis=0)
        X[:, self.columns] = self.levels
        return X
