"""Categorical parameters in the cube, and design points that balance their levels."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from skbo_silbo._typing import FloatArray, IntArray


class Category(NamedTuple):
    """Categorical parameter and the encoded columns that represent it.

    Attributes
    ----------
    name : str
        Name of the parameter.
    values : list
        Values of the parameter.
    columns : list of int
        Indices of the encoded columns that represent the parameter.
    levels : ndarray of shape (k, len(columns))
        Encoding of each value in these columns.
    """

    name: str
    values: list[Any]
    columns: list[int]
    levels: FloatArray

    def counts(self, X: FloatArray) -> IntArray:
        """Count how many of the encoded points X have each category.

        In a union, points of branches without this parameter are not counted.
        """
        return (X[:, None, self.columns] == self.levels).all(axis=2).sum(axis=0)

    def nearest(self, x: FloatArray) -> int:
        """Return the index of the category to which an encoded point x is rounded."""
        return int((self.levels @ x[self.columns]).argmax())

    def at_every_level(self, x: FloatArray) -> FloatArray:
        """Return copies of the encoded point x, one for each category."""
        X = np.repeat(x[None], len(self.levels), axis=0)
        X[:, self.columns] = self.levels
        return X


def with_least_tried_levels(
    x: FloatArray, X: FloatArray, categories: Sequence[Category], rng: Generator
) -> FloatArray:
    """Move a design point to the least evaluated value of each categorical parameter.

    A parameter that is already at one of its least evaluated values is left unchanged.

    Parameters
    ----------
    x : ndarray of shape (d,)
        Encoded point, which need not be rounded.
    X : ndarray of shape (n, d)
        Encoded points that are evaluated or pending.
    categories : list of Category
    rng : numpy.random.Generator
        Random number generator for choosing between values that were evaluated equally often.

    Returns
    -------
    x : ndarray of shape (d,)
    """
    for category in categories:
        counts = category.counts(X)
        least = np.flatnonzero(counts == counts.min())
        if category.nearest(x) not in least:
            x = category.at_every_level(x)[rng.choice(least)]
    return x
