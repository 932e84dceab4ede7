"""SILBO as its authors ran it, beside the paper as printed (`silbo-bu`, `silbo-td`)."""

from functools import partial

from skbo_silbo._checks import check_choice, check_count
from skbo_silbo._typing import Auto, BoundsLike, RandomState
from skbo_silbo.acquisition._functions import confidence_weight_as_run, variance_gain
from skbo_silbo.baselines._as_run_learner import AsRunLearner
from skbo_silbo.baselines._brief_evolution import BriefTopDown
from skbo_silbo.baselines._hypercube_search import (
    HypercubeSearch,
    reach_of_coordinates,
    reach_of_inputs,
)
from skbo_silbo.mapping._bottom_up import BottomUp
from skbo_silbo.optimizers import Configuration, EmbeddedOptimizer
from skbo_silbo.optimizers._configuration import ACQUISITIONS, DESIGNS
from skbo_silbo.surrogate import GaussianProcessSurrogate

N_FIRST_UNLABELED = 50
N_UNLABELED = {"bottom-up": 100, "top-down": 2}
MOST_COMPONENTS = 4  # n_components="auto": what they ran on Branin and Colville


class SILBOAsRun(EmbeddedOptimizer):
    """SILBO with the constants and the search of its authors' code.

    The embedding is learnt from the best values, as many as there were first points, with H = r + 1
    slices, k = 3 neighbours and ``M = I + .1 L + .01 I``; the acquisition is
    ``mean + kappa variance`` (maximised, kappa constant) over a Latin hypercube of 2000 coordinates
    in a box round the centre; top-down points come from two generations of CMA-ES that starts at
    the centre. The paper prints other settings: `SILBO` runs those.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates r. "auto": 4, or d if lower.
    mapping : {"bottom-up", "top-down"}, default="bottom-up"
        What follows a new embedding: the points (all evaluated again, and counted), or their
        coordinates.
    acquisition : {"ucb", "ei"}, default="ucb"
        "ucb" with the variance in place of the standard deviation; or expected improvement.
    n_initial : int, default=50
        Points before the first model, told ones included.
    update_every : int, default=20
        The embedding is learnt again when so many new values have been told.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

    Raises
    ------
    ValueError
        When the bounds or another argument are invalid.

    Notes
    -----
    Read from the authors' repository (cjfcsjt/SILBO: ``SS_BO.py`` is top-down, ``SS_BO2.py``
    bottom-up, ``acquisition.py`` both). Not theirs here: the Gaussian process and the search of its
    hyperparameters (GPy there), orthonormal coordinates, the neighbours' weights in the slices, and
    uniform first points (Latin hypercubes there). Unlabelled are 50 random points at first, then
    the 100 that the acquisition likes best (bottom-up), or 2 (top-down; there the two best of
    CMA-ES). Candidates are drawn once for every embedding top-down, anew for every proposal
    bottom-up; the box holds the sums of the inputs' weights there, of the coordinates' here.

    Examples
    --------
    >>> from skbo_silbo.baselines import SILBOAsRun
    >>> SILBOAsRun([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    def __init__(
        self,
        bounds: BoundsLike,
        *,
        n_components: int | Auto = "auto",
        mapping: str = "bottom-up",
        acquisition: str = "ucb",
        n_initial: int = 50,
        update_every: int = 20,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(bounds, random_state)
        self.n_components = n_components
        self.mapping = mapping
        self.acquisition = acquisition
        self.n_initial = n_initial
        self.update_every = update_every
        self._assemble()

    def _configure(self, d):
        r = min(d, MOST_COMPONENTS) if self.n_components == "auto" else self.n_components
        r = check_count("n_components", r, least=0 if d == 0 else 1)
        n_initial = check_count("n_initial", self.n_initial)
        check_choice("mapping", self.mapping, ("bottom-up", "top-down"))
        check_choice("acquisition", self.acquisition, ("ucb", "ei"))
        ucb = partial(_variance_bound, kappa=confidence_weight_as_run(n_initial, r))
        upward = self.mapping == "bottom-up"
        reach = reach_of_coordinates if upward else reach_of_inputs
        return Configuration(
            learner=AsRunLearner(max(r, 1), n_initial),
            mapping=BottomUp() if upward else BriefTopDown(),
            search=HypercubeSearch(reach, once=not upward),
            acquisition=ucb if self.acquisition == "ucb" else ACQUISITIONS["ei"],
            design=DESIGNS["random"],
            surrogate=GaussianProcessSurrogate(),
            n_initial=n_initial,
            n_unlabeled=N_UNLABELED[self.mapping],
            n_first_unlabeled=N_FIRST_UNLABELED,
            update_every=check_count("update_every", self.update_every),
        )


def _variance_bound(t, kappa):
    return partial(variance_gain, kappa=kappa)
