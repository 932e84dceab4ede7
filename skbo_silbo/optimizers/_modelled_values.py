"""Which of the values told a model can see, and on which scale: squares of them must be finite."""

import warnings

import numpy as np

ORDINARY = 2.0**200  # magnitudes between this and its inverse are modelled as they are told
PENALTY = 1e100  # a value above this, and far above all that are below it, stands for a failure
GAP = 2.0**100  # how far, as a ratio
LOUDEST = 2.0**30  # noise, relative to the largest value, beyond which a value says nothing


class BeyondModelWarning(UserWarning):
    """A value told is so large that beside the others it cannot be modelled: it has failed."""


def is_beyond(y):
    """Return which values are finite and beyond what can be modelled with the others.

    They are positive and above 1e100, and no magnitude lies within a factor of 1e30 below the
    least of them, while there is one further below: what people return for infeasible points,
    ``np.finfo(float).max`` or 1e308. On any scale on which the other values differ, squares of
    these overflow. Values that are large all together are not: they are scaled.

    Parameters
    ----------
    y : ndarray of shape (n,)
        As told.

    Returns
    -------
    beyond : ndarray of bool of shape (n,)

    Examples
    --------
    >>> is_beyond(np.array([3.0, 1e308, -2.0, 1e12])), is_beyond(np.array([2e307, 1e308]))
    (array([False,  True, False, False]), array([False, False]))
    """
    sizes = np.unique(np.abs(y[np.isfinite(y) & (y != 0.0)]))
    with np.errstate(over="ignore"):
        gaps = np.flatnonzero((sizes[1:] > PENALTY) & (sizes[1:] / GAP > sizes[:-1]))
    if not gaps.size:
        return np.zeros(y.shape, bool)
    return np.isfinite(y) & (y >= sizes[gaps[0] + 1])


def as_modelled(y, noise_std):
    """Return values and noise as models see them: NaN where beyond, and in a unit of their own.

    The unit is 1 for ordinary values, else a power of two: no digit is lost.

    Parameters
    ----------
    y, noise_std : ndarray of shape (n,)
        As told.

    Returns
    -------
    y, noise_std : ndarray of shape (n,)
    """
    y = np.where(is_beyond(y), np.nan, y)
    largest = np.abs(y[np.isfinite(y)]).max(initial=0.0)
    if 0.0 < largest < 1.0 / ORDINARY or largest > ORDINARY:
        shift = -int(np.frexp(largest)[1])
        with np.errstate(over="ignore"):
            y, noise_std = np.ldexp(y, shift), np.ldexp(noise_std, shift)
        largest = 1.0
    loudest = LOUDEST * largest if largest else ORDINARY
    return y, np.minimum(noise_std, loudest)


def warn_of_values_beyond(n, y):
    """Say that n more of the values told, (n,), are beyond what can be modelled."""
    least = np.min(y[is_beyond(y)])
    warnings.warn(
        f"{n} of {y.size} values count as failed evaluations: from {least:.3g} on they are too "
        "large to be modelled with the others. Return float('nan') for a failure.",
        BeyondModelWarning,
        stacklevel=3,
    )
