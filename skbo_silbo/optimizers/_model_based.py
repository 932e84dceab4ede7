"""Base class of optimisers that propose points with a fitted model.

    tell:  points, values -> history
    ask:   history -> model (scale, embedding, surrogate) -> acquisition -> candidates -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points, encoded in the cube ``[-1, 1]^d``
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       observed values, to be minimised; not finite if the evaluation failed
=========  =========  =====================================================================

Each stage has its own package (doc/architecture.rst): `embedding` learns B, `surrogate` predicts
the objective from z, and `acquisition` chooses where to evaluate next.
"""

import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition import AcquisitionFunction, AcquisitionSurface, Found
from skbo_silbo.acquisition._acquisition_functions import no_improvement
from skbo_silbo.acquisition._restricted_space import Part
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._history import Labelled
from skbo_silbo.optimizers._model import Model, learning_data
from skbo_silbo.space import key_of
from skbo_silbo.space.categories import with_least_tried_levels
from skbo_silbo.space.keys import first_rows
from skbo_silbo.surrogate._feasibility import fit_feasibility
from skbo_silbo.surrogate._process import refit
from skbo_silbo.surrogate._warps import warped_variance


class ModelBasedOptimizer(AskTellOptimizer):
    """Base class of optimisers that propose points with a surrogate model in an embedding.

    A subclass implements `configure`, which returns the components to use. Its ``__init__`` must
    store its arguments as attributes before it calls this one.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.
    """

    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        super().__init__(bounds, random_state)
        d = self.space_.n_features_
        self._configuration = self.configure(d)
        self._model = Model(LinearEmbedding(d), self._configuration.warp, np.empty((0, d)))

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Validate the arguments and return the `Configuration` for d columns."""

    @property
    def n_initial_(self) -> int:
        """Number of points to evaluate before the first model is fitted."""
        return self._configuration.n_initial

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return the next design point, or else the maximiser of the acquisition function."""
        with one_thread():
            if self._n_points < self._configuration.n_initial or not len(self._history):
                return self._design_point(self._n_points)
            self._update_model()
            surface, ranked = self._surface(part), self._model.ranked
            found = self._configuration.search.find(surface, ranked, self.space_, rng)
            return self._first_new(found, part, rng)[0]

    def preimages(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Convert the coordinates that a search returned to points of the cube.

        Parameters
        ----------
        Z : ndarray of shape (k, r)
        X : ndarray of shape (k, d) or None
            The points that have these coordinates, or None if the search was over coordinates only.
        embedding : Embedding
        incumbent : ndarray of shape (d,)
            The best point evaluated so far.

        Returns
        -------
        X : ndarray of shape (k, d)
            X itself if it is not None. Otherwise, the points with coordinates Z that are nearest to
            the incumbent, which differ from it only along the embedding.
        """
        return nearest_points(Z, embedding, incumbent) if X is None else X

    def _design_point(self, index: int) -> FloatArray | None:
        """Return a point of the initial design.

        None is returned if the point has been evaluated or is pending, or after the last point.
        """
        if index >= len(self._design):
            return None
        x = self._design[index]
        if self._configuration.covers_levels:
            points = np.vstack([self._history.X, self.encoded_pending_])
            x = with_least_tried_levels(x, points, self.space_.categories(), self._rng(index, 6))
        [x] = self.space_.round(x[None])
        return None if key_of(x) in self._seen else x

    @cached_property
    def _design(self):
        n, d = self.n_initial_, self.space_.n_features_
        return self._configuration.design(n, d, self._rng(0, 0))

    def _first_new(
        self, found: Found, part: Part | None, rng: np.random.Generator
    ) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the best new candidate and its coordinates, or None and None if there is none.

        The new candidates ranked directly below it become unlabelled points of the next fit.
        """
        model, seen, space = self._model, self._seen, part or self.space_
        n_unlabeled, incumbent = self._configuration.n_unlabeled, model.ranked[0]
        # Preimages can be expensive and the first candidates usually suffice, so work in batches.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(self.preimages(some.Z, some.X, model.embedding, incumbent))
            new = first_rows(X, seen)
            if part is not None:
                new = list(np.array(new, dtype=int)[part.violation(X[new]) == 0.0])
            if new:
                self._model = replace(model, unlabeled=X[new[1 : n_unlabeled + 1]])
                return X[new[0]], some.Z[new[0]]
        return None, None

    # --- the model ------------------------------------------------------------------------------

    def _update_model(self) -> None:
        """Fit the embedding and the surrogate if there are new evaluations."""
        if self._model.n_observed != len(self._history):
            self._model = self._with_surrogate(self._with_embedding(self._model))

    def _labelled(self) -> Labelled:
        """Return the evaluations that models are fitted to, in canonical order."""
        return self._history.canonical

    def _with_embedding(self, model: Model) -> Model:
        """Return the model with a newly learnt embedding, if an update is due."""
        learner, n = self._configuration.learner, self._labelled().y.size
        is_first = model.learnt_at == 0
        if not is_first and isinstance(learner, IdentityLearner):
            return model
        if not is_first and not is_update_due(self._configuration.update_every, n, model.learnt_at):
            return model
        X, y, *_ = self._labelled()
        with warnings.catch_warnings():  # ignore warnings about clustered evaluations
            warnings.filterwarnings("ignore", "The unlabelled samples lie apart", UserWarning)
            learnt = learner.learn(*learning_data(X, y, model.unlabeled, model.warp))
        if not is_first and learnt.is_identity and model.embedding.is_identity:
            return replace(model, learnt_at=n)
        step, path = (learner.name, learnt.r), model.path
        path = path if path and path[-1][1:] == step else (*path, (n, *step))
        relearnt = replace(model, embedding=learnt, learnt_at=n, path=path, moved=True)
        return replace(relearnt, surrogate=None, n_observed=None)

    def _with_surrogate(self, model: Model, *, tune: bool = True) -> Model:
        """Return the model with a surrogate and constraint models fitted to all evaluations.

        Hyperparameters are optimised if that is due, or taken from the stored states if `tune` is
        False.
        """
        labelled = self._labelled()
        X, y, noise_std, constraints, _ = labelled
        # Failures get the worst value: they become unattractive without distorting the surrogate.
        finite = np.isfinite(y)
        filled = np.where(finite, y, y[finite].max() if finite.any() else 0.0)
        variance = warped_variance(model.warp, filled, np.where(finite, noise_std, np.nan))
        Z, *values = self._coordinates(model.embedding, X, model.warp(filled), variance)
        surrogate, state = refit(
            self._configuration.surrogate,
            model.state,
            np.array(Z),  # a copy, so that a user's surrogate cannot change the history
            *values,
            moved=model.moved,
            tune=tune,
            rng=self._rng(y.size, 2) if tune else None,
        )
        ranked, n_feasible = labelled.ranked()
        feasibility, states = None, model.feasibility_states
        if constraints.shape[1]:
            feasibility, states = fit_feasibility(states, X, constraints, tune=tune)
        return replace(
            model,
            surrogate=surrogate,
            state=state,
            moved=False,
            n_observed=len(self._history),
            ranked=ranked,
            n_feasible=n_feasible,
            feasibility=feasibility,
            feasibility_states=states,
        )

    def _coordinates(self, embedding: Embedding, X: FloatArray, *values: Any) -> tuple[Any, ...]:
        """Return the coordinates of points, and the values for each row of coordinates."""
        return embedding.project(X), *values

    def _surface(self, part: Part | None = None, model: Model | None = None) -> AcquisitionSurface:
        """Return the acquisition surface, with predicted values at pending points."""
        model = model or self._model
        surrogate, feasibility, embedding = model.surrogate, model.feasibility, model.embedding
        good: list[Any] = []  # coordinates of the points whose values are to be improved on
        if model.n_feasible:
            good += self._coordinates(embedding, model.ranked[: model.n_feasible])
        if self._pending:
            pending = self.encoded_pending_
            holds = np.ones(len(pending), bool)
            if feasibility is not None:
                holds = feasibility.holds_with_margin(pending)
                feasibility = feasibility.with_pending(pending)
            Z, holds = self._coordinates(embedding, pending, holds)
            surrogate = surrogate.with_points(Z, surrogate.predict(Z)[0])
            good.append(Z[holds])
        acquisition: AcquisitionFunction = no_improvement
        best = np.inf
        if model.n_feasible:  # use the lowest mean, since the lowest noisy value is biased
            best = surrogate.predict(np.vstack(good))[0].min()
            acquisition = self._configuration.acquisition(self._n_points + 1)
        return AcquisitionSurface(
            acquisition, surrogate, embedding, best, feasibility, model.surrogate, part
        )


def is_update_due(schedule: int | tuple[int, ...] | None, n: int, learnt_at: int) -> bool:
    """Return whether to learn the embedding again.

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


def nearest_points(Z: FloatArray, embedding: Embedding, centre: FloatArray) -> FloatArray:
    """Return, for each row of coordinates Z, the point of the cube nearest to a centre.

    If no point of the cube has these coordinates, the point with the closest coordinates is
    returned. A nonlinear embedding is inverted by its transformer, and the result is clipped to the
    cube.
    """
    if embedding.basis is None:
        return np.clip(embedding.expand(Z), -1.0, 1.0)
    return nearest_preimages(Z, embedding.basis, centre)
