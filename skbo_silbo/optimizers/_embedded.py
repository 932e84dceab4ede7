"""Base class of all model-based optimisers, with the steps of a proposal.

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

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._numerics.preimages import nearest_preimages
from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition._acquisition_functions import is_log
from skbo_silbo.acquisition._restricted_space import Part
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.optimizers import _model as models
from skbo_silbo.optimizers import _predictions as predictions
from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._history import as_points
from skbo_silbo.optimizers._predictions import Prediction, Recommendation
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._subspace import describe_subspace
from skbo_silbo.space import key_of
from skbo_silbo.space.categories import with_least_tried_levels
from skbo_silbo.space.keys import first_rows
from skbo_silbo.surrogate._noise_average import averaged_over_noise


class EmbeddedOptimizer(AskTellOptimizer):
    """Base class of the optimisers with an embedding and a surrogate.

    A subclass implements `configure`, which returns the components to use. Its ``__init__`` must
    store its arguments as attributes before it calls this one.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        super().__init__(bounds, random_state)
        d = self.space_.n_features_
        self._configuration = self.configure(d)
        warp = self._configuration.warp
        self._model = models.Model(LinearEmbedding(d), warp, unlabeled=np.empty((0, d)))
        # the model that the last `subspace_` describes, and that `subspace_`
        self._described: tuple[Any, ...] = (None, None)
        # the last model whose predictions were averaged over the noise, and the averaged model
        self._reported: tuple[Any, ...] = (None, None)

    def __getstate__(self):
        # averaged models are large (a matrix for every noise level) and can be computed again
        return super().__getstate__() | {"_reported": (None, None)}

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Validate the arguments and return the `Configuration` for d columns."""

    @property
    def n_initial_(self) -> int:
        """Number of points, including observed ones, before the first model."""
        return self._configuration.n_initial

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return the next design point or maximiser of the acquisition function, of shape (m,)."""
        index = self._n_known
        with one_thread():
            if index < self._configuration.n_initial or not len(self._history):
                return self._design_point(index)
            self._update_model()
            search, ranked = self._configuration.search, cast(FloatArray, self._model.ranked)
            found = search.find(self._surface(part), ranked, self.space_, rng)
            return self._first_new(found, part, rng)[0]

    def place(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Return points of the cube for the coordinates that a search returned.

        Parameters
        ----------
        Z : ndarray of shape (k, r)
        X : ndarray of shape (k, d) or None
            The points that have these coordinates; None if the search was over coordinates only.
        embedding : Embedding
        incumbent : ndarray of shape (d,)
            The best point evaluated so far.

        Returns
        -------
        X : ndarray of shape (k, d)
            X if it is given, otherwise the points with coordinates Z nearest the incumbent, so that
            directions outside the embedding keep the values of the incumbent.
        """
        return nearest_points(Z, embedding, incumbent) if X is None else X

    def _update_model(self):
        """Fit the embedding and the surrogate to all evaluations, if there are new ones."""
        if self._model.n_observed != len(self._history):
            self._model = self._conditioned(self._learnt(self._model))

    def _design_point(self, index):
        """Return a point of the initial design; None if it is not new or the design is used up."""
        if index >= len(self._design):
            return None
        x = self._design[index]
        if self._configuration.covers_levels:
            known, categories = self._known_places, self.space_.categories()
            x = with_least_tried_levels(x, known, categories, self._rng(index, 6))
        [x] = self.space_.round(x[None])
        return None if key_of(x) in self._seen else x

    @cached_property
    def _design(self):
        n, d = self.n_initial_, self.space_.n_features_
        return self._configuration.design(n, d, self._rng(0, 0))

    @property
    def _known_places(self):
        """Encoded evaluated and pending points, of shape (n, d)."""
        return np.vstack([self._history.X, *self._pending.values()])

    def _first_new(self, found, part, rng):
        """Return the best new candidate, (d,), and its coordinates, (r,), or None and None.

        The new candidates ranked after it become unlabelled points of the next fit.
        """
        model, seen, space = self._model, self._seen, part or self.space_
        n_unlabeled = self._configuration.n_unlabeled
        # In portions, because preimages can be expensive and the first candidates mostly suffice.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(self.place(some.Z, some.X, model.embedding, model.ranked[0]))
            new = first_rows(X, seen)
            if part is not None:
                new = list(np.array(new, dtype=int)[part.violation(X[new]) == 0.0])
            if new:
                self._model = replace(model, unlabeled=X[new[1 : n_unlabeled + 1]])
                return X[new[0]], some.Z[new[0]]
        return None, None

    def _labelled(self):
        """Return the evaluations to fit to, in canonical order, as `Labelled`."""
        return self._history.canonical

    def _learnt(self, model):
        """Return the model with a newly learnt embedding, if an update is due."""
        return models.learn(model, self._labelled(), self._configuration)

    def _conditioned(self, model, *, tune=True):
        """Return the model with a surrogate fitted to all evaluations.

        Hyperparameters are optimised if that is due, or taken from the stored states if `tune` is
        False.
        """
        labelled, n = self._labelled(), len(self._history)
        rng = self._rng(labelled.y.size, 2) if tune else None
        template = self._configuration.surrogate
        return models.condition(model, labelled, self._coordinates, template, n_observed=n, rng=rng)

    def _coordinates(self, embedding, X, *values):
        """Return the coordinates of points X, and values for each row of coordinates."""
        return embedding.project(X), *values

    def _surface(self, part=None, model=None):
        """Return the acquisition surface, with predicted values at pending points."""
        model = model or self._model
        acquisition = partial(self._configuration.acquisition, self._n_known + 1)
        pending = list(self._pending.values())
        return models.make_surface(model, pending, self._coordinates, acquisition, part)

    # --- what can be read -----------------------------------------------------------------------

    @property
    def embedding_(self) -> Embedding:
        """The current embedding; the identity before the first model."""
        return self._model.embedding

    @property
    def subspace_(self) -> LearntSubspace:
        """The inputs and directions that affect the observed values, as a `LearntSubspace`.

        It is computed on first access, which takes several model fits, and has no effect on
        proposals. A `NotLowDimensionalWarning` is issued if `n_components` or a learnt embedding
        was requested but all inputs together predict better.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model("subspace_")
            if self._described[0] is not model:
                X, y, *_ = self._labelled()
                *_, X_unlabeled = models.learning_data(X, y, model.unlabeled, model.warp)
                parts = self._configuration.learner, self._configuration.surrogate
                rng = self._rng(model.n_observed, 3)
                subspace = describe_subspace(self.input_model_, model, X_unlabeled, *parts, rng)
                self._described = model, subspace
            return self._described[1]

    @property
    def recommended_(self) -> Recommendation:
        """The evaluated point to use if values are noisy: point, mean and std.

        It is the feasible point with the lowest posterior mean, the first one in case of ties.
        `best_y_`, the lowest of many noisy values, is usually too optimistic. The mean and standard
        deviation are averaged over the plausible noise levels, so the interval is wide if the model
        cannot separate noise from the objective. Evaluate the point again for an unbiased estimate
        of its value.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model("recommended_")
            y = self._labelled().y
            good = model.ranked[: min(model.n_feasible, int(np.isfinite(y).sum()))]
            if not len(good):
                return super().recommended_
            Z, points = self._coordinates(model.embedding, good, good)
            if np.ptp(y[np.isfinite(y)]):
                i = int(np.argmin(model.surrogate.predict(Z)[0]))
            else:
                i = min(range(len(points)), key=lambda k: self._row_of(points[k]))
            mean, std = self._averaged(model).surrogate.predict(Z[[i]])
            reported = predictions.in_units_of_values(model, mean[0], std[0], self._history, y)
            mean, std = map(float, reported)
            point = self._history.points[self._row_of(points[i])].copy()
            return Recommendation(point, self._sign * mean, std)

    def _row_of(self, x):
        """Return the index of the first evaluation of an encoded point."""
        return int(np.flatnonzero((x == self._history.X).all(axis=1))[0])

    def expected_gain(self) -> float:
        """Return the largest expected improvement on the best value over the whole space.

        It can serve as a stopping criterion, and computing it has no effect on proposals.

        Returns
        -------
        gain : float
            Largest expected improvement (Jones, Schonlau and Welch 1998) where the known
            constraints hold, in the units of the values. Pending points count as evaluated.
            Infinite before the first model.

        Examples
        --------
        >>> from skbo_silbo import SILBO
        >>> optimizer = SILBO([(0, 1)], random_state=0)
        >>> optimizer.expected_gain()
        inf
        >>> for x in optimizer.ask(8):
        ...     _ = optimizer.tell(x, (x[0] - 0.3) ** 2)
        >>> 0.0 <= optimizer.expected_gain() < 0.1
        True
        """
        with self._lock, one_thread():
            known = self._n_known >= self.n_initial_ and np.isfinite(self._history.y).any()
            if known:
                self._update_model()
            if not known or self._model.surrogate is None or not self._model.n_feasible:
                return math.inf
            surface = self._surface(self._part(None))
            rng, search = self._rng(self._n_known, 5), self._configuration.search
            known = self._history, self._labelled().y
            return predictions.expected_gain(self._model, surface, search, self.space_, rng, *known)

    def predict(self, x: Any) -> Prediction:
        """Predict the noise-free objective at one or more points.

        Predictions are averaged over the plausible noise levels and have no effect on proposals.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows
            Points inside the bounds, evaluated or not.

        Returns
        -------
        prediction : Prediction
            `mean` and `std` in the units and the sign of the values, and the `probability` that all
            learnt constraints hold: floats for one point, arrays of shape (n,) for several.

        Raises
        ------
        NotFittedError
            Before the first model, or without a finite value.

        Examples
        --------
        >>> from skbo_silbo import SILBO
        >>> optimizer = SILBO([(0, 1)], random_state=0)
        >>> for x in optimizer.ask(8):
        ...     _ = optimizer.tell(x, (x[0] - 0.3) ** 2)
        >>> _ = optimizer.ask()
        >>> mean, std, probability = optimizer.predict([0.35])
        >>> abs(mean - 0.05**2) < 3.0 * std, std < 0.01, probability
        (True, True, 1.0)
        """
        X, single = self._places(x)
        with self._lock, one_thread():
            model, y = self._model_and_values("predict")
            model = self._averaged(model)
            Z, rows = self._coordinates(model.embedding, X, np.arange(len(X)))
            Z = Z[np.unique(rows, return_index=True)[1]]
            mean, *others = predictions.predict(model, X, Z, self._history, y)
        values = self._sign * mean, *others
        return Prediction(*(float(v[0]) for v in values) if single else values)

    def expected_improvement(self, x: Any) -> Any:
        """Return the expected improvement on the best value at one or more points.

        Pending points count as evaluated. With learnt constraints, it is multiplied by the
        probability that they hold, and infinite until a feasible point is known.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows
            Points inside the bounds, evaluated or not.

        Returns
        -------
        improvement : float, or ndarray of shape (n,) for n points
            In the units of the values.

        Raises
        ------
        NotFittedError
            Before the first model, or without a finite value.
        """
        X, single = self._places(x)
        with self._lock, one_thread():
            model, y = self._model_and_values("expected_improvement")
            surface = self._surface(model=model)
            values = predictions.expected_improvement(model, surface, X, self._history, y)
        return float(values[0]) if single else values

    def _places(self, x):
        """Return the encoded points, and whether x was a single point."""
        points, single = as_points(x, self.space_)
        return self.space_.encode(points), single

    def _model_and_values(self, asked):
        """Return the current model and the values it was fitted to, or raise NotFittedError."""
        model, y = self._current_model(asked), self._labelled().y
        if not np.isfinite(y).any():
            raise NotFittedError(
                f"{asked} needs a finite value, got {len(self._history)} values, none of them "
                "finite. Pass a finite value to tell() first."
            )
        return model, y

    def _current_model(self, asked):
        """Return a model of all evaluations, without changing the stored one."""
        for model in (self._model, self._described[0], self._reported[0]):
            is_of_all = model is not None and model.n_observed == len(self._history)
            if is_of_all and model.surrogate is not None:
                return model
        return self._restored(asked)

    def _averaged(self, model):
        """Return the model with predictions averaged over the noise level, for reports."""
        if self._reported[0] is not model:
            averaged = replace(model, surrogate=averaged_over_noise(model.surrogate))
            self._reported = model, averaged
        return self._reported[1]

    def _state_to_dict(self):
        return models.model_to_data(self._model, self._configuration, len(self._history))

    def _state_from_dict(self, state):
        d = self.space_.n_features_
        self._model, had_surrogate = models.model_from_data(state, self._configuration, d)
        if had_surrogate:
            self._model = self._restored()

    def _restored(self, asked="subspace_"):
        """Return the model with a surrogate restored from the stored hyperparameters.

        `asked` names the attribute or method that needs it, for the error message.
        """
        model = self._model
        if model.state is None or model.moved:
            n = len(self._history)
            more = f"Pass {self.n_initial_ - n} more and" if n < self.n_initial_ else "Then"
            raise NotFittedError(
                f"{asked} needs a model, which ask() fits from {self.n_initial_} values on, got "
                f"{n}. {more} call ask()."
            )
        return self._conditioned(model, tune=False)

    def _refuse_unusable(self, noise_std, constraints):
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
            raise ValueError(
                f"noise_std must be None for this {type(self).__name__}, whose surrogate does not "
                f"support known noise, got {noise_std.tolist()}. Omit it, or use the default "
                "Gaussian process."
            )
        m = constraints.shape[1]
        if m and not is_log(self._configuration.acquisition(1)):
            given = getattr(self, "acquisition", None)
            given = f"that of {type(self).__name__}" if given is None else repr(given)
            raise ValueError(
                "acquisition must be 'ei' or a function with the attribute is_log = True if "
                "constraints are learnt, because the log probability of feasibility is added to "
                f"it, got {given} and {m} constraints. Use 'ei', set is_log on your function, or "
                "report infeasible points as failed: NaN as value, and no constraints."
            )


def nearest_points(Z, embedding, centre):
    """Return the points of the cube with coordinates Z, (n, r), nearest a centre, (d,).

    If no point of the cube has the coordinates, the closest match is returned. A nonlinear
    embedding is inverted by its transformer, and the result clipped.
    """
    if embedding.basis is None:
        return np.clip(embedding.expand(Z), -1.0, 1.0)
    return nearest_preimages(Z, embedding.basis, centre)
