"""What one configuration of the loop is made of: its first points, and what options name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter
from numbers import Integral
from types import MappingProxyType

import numpy as np
from scipy.stats import qmc

from skbo_silbo._checks import brief, check_count, check_flag
from skbo_silbo._members import check_members, check_methods, check_takes, missing_members
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition import AcquisitionFunction, ParzenTurns, Search
from skbo_silbo.acquisition._acquisition_functions import ACQUISITIONS, is_log
from skbo_silbo.acquisition._searches import BOX_ROUNDS, BoxSearch, Climb
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._nonlinear import NonlinearLearner
from skbo_silbo.surrogate import GaussianProcessSurrogate, Surrogate, SurrogateOptions, Warp
from skbo_silbo.surrogate._regressor import RegressorSurrogate, is_regressor, sklearn_process
from skbo_silbo.surrogate._warps import WARPS, IdentityWarp


def n_initial_points(d):
    """Return how many points to evaluate before the first model: 6 for d = 1, 10 for 9, then 11.

    A Gaussian process needs a few points to be better than chance, not a number in proportion
    to d; and every point of the design is one that is not chosen by a model.
    """
    return round(4 + 2 * min(np.sqrt(d), 3.5))


def check_n_initial(n_initial, d):
    """Return `n_initial` after checking it; for "auto" as many as `n_initial_points` says."""
    return check_count("n_initial", n_initial_points(d) if n_initial == "auto" else n_initial)


def sobol_points(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Return n points of ``[-1, 1]^d`` from a scrambled Sobol sequence, of shape (n, d).

    Beyond the dimensions that scipy has direction numbers for (21201), a Latin hypercube.
    """
    if d == 0:
        return np.empty((n, 0))
    if d > qmc.Sobol.MAXDIM:
        return 2.0 * qmc.LatinHypercube(d, seed=rng).random(n) - 1.0
    sequence = qmc.Sobol(d, scramble=True, seed=rng)
    return 2.0 * sequence.random_base2(int(np.ceil(np.log2(max(n, 2)))))[:n] - 1.0


def random_points(n, d, rng):
    """Return n independent uniform points of ``[-1, 1]^d``, of shape (n, d): the paper's design."""
    return rng.uniform(-1.0, 1.0, (n, d))


@dataclass(frozen=True, eq=False, kw_only=True)
class Configuration:
    """The parts of one optimiser, one for each stage of a proposal.

    Attributes
    ----------
    learner : Learner
        Of the embedding; by default all inputs are kept.
    search : Search
        Maximises the acquisition; by default a `Climb`.
    acquisition : callable
        ``acquisition(t)`` is the `AcquisitionFunction` of proposal t; by default the log expected
        improvement.
    design : callable
        ``design(n, d, rng)`` is the first points, (n, d), of the cube [-1, 1]^d; by default those
        of a Sobol sequence.
    covers_levels : bool
        Whether each point of the design gets the level tried least in every category; by default
        it stays as `design` made it.
    surrogate : Surrogate
        Copied before every fit; by default a Gaussian process.
    n_initial, n_unlabeled : int
        Points before the first model; points kept of every search for the learner.
    update_every : int, tuple of int or None
        After how many new values the embedding is learnt again; a tuple: at how many in all; None:
        never.
    warp : Warp
        The scale on which learner and surrogate see the values.
    """

    learner: Learner = field(default_factory=IdentityLearner)
    search: Search = field(default_factory=Climb)
    acquisition: Callable[[int], AcquisitionFunction] = ACQUISITIONS["ei"]
    design: Callable = sobol_points
    covers_levels: bool = False
    surrogate: Surrogate = field(default_factory=GaussianProcessSurrogate)
    n_initial: int
    n_unlabeled: int = 0
    update_every: int | tuple[int, ...] | None = None
    warp: Warp = field(default_factory=IdentityWarp)

    def __post_init__(self):
        """Check that parts have the methods that their protocols ask for."""
        check_members("embedding", self.learner, Learner)
        check_members("search", self.search, Search)
        check_members("surrogate", self.surrogate, Surrogate, REMEDY)
        check_methods("surrogate", self.surrogate, SurrogateOptions)
        check_flag("takes_noise of surrogate", self.surrogate.takes_noise)
        check_members("warp", self.warp, Warp)


