"""What one configuration of the loop is made of, and the names that options stand for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from types import MappingProxyType

import numpy as np

from skbo_silbo._checks import check_count, check_function, check_members
from skbo_silbo.acquisition import AcquisitionFunction, ParzenTurns, Search
from skbo_silbo.acquisition._box_search import BoxSearch
from skbo_silbo.acquisition._climb import Climb
from skbo_silbo.acquisition._functions import (
    confidence_gain,
    confidence_weight,
    log_expected_improvement,
)
from skbo_silbo.acquisition._idle_redraw import IdleRedraw
from skbo_silbo.embedding import Learner
from skbo_silbo.mapping import Mapping
from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.mapping._given import as_mapping
from skbo_silbo.mapping._top_down import TopDown
from skbo_silbo.optimizers._design import random_points, sobol_points
from skbo_silbo.surrogate import SurrogateMaker, Warp
from skbo_silbo.surrogate._warps import WARPS, AsTold


@dataclass(frozen=True, eq=False)
class Configuration:
    """The parts of one optimiser: a room hands out each, and the loop calls them in turn.

    Attributes
    ----------
    learner : Learner
        Of the embedding.
    mapping : Mapping
        An object with `lift` and `carry`; kept as the `FullMapping` that it is or is made into.
    search : Search
        Maximises the acquisition.
    acquisition : callable
        ``acquisition(t, n_points)`` is the `AcquisitionFunction` of proposal t over so many
        candidates.
    design : callable
        ``design(n, d, rng)`` is the first points, (n, d), of the cube [-1, 1]^d.
    maker : SurrogateMaker
    n_initial, n_unlabeled : int
        Points before the first model; points kept of every search for the learner.
    update_every : int, tuple of int or None
        After how many new values the embedding is learnt again; a tuple: at how many in all; None:
        never.
    warps : tuple of Warp
        Scales on which learner and surrogate may see the values; with several, evidence chooses.
    n_first_unlabeled : int
        Uniform points without a value that the first embedding is learnt with (Chen et al. 2020,
        Algorithm 1, line 1).
    """

    learner: Learner
    mapping: Mapping
    search: Search
    acquisition: Callable[[int, int], AcquisitionFunction]
    design: Callable
    maker: SurrogateMaker
    n_initial: int
    n_unlabeled: int
    update_every: int | tuple[int, ...] | None
    warps: tuple[Warp, ...] = (AsTold(),)
    n_first_unlabeled: int = 0

    @property
    def learns_constraints(self) -> bool:
        """Whether probabilities can be added to the acquisition: it is the log improvement."""
        return self.acquisition is ACQUISITIONS["ei"]

    def __post_init__(self):
        """Refuse parts without what the loop asks of them."""
        check_members("embedding", self.learner, Learner)
        object.__setattr__(self, "mapping", as_mapping(self.mapping))  # the record is frozen
        check_members("search", self.search, Search)
        check_members("surrogate", self.maker, SurrogateMaker)
        for warp in self.warps:
            check_members("warp", warp, Warp)


def _improvement(t, n_points):
    return log_expected_improvement


def _confidence(t, n_points):
    return partial(confidence_gain, beta=confidence_weight(t, n_points))


ACQUISITIONS = MappingProxyType({"ei": _improvement, "ucb": _confidence})
DESIGNS = MappingProxyType({"auto": sobol_points, "sobol": sobol_points, "random": random_points})
SEARCHES = MappingProxyType(
    {
        "auto": IdleRedraw,
        "improvement": IdleRedraw,
        "parzen-turns": ParzenTurns,
        "climb": Climb,
        "random": BoxSearch,
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


def named(name, value, table, given):
    """Return the entry of a table of names.

    Parameters
    ----------
    name : str
        Of the option.
    value : str or None
    table : mapping
    given : str
        What else the option may be.

    Raises
    ------
    ValueError
        When there is none.
    """
    if not isinstance(value, str | None) or value not in table:
        raise ValueError(
            f"{name} must be one of {sorted(table, key=str)}: got {value!r}. Or give {given}."
        )
    return table[value]


def make_mapping(mapping, *, keeps_found):
    """Return the mapping of this name, or the one given.

    Parameters
    ----------
    mapping : str or Mapping
    keeps_found : bool
        Whether a point that the search found may be proposed itself.
    """
    if not isinstance(mapping, str):
        return mapping
    made = named("mapping", mapping, MAPPINGS, "an object with lift and carry")
    return made() if made is BottomUp else made(keeps_found=keeps_found)


def make_search(search):
    """Return the search of this name, or the `Search` given."""
    if isinstance(search, str):
        return named("search", search, SEARCHES, "an object with find and n_points")()
    check_members("search", search, Search)
    return search


def make_acquisition(acquisition):
    """Return what gives the acquisition of this name, or the function given, for every proposal."""
    given = "a function of (mean, std, best, return_gradient)"
    if isinstance(acquisition, str) or acquisition is None:
        return named("acquisition", acquisition, ACQUISITIONS, given)
    _try_acquisition(acquisition)
    return lambda t, n_points: acquisition


def make_design(design):
    """Return the function for the first points of this name, or the one given."""
    if isinstance(design, str) or design is None:
        return named("design", design, DESIGNS, "a function of (n, d, rng)")
    check_function("design", design, "n", "d", "rng")
    return design


def make_warps(warp):
    """Return the scales of this name, or the one given."""
    if isinstance(warp, str) or warp is None:
        return named("warp", warp, WARPS, "an object with name, __call__ and log_slope")
    check_members("warp", warp, Warp)
    return (warp,)


def check_schedule(update_every):
    """Return `update_every` after checking it: None, an int, or a rising tuple of int.

    Raises
    ------
    ValueError
        When it is none of these.
    """
    if update_every is None:
        return None
    if isinstance(update_every, Integral) and not isinstance(update_every, bool):
        return check_count("update_every", update_every)
    is_list = isinstance(update_every, Sequence) and not isinstance(update_every, str)
    if not is_list or list(update_every) != sorted(set(update_every)) or not update_every:
        raise ValueError(
            "update_every must be None, an integer, or a rising list of numbers of values: got "
            f"{update_every!r}. Write update_every=[20] to learn once more, from 20 values."
        )
    return tuple(check_count("update_every", n) for n in update_every)


def is_update_due(schedule, n, learnt_at):
    """Return whether an embedding learnt from `learnt_at` values is due again at n.

    Examples
    --------
    >>> is_update_due(20, 69, 50), is_update_due(20, 70, 50), is_update_due(None, 900, 50)
    (False, True, False)
    >>> is_update_due((20,), 20, 10), is_update_due((20,), 40, 20)
    (True, False)
    """
    if schedule is None:
        return False
    if isinstance(schedule, tuple):
        return any(learnt_at < at <= n for at in schedule)
    return n - learnt_at >= schedule


def _try_acquisition(acquisition):
    """Refuse what does not return three arrays for (mean, std, best, return_gradient=True)."""
    moments = np.array([0.5, -0.5]), np.array([1.0, 0.1])
    try:
        plain = acquisition(*moments, 0.0)
        parts = [plain, *acquisition(*moments, 0.0, return_gradient=True)]
    except Exception as error:
        raise ValueError(
            "acquisition must be a name or a function of (mean, std, best, return_gradient): a "
            f"trial of {acquisition!r} ended in {type(error).__name__}: {error}."
        ) from error
    if [np.shape(part) for part in parts] != [(2,)] * 4:
        raise ValueError(
            "acquisition must return values, (n,), and with return_gradient=True also their "
            f"derivatives by mean and std: got shapes {[np.shape(part) for part in parts]} for "
            "n = 2. Try skbo_silbo.testing.check_acquisition."
        )
    low, high = acquisition(np.array([-3.0, 3.0]), np.ones(2), 0.0)
    if np.isnan(parts).any() or not low >= high:
        raise ValueError(
            "acquisition must be larger where a point is better, and values are minimised: a trial "
            f"of {acquisition!r} gave {low:g} for a mean of -3 and {high:g} for one of 3, with std "
            "1 and best 0. Turn its sign, or try skbo_silbo.testing.check_acquisition."
        )
