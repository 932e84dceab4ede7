"""Base class of optimisers with an embedding and a surrogate.

`tell` adds points and values to the history. `ask` fits a model to the history (transformation of
the values, embedding, surrogate), and returns a point with a high value of the acquisition
function.

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
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import check_choice
from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._typing import BoundsLike, FloatArray, RandomState
from skbo_silbo.acquisition import (
    AcquisitionFunction,
    AcquisitionSurface,
    Found,
    ParzenTurns,
    log_expected_improvement,
)
from skbo_silbo.acquisition.acquisition_functions import no_improvement
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.embedding import Embedding, LinearEmbedding
from skbo_silbo.embedding.choice import IdentityLearner
from skbo_silbo.embedding.linear import nearest_points
from skbo_silbo.optimizers._ask_tell import AskTellOptimizer
from skbo_silbo.optimizers.configuration import Configuration, is_update_due
from skbo_silbo.optimizers.history import Labelled, as_points, is_feasible
from skbo_silbo.optimizers.model import Model, learning_data, model_from_data, model_to_data
from skbo_silbo.optimizers.predictions import Prediction, Recommendation, in_units_of_values
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._subspace import describe_subspace
from skbo_silbo.space import key_of
from skbo_silbo.space.categories import with_least_tried_levels
from skbo_silbo.space.keys import first_rows
from skbo_silbo.surrogate.feasibility import fit_feasibility
from skbo_silbo.surrogate.noise_average import averaged_over_noise
from skbo_silbo.surrogate.process import refit
from skbo_silbo.surrogate.warps import warped_variance


class EmbeddedOptimizer(AskTellOptimizer):
    """Base class of optimisers with an embedding and a surrogate.

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
        # the last `subspace_`, and the model that it describes
        self._described: tuple[Any, ...] = (None, None)
        # the last model whose predictions were averaged over the noise, and the averaged model
        self._reported: tuple[Any, ...] = (None, None)

    def __getstate__(self):
        # averaged models are large (a matrix for every noise level) and can be computed again
        return super().__getstate__() | {"_reported": (None, None)}

    @abstractmethod
    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""

    @property
    def n_initial_(self) -> int:
        """Number of points that are evaluated before the first model is fitted."""
        return self._configuration.n_initial

    def propose(self, rng: Generator, restricted: RestrictedSpace | None) -> FloatArray | None:
        """Return the next design point, or the maximiser of the acquisition function."""
        with one_thread():
            if self._n_points < self._configuration.n_initial or not len(self._history):
                return self._design_point(self._n_points)
            self._update_model()
            surface, ranked = self._surface(restricted), self._model.ranked
            found = self._configuration.search.find(surface, ranked, self.space_, rng)
            return self._first_new(found, restricted, rng)[0]

    def preimages(
        self, Z: FloatArray, X: FloatArray | None, embedding: Embedding, incumbent: FloatArray
    ) -> FloatArray:
        """Convert coordinates of the embedding to encoded points.

        Parameters
        ----------
        Z : ndarray of shape (k, r)
        X : ndarray of shape (k, d) or None
            Points with the coordinates Z, or None if the search returned only coordinates.
        embedding : Embedding
        incumbent : ndarray of shape (d,)
            Best evaluated point.

        Returns
        -------
        X : ndarray of shape (k, d)
            X itself if it is not None. Otherwise, the points with coordinates Z that are nearest to
            the incumbent, which differ from it only along the embedding.
        """
        return nearest_points(Z, embedding, incumbent) if X is None else X

    def _design_point(self, index: int) -> FloatArray | None:
        """Return the next point of the initial design.

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
        self, found: Found, restricted: RestrictedSpace | None, rng: Generator
    ) -> tuple[FloatArray | None, FloatArray | None]:
        """Return the best candidate that is new and its coordinates, or (None, None).

        The new candidates ranked directly below it become unlabelled points of the next fit.
        """
        model, seen, space = self._model, self._seen, restricted or self.space_
        n_unlabeled, incumbent = self._configuration.n_unlabeled, model.ranked[0]
        # Preimages can be expensive and the first candidates usually suffice, so work in batches.
        for some in found.portions(n_unlabeled + 1):
            X = space.round(self.preimages(some.Z, some.X, model.embedding, incumbent))
            new = first_rows(X, seen)
            if restricted is not None:
                new = list(np.array(new, dtype=int)[restricted.violation(X[new]) == 0.0])
            if new:
                self._model = replace(model, unlabeled=X[new[1 : n_unlabeled + 1]])
                return X[new[0]], some.Z[new[0]]
        return None, None

    # --- the model ------------------------------------------------------------------------------

    def _update_model(self) -> None:
        """Refit the embedding and the surrogate if there are new evaluations."""
        if self._model.n_observed != len(self._history):
            self._model = self._with_surrogate(self._with_embedding(self._model))

    def _labelled(self) -> Labelled:
        """Return the evaluations to fit models to, in canonical order."""
        return self._history.canonical

    def _with_embedding(self, model: Model) -> Model:
        """Learn the embedding from all evaluations if an update is due, and return the model."""
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
        """Return the model with surrogate and constraint models refitted to all evaluations.

        Hyperparameters are optimised if an update is due. If `tune` is False, the stored ones are
        used.
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
        """Return the embedding coordinates of encoded points, followed by the given values."""
        return embedding.project(X), *values

    def _surface(self, restricted: RestrictedSpace | None = None) -> AcquisitionSurface:
        """Return the acquisition function, given predicted values at the pending points."""
        model = self._model
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
            acquisition, surrogate, embedding, best, feasibility, model.surrogate, restricted
        )

    # --- predictions and reports ----------------------------------------------------------------

    @property
    def embedding_(self) -> Embedding:
        """Current embedding, the identity before the first model is fitted."""
        return self._model.embedding

    @property
    def subspace_(self) -> LearntSubspace:
        """Inputs and directions that affect the objective, as a `LearntSubspace`.

        It is computed on first access, which takes several model fits, and has no effect on
        proposals.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model("subspace_")
            if self._described[0] is not model:
                self._described = model, describe_subspace(self.input_model_, model)
            return self._described[1]

    @property
    def recommended_(self) -> Recommendation:
        """Evaluated point to use if the objective is noisy, with its predicted value.

        It is the feasible point with the lowest posterior mean, or the first one in case of ties.
        In contrast, `best_y_` is the lowest of many noisy values and usually too optimistic. The
        mean and standard deviation are averaged over the plausible noise levels, so the interval is
        wide if the model cannot separate noise from the objective. Evaluate the point again for an
        unbiased estimate of its value.

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
            mean, std = map(float, in_units_of_values(model, mean[0], std[0], y))
            point = self._history.points[self._row_of(points[i])].copy()
            return Recommendation(point, self.sign * mean, std)

    def _row_of(self, x):
        """Return the index of the first evaluation of a given encoded point."""
        return int(np.flatnonzero((x == self._history.X).all(axis=1))[0])

    def expected_gain(self, over: str = "recommended") -> float:
        """Return the largest expected improvement over the whole search space.

        It can serve as a stopping criterion, and computing it has no effect on proposals.

        Parameters
        ----------
        over : {"recommended", "observed"}, default="recommended"
            Value to improve on: the posterior mean of the recommended point, or the best observed
            value. If values are noisy, the best observed value is usually a lucky one.

        Returns
        -------
        gain : float
            Largest expected improvement (Jones, Schonlau and Welch 1998) over the points that
            satisfy the known constraints, in the units of the values. Pending points count as
            evaluated. Before the first model, the gain is infinite.

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
        check_choice("over", over, ("recommended", "observed"))
        with self._lock, one_thread():
            is_enough = self._n_points >= self.n_initial_
            has_model = is_enough and np.isfinite(self._labelled().y).any()
            if has_model:
                self._update_model()
            model, search = self._model, self._configuration.search
            if not has_model or model.surrogate is None or not model.n_feasible:
                return math.inf
            surface = self._surface(self._known_constraints.restrict(self.space_, None))
            surface = replace(surface, acquisition=log_expected_improvement)
            best = self._best_warped(model)
            if over == "observed":
                surface = replace(surface, best=best)
            search = search.search if isinstance(search, ParzenTurns) else search
            found = search.find(surface, model.ranked, self.space_, self._rng(self._n_points, 5))
            Z = found.Z
            if surface.restricted is not None and found.X is not None:
                Z = Z[surface.restricted.violation(found.X) == 0.0]
            if not len(Z):
                return math.inf
            gain = np.exp(surface.values_at(Z).max())
            return float(in_units_of_values(model, best, gain, self._labelled().y)[1])

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
            Predicted `mean` and `std` in the units and the sign of the values, and the
            `probability` that all learnt constraints hold. They are floats for one point, and
            arrays of shape (n,) for several.

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
        points, single = as_points(x, self.space_)
        X = self.space_.encode(points)
        with self._lock, one_thread():
            model = self._averaged(self._current_model("predict", needs_value=True))
            Z, rows = self._coordinates(model.embedding, X, np.arange(len(X)))
            Z = Z[np.unique(rows, return_index=True)[1]]
            mean, std = model.surrogate.predict(Z)
            mean, std = in_units_of_values(model, mean, std, self._labelled().y)
            probability = np.ones(len(X))
            if model.feasibility is not None:
                probability = np.exp(model.feasibility.log_probability(X))
        values = self.sign * mean, std, probability
        return Prediction(*(float(v[0]) for v in values) if single else values)

    def _best_warped(self, model):
        """Return the best value on the surrogate's scale, at a feasible point if there is one."""
        _, y, _, constraints, _ = self._labelled()
        finite = np.isfinite(y)
        warped, feasible = model.warp(y[finite]), is_feasible(constraints[finite])
        return (warped[feasible] if feasible.any() else warped).min()

    def _current_model(self, asked: str, *, needs_value: bool = False) -> Model:
        """Return a model fitted to all evaluations, without storing it in the optimiser.

        Parameters
        ----------
        asked : str
            Name of the attribute or method that needs the model, for the error message.
        needs_value : bool, default=False
            Whether at least one finite value must have been observed.

        Raises
        ------
        NotFittedError
            Before the first model, or without the finite value that is required.
        """
        for model in (self._model, self._described[0], self._reported[0]):
            is_of_all = model is not None and model.n_observed == len(self._history)
            if is_of_all and model.surrogate is not None:
                break
        else:
            model = self._restored(asked)
        if needs_value and not np.isfinite(self._labelled().y).any():
            raise NotFittedError(
                f"{asked} needs a finite value, got {len(self._history)} values, none of them "
                "finite. Pass a finite value to tell() first."
            )
        return model

    def _averaged(self, model):
        """Return the model with predictions averaged over the uncertain noise variance."""
        if self._reported[0] is not model:
            averaged = replace(model, surrogate=averaged_over_noise(model.surrogate))
            self._reported = model, averaged
        return self._reported[1]

    def model_to_dict(self) -> dict[str, Any]:
        """Convert the fitted model to JSON-compatible data."""
        return model_to_data(self._model, self._configuration, len(self._history))

    def model_from_dict(self, state: dict[str, Any]) -> None:
        """Restore the fitted model from the data of `model_to_dict`."""
        d = self.space_.n_features_
        self._model, had_surrogate = model_from_data(state, self._configuration, d)
        if self._model.state is not None and not self._model.moved:
            restored = self._restored()  # raises if the state is damaged
            self._model = restored if had_surrogate else self._model

    def _restored(self, asked="subspace_"):
        """Return the model with a surrogate rebuilt from its saved hyperparameters.

        `asked` names the attribute or method that needs the model, for the error message.
        """
        model = self._model
        if model.state is None or model.moved:
            n = len(self._history)
            more = "Call ask() once to fit it."
            if n < self.n_initial_:
                more = f"Pass {self.n_initial_ - n} more and call ask()."
            raise NotFittedError(
                f"{asked} needs a model, which ask() fits from {self.n_initial_} values on, got "
                f"{n}. {more}"
            )
        return self._with_surrogate(model, tune=False)

    def _refuse_unusable(self, noise_std, constraints):
        if np.isfinite(noise_std).any() and not self._configuration.surrogate.takes_noise:
            raise ValueError(
                f"noise_std must be None for this {type(self).__name__}, whose surrogate does not "
                f"support known noise, got {noise_std.tolist()}. Omit it, or use the default "
                "Gaussian process."
            )
        m = constraints.shape[1]
        if m and not getattr(self._configuration.acquisition(1), "is_log", False):
            given = getattr(self, "acquisition", None)
            given = f"that of {type(self).__name__}" if given is None else repr(given)
            raise ValueError(
                "acquisition must be 'ei' or a function with the attribute is_log = True if "
                "constraints are learnt, because the log probability of feasibility is added to "
                f"it, got {given} and {m} constraints. Use 'ei', set is_log on your function, or "
                "report infeasible points as failed: NaN as value, and no constraints."
            )
