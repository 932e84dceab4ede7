"""Points whose categories have levels that were tried least.

A Gaussian process of few values hardly tells the levels of a category apart, so the acquisition is
nearly the same for all of them. The level of the best point then wins every near-tie, and the
others are never tried (doc/search_log.rst).
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from skbo_silbo._typing import FloatArray
from skbo_silbo.space._categories import Category


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
