"""Inputs of a proposal moved off their bounds, where that costs next to nothing.

A climb takes inputs that do not matter to bounds, where the process knows least, and the points
that improve keep them there. Whoever builds the best point is handed a corner that no value asked
for (doc/search_log.rst).
"""

import numpy as np

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._acquisition_functions import log_expected_improvement
from skbo_silbo.acquisition._surface import AcquisitionSurface
from skbo_silbo.space import SpaceUnion

# Of the log expected improvement, in nats: for each input of the space, and in all. Measured with
# 100 inputs, of which five matter; with 10 and 20 that all matter, 0.2 in all cost much.
LOSS_EACH, MOST_LOSS = 0.002, 0.2
LEAST_INPUTS = 25
SMALLEST_STEP = 1e-6  # from a bound, of the cube


def moved_off_bounds(
    surface: AcquisitionSurface, x: FloatArray, ranked: FloatArray, space: SpaceLike
) -> FloatArray:
    """Return a point with inputs off their bounds, as long as its acquisition hardly falls.

    An input on a bound gets its value in the best point that has it elsewhere, if there is one.
    Those that cost least come first, while the log expected improvement falls by at most
    `LOSS_EACH` for every column, and by `MOST_LOSS`, in all. Of fewer than `LEAST_INPUTS` columns
    none is moved, nor of another acquisition, or of a union, where inputs may be absent.

    Parameters
    ----------
    surface : AcquisitionSurface
    x : ndarray of shape (d,)
        A rounded place of the space.
    ranked : ndarray of shape (n, d)
        The points evaluated, the lowest value first.
    space : Space, SpaceUnion or Box

    Returns
    -------
    x : ndarray of shape (d,)
    """
    in_nats = surface.acquisition is log_expected_improvement
    if x.size < LEAST_INPUTS or not in_nats or isinstance(space, SpaceUnion):
        return x
    lower, upper = space.round(np.array([[-1.0], [1.0]]) * np.ones(x.size))  # equal: of a category
    inside = (ranked > lower + SMALLEST_STEP) & (ranked < upper - SMALLEST_STEP)
    bounded = (x <= lower + SMALLEST_STEP) | (x >= upper - SMALLEST_STEP)
    columns = np.flatnonzero(bounded & inside.any(axis=0))
    if not columns.size:
        return x
    elsewhere = ranked[inside.argmax(axis=0), np.arange(x.size)]
    moved = columns[:, None] == np.arange(x.size)
    order = np.argsort(-surface.values(space.round(np.where(moved, elsewhere, x))), kind="stable")
    moved = np.logical_or.accumulate(moved[order])
    X = np.vstack([x[None], space.round(np.where(moved, elsewhere, x))])
    values = surface.values(X)
    as_good = np.flatnonzero(values >= values[0] - min(LOSS_EACH * x.size, MOST_LOSS))
    return X[as_good[-1]] if as_good.size else x
