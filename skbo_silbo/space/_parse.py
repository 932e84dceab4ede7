"""Reading what a user may write for one parameter: a list, a distribution, an object with rvs."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo.space._keys import STEP
from skbo_silbo.space._parameters import TAIL, Categories, Levels, Quantiles
from skbo_silbo.space._values import as_distribution, distinct, interval, is_interval, is_number

_MAX_LEVELS = 2**16  # integers beyond this many are as good as continuous
_N_DRAWS = 1024  # for an object that has only rvs


def read_parameter(name, values):
    """Return the parameter (Levels, Categories or Quantiles) that `values` describes.

    Raises
    ------
    ValueError
        If `values` is neither a non-empty list (tuple, 1-d array, range) nor a distribution.
    """
    if hasattr(values, "ppf") and hasattr(values, "cdf") and hasattr(values, "support"):
        return _read_distribution(name, values)
    if hasattr(values, "rvs"):
        return _read_sample(name, values)
    is_array = isinstance(values, np.ndarray) and values.ndim > 0
    if is_array or (isinstance(values, Sequence) and not isinstance(values, (str, bytes))):
        return _read_list(name, values)
    remedy = f"Write [{values!r}] for a single value, list(...) for other collections."
    if isinstance(values, Mapping):
        remedy = "Write what only some points have as a list of dicts, one for each kind."
    raise ValueError(
        f"parameter {name!r} must be a list of values or a distribution with an rvs method: "
        f"got {values!r}. {remedy}"
    )


def _read_list(name, values):
    if len(values) == 0:
        raise ValueError(
            f"parameter {name!r} must have at least one value: got {values!r}. "
            "List its values, or leave the parameter out of the space."
        )
    if is_interval(values):
        warn_user(
            f"parameter {name!r} is a tuple of two numbers, {values!r}, and searched over these "
            f"two values alone, as scikit-learn does. Write {interval(*values)} for the interval, "
            f"or the list {list(values)!r} for the two values."
        )
    distribution = as_distribution(values)
    if distribution is not None:
        raise ValueError(
            f"parameter {name!r} must be a list of values or a distribution: got {values!r}, the "
            "form of another library, which would be three categories here. Write "
            f"{distribution}."
        )
    values = distinct(values)
    if len(values) > 1 and all(map(is_number, values)) and _is_sorted(values):
        return Levels(name, values, np.ones(len(values)))
    return Categories(name, values)


def _is_sorted(values):
    pairs = list(pairwise(values))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _read_distribution(name, distribution):
    try:
        quantiles = np.array([distribution.ppf(q) for q in (TAIL, 0.5, 1.0 - TAIL)], dtype=float)
    except TypeError as error:
        raise ValueError(
            f"parameter {name!r} must be a frozen distribution: got {distribution!r}, which lacks "
            "its own parameters. Call it, as in loguniform(1e-3, 1e3)."
        ) from error
    if quantiles.shape != (3,) or not np.isfinite(quantiles).all():
        raise ValueError(
            f"parameter {name!r} must have a distribution of one number with finite quantiles: "
            f"got quantiles {quantiles.tolist()}. Check the distribution's own parameters "
            "(scale > 0, lower < upper, scalars)."
        )
    if hasattr(distribution, "pmf"):
        return _read_discrete(name, distribution)
    return Quantiles(name, distribution, integer=False)


def _read_discrete(name, distribution):
    of_class = getattr(getattr(distribution, "dist", None), "xk", None)
    values = getattr(distribution, "xk", of_class)
    if values is None:
        low, high = distribution.support()
        low = low if np.isfinite(low) else distribution.ppf(TAIL)
        high = high if np.isfinite(high) else distribution.ppf(1.0 - TAIL)
        if high - low >= _MAX_LEVELS:
            return Quantiles(name, distribution, integer=True)
        values = np.arange(int(low), int(high) + 1)
    mass = distribution.pmf(values)
    # A level with less than a step of probability could not be distinguished from its neighbours.
    values, mass = values[mass >= STEP], mass[mass >= STEP]
    values = [int(v) if v == int(v) else float(v) for v in values]
    if len(values) == 1:
        return Categories(name, values)
    return Levels(name, values, mass, mass=distribution.pmf)


def _read_sample(name, distribution):
    """Replace an object with only `rvs` by what it gives in a fixed number of seeded draws."""
    rng = np.random.RandomState(0)
    draws = [distribution.rvs(random_state=rng) for _ in range(_N_DRAWS)]
    values = distinct(draws)
    if len(values) == 1 or not all(map(is_number, values)):
        return Categories(name, values)
    values, counts = np.unique(draws, return_counts=True)
    return Levels(name, values.tolist(), counts, mass=_unknown)


def _unknown(value):
    """Probability of a number under a distribution that does not say: it may be possible."""
    return 1.0
