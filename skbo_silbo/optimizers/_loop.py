"""The loop that every model-based optimiser here is a configuration of: the page of a proposal.

    tell:  points, values -> history
    ask:   history -> model (scale, embedding, surrogate) -> acquisition -> candidates -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points of the cube ``[-1, 1]^d`` that the space is seen as
v                     coordinates of a sketch, where there is one: x is made from v
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       observed values, to be minimised; not finite where the evaluation failed
=========  =========  =====================================================================

Each stage has a room (doc/architecture.rst): `embedding` learns B, `surrogate` predicts in z,
`acquisition` says where to look, `mapping` goes between z and x.
"""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._functions import no_improvement
from skbo_silbo.acquisition._part import Part
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.mapping._ledger import CoordinateLedger
from skbo_silbo.mapping._mapping_protocol import FullMapping
from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._design import Design, random_points
from skbo_silbo.optimizers._given_parts import checked_means
from skbo_silbo.optimizers._history import Labelled, impute_failures
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
        mapping = cast(FullMapping, self._configuration.mapping)
        # which coordinates points were made from, where the points do not say so
        self._ledger = CoordinateLedger(mapping, self.space_) if mapping.keeps_coordinates else None
        self._model = Model(LinearEmbedding(d), self._configuration.warps[0])
        self._unlabeled = np.empty((0, d))  # what the last search ranked next
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
            moved = self._update_model()
            if moved is not None or self._model.surrogate is None:
                return moved
            search, ranked = self._configuration.search, cast(FloatArray, self._model.ranked)
            found = search.find(self._surface(part), ranked, self.space_, rng)
            return self._first_new(found, part, rng)

    def _update_model(self):
        """Learn from all values, where due; or return a place to evaluate again before."""
        moved = self._ledger and self._ledger.waiting(self._seen)
        if moved is None and self._model.n_observed != len(self._history):
            self._model = self._learnt(self._model)
            moved = self._ledger and self._ledger.waiting(self._seen)
            if moved is None:
                self._model = self._conditioned(self._model)
        return moved

    def _design_point(self, index):
        X, Z = self._design.X, self._design.Z
        if index >= len(X) or key_of(X[index]) in self._seen:
            return None
        if Z is not None and self._ledger is not None:
            self._ledger.note(X[index : index + 1], Z[index : index + 1])
        return X[index]

    @cached_property
    def _design(self):
        made = self._configuration.design(self.n_initial_, self.space_.n_features_, self._rng(0, 0))
        design = made if isinstance(made, Design) else Design(made)
        return replace(design, X=self.space_.round(design.X))

    def _first_new(self, found, part, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        model, seen, space = self._model, self._seen, part or self.space_
        mapping, n_unlabeled = self._configuration.mapping, self._configuration.n_unlabeled
        # In portions: some are expensive to place, and few of a small discrete space are new.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(mapping.place(some.Z, some.X, model.embedding, model.ranked[0]))
            new = first_rows(X, seen)
            if part is not None:
                new = list(np.array(new, dtype=int)[part.violation(X[new]) == 0.0])
            if new:
                self._unlabeled = X[new[1 : n_unlabeled + 1]]
                x, z = X[new[0]], some.Z[new[0]]
                costlier = mapping.refine(x, z, model.embedding, rng)[None]
                [other] = self.space_.round(costlier)
                x = x if key_of(other) in seen else other
                if self._ledger is not None:
                    self._ledger.note(x[None], z[None])
                return x
        return None

    # --- model ----------------------------------------------------------------------------------

    def _labelled(self):
        """Return the evaluations to learn from, in canonical order: `Labelled`."""
        rows = self._history.canonical
        return rows if self._ledger is None else Labelled(*self._ledger.select(*rows))

    def _learnt(self, model):
        """Return the model with the scale of the values and the embedding chosen where due."""
        X, y, *_ = self._labelled()
        n, first = y.size, model.learnt_at == 0
        if not (first or is_update_due(self._configuration.update_every, n, model.learnt_at)):
            return model
        if first and not len(self._unlabeled):
            n_first = self._configuration.n_first_unlabeled
            self._unlabeled = self.space_.round(random_points(n_first, X.shape[1], self._rng(0, 4)))
        if n >= CHOICE_GROWTH * model.chosen_at:
            finite, seen = np.isfinite(y), self._configuration
            values = model.embedding.project(X[finite]), y[finite]
            warp = choose_warp(seen.warps, seen.surrogate, *values, self._rng(n, 1))
            model = replace(model, warp=warp, chosen_at=n)
        learner = self._configuration.learner
        if isinstance(learner, IdentityLearner) and not first:
            return replace(model, learnt_at=n)
        learnt = learner.learn(*learning_data(X, y, self._unlabeled, model.warp))
        if not first and learnt.is_identity and model.embedding.is_identity:
            return replace(model, learnt_at=n)
        if self._ledger is not None:
            self._ledger.move(learnt, self._seen, first)
        step, path = (learner.name, learnt.r), model.path
        path = path if path and path[-1][1:] == step else (*path, (n, *step))
        relearnt = replace(model, embedding=learnt, learnt_at=n, path=path, moved=True)
        return replace(relearnt, surrogate=None, n_observed=None)

    def _conditioned(self, model, *, tune=True):
        """Return the model with a surrogate of all observations, hyperparameters searched if due.

        Without one where nothing is observed yet at the places that points have moved to. With
        ``tune=False`` hyperparameters are those of its states, and nothing is changed.
        """
        labelled, n = self._labelled(), len(self._history)
        X, y, _, constraints = labelled
        if self._ledger is not None and tune:
            self._ledger.adopt(X, model.embedding)
        if not y.size:
            return replace(model, surrogate=None, n_observed=n)
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
        Z, source = self._coordinates(X, model.embedding)
        filled, noise_std = impute_failures(y), np.where(np.isfinite(y), noise_std, np.nan)
        variance = warped_variance(model.warp, filled, noise_std)
        return np.array(Z), model.warp(filled)[source], variance[source]  # history stays ours

    def _coordinates(self, X, embedding):
        """Return a coordinate row for every point, (m, r), and the row of X of each, (m,)."""
        if self._ledger is not None:
            return self._ledger.locate(X, embedding)
        return self._configuration.mapping.carry(X, embedding), np.arange(len(X))

    # --- acquisition ----------------------------------------------------------------------------

    def _surface(self, part=None):
        """Return the acquisition, conditioned on predicted values of the pending points."""
        model, embedding = self._model, self._model.embedding
        surrogate, feasibility = model.surrogate, model.feasibility
        good = []  # coordinates that a new point is to improve on
        if model.n_feasible:
            good.append(self._coordinates(model.ranked[: model.n_feasible], embedding)[0])
        if self._pending:
            pending = np.array(list(self._pending.values()))
            Z, source = self._coordinates(pending, embedding)
            surrogate = surrogate.with_points(Z, surrogate.predict(Z)[0])
            if feasibility is None:
                good.append(Z)
            else:
                good.append(Z[feasibility.holds_with_margin(pending)[source]])
                feasibility = feasibility.with_pending(pending)
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
    """Return the lowest mean at coordinates, (n, r), after refusing what no search can use."""
    if type(surrogate) is GaussianProcessSurrogate:  # subclasses see other coordinates
        return surrogate.predict_mean(Z).min()
    return checked_means(surrogate, Z).min()
