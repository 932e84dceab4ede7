"""SIR-BO: Bayesian optimisation along the directions of (kernel) sliced inverse regression."""

from dataclasses import dataclass, fields, replace
from typing import Any, NoReturn

import numpy as np
from numpy.random import Generator
from sklearn.base import clone

from skbo_silbo._checks import check_count
from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.acquisition import AcquisitionFunction, AcquisitionSurface, Found
from skbo_silbo.acquisition.acquisition_functions import N_CANDIDATES
from skbo_silbo.acquisition.searches import N_BEST, N_NEAR, points_near
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.decomposition import KernelSlicedInverseRegression
from skbo_silbo.embedding.choice import IdentityLearner, choose_embedding
from skbo_silbo.embedding.linear import LinearEmbedding
from skbo_silbo.optimizers.configuration import DESIGNS, Configuration, make_acquisition
from skbo_silbo.optimizers.model import learning_data
from skbo_silbo.space.any_space import AnySpace

N_ROUNDS = 10  # rounds of candidates near the best, after the random ones


@dataclass(eq=False, repr=False, kw_only=True)
class SIRBO(Baseline):
    """Bayesian optimisation along directions of sliced inverse regression, learnt once.

    The directions are learnt from the initial design. Afterwards the acquisition function is
    maximised over x.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    n_components : int or "auto", default="auto"
        Number of coordinates of the embedding. "auto" chooses it from the eigenvalues.
    acquisition : {"ei", "ucb"}, default="ei"
        The acquisition function: the expected improvement ("ei") or the confidence bound ("ucb").
    n_initial : int, default=50
        Number of points to evaluate before the directions are learnt, including points that were
        not proposed.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, space_
        As in `SILBO`.

    References
    ----------
    Zhang, Li and Su (2019), "High Dimensional Bayesian Optimization via Supervised Dimension
    Reduction". `KSIRBO` is its kernel extension.

    Examples
    --------
    >>> from benchmarks.engine.baselines import SIRBO
    >>> SIRBO([(-1, 1)] * 20, n_components=2, random_state=0).ask().shape
    (20,)
    """

    n_components: int | Auto = "auto"
    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = 50

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        return Configuration(
            learner=choose_embedding("sir", self.n_components, d),
            acquisition=make_acquisition(self.acquisition),
            design=DESIGNS["random"],
            n_initial=check_count("n_initial", self.n_initial),
        )


class KSIRBO(SIRBO):
    """Bayesian optimisation on the scores of kernel sliced inverse regression.

    It is `SIRBO` with `KernelSlicedInverseRegression` (Gaussian kernel, labelled points only) in
    place of the linear map, and has the same arguments. As scores have no gradient, the acquisition
    function is maximised over random points and rounds of points near the best ones.

    References
    ----------
    Zhang, Li and Su (2019), "High Dimensional Bayesian Optimization via Supervised Dimension
    Reduction": its kernel extension.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> from benchmarks.engine.baselines import KSIRBO
    >>> minimize(lambda x: x[0], [(-1, 1)] * 20, method=KSIRBO, n_calls=6, n_initial=5).nfev
    6
    """

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        made = super().configure(d)  # checks n_components too
        if d == 0:
            return replace(made, learner=IdentityLearner())
        scores = KernelSlicedInverseRegression(self.n_components, alpha=0.0)
        return replace(made, learner=ScoreLearner(scores), search=CubeSearch())

    def model_from_dict(self, state: dict[str, Any]) -> None:
        """Restore the model, learning the embedding again from the same observations."""
        if state["embedding"] is not None:
            super().model_from_dict(state)
            return
        super().model_from_dict(state | {"moved": True})
        model, n = self._model, int(state["learnt_at"])
        first = (getattr(self._history, part.name)[:n] for part in fields(self._history))
        X, y, *_ = type(self._history)(*first).canonical
        data = learning_data(X, y, model.unlabeled, model.warp)
        learnt = self._configuration.learner.learn(*data)
        moved = bool(state["moved"])
        self._model = replace(model, embedding=learnt, learnt_at=n, moved=moved)
        if state["fresh"]:
            self._model = self._restored()


@dataclass(frozen=True)
class ScoreLearner:
    """Embedding learner whose coordinates are the scores of a transformer."""

    transformer: Any
    name = "scores"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> Any:
        """Return the embedding of a fitted clone, or the identity if nothing varies."""
        if np.unique(y).size < 2 or not np.ptp(X, axis=0).any():
            return LinearEmbedding(X.shape[1])
        return ScoreEmbedding(X.shape[1], clone(self.transformer).fit(X, y), X)


class ScoreEmbedding:
    """Embedding ``z = T(x) - c`` with a fitted transformer T and the centre c of known scores."""

    is_identity, basis = False, None

    def __init__(self, d: int, transformer: Any, X: FloatArray) -> None:
        self.d, self.transformer = d, transformer
        Z = transformer.transform(X)
        low, high = Z.min(axis=0), Z.max(axis=0)
        self.centre, self.half_widths = (low + high) / 2.0, (high - low) / 2.0

    @property
    def r(self) -> int:
        """Number of coordinates of the embedding."""
        return self.centre.size

    def project(self, X: FloatArray) -> FloatArray:
        """Return the coordinates of encoded points."""
        return self.transformer.transform(X) - self.centre

    def expand(self, Z: FloatArray) -> NoReturn:
        """Raise NotImplementedError, because scores are not inverted."""
        raise NotImplementedError("Scores of kernel sliced inverse regression have no inverse.")

    pull_back = expand


class CubeSearch:
    """Search over random encoded points, refined by points near the best ones."""

    def find(
        self, surface: AcquisitionSurface, ranked: FloatArray, space: AnySpace, rng: Generator
    ) -> Found:
        """Return the candidates in decreasing order of their acquisition values."""
        d = ranked.shape[1]
        X = space.round(rng.uniform(-1.0, 1.0, (N_CANDIDATES, d)))
        values, best = surface.values(X), ranked[:N_BEST]
        for _ in range(N_ROUNDS):
            near = space.round(points_near(best, N_NEAR, np.ones(d), rng))
            X, values = np.vstack([X, near]), np.append(values, surface.values(near))
            best = X[np.argsort(-values, kind="stable")[:N_BEST]]
        X = X[np.argsort(-values, kind="stable")]
        return Found(surface.embedding.project(X), X)
