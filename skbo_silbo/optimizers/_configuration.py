"""The parts that a configuration of the loop is made of."""

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from skbo_silbo.acquisition import (
    Acquisition,
    BoxSearch,
    Climb,
    IdleRedraw,
    confidence_gain,
    confidence_weight,
    log_expected_improvement,
    mean_of_logs,
    plain_mean,
)
from skbo_silbo.mapping import BottomUp, TopDown
from skbo_silbo.optimizers._design import random_points, sobol_points
from skbo_silbo.surrogate import AsTold, HalfLog, LogAboveLeast


@dataclass(frozen=True, eq=False)
class Configuration:
    """One configuration of the loop.

    Attributes
    ----------
    learners : list
        Learners of the embedding; with several, evidence chooses.
    mapping : object
        With `lift` and `carry`.
    search : object
        Maximises the acquisition.
    acquisition : callable
        ``acquisition(t, n_points)`` is the function for proposal t over so many candidates.
    design : callable
        ``design(n, d, rng)`` is the first points, (n, d), or a pair of these and the coordinates
        that they were made from.
    surrogate : object
        Makes surrogates.
    n_initial, n_unlabeled : int
    update_every : int, tuple of int or None
        See `is_update_due`.
    keeps_found : bool
        Whether a point found by a search over x is proposed itself, not another preimage of its z.
    warps : tuple
        Scales on which learners and surrogate may see the values; with several, evidence chooses.
    n_first_unlabeled : int
        Uniform points without a value that the first embedding is learnt with (Chen et al. 2020,
        Algorithm 1, line 1).
    """

    learners: list
    mapping: object
    search: object
    acquisition: object
    design: object
    surrogate: object
    n_initial: int
    n_unlabeled: int
    update_every: int | tuple | None
    keeps_found: bool = False
    warps: tuple = (AsTold(),)
    n_first_unlabeled: int = 0


def _improvement(t, n_points):
    return Acquisition(log_expected_improvement, mean_of_logs)


def _confidence(t, n_points):
    gain = partial(confidence_gain, beta=confidence_weight(t, n_points))
    return Acquisition(gain, plain_mean)


ACQUISITIONS = MappingProxyType({"ei": _improvement, "ucb": _confidence})
DESIGNS = MappingProxyType({"auto": sobol_points, "sobol": sobol_points, "random": random_points})
SEARCHES = MappingProxyType({"auto": IdleRedraw, "climb": Climb, "random": BoxSearch})
WARPS = MappingProxyType(
    {
        "auto": (HalfLog(), AsTold(), LogAboveLeast()),
        "half-log": (HalfLog(),),
        "log": (LogAboveLeast(),),
        None: (AsTold(),),
    }
)
MAPPINGS = MappingProxyType(
    {
        "auto": TopDown,
        "incumbent": TopDown,
        "top-down": TopDown,
        "top-down-least-squares": partial(TopDown, "least-squares"),
        "top-down-cma": partial(TopDown, "cma"),
        "bottom-up": BottomUp,
    }
)


def named(name, value, table):
    """Return the entry of a table of names.

    Raises
    ------
    ValueError
        When there is none.
    """
    if not isinstance(value, str | None) or value not in table:
        raise ValueError(f"{name} must be one of {sorted(table, key=str)}: got {value!r}.")
    return table[value]


def make_mapping(mapping):
    """Return the mapping of this name, or the object given if it has `lift` and `carry`."""
    if hasattr(mapping, "lift") and hasattr(mapping, "carry"):
        return mapping
    return named("mapping", mapping, MAPPINGS)()
