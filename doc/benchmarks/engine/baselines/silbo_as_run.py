"""SILBO with the settings of its authors' code."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import qmc

from skbo_silbo._checks import check_choice, check_count
from skbo_silbo._typing import ArrayLike, Auto
from skbo_silbo.acquisition import Found
from skbo_silbo.acquisition.acquisition_functions import (
    ACQUISITIONS,
    N_CANDIDATES,
    confidence_gain,
)
from skbo_silbo.baselines._moving_points import MovingPoints
from skbo_silbo.baselines._silbo_as_printed import (
    FirstUnlabelled,
    SeekingPreimages,
    preimage_by_evolution,
)
from skbo_silbo.embedding.learners import SemiSIRLearner
from skbo_silbo.optimizers.configuration import Configuration, random_points

AS_RUN = {
    "n_local_neighbors": 3,
    "n_neighbors": 3,
    "alpha": 0.1,
    "ridge": 0.01,
    "solver": "paper",
    "random_state": 0,
}
GENERATIONS = 2  # generations of CMA-ES
MOST_COMPONENTS = 4  # largest value of "auto", which the authors use for Branin and Colville


@dataclass(eq=False, repr=False, kw_only=True)
class SILBOAsRun(FirstUnlabelled):
    """Base class of SILBO's two strategies with the constants of the authors' code."""

    n_components: int | Auto = "auto"
    acquisition: str = "ucb"
    n_initial: int = 50
    update_every: int = 20

    _n_first_unlabeled = 50
    _n_unlabeled = 2
    _upward = False

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        r = min(d, MOST_COMPONENTS) if self.n_components == "auto" else self.n_components
        r = check_count("n_components", r, least=0 if d == 0 else 1)
        n_initial = check_count("n_initial", self.n_initial)
        check_choice("acquisition", self.acquisition, ("ucb", "ei"))
        ucb = partial(_variance_bound, kappa=confidence_weight_as_run(n_initial, r))
        return Configuration(
            learner=AsRunLearner(max(r, 1), n_initial),
            search=HypercubeSearch(self._upward),
            acquisition=ucb if self.acquisition == "ucb" else ACQUISITIONS["ei"],
            design=random_points,
            n_initial=n_initial,
            n_unlabeled=self._n_unlabeled,
            update_every=check_count("update_every", self.update_every),
        )


class SILBOBottomUpAsRun(MovingPoints, SILBOAsRun):
    """SILBO's bottom-up strategy as implemented in its authors' code.

    The embedding is learnt from the best `n_initial` values, with H = r + 1 slices, k = 3
    neighbours and ``M = I + 0.1 L + 0.01 I``. The acquisition function ``mean + kappa variance``
    (for maximisation, with constant kappa) is evaluated on a Latin hypercube of 2000 coordinates in
    a box around the centre. All points are evaluated again after a new embedding. `SILBOBottomUp`
    has the settings of the paper.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number of coordinates r of the embedding. "auto" is 4, or d if that is lower.
    acquisition : {"ucb", "ei"}, default="ucb"
        The acquisition function. "ucb" is a confidence bound that uses the variance in place of the
        standard deviation, and "ei" is the expected improvement.
    n_initial : int, default=50
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed.
    update_every : int, default=20
        Number of new values after which the embedding is learnt again.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`.

    Raises
    ------
    ValueError
        If the bounds or another argument are invalid.

    Notes
    -----
    The settings are those of the authors' repository (cjfcsjt/SILBO: ``SS_BO.py`` is top-down,
    ``SS_BO2.py`` bottom-up, ``acquisition.py`` both). Some parts differ:

    - The Gaussian process is this library's (GPy's in the repository), coordinates are orthonormal,
      neighbours in the slices have other weights, and the initial design is uniform (a Latin
      hypercube in the repository).
    - 50 random points are unlabelled at first, then the 100 of largest acquisition (bottom-up) or 2
      (top-down; the two best of CMA-ES in the repository).

    Candidates are drawn once for every embedding (top-down) or for every proposal (bottom-up). The
    half width of their box is the largest sum of the weights of an input (top-down) or of a
    coordinate (bottom-up).

    Examples
    --------
    >>> from benchmarks.engine.baselines import SILBOBottomUpAsRun
    >>> SILBOBottomUpAsRun([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    _n_unlabeled = 100
    _upward = True


class LabelledBottomUpAsRun(SILBOBottomUpAsRun):
    """SILBO's bottom-up strategy as run, without unlabelled points.

    Examples
    --------
    >>> from benchmarks.engine.baselines import LabelledBottomUpAsRun
    >>> LabelledBottomUpAsRun([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    _n_first_unlabeled = 0
    _n_unlabeled = 0


class SILBOTopDownAsRun(SeekingPreimages, SILBOAsRun):
    """SILBO's top-down strategy as implemented in its authors' code.

    The arguments are those of `SILBOBottomUpAsRun`. Points are kept. A new point is computed by two
    generations of CMA-ES, starting from the centre. With 100 inputs, it is the best of 34 points
    around the centre. It therefore stays in the middle of the cube, and may be far from having the
    chosen coordinates.

    Examples
    --------
    >>> from benchmarks.engine.baselines import SILBOTopDownAsRun
    >>> SILBOTopDownAsRun([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    def _preimage(self, z, rng):
        embedding = self._model.embedding
        return preimage_by_evolution(z, embedding, rng, centred=True, generations=GENERATIONS)


def _variance_bound(t, kappa):
    return partial(variance_gain, kappa=kappa)


@dataclass(frozen=True)
class AsRunLearner:
    """Learn the embedding as the code of SILBO's authors does.

    It uses ``H = r + 1`` slices, 3 neighbours in slices and graph, and ``M = I + .1 L + .01 I``.
    The paper has 7 neighbours and uses all labels.

    Attributes
    ----------
    n_components : int
        Number of coordinates r of the embedding.
    n_best : int
        Number of evaluated points with the lowest values that the learner uses. It equals the size
        of the initial design.
    """

    n_components: int
    n_best: int
    name = "semi-sir-as-run"

    def learn(self, X, y, X_unlabeled):
        """Return the learnt embedding, or the identity if no direction is identified."""
        best = np.sort(np.argsort(y, kind="stable")[: self.n_best])
        learner = SemiSIRLearner(self.name, self.n_components, dict(AS_RUN), self.n_components + 1)
        return learner.learn(X[best], y[best], X_unlabeled)


@dataclass(frozen=True)
class HypercubeSearch:
    """Search that evaluates the acquisition on a Latin hypercube of coordinates.

    The box is ``[-m, m]^r`` with m the largest absolute sum of rows of the authors' B. Signs cancel
    in the sums, so the box covers only the middle of the image of the cube.

    Attributes
    ----------
    upward : bool
        Whether the strategy is bottom-up. If True, m is computed from sums over the inputs, and
        candidates are drawn for each proposal. If False, m is computed from sums over the
        coordinates, and candidates are drawn once for each embedding.
    """

    upward: bool

    def find(self, surface, ranked, space, rng):
        """Return the best coordinates in the embedding, without computing their preimages."""
        embedding = surface.embedding
        basis = np.eye(embedding.d) if embedding.is_identity else embedding.basis
        if not self.upward:
            rng = np.random.default_rng(np.frombuffer(basis.tobytes(), dtype=np.uint32))
        unit = qmc.LatinHypercube(embedding.r, seed=rng).random(N_CANDIDATES)
        reach = np.abs(basis.sum(axis=0 if self.upward else 1)).max()
        Z = (2.0 * unit - 1.0) * reach
        return Found(Z[np.argsort(-surface.values_at(Z), kind="stable")])


def variance_gain(
    mean: ArrayLike, std: ArrayLike, best: float, *, kappa: float, return_gradient: bool = False
) -> Any:
    """Return ``best - mean + kappa variance``, the "UCB" in the SILBO authors' code.

    It uses the variance instead of the standard deviation. Since the variance is in squared units
    of the objective, the maximiser depends on the units.

    Parameters
    ----------
    mean, std : array-like
        Predictive mean and standard deviation (>= 0) of each point, in the units of the objective.
    best : float
        Lowest value of the objective so far. It shifts all acquisition values equally.
    kappa : float
        Non-negative weight of the variance, see `confidence_weight_as_run`.
    return_gradient : bool, default=False
        Whether to also return the derivatives.

    Returns
    -------
    value : ndarray
    by_mean, by_std : ndarray
        Derivatives of `value` with respect to mean and std. Only returned if `return_gradient` is
        True.

    Examples
    --------
    >>> from benchmarks.engine.baselines.silbo_as_run import variance_gain
    >>> variance_gain([1.0, 1.0], [0.0, 2.0], best=1.5, kappa=3.0)
    array([ 0.5, 12.5])
    """
    std = np.asarray(std, dtype=float)
    value, by_mean, by_variance = confidence_gain(
        mean, std**2, best, beta=kappa**2, return_gradient=True
    )
    return (value, by_mean, 2.0 * std * by_variance) if return_gradient else value


def confidence_weight_as_run(n_initial: int, r: int, delta: float = 0.1) -> float:
    """Return the weight of the variance in the acquisition function of the authors' code.

    The number of evaluations in the schedule is replaced by the size of the initial design.

    Parameters
    ----------
    n_initial : int
        Number of points to evaluate before the first model is fitted.
    r : int
        Number of coordinates of the embedding.
    delta : float, default=0.1

    Examples
    --------
    >>> from benchmarks.engine.baselines.silbo_as_run import confidence_weight_as_run
    >>> round(confidence_weight_as_run(50, 2), 3)
    5.519
    """
    # the power itself would overflow from about 300 coordinates on
    log = (r / 2 + 2) * np.log(n_initial) + np.log(np.pi**2 / (3.0 * delta))
    return float(np.sqrt(2.0 * log))