DESIGNS = MappingProxyType({"auto": sobol_points, "sobol": sobol_points, "random": random_points})
SEARCHES = MappingProxyType(
    {"auto": Climb, "climb": Climb, "parzen-turns": ParzenTurns, "random": BoxSearch}
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
            f"{name} must be one of {sorted(table, key=str)}: got {brief(value)}. Or give {given}."
        )
    return table[value]


def make_search(search, learner, acquisition, surrogate):
    """Return the search of this name, or the `Search` given; it must go with the other parts.

    Parameters
    ----------
    search : str or Search
    learner : Learner
    acquisition : callable
        As for `Configuration`.
    surrogate : Surrogate

    Raises
    ------
    ValueError
        When there is no such name, it climbs where the embedding has no gradients, or it needs a
        method that the surrogate does not have.
    """
    if isinstance(learner, NonlinearLearner):
        if search not in ("auto", "random"):
            raise ValueError(
                "search must be 'auto' or 'random' with an embedding that has inverse_transform "
                f"but no components_: got {search!r}. Leave it out, or use a linear embedding."
            )
        return BoxSearch(n_rounds=BOX_ROUNDS)
    says_share = hasattr(surrogate, "unexplained_share")
    if isinstance(search, str) and search == "auto" and isinstance(learner, IdentityLearner):
        # draws take turns with logarithms alone: no other acquisition was measured
        search = "parzen-turns" if says_share and is_log(acquisition(1)) else "climb"
    if isinstance(search, str):
        search = named("search", search, SEARCHES, "an object with find")()
    if isinstance(search, ParzenTurns) and not says_share:
        raise ValueError(
            "search must not be 'parzen-turns' with a surrogate that has no unexplained_share, as "
            f"skbo_silbo.surrogate.SurrogateOptions describes it: got {surrogate!r}. Leave search "
            "out, or give search='climb'."
        )
    return search


def make_acquisition(acquisition):
    """Return what gives the acquisition of this name, or the function given, for every proposal."""
    given = "a function of (mean, std, best, return_gradient)"
    if isinstance(acquisition, str) or acquisition is None:
        return named("acquisition", acquisition, ACQUISITIONS, given)
    check_members("acquisition", acquisition, AcquisitionFunction)
    check_flag("is_log of acquisition", getattr(acquisition, "is_log", False))
    return partial(_always, acquisition)


def _always(acquisition, t):
    return acquisition


def make_design(design):
    """Return the function for the first points of this name, or the one given."""
    if isinstance(design, str) or design is None:
        return named("design", design, DESIGNS, "a function of (n, d, rng)")
    asked = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in ("n", "d", "rng")]
    check_takes("design", "__call__", design, asked, "skbo_silbo.SILBO")
    return design


SURROGATES = dict.fromkeys(("auto", "gaussian-process", "sklearn"))
REMEDY = "Add what is missing, or give a regressor of scikit-learn, for example BayesianRidge()."


def make_surrogate(surrogate, prior, shared=None):
    """Return the surrogate of this name, or that of a regressor, or the one given.

    Parameters
    ----------
    surrogate : str, regressor or Surrogate
    prior : {"dimension-scaled", "sparse"} or None
        Of the process's length scales; None leaves it to the process.
    shared : list of int or None, default=None
        Which length scale of the process each column has.

    Raises
    ------
    ValueError
        When there is no such name, or a prior is asked of what is no process of ours.
    TypeError
        When the regressor gives no standard deviation.
    """
    if isinstance(surrogate, str) and surrogate in ("auto", "gaussian-process"):
        return GaussianProcessSurrogate(prior=prior or "dimension-scaled", shared=shared)
    if isinstance(surrogate, str):
        named("surrogate", surrogate, SURROGATES, "a regressor with predict(Z, return_std=True)")
    if prior is not None:
        raise ValueError(
            f"surrogate must be 'auto' or 'gaussian-process' with embedding='sparse', which is a "
            f"prior of that process: got {surrogate!r}. Use embedding='identity' with it."
        )
    if isinstance(surrogate, str):
        return RegressorSurrogate(sklearn_process)
    if missing_members(surrogate, Surrogate) and is_regressor(surrogate):
        return RegressorSurrogate(surrogate)
    return surrogate


def make_warp(warp):
    """Return the scale of this name, or the one given."""
    if isinstance(warp, str) or warp is None:
        return named("warp", warp, WARPS, "an object with name, __call__ and log_slope")
    return warp


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
            f"{brief(update_every)}. Write update_every=[20] to learn once more, from 20 values."
        )
    return tuple(check_count("update_every", n) for n in update_every)
