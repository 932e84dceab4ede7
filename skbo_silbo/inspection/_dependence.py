"""What the model of all inputs says of one of them, or of one direction, the others averaged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skbo_silbo._typing import FloatArray
from skbo_silbo.space import parameter_domains

N_POINTS = 256  # over which the other inputs are averaged
N_PLACES = 21  # along a continuous input
N_BINS = 16  # along a direction
POINTS_A_BIN = 64


@dataclass(frozen=True, eq=False)
class Dependence:
    """A partial dependence curve with its interval, in the units of the values observed.

    Attributes
    ----------
    places : sequence of k values of the parameter, or ndarray of k scores of the direction
    mean, low, high : ndarray of shape (k,)
    """

    places: Sequence[Any] | NDArray[Any]
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def rows(self, rows):
        """Return the curve at some of its places, in the order of the rows."""
        places = [self.places[i] for i in rows]
        return Dependence(places, self.mean[rows], self.low[rows], self.high[rows])

    def times(self, factor):
        """Return the curve of the values times a factor."""
        return Dependence(self.places, *(factor * v for v in (self.mean, self.low, self.high)))


def input_dependence(model, name):
    """Return the `Dependence` on one parameter (Friedman 2001, section 8.2).

    The mean of the model over points that are spread evenly, their value of this parameter
    replaced. In a conditional space over those of its points whose branch can have the value; of
    the choice between its branches, over points that are spread evenly in each.

    Parameters
    ----------
    model : InputModel
        One that says something.
    name : str
    """
    places = parameter_domains(model.space)[name].places(N_PLACES)
    base = model.points(N_POINTS)
    blocks = [model.space.with_value(base, name, value) for value in places]
    kept = [i for i, X in enumerate(blocks) if len(X)]
    return Dependence([places[i] for i in kept], *model.dependence([blocks[i] for i in kept]))


def direction_dependence(model, direction):
    """Return the `Dependence` on the score ``x . direction``, direction (m,).

    The mean of the model over evenly spread points of nearly this score.
    """
    X = model.space.round(model.points(N_BINS * POINTS_A_BIN))
    order = np.argsort(X @ direction, kind="stable")
    bins = order.reshape(N_BINS, POINTS_A_BIN)
    places = (X @ direction)[bins].mean(axis=1)
    return Dependence(places, *model.dependence([X[rows] for rows in bins]))
