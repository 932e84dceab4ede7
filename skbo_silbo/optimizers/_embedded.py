"""The ask step shared by all model-based optimisers.

    tell:  points, values -> history
    ask:   history -> model (scale, embedding, surrogate) -> acquisition -> candidates -> point

=========  =========  =====================================================================
symbol     shape      meaning
=========  =========  =====================================================================
x, X       (d,)       points of the cube ``[-1, 1]^d`` that the space is seen as
z, Z       (r,)       coordinates of the embedding, ``z = x B``
y          (n,)       observed values, to be minimised; not finite where the evaluation failed
=========  =========  =====================================================================

Each stage has a room (doc/architecture.rst): `embedding` learns B, `surrogate` predicts in z, and
`acquisition` says where to look.
"""

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._numerics._preimages import nearest_preimages
from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition._acquisition_functions import is_log
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.optimizers import _model as models
from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers._configuration import Configuration
from skbo_silbo.optimizers._history import as_points
from skbo_silbo.optimizers._model import Prediction, Recommendation
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._subspace import describe_subspace
from skbo_silbo.space import key_of
from skbo_silbo.space._categories import with_least_tried_levels
from skbo_silbo.space._keys import first_rows
from skbo_silbo.surrogate._noise_average import averaged_over_noise


class EmbeddedOptimizer(AskTellOptimizer):
    """Base of the optimisers with an embedding and a surrogate; a subclass says how to `configure`.

    Its ``__init__`` keeps the arguments as attributes of their names, and then calls this one.

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
        warp = self._configuration.warp
        self._model = models.Model(LinearEmbedding(d), warp, unlabeled=np.empty((0, d)))
        # the last `subspace_`, after the model that it was made from
        self._described: tuple[Any, ...] = (None, None)
        # the same with its predictions averaged over the noise, after the model they are of
        self._reported: tuple[Any, ...] = (None, None)

    def __getstate__(self):
        # reports are made again: they hold a matrix for every noise level
        return super().__getstate__() | {"_reported": (None, None)}

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Return the `Configuration` for d columns, after checking the arguments."""

    @property
    def n_initial_(self) -> int:
        """How many points, observed ones included, come before the first model."""
        return self._configuration.n_initial

    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return a place of the cube, (m,): of the design, or of the largest acquisition."""
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
        """The places of all points observed or pending, (n, d)."""
        return np.vstack([self._history.X, *self._pending.values()])

    def _first_new(self, found, part, rng):
        """Return the first new point, (d,), and its coordinates, (r,); None and None without one.

        The new ones after it are unlabelled in the next fit.
        """
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
                return X[new[0]], some.Z[new[0]]
        return None, None

    def _labelled(self):
        """Return the evaluations to learn from, in canonical order: `Labelled`."""
        return self._history.canonical

    def _learnt(self, model):
        """Return the model with the embedding learnt where due."""
        return models.learn(model, self._labelled(), self._configuration)

    def _conditioned(self, model, *, tune=True):
        """Return the model with a surrogate of all observations, hyperparameters searched if due.

        With ``tune=False`` hyperparameters are those of its states.
        """
        labelled, n = self._labelled(), len(self._history)
        rng = self._rng(labelled.y.size, 2) if tune else None
        template = self._configuration.surrogate
        return models.condition(model, labelled, self._coordinates, template, n_observed=n, rng=rng)

    def _coordinates(self, embedding, X, *values):
        """Return the coordinates of points X, and what there is of each, a row a coordinate row."""
        return embedding.project(X), *values

    def _surface(self, part=None, model=None):
        """Return the acquisition, conditioned on predicted values of the pending points."""
        model = model or self._model
        acquisition = partial(self._configuration.acquisition, self._n_known + 1)
        pending = list(self._pending.values())
        return models.make_surface(model, pending, self._coordinates, acquisition, part)

    # --- what can be read -----------------------------------------------------------------------

    @property
    def embedding_(self) -> Embedding:
        """The embedding in use; the identity before the first model."""
        return self._model.embedding

    @property
    def subspace_(self) -> LearntSubspace:
        """What matters, inputs and directions, as the observed values show it: a `LearntSubspace`.

        Computed when asked for: some model fits. Warns (`NotLowDimensionalWarning`) when
        `n_components` or a learnt embedding was asked for, and all inputs together predict better.
        It changes nothing of what is proposed.

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
        """The evaluated point to use where values are noisy: point, mean and std.

        In the model that proposes, the point has the lowest posterior mean among the feasible ones;
        of equal values it is the first. `best_y_` is the lowest of many noisy values and therefore
        usually too low. The mean and the standard deviation are averaged over the noise levels that
        the values leave open, so that the interval is wide where the model cannot tell noise from
        the objective. Evaluate the point again before you hand it over: the new values are
        independent of the search.

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
            reported = models.in_units_of_values(model, mean[0], std[0], self._history, y)
            mean, std = map(float, reported)
            point = self._history.points[self._row_of(points[i])].copy()
            return Recommendation(point, self._sign * mean, std)

    def _row_of(self, x):
        """Return the first evaluation of a place of the cube, by its number."""
        return int(np.flatnonzero((x == self._history.X).all(axis=1))[0])

    def expected_gain(self) -> float:
        """Return how much better than the best value the next one is expected to be, at most.

        Nothing of what is proposed changes by it.

        Returns
        -------
        gain : float
            The largest expected improvement (Jones, Schonlau and Welch 1998) in the space, or where
            known constraints hold in it, at least 0, in the units of the values; pending points
            count as evaluated. Infinite before there is a model.

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
            return models.expected_gain(self._model, surface, search, self.space_, rng, *known)

    def predict(self, x: Any) -> Prediction:
        """Return what the model expects of the objective at one point or at several.

        Without the noise of its values, and averaged over the noise levels that the values leave
        open. Nothing of what is proposed changes by it.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows
            Points inside the bounds, evaluated or not.

        Returns
        -------
        prediction : Prediction
            `mean` and `std` in the units and the sign of the values, and the `probability` that
            all learnt constraints hold: numbers for one point, arrays of shape (n,) for several.

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
            mean, *others = models.predict(model, X, Z, self._history, y)
        values = self._sign * mean, *others
        return Prediction(*(float(v[0]) for v in values) if single else values)

    def expected_improvement(self, x: Any) -> Any:
        """Return how much better than the best value a point is expected to be, at least 0.

        Pending points count as evaluated. Where constraints are learnt it is multiplied by the
        probability that they hold, and infinite until a feasible point is known.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or (n, d), list of n dicts or DataFrame of n rows

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
            values = models.expected_improvement(model, surface, X, self._history, y)
        return float(values[0]) if single else values

    def _places(self, x):
        """Return one point or several as places of the cube, and whether it was one."""
        points, single = as_points(x, self.space_)
        return self.space_.encode(points), single

    def _model_and_values(self, asked):
        """Return the model and the values that it is of, one of which is finite."""
        model, y = self._current_model(asked), self._labelled().y
        if not np.isfinite(y).any():
            raise NotFittedError(
                f"{asked} needs a finite value: got {len(self._history)} values, none of them "
                "finite. Tell one first."
            )
        return model, y

    def _current_model(self, asked):
        """Return the model with all observations, hyperparameters kept; nothing is changed."""
        for model in (self._model, self._described[0], self._reported[0]):
            is_of_all = model is not None and model.n_observed == len(self._history)
            if is_of_all and model.surrogate is not None:
                return model
        return self._restored(asked)

    def _averaged(self, model):
        """Return the model with its predictions averaged over the noise, as reports read them."""
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
        """Return the model with a surrogate of the stored state, for what is asked for.

        Nothing is searched.
        """
        model = self._model
        if model.state is None or model.moved:
            n = len(self._history)
            more = f"Tell {self.n_initial_ - n} more and" if n < self.n_initial_ else "Then"
            raise NotFittedError(
                f"{asked} needs a model, which ask() makes from {self.n_initial_} values on: got "
                f"{n}. {more} call ask()."
            )
        return self._conditioned(model, tune=False)

    def _refuse_unusable(self, noise_std, constraints):
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
            raise ValueError(
                f"noise_std must be None for the surrogate of this {type(self).__name__}, which "
                f"cannot use it: got {noise_std.tolist()}. Leave it out, or use a method with a "
                "Gaussian process of one kernel."
            )
        m = constraints.shape[1]
        if m and not is_log(self._configuration.acquisition(1)):
            given = getattr(self, "acquisition", None)
            given = f"that of {type(self).__name__}" if given is None else repr(given)
            raise ValueError(
                "acquisition must be 'ei', or a function with the attribute is_log = True, where "
                "constraints are learnt (n_constraints of minimize, constraints of tell), because "
                f"the log probability that they hold is added to it: got {given} and {m} "
                "constraints. Use 'ei', declare that your function is a logarithm, or report "
                "points that violate a constraint as failed: NaN as value, and no constraints."
            )


def nearest_points(Z, embedding, centre):
    """Return the points of the cube with coordinates Z, (n, r), that are nearest a centre, (d,).

    Those nearest to having them, where none has; the inverse, clipped, of what is no matrix.
    """
    if embedding.basis is None:
        return np.clip(embedding.expand(Z), -1.0, 1.0)
    return nearest_preimages(Z, embedding.basis, centre)
