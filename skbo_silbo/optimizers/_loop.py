"""The loop that every model-based optimiser here is a configuration of: the page of a proposal.

    tell:  points, values -> history
    ask:   history -> model (scale, embedding, surrogate) -> acquisition -> candidates -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points of the cube ``[-1, 1]^d`` that the space is seen as
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       observed values, to be minimised; not finite where the evaluation failed
=========  =========  =====================================================================

Each stage has a room (doc/architecture.rst): `embedding` learns B, `surrogate` predicts in z,
and `acquisition` says where to look.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from skbo_silbo._numerics._preimages import nearest_preimages
from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._acquisition_functions import no_improvement
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._history import impute_failures
from skbo_silbo.optimizers._model import Model
from skbo_silbo.space import key_of
from skbo_silbo.space._keys import first_rows
from skbo_silbo.surrogate import GaussianProcessSurrogate
from skbo_silbo.surrogate._feasibility import fit_feasibility
from skbo_silbo.surrogate._process import refit
from skbo_silbo.surrogate._warps import choose_warp, warped_variance

# Labels, relative, between choices of the scale. It is that of all runs of doc/search_log.rst, not
# tuned.
CHOICE_GROWTH = 1.25


class ProposalLoop(AskTellOptimizer):
    """Proposals by an embedding and a surrogate; `EmbeddedOptimizer` is the base for subclasses.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        super().__init__(bounds, random_state)
        d = self.space_.n_features_
        self._configuration = self.configure(d)
        warp = self._configuration.warps[0]
        self._model = Model(LinearEmbedding(d), warp, unlabeled=np.empty((0, d)))
        # the last `subspace_`, after the model that it was made from
        self._described: tuple[Any, ...] = (None, None)

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""

    @property
    def n_initial_(self) -> int:
        """How many points, observed ones included, come before the first model."""
        return self._configuration.n_initial

    # --- ask ------------------------------------------------------------------------------------

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return a place of the cube, (m,): of the design, or of the largest acquisition."""
        index = self._n_known
        with one_thread():
            if index < self._configuration.n_initial or not len(self._history):
                return self._design_point(index)
            self._update_model()
            search, ranked = self._configuration.search, cast(FloatArray, self._model.ranked)
            found = search.find(self._surface(part), ranked, self.space_, rng)
            return self._first_new(found, part, rng)

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return places of the cube for coordinates that a search found.

        Parameters
        ----------
        Z : ndarray of shape (k, r)
        X : ndarray of shape (k, d) or None
            The points that it found them at; None where only coordinates were searched.
        embedding : Embedding
        incumbent : ndarray of shape (d,)
            The best point known.

        Returns
        -------
        X : ndarray of shape (k, d)
            The points found; else of the points with these coordinates those nearest the incumbent,
            so that what the embedding does not see stays where it has done well.
        """
        return nearest_points(Z, embedding, incumbent) if X is None else X

    def _update_model(self):
        """Learn from all values, where due."""
        if self._model.n_observed != len(self._history):
            self._model = self._conditioned(self._learnt(self._model))

    def _design_point(self, index):
        """Return the first point of this number; None where it is known, and after the last."""
        X = self._design
        return None if index >= len(X) or key_of(X[index]) in self._seen else X[index]

    @cached_property
    def _design(self):
        n, d = self.n_initial_, self.space_.n_features_
        return self.space_.round(self._configuration.design(n, d, self._rng(0, 0)))

    def _first_new(self, found, part, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        model, seen, space = self._model, self._seen, part or self.space_
        n_unlabeled = self._configuration.n_unlabeled
        # In portions: some are expensive to place, and few of a small discrete space are new.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(self.place(some.Z, some.X, model.embedding, model.ranked[0]))
            new = first_rows(X, seen)
            if part is not None:
                new = list(np.array(new, dtype=int)[part.violation(X[new]) == 0.0])
            if new:
                self._model = replace(model, unlabeled=X[new[1 : n_unlabeled + 1]])
                return self._chosen(X[new[0]], some.Z[new[0]], rng)
        return None

    def _chosen(self, x, z, rng):
        """Return the place to evaluate, x, (d,), given the coordinates that were chosen, z."""
        return x

    # --- model ----------------------------------------------------------------------------------

    def _labelled(self):
        """Return the evaluations to learn from, in canonical order: `Labelled`."""
        return self._history.canonical

    def _learnt(self, model):
        """Return the model with the scale of the values and the embedding chosen where due."""
        X, y, *_ = self._labelled()
        n, first = y.size, model.learnt_at == 0
        if not (first or is_update_due(self._configuration.update_every, n, model.learnt_at)):
            return model
        if n >= CHOICE_GROWTH * model.chosen_at:
            finite, seen = np.isfinite(y), self._configuration
            values = model.embedding.project(X[finite]), y[finite]
            warp = choose_warp(seen.warps, seen.surrogate, *values, self._rng(n, 1))
            model = replace(model, warp=warp, chosen_at=n)
        learner = self._configuration.learner
        if isinstance(learner, IdentityLearner) and not first:
            return replace(model, learnt_at=n)
        learnt = learner.learn(*learning_data(X, y, model.unlabeled, model.warp))
        if not first and learnt.is_identity and model.embedding.is_identity:
            return replace(model, learnt_at=n)
        step, path = (learner.name, learnt.r), model.path
        path = path if path and path[-1][1:] == step else (*path, (n, *step))
        relearnt = replace(model, embedding=learnt, learnt_at=n, path=path, moved=True)
        return replace(relearnt, surrogate=None, n_observed=None)

    def _conditioned(self, model, *, tune=True):
        """Return the model with a surrogate of all observations, hyperparameters searched if due.

        With ``tune=False`` hyperparameters are those of its states.
        """
        labelled, n = self._labelled(), len(self._history)
        X, y, _, constraints = labelled
        data = self._surrogate_data(model, labelled)
        how = {"moved": model.moved, "tune": tune, "rng": self._rng(y.size, 2) if tune else None}
        surrogate, state = refit(self._configuration.surrogate, model.state, *data, **how)
        ranked, n_feasible = labelled.ranked()
        model = replace(model, surrogate=surrogate, state=state, moved=False, n_observed=n)
        model = replace(model, ranked=ranked, n_feasible=n_feasible)
        if not constraints.shape[1]:
            return model
        feasibility, states = fit_feasibility(model.feasibility_states, X, constraints, tune=tune)
        return replace(model, feasibility=feasibility, feasibility_states=states)

    def _surrogate_data(self, model, labelled):
        """Return coordinates, (m, r), values and known variances, as the surrogate sees them."""
        X, y, noise_std, _ = labelled
        filled, noise_std = impute_failures(y), np.where(np.isfinite(y), noise_std, np.nan)
        variance = warped_variance(model.warp, filled, noise_std)
        Z, *values = self._coordinates(model.embedding, X, model.warp(filled), variance)
        return np.array(Z), *values  # history stays ours

    def _coordinates(self, embedding, X, *values):
        """Return the coordinates of points X, and what there is of each, a row a coordinate row."""
        return embedding.project(X), *values

    # --- acquisition ----------------------------------------------------------------------------

    def _surface(self, part=None):
        """Return the acquisition, conditioned on predicted values of the pending points."""
        model, embedding = self._model, self._model.embedding
        surrogate, feasibility = model.surrogate, model.feasibility
        good = []  # coordinates that a new point is to improve on
        if model.n_feasible:
            good += self._coordinates(embedding, model.ranked[: model.n_feasible])
        if self._pending:
            pending = np.array(list(self._pending.values()))
            holds = np.ones(len(pending), bool)
            if feasibility is not None:
                holds = feasibility.holds_with_margin(pending)
                feasibility = feasibility.with_pending(pending)
            Z, holds = self._coordinates(embedding, pending, holds)
            surrogate = surrogate.with_points(Z, surrogate.predict(Z)[0])
            good.append(Z[holds])
        acquisition, best = no_improvement, np.inf
        if model.n_feasible:
            best = lowest_mean(surrogate, np.vstack(good))  # noise makes low values too
            acquisition = self._configuration.acquisition(self._n_known + 1)
        observed = model.surrogate
        return AcquisitionSurface(
            acquisition, surrogate, embedding, best, feasibility, observed, part
        )

    # --- tell -----------------------------------------------------------------------------------

    def _check_noise(self, noise_std, shape):
        noise_std = super()._check_noise(noise_std, shape)
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
            raise ValueError(
                f"noise_std must be None for the surrogate of this {type(self).__name__}, which "
                f"cannot use it: got {noise_std.tolist()}. Leave it out, or use a method with a "
                "Gaussian process of one kernel."
            )
        return noise_std

    def _check_constraints(self, constraints, shape):
        constraints = super()._check_constraints(constraints, shape)
        m = constraints.shape[1]
        if m and not self._configuration.learns_constraints:
            given = getattr(self, "acquisition", None)
            given = f"that of {type(self).__name__}" if given is None else repr(given)
            raise ValueError(
                "acquisition must be 'ei' where constraints are learnt (n_constraints of minimize, "
                "constraints of tell), to be multiplied by the probability that they hold: got "
                f"{given} and {m} constraints. Use 'ei', by a method that has it, or have "
                "points that violate them count as failed: NaN as their value, and no constraints."
            )
        return constraints


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


def learning_data(X, y, unlabeled, warp):
    """Return labelled points, their values as seen, and the points without a value."""
    finite = np.isfinite(y)
    return X[finite], warp(y[finite]), np.vstack([X[~finite], unlabeled])


def lowest_mean(surrogate, Z):
    """Return the lowest mean at coordinates, (n, r)."""
    if type(surrogate) is GaussianProcessSurrogate:  # subclasses see other coordinates
        return surrogate.predict_mean(Z).min()
    return surrogate.predict(Z)[0].min()


def nearest_points(Z, embedding, centre):
    """Return the points of the cube with coordinates Z, (n, r), that are nearest a centre, (d,).

    Those nearest to having them, where none has; the inverse, clipped, of what is no matrix.
    """
    if embedding.basis is None:
        return np.clip(embedding.expand(Z), -1.0, 1.0)
    return nearest_preimages(Z, embedding.basis, centre)
