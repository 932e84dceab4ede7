"""A category of a space, how often points have each of its levels, and points with other levels."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

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


def with_least_tried_levels(
    x: FloatArray, known: FloatArray, categories: Sequence[Category], rng: Generator
) -> FloatArray:
    """Return a design point whose every category has one of its least-tried levels.

    A level of the point that is among the least tried stays.

    Parameters
    ----------
    x : ndarray of shape (d,)
        A place that is not rounded.
    known : ndarray of shape (n, d)
        The points evaluated or pending.
    categories : list of Category
    rng : numpy.random.Generator

    Returns
    -------
    x : ndarray of shape (d,)
    """
    for category in categories:
        counts = category.counts(known)
        least = np.flatnonzero(counts == counts.min())
        if category.nearest(x) not in least:
            x = category.at_every_level(x)[rng.choice(least)]
    return x
