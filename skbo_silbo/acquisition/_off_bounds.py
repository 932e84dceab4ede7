"""Inputs of a proposal moved off their bounds, where that costs next to nothing.

A climb takes inputs that do not matter to bounds, where the process knows least, and the points
that improve keep them there. Whoever builds the best point is handed a corner that no value asked
for (doc/search_log.rst).
"""

import numpy as np

from skbo_silbo._typing import FloatArray, SpaceLike
from skbo_silbo.acquisition._surface import AcquisitionSurface

# Of the log expected improvement, in nats: for each input of the space, and in all. Measured with
# 100 inputs, of which five matter; with 10 and 20 that all matter, 0.2 in all cost much.
LOSS_EACH, MOST_LOSS = 0.002, 0.2
LEAST_INPUTS = 25


def moved_off_bounds(
    surface: AcquisitionSurface, x: FloatArray, ranked: FloatArray, space: SpaceLike
) -> FloatArray:
    """Return a point with inputs off their bounds, as long as its acquisition hardly falls.

    An input on a bound gets its value in the best point that has it elsewhere, if there is one.
    Those that cost least come first, while the acquisition falls by at most `LOSS_EACH` for every
    column, and by `MOST_LOSS`, in all. Of fewer than `LEAST_INPUTS` columns none is moved.

    Parameters
    ----------
    surface : AcquisitionSurface
    x : ndarray of shape (d,)
        A rounded place of the space.
    ranked : ndarray of shape (n, d)
        The points evaluated, the lowest value first.
    space : Space or Box

    Returns
    -------
    x : ndarray of shape (d,)
    """
    inside = np.abs(ranked) < 1.0
    columns = np.flatnonzero((np.abs(x) == 1.0) & inside.any(axis=0))
    if x.size < LEAST_INPUTS or not columns.size:
        return x
    elsewhere = ranked[inside.argmax(axis=0), np.arange(x.size)]
    moved = columns[:, None] == np.arange(x.size)
    order = np.argsort(-surface.values(space.round(np.where(moved, elsewhere, x))), kind="stable")
    moved = np.logical_or.accumulate(moved[order])
    X = np.vstack([x[None], space.round(np.where(moved, elsewhere, x))])
    values = surface.values(X)
    least = values[0] - min(LOSS_EACH * x.size, MOST_LOSS)
    return X[np.flatnonzero(values >= least)[-1]]
