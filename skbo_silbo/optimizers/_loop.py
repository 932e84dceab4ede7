"""The loop that every model-based optimiser here is a configuration of."""

import copy
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._sklearn import one_thread
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.mapping import make_ledger
from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._base import AskTellOptimizer
from skbo_silbo.optimizers._design import random_points
from skbo_silbo.optimizers._evidence import (
    choose_learner,
    choose_turns,
    choose_warp,
    rows_for_evidence,
)
from skbo_silbo.optimizers._history import impute_failures
from skbo_silbo.optimizers._schedule import is_update_due
from skbo_silbo.optimizers._subspace import describe_subspace, mean_gradient
from skbo_silbo.space import draw_unseen, key_of, keys_of
from skbo_silbo.surrogate import is_due

CHOICE_GROWTH = 1.25  # labels, relative, between choices of the embedding


@dataclass(frozen=True, eq=False)
class _Model:
    """What was learnt from the first `n_told` evaluations."""

    n_told: int
    embedding: object
    surrogate: object
    ranked: np.ndarray  # (n, d): the points evaluated, the lowest value first


class EmbeddedOptimizer(AskTellOptimizer):
    """Base of the optimisers with an embedding and a surrogate; a subclass says `_configure`.

    A proposal is made so: learn the embedding when it is due; give every labelled point its
    coordinates; condition the surrogate; search for the best acquisition; map it to the cube.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

    def _assemble(self):
        """Make the parts and the empty state; the last step of a subclass's construction."""
        self._configuration = self._configure(self.space_.n_features_)
        self._ledger = make_ledger(self._configuration.mapping, self.space_)
        self._embedding = LinearEmbedding(self.space_.n_features_)
        self._learner = self._configuration.learners[0]
        self._warp = self._configuration.warps[0]
        self._unlabeled = np.empty((0, self.space_.n_features_))
        self._model = self._design = None
        self._surrogate_state = None  # where the next search of the hyperparameters starts
        self._learnt_at = self._tuned_at = self._chosen_at = 0
        self._path = []  # [labels, kind of embedding, its coordinates] at every change
        self._described = None  # the last `subspace_` and what it was made from

    @abstractmethod
    def _configure(self, d):
        """Return the `Configuration` for d columns, after checking the arguments."""

    @property
    def n_initial_(self):
        """How many points, told ones included, come before the first model."""
        return self._configuration.n_initial

    @property
    def embedding_(self):
        """The embedding in use; the identity before the first model."""
        return self._embedding

    @property
    def subspace_(self):
        """The directions that matter, as learnt from the values told: a `LearntSubspace`.

        Computed when asked for: some model fits. Warns (`NotLowDimensionalWarning`) when
        `n_components` or a learnt embedding was asked for, and all inputs together predict better.
        It changes nothing of what is proposed.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        made_from = len(self._history), self._embedding, self._surrogate_state
        if self._described is None or not _same(self._described[0], made_from):
            with one_thread():
                self._described = made_from, self._describe()
        return self._described[1]

    def _describe(self):
        model, Z = self._model_of_all_told()
        return describe_subspace(
            mean_gradient(model.surrogate, model.embedding, Z),
            self._learning_data(*self._labelled()[:2]),
            self._configuration.learners,
            self._rng(model.n_told, 3),
            feature_names=tuple(self.space_.feature_names_),
            n_told=model.n_told,
            path=tuple(map(tuple, self._path)),
            asked_for=len(self._configuration.learners) == 1
            or getattr(self, "n_components", "auto") != "auto",
        )

    def _model_of_all_told(self):
        """Return the model and its coordinates; what is proposed next does not change by it."""
        ledger = copy.deepcopy(self._ledger)
        try:
            model = self._recondition() if self._is_stale else self._model
            return model, self._ledger.locate(model.ranked, model.embedding)[0]
        finally:
            self._ledger = ledger

    def _check_noise(self, noise_std, shape):
        noise_std = super()._check_noise(noise_std, shape)
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
            raise ValueError(
                f"noise_std must be None for the surrogate of this {type(self).__name__}, which "
                f"cannot use it: got {noise_std.tolist()}. Leave it out, or use a method with a "
                "Gaussian process of one kernel."
            )
        return noise_std

    def _propose(self):
        index = self._n_known
        rng = self._rng(index)
        with one_thread():
            if index < self.n_initial_ or len(self._history) == 0:
                return self._design_point(index, rng)
            again = self._follow()
            if again is not None:
                return again
            if self._model is None:
                return draw_unseen(self.space_, self._seen, rng)
            return self._search(rng)

    def _follow(self):
        """Bring the model up to date; return a point that has to be evaluated again first."""
        again = self._ledger.waiting(self._seen)
        if again is not None or not self._is_stale:
            return again
        self._learn_embedding()
        again = self._ledger.waiting(self._seen)
        if again is None:
            self._model = self._condition()
        return again

    @property
    def _is_stale(self):
        return self._model is None or self._model.n_told < len(self._history)

    def _labelled(self):
        """Return points, (n, d), values and noise, (n,), to learn from, in canonical order."""
        return self._ledger.select(*self._history.canonical())

    def _design_point(self, index, rng):
        if self._design is None:
            self._design = self._draw_design()
        if index < len(self._design) and key_of(self._design[index]) not in self._seen:
            return self._design[index]
        return draw_unseen(self.space_, self._seen, rng)

    def _draw_design(self):
        X = self._configuration.design(self.n_initial_, self.space_.n_features_, self._rng(0, 0))
        Z = None
        if isinstance(X, tuple):
            X, Z = X
        X = self.space_.round(X)
        if Z is not None:
            self._ledger.note(X, Z)
        return X

    def _learn_embedding(self):
        """Learn the embedding if it is due."""
        X, y, _ = self._labelled()
        n, first = y.size, self._learnt_at == 0
        if not (first or self._is_due(n)):
            return
        self._learnt_at = n
        if first and not len(self._unlabeled):
            self._set_unlabeled(self._draw_unlabeled())
        if n >= CHOICE_GROWTH * self._chosen_at:
            self._choose_scale_and_learner(X, y)
        learnt = self._learner.learn(*self._learning_data(X, y))
        self._note_path(n, learnt.r)
        if first or not (learnt.is_identity and self._embedding.is_identity):
            self._embedding, self._tuned_at = learnt, 0
            self._ledger.move(learnt, self._seen, first)

    def _draw_unlabeled(self):
        """Return the unlabelled points of the first embedding, (n, d), uniform in the cube."""
        n = self._configuration.n_first_unlabeled
        return self.space_.round(random_points(n, self.space_.n_features_, self._rng(0, 4)))

    def _choose_scale_and_learner(self, X, y):
        """Choose scale and learner by evidence."""
        rng = self._rng(y.size, 1)
        finite = np.isfinite(y)
        some = rows_for_evidence(finite.sum(), X.shape[1], rng)
        Z = self._embedding.project(X[finite][some])
        self._warp = choose_warp(self._configuration.warps, self._learner, Z, y[finite][some])
        labelled, values, unlabeled = self._learning_data(X, y)
        learners = self._configuration.learners
        learner = choose_learner(learners, labelled[some], values[some], unlabeled, rng)
        self._learner = choose_turns(learner, labelled, values, rng)
        self._chosen_at = y.size

    def _learning_data(self, X, y):
        """Return labelled points, their values as seen, and the points without a value."""
        finite = np.isfinite(y)
        return X[finite], self._warp(y[finite]), np.vstack([X[~finite], self._unlabeled])

    def _note_path(self, n, r):
        step = (self._learner.name, r)
        if not self._path or tuple(self._path[-1][1:]) != step:
            self._path.append([n, *step])

    def _is_due(self, n):
        return is_update_due(self._configuration.update_every, n, self._learnt_at)

    def _condition(self):
        """Return the model of everything told, the hyperparameters tuned if they are due.

        None where nothing is told yet for the places that the points have moved to.
        """
        X, y, noise_std = self._labelled()
        if not y.size:
            return None
        Z, source = self._ledger.locate(X, self._embedding)
        maker, start = self._maker, self._surrogate_state
        fits = start is not None and maker.fits(start, Z.shape[1])
        tune = not fits or is_due(y.size, self._tuned_at, Z.shape[1])
        if tune:
            self._tuned_at = y.size
        values, rng = self._values(y)[source], self._rng(y.size, 2)
        noise = self._noise_variance(y, noise_std)[source]
        surrogate, self._surrogate_state = maker.fit(
            start if fits else None, Z, values, noise, tune=tune, rng=rng
        )
        return self._as_model(surrogate, X, y)

    @property
    def _maker(self):
        """Return what makes surrogates for the learner chosen."""
        return self._configuration.surrogate.for_learner(self._learner)

    def _values(self, y):
        """Return what the surrogate sees of the values told."""
        return self._warp(impute_failures(y))

    def _noise_variance(self, y, noise_std):
        """Return the known variances of what `_values` returns: by the warp's slope; else 0."""
        known = np.where(np.isfinite(y) & np.isfinite(noise_std), noise_std, 0.0)
        return (known * np.exp(self._warp.log_slope(impute_failures(y)))) ** 2

    def _as_model(self, surrogate, X, y):
        ranked = X[np.argsort(np.where(np.isfinite(y), y, np.inf), kind="stable")]
        return _Model(len(self._history), self._embedding, surrogate, ranked)

    def _search(self, rng):
        """Return the point to evaluate next, from the search of the acquisition."""
        search = self._configuration.search
        surface = self._surface(search.n_points)
        Z, X = search.find(surface, self._model.ranked, self.space_, rng)
        if self._configuration.keeps_found:
            return self._choose_found(X, rng)
        return self._choose(Z, rng)

    def _surface(self, n_points):
        """Return the acquisition, pending points believed to have their predicted values."""
        model = self._model
        surrogate = model.surrogate
        Z, _ = self._ledger.locate(model.ranked, model.embedding)
        if self._pending:
            pending = np.array(list(self._pending.values()))
            believed, _ = self._ledger.locate(pending, model.embedding)
            surrogate = surrogate.with_points(believed, surrogate.predict(believed)[0])
            Z = np.vstack([Z, believed])
        best = surrogate.predict(Z)[0].min()  # of the predictions: noise makes low values too
        acquisition = self._configuration.acquisition(self._n_known + 1, n_points)
        return AcquisitionSurface(acquisition, surrogate, model.embedding, best)

    def _choose(self, Z, rng):
        """Return the first new point; the new ones after it are unlabelled in the next fit."""
        seen, size = self._seen, self._configuration.n_unlabeled + 1
        Z = np.array(list(dict(zip(keys_of(Z), Z, strict=True)).values()))
        for first in range(0, len(Z), size):
            some = Z[first : first + size]
            X = self._lift(some)
            lifted = dict(zip(keys_of(X), zip(X, some, strict=True), strict=True))
            new = [pair for key, pair in lifted.items() if key not in seen]
            if new:
                self._set_unlabeled([x for x, _ in new[1:]])
                return self._settle(*new[0], rng)
        return draw_unseen(self.space_, seen, rng)

    def _lift(self, Z):
        """Return the points of the space that stand for the coordinates Z."""
        model = self._model
        return self.space_.round(
            self._configuration.mapping.lift(Z, model.embedding, model.ranked[0])
        )

    def _settle(self, x, z, rng):
        """Return the point to evaluate for the z chosen: x, or the mapping's costlier preimage."""
        if hasattr(self._configuration.mapping, "settle"):
            settled = self._configuration.mapping.settle(x, z, self._model.embedding, rng)
            settled = self.space_.round(settled[None])[0]
            x = x if key_of(settled) in self._seen else settled
        self._ledger.note(x[None], z[None])
        return x

    def _choose_found(self, X, rng):
        """Return the first new point that the search found, itself."""
        found = dict(zip(keys_of(X), X, strict=True))
        new = [x for key, x in found.items() if key not in self._seen]
        if not new:
            return draw_unseen(self.space_, self._seen, rng)
        self._set_unlabeled(new[1 : self._configuration.n_unlabeled + 1])
        return new[0]

    def _set_unlabeled(self, points):
        self._unlabeled = np.array(points).reshape(-1, self.space_.n_features_)

    def _state_to_dict(self):
        return {
            "embedding": _state.embedding_to_data(self._embedding),
            "learner": self._configuration.learners.index(self._learner),
            "turns": getattr(self._learner, "takes_turns", None),
            "warp": self._configuration.warps.index(self._warp),
            "counts": [self._learnt_at, self._tuned_at, self._chosen_at],
            "unlabeled": self._unlabeled.tolist(),
            "surrogate": self._surrogate_state,
            "fresh": not self._is_stale,
            "designed": self._design is not None,
            "path": self._path,
            "ledger": self._ledger.to_state(),
        }

    def _state_from_dict(self, state):
        d = self.space_.n_features_
        self._learner = self._configuration.learners[state["learner"]]
        if state["turns"] is not None:
            self._learner = replace(self._learner, takes_turns=state["turns"])
        self._warp = self._configuration.warps[state["warp"]]
        relearn = state["embedding"] == _state.RELEARN
        if not relearn:
            self._embedding = (
                self._learner.embedding
                if state["embedding"] is None
                else _state.embedding_from_data(state["embedding"], d)
            )
            self._learnt_at, self._tuned_at, self._chosen_at = state["counts"]
        self._unlabeled = np.reshape(state["unlabeled"], (-1, d))
        self._surrogate_state = state["surrogate"]
        self._path = [list(step) for step in state["path"]]
        if state["designed"]:
            self._design = self._draw_design()
        self._ledger.from_state(state["ledger"])
        if state["fresh"] and not relearn:
            self._model = self._recondition()

    def _recondition(self):
        """Return the model that the stored state is of: nothing is searched."""
        X, y, noise_std = self._labelled()
        state = self._surrogate_state
        Z, source = self._ledger.locate(X, self._embedding)
        if state is None or not self._maker.fits(state, Z.shape[1]):
            raise NotFittedError(
                f"subspace_ needs a model, which comes after {self.n_initial_} values: got "
                f"{len(self._history)}. Tell them, then ask() for a point."
            )
        noise = self._noise_variance(y, noise_std)[source]
        surrogate = self._maker.restore(state, Z, self._values(y)[source], noise)
        return self._as_model(surrogate, X, y)


def _same(a, b):
    return a[0] == b[0] and all(x is y for x, y in zip(a[1:], b[1:], strict=True))
