"""SILBO as its authors ran it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import qmc

from skbo_silbo._checks import check_choice, check_count
from skbo_silbo._typing import ArrayLike, Auto
from skbo_silbo.acquisition import Found
from skbo_silbo.acquisition._acquisition_functions import (
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
from skbo_silbo.embedding._learners import SemiSIRLearner
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import random_points

AS_RUN = {
    "n_local_neighbors": 3,
    "n_neighbors": 3,
    "alpha": 0.1,
    "ridge": 0.01,
    "solver": "paper",
    "random_state": 0,
}
GENERATIONS = 2  # of CMA-ES
MOST_COMPONENTS = 4  # n_components="auto": what they ran on Branin and Colville


@dataclass(eq=False, repr=False, kw_only=True)
class SILBOAsRun(FirstUnlabelled):
    """Base of the two strategies: the constants of the authors' code."""

    n_components: int | Auto = "auto"
    acquisition: str = "ucb"
    n_initial: int = 50
    update_every: int = 20

    _n_first_unlabeled = 50
    _n_unlabeled = 2
    _upward = False

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
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
    """SILBO, bottom-up, with the constants and the search of its authors' code.

    The embedding is learnt from the best values, as many as there were first points, with H = r + 1
    slices, k = 3 neighbours and ``M = I + 0.1 L + 0.01 I``. The acquisition is
    ``mean + kappa variance`` (maximised, kappa constant) over a Latin hypercube of 2000 coordinates
    in a box around the centre. After a new embedding all points are evaluated again, and counted.
    The paper prints other settings: `SILBOBottomUp` has those.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates r. "auto": 4, or d if lower.
    acquisition : {"ucb", "ei"}, default="ucb"
        "ucb" with the variance in place of the standard deviation; or expected improvement.
    n_initial : int, default=50
        Points before the first model, observed ones included.
    update_every : int, default=20
        The embedding is learnt again when so many new values are observed.
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
    the 100 of largest acquisition (bottom-up), or 2 (top-down; there the two best of
    CMA-ES). Candidates are drawn once for every embedding top-down, anew for every proposal
    bottom-up; the box holds the sums of the inputs' weights there, of the coordinates' here.

    Examples
    --------
    >>> from skbo_silbo.baselines import SILBOBottomUpAsRun
    >>> SILBOBottomUpAsRun([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    _n_unlabeled = 100
    _upward = True


class SILBOTopDownAsRun(SeekingPreimages, SILBOAsRun):
    """SILBO, top-down, with the constants and the search of its authors' code.

    The arguments are those of `SILBOBottomUpAsRun`. Points stay; a new one is where two generations
    of CMA-ES from the centre end. With 100 inputs that is the best of 34 points round the centre:
    how near its coordinates come to those chosen is a matter of chance, and it stays in the middle
    of the cube.

    Examples
    --------
    >>> from skbo_silbo.baselines import SILBOTopDownAsRun
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
    """Learn by Algorithm 2 with the constants of the authors' code, from the best labels alone.

    ``H = r + 1`` slices, 3 neighbours in slices and graph, ``M = I + .1 L + .01 I``. (The paper
    prints 7 neighbours and all labels.)

    Attributes
    ----------
    n_components : int
        Coordinates r.
    n_best : int
        How many of the lowest values are learnt from: as many as there were first points.
    """

    n_components: int
    n_best: int
    name = "semi-sir-as-run"

    def learn(self, X, y, X_unlabeled):
        """Return the embedding, or the identity when equal values identify no direction."""
        best = np.sort(np.argsort(y, kind="stable")[: self.n_best])
        learner = SemiSIRLearner(self.name, self.n_components, dict(AS_RUN), self.n_components + 1)
        return learner.learn(X[best], y[best], X_unlabeled)


@dataclass(frozen=True)
class HypercubeSearch:
    """A Latin hypercube of coordinates in one box for all of them.

    The box is ``[-m, m]^r`` with m the largest row sum of the authors' B, without signs taken off:
    signs cancel, so it covers only a part of the image of the cube, round the centre.

    Attributes
    ----------
    upward : bool
        Whether points follow a new embedding (bottom-up). Then m is a coordinate's sum over the
        inputs, and candidates are drawn anew for every proposal; else m is an input's sum over the
        coordinates, and they are drawn once for every embedding.
    """

    upward: bool

    def find(self, surface, ranked, space, rng):
        """Return the candidates; they are coordinates alone (see `Search`)."""
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
    """Return ``best - mean + kappa variance``, as SILBO's authors ran their "UCB".

    The variance, in the units of the objective squared, stands where the bound has the standard
    deviation: what is maximised depends on the units.

    Parameters
    ----------
    mean, std : array-like
        Predictive mean and standard deviation (>= 0), in units of the objective.
    best : float
        Lowest value so far; it moves all values alike.
    kappa : float
        Weight; see `confidence_weight_as_run`.
    return_gradient : bool, default=False
        Also return the derivatives.

    Returns
    -------
    value : ndarray
    by_mean, by_std : ndarray
        Derivatives of `value`, if `return_gradient`.

    Examples
    --------
    >>> from skbo_silbo.baselines._silbo_as_run import variance_gain
    >>> variance_gain([1.0, 1.0], [0.0, 2.0], best=1.5, kappa=3.0)
    array([ 0.5, 12.5])
    """
    std = np.asarray(std, dtype=float)
    value, by_mean, by_variance = confidence_gain(
        mean, std**2, best, beta=kappa**2, return_gradient=True
    )
    return (value, by_mean, 2.0 * std * by_variance) if return_gradient else value


def confidence_weight_as_run(n_initial: int, r: int, delta: float = 0.1) -> float:
    """Return ``sqrt(2 log(n^(r / 2 + 2) pi^2 / (3 delta)))``, constant over a run (SILBO's code).

    A schedule by the number t of evaluations, with the number of first points put in its place.

    Parameters
    ----------
    n_initial : int
        Points before the first model.
    r : int
        Coordinates of the embedding.
    delta : float, default=0.1

    Examples
    --------
    >>> from skbo_silbo.baselines._silbo_as_run import confidence_weight_as_run
    >>> round(confidence_weight_as_run(50, 2), 3)
    5.519
    """
    # the power itself would overflow from some 300 coordinates on
    log = (r / 2 + 2) * np.log(n_initial) + np.log(np.pi**2 / (3.0 * delta))
    return float(np.sqrt(2.0 * log))
