"""SIR-BO: Bayesian optimisation in the span of sliced inverse regression, linear or of a kernel."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, FloatArray, SpaceLike
from skbo_silbo.acquisition import AcquisitionFunction, AcquisitionSurface, Found
from skbo_silbo.acquisition._acquisition_functions import N_CANDIDATES
from skbo_silbo.acquisition._part_of_space import N_BEST, points_near
from skbo_silbo.acquisition._searches import N_NEAR
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.decomposition import KernelSlicedInverseRegression
from skbo_silbo.embedding._choice import IdentityLearner, choose_embedding
from skbo_silbo.embedding._nonlinear import RELEARN, NonlinearLearner
from skbo_silbo.optimizers import Configuration
from skbo_silbo.optimizers._configuration import DESIGNS, make_acquisition
from skbo_silbo.optimizers._history import History

N_ROUNDS = 10  # of points near the best, after the random ones


@dataclass(eq=False, repr=False, kw_only=True)
class SIRBO(Baseline):
    """Bayesian optimisation in the span of sliced inverse regression, learnt once.

    The directions come from the first points; from then on the acquisition is maximised over x.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    n_components : int or "auto", default="auto"
        Coordinates of the embedding; "auto" leaves it to the spectrum.
    acquisition : {"ei", "ucb"}, default="ei"
        What is maximised.
    n_initial : int, default=50
        Points before the directions are learnt, observed ones included.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As those of `SILBO`.

    References
    ----------
    Zhang, Li and Su (2019), "High Dimensional Bayesian Optimization via Supervised Dimension
    Reduction" (there with its kernel extension, which is not here).

    Examples
    --------
    >>> from skbo_silbo.baselines import SIRBO
    >>> SIRBO([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = 50

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        return Configuration(
            learner=choose_embedding("sir", self.n_components, d),
            acquisition=make_acquisition(self.acquisition),
            design=DESIGNS["random"],
            n_initial=check_count("n_initial", self.n_initial),
        )


class KSIRBO(SIRBO):
    """Bayesian optimisation on the scores of kernel sliced inverse regression, learnt once.

    `SIRBO` with `KernelSlicedInverseRegression` (a Gaussian kernel, labelled points alone) in place
    of its linear map. The arguments are the same. Scores have no gradient by x, so that the
    acquisition is sought among random points of the cube and in rounds round the best of them.

    References
    ----------
    Zhang, Li and Su (2019), "High Dimensional Bayesian Optimization via Supervised Dimension
    Reduction": its kernel extension.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> minimize(lambda x: x[0], [(-1, 1)] * 20, method="ksir-bo", n_calls=6, n_initial=5).nfev
    6
    """

    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""
        made = super().configure(d)  # checks n_components too
        if d == 0:
            return replace(made, learner=IdentityLearner())
        learner = NonlinearLearner(KernelSlicedInverseRegression(self.n_components, alpha=0.0))
        return replace(made, learner=learner, search=CubeSearch())

    def _state_from_dict(self, state):
        """Restore; scores are no plain data, so they are learnt again from the same values."""
        super()._state_from_dict(state)
        if state["embedding"] != RELEARN:
            return
        known, n = self._history, int(state["learnt_at"])
        parts = known.points, known.X, known.y, known.noise_std, known.constraints
        self._history = History(known.X.shape[1]).with_added(*(part[:n] for part in parts))
        self._model = replace(self._learnt(self._model), moved=bool(state["moved"]))
        self._history = known
        if state["fresh"]:
            self._model = self._restored()


class CubeSearch:
    """Random points of the cube, and rounds of points near the best of them and of those told."""

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: SpaceLike, rng: Generator
    ) -> Found:
        """Return the points, the best first (see `Search`)."""
        d = ranked.shape[1]
        X = space.round(rng.uniform(-1.0, 1.0, (N_CANDIDATES, d)))
        values, best = surface.values(X), ranked[:N_BEST]
        for _ in range(N_ROUNDS):
            near = space.round(points_near(best, N_NEAR, np.ones(d), rng))
            X, values = np.vstack([X, near]), np.append(values, surface.values(near))
            best = X[np.argsort(-values, kind="stable")[:N_BEST]]
        X = X[np.argsort(-values, kind="stable")]
        return Found(surface.embedding.project(X), X)
