"""The components of an optimiser, and the strings that its options accept for them."""

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
from skbo_silbo.acquisition.acquisition_functions import ACQUISITIONS
from skbo_silbo.acquisition.searches import BoxSearch, Climb
from skbo_silbo.embedding import Learner
from skbo_silbo.embedding.choice import IdentityLearner
from skbo_silbo.surrogate import GaussianProcessSurrogate, Surrogate, SurrogateOptions, Warp
from skbo_silbo.surrogate.regressor import RegressorSurrogate, is_regressor, sklearn_process
from skbo_silbo.surrogate.warps import WARPS, IdentityWarp


def n_initial_points(d):
    """Return the default size of the initial design for d inputs, between 6 and 11.

    A Gaussian process needs some points before its proposals are better than random ones. The
    number of these points grows more slowly than d. The design is small, because a model chooses
    better points.
    """
    return round(4 + 2 * min(np.sqrt(d), 3.5))


def check_n_initial(n_initial, d):
    """Validate `n_initial`, and replace "auto" by the default size of the initial design."""
    return check_count("n_initial", n_initial_points(d) if n_initial == "auto" else n_initial)


def sobol_points(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Draw n points of ``[-1, 1]^d`` from a scrambled Sobol sequence.

    A Latin hypercube is used above 21201 dimensions, where scipy has no direction numbers.
    """
    if d == 0:
        return np.empty((n, 0))
    if d > qmc.Sobol.MAXDIM:
        return 2.0 * qmc.LatinHypercube(d, seed=rng).random(n) - 1.0
    sequence = qmc.Sobol(d, scramble=True, seed=rng)
    return 2.0 * sequence.random_base2(int(np.ceil(np.log2(max(n, 2)))))[:n] - 1.0


DIAGONAL_FROM = 100  # columns from which the design has points with all inputs at one level
DIAGONAL_LEVELS = (-0.5, 0.5)  # levels of these points in the cube, besides the centre; not tuned


def centred_points(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Draw n points of ``[-1, 1]^d``: the centre, followed by points of a Sobol sequence.

    With many inputs, the sum of all inputs is nearly the same at all points of a Sobol sequence. If
    the objective depends on this sum, a search may never find good points. From `DIAGONAL_FROM`
    columns on, points at other levels of all inputs therefore follow the centre.
    """
    points = sobol_points(n, d, rng)
    levels = (0.0, *DIAGONAL_LEVELS) if d >= DIAGONAL_FROM else (0.0,)
    points[: len(levels)] = np.array(levels)[:n, None]
    return points


def random_points(n, d, rng):
    """Draw n independent, uniformly distributed points of the cube ``[-1, 1]^d``."""
    return rng.uniform(-1.0, 1.0, (n, d))


@dataclass(frozen=True, eq=False, kw_only=True)
class Configuration:
    """Components of an optimiser, such as its embedding, surrogate and search.

    Attributes
    ----------
    learner : Learner
        Embedding learner. The default keeps all inputs.
    search : Search
        Search that maximises the acquisition function. The default is a `Climb`.
    acquisition : callable
        Function that returns the `AcquisitionFunction` for the t-th proposal. The default is the
        log expected improvement.
    design : callable
        Function ``design(n, d, rng)`` that returns the initial design as an array of shape (n, d),
        in the cube [-1, 1]^d. The default is a Sobol sequence.
    covers_levels : bool
        Whether design points use the least evaluated value of each categorical parameter.
    surrogate : Surrogate
        Model of the objective, which is copied before every fit. The default is a Gaussian process.
    n_initial, n_unlabeled : int
        Number of points before the first model is fitted, and the maximum number of unlabelled
        points that each search keeps for the learner.
    update_every : int, tuple of int or None
        Number of new values after which the embedding is learnt again. A tuple contains the total
        numbers of values at which it is learnt again. None means that it is never learnt again.
    warp : Warp
        Transformation of the observed values before the embedding and the surrogate are fitted.
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
        """Check that each component implements the protocol of its kind."""
        check_members("embedding", self.learner, Learner)
        check_members("search", self.search, Search)
        check_members("surrogate", self.surrogate, Surrogate, REMEDY)
        check_methods("surrogate", self.surrogate, SurrogateOptions)
        check_flag("takes_noise of surrogate", self.surrogate.takes_noise)
        check_members("warp", self.warp, Warp)


DESIGNS = MappingProxyType({"auto": centred_points, "sobol": sobol_points, "random": random_points})
SEARCHES = MappingProxyType(
    {"auto": Climb, "climb": Climb, "parzen-turns": ParzenTurns, "random": BoxSearch}
)


def look_up(name, value, table, given):
    """Return the component that an option value names, or raise an error.

    Parameters
    ----------
    name : str
        Name of the option, for the error message.
    value : str or None
    table : mapping
    given : str
        Description of the other accepted values, for the error message.

    Raises
    ------
    ValueError
        If the table has no such name.
    """
    if not isinstance(value, str | None) or value not in table:
        raise ValueError(
            f"{name} must be one of {sorted(table, key=str)} or {given}, got {brief(value)}."
        )
    return table[value]


def make_search(search, learner, acquisition, surrogate):
    """Create the object that maximises the acquisition function.

    Parameters
    ----------
    search : str or Search
    learner : Learner
    acquisition : callable
        Function that returns the acquisition function of a proposal, as in `Configuration`.
    surrogate : Surrogate

    Raises
    ------
    ValueError
        If the name is unknown, or if the search needs a method that the surrogate does not have.
    """
    says_share = hasattr(surrogate, "unexplained_share")
    if isinstance(search, str) and search == "auto" and isinstance(learner, IdentityLearner):
        # Parzen draws have only been benchmarked with log acquisition functions.
        is_log = getattr(acquisition(1), "is_log", False)
        search = "parzen-turns" if says_share and is_log else "climb"
    if isinstance(search, str):
        search = look_up("search", search, SEARCHES, "an object with find")()
    if isinstance(search, ParzenTurns) and not says_share:
        raise ValueError(
            "search='parzen-turns' requires a surrogate with the method unexplained_share (see "
            f"skbo_silbo.surrogate.SurrogateOptions), got {surrogate!r}. Use search='climb'."
        )
    return search


def make_acquisition(acquisition):
    """Return a function that creates the acquisition function of the t-th proposal."""
    given = "a function of (mean, std, best, return_gradient)"
    if isinstance(acquisition, str) or acquisition is None:
        return look_up("acquisition", acquisition, ACQUISITIONS, given)
    check_members("acquisition", acquisition, AcquisitionFunction)
    check_flag("is_log of acquisition", getattr(acquisition, "is_log", False))
    return partial(_always, acquisition)


def _always(acquisition, t):
    return acquisition


def make_design(design):
    """Return the function that draws the initial design, given the option `design`."""
    if isinstance(design, str) or design is None:
        return look_up("design", design, DESIGNS, "a function of (n, d, rng)")
    asked = [Parameter(name, Parameter.POSITIONAL_ONLY) for name in ("n", "d", "rng")]
    check_takes("design", "__call__", design, asked, "skbo_silbo.SILBO")
    return design


SURROGATES = dict.fromkeys(("auto", "gaussian-process", "sklearn"))
REMEDY = "Add the missing members, or pass a scikit-learn regressor such as BayesianRidge()."


def make_surrogate(surrogate, prior, shared=None):
    """Create the surrogate, given the option `surrogate`.

    Parameters
    ----------
    surrogate : str, regressor or Surrogate
    prior : {"dimension-scaled", "sparse"} or None
        Prior of the length scales of the Gaussian process. None uses the default prior.
    shared : list of int or None, default=None
        Index of the length scale that each column uses. None means one length scale per column.

    Raises
    ------
    ValueError
        If the name is unknown, or if `prior` is set for a surrogate other than the Gaussian
        process.
    TypeError
        If the regressor does not return standard deviations.
    """
    if isinstance(surrogate, str) and surrogate in ("auto", "gaussian-process"):
        return GaussianProcessSurrogate(prior=prior or "dimension-scaled", shared=shared)
    if isinstance(surrogate, str):
        look_up("surrogate", surrogate, SURROGATES, "a regressor with predict(Z, return_std=True)")
    if prior is not None:
        raise ValueError(
            "surrogate must be 'auto' or 'gaussian-process' with embedding='sparse', which sets "
            f"the prior of that process, got {surrogate!r}. Use embedding='identity' instead."
        )
    if isinstance(surrogate, str):
        return RegressorSurrogate(sklearn_process)
    if missing_members(surrogate, Surrogate) and is_regressor(surrogate):
        return RegressorSurrogate(surrogate)
    return surrogate


def make_warp(warp):
    """Create the transformation of the observed values, given the option `warp`."""
    if isinstance(warp, str) or warp is None:
        return look_up("warp", warp, WARPS, "an object with name, __call__ and log_slope")
    return warp


def check_schedule(update_every):
    """Validate `update_every`, which determines when the embedding is learnt again.

    Raises
    ------
    ValueError
        If `update_every` is not None, a positive integer or an increasing list of integers.
    """
    if update_every is None:
        return None
    if isinstance(update_every, Integral) and not isinstance(update_every, bool):
        return check_count("update_every", update_every)
    is_list = isinstance(update_every, Sequence) and not isinstance(update_every, str)
    if not is_list or list(update_every) != sorted(set(update_every)) or not update_every:
        raise ValueError(
            "update_every must be None, an integer or an increasing list of numbers of values, got "
            f"{brief(update_every)}. Use update_every=[20] to learn again once, at 20 values."
        )
    return tuple(check_count("update_every", n) for n in update_every)


def is_update_due(schedule: int | tuple[int, ...] | None, n: int, learnt_at: int) -> bool:
    """Return whether the embedding has to be learnt again.

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
