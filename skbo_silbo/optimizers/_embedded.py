"""What is read from a model, and kept of it: the base of all optimisers that have one."""

import math
from dataclasses import replace
from typing import cast

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import FloatArray
from skbo_silbo.acquisition import ParzenTurns, log_expected_improvement
from skbo_silbo.embedding import Embedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._nonlinear import RELEARN, embedding_from_data, embedding_to_data
from skbo_silbo.optimizers._loop import ProposalLoop, learning_data
from skbo_silbo.optimizers._model import Model, Recommendation
from skbo_silbo.optimizers._records import places_of
from skbo_silbo.sensitivity import LearntSubspace
from skbo_silbo.sensitivity._subspace import describe_subspace

N_LOOKED_AT = 16  # of what a search found, at first, until one is admitted


class EmbeddedOptimizer(ProposalLoop):
    """Base of the optimisers with an embedding and a surrogate; a subclass says how to `configure`.

    Its ``__init__`` keeps the arguments as attributes of their names, and then calls this one.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    """

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
                *_, X_unlabeled = learning_data(X, y, model.unlabeled, model.warp)
                parts = self._configuration.learner, self._configuration.surrogate
                rng = self._rng(model.n_observed, 3)
                subspace = describe_subspace(self.input_model_, model, X_unlabeled, *parts, rng)
                self._described = model, subspace
            return self._described[1]

    @property
    def recommended_(self) -> Recommendation:
        """The evaluated point to use where values are noisy: point, mean and std.

        It has the lowest posterior mean among the feasible ones. `best_y_` is the lowest of many
        noisy values, and so mostly too low. The mean is nearer the truth where the model knows of
        the noise: tell `noise_std`, as with few values it may take noise for the objective.

        Raises
        ------
        NotFittedError
            Before the first model.
        """
        with self._lock, one_thread():
            model = self._current_model("recommended_")
            good = model.ranked[: min(model.n_feasible, self._finite_values().size)]
            if not len(good):
                return super().recommended_
            Z, points = self._coordinates(model.embedding, good, good)
            mean, std = model.surrogate.predict(Z)
            i = int(np.argmin(mean))
            mean, std = self._in_units_of_values(model, mean[i], std[i])
            return Recommendation(self._point_at(points[i]), self._sign * mean, std)

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
            search = self._configuration.search
            search = search.search if isinstance(search, ParzenTurns) else search
            part = self._part(None)
            surface = replace(self._surface(part), acquisition=log_expected_improvement)
            rng = self._rng(self._n_known, 5)
            ranked = cast(FloatArray, self._model.ranked)
            found = search.find(surface, ranked, self.space_, rng)
            Z = found.Z if part is None else _first_admitted(found, part)
            if not len(Z):
                return math.inf
            best = self._model.warp(self._finite_values()).min()
            gain = float(np.exp(surface.values_at(Z).max()))
            return self._in_units_of_values(self._model, best, gain)[1]

    def _finite_values(self):
        y = self._labelled().y
        return y[np.isfinite(y)]

    def _in_units_of_values(self, model, mean, std):
        """Return a mean and a deviation of the model in the units in which values are minimised.

        The warp rises, and is inverted between the values; the deviation goes through its slope.
        """
        y, told = self._finite_values(), self._history.y[np.isfinite(self._history.y)]
        unit = float(np.ptp(told) / np.ptp(y)) if np.ptp(y) else 1.0
        value = float(np.interp(mean, np.sort(model.warp(y)), np.sort(y)))
        slope = model.warp.log_slope(y)[np.argmin(np.abs(y - value))]
        return unit * value, unit * float(std * np.exp(-slope))

    def _current_model(self, asked):
        """Return the model with all observations, hyperparameters kept; nothing is changed."""
        for model in (self._model, self._described[0]):
            is_of_all = model is not None and model.n_observed == len(self._history)
            if is_of_all and model.surrogate is not None:
                return model
        return self._restored(asked)

    # --- state ----------------------------------------------------------------------------------

    def _state_to_dict(self):
        model = self._model
        is_used = not isinstance(self._configuration.learner, IdentityLearner)
        return {
            "embedding": embedding_to_data(model.embedding),
            "warp": self._configuration.warps.index(model.warp),
            "counts": [model.learnt_at, model.chosen_at],
            "path": [list(step) for step in model.path],
            "surrogate": model.state,
            "feasibility": model.feasibility_states,
            "moved": model.moved,
            "fresh": model.n_observed == len(self._history) and model.surrogate is not None,
            "unlabeled": model.unlabeled.tolist() if is_used else [],
        }

    def _state_from_dict(self, state):
        d, configuration = self.space_.n_features_, self._configuration
        relearn = state["embedding"] == RELEARN
        learnt_at, chosen_at = (0, 0) if relearn else map(int, state["counts"])
        self._model = Model(
            embedding_from_data(state["embedding"], d, configuration.learner),
            configuration.warps[state["warp"]],
            places_of(state["unlabeled"], d),
            learnt_at,
            chosen_at,
            tuple((n, name, r) for n, name, r in state["path"]),
            state=state["surrogate"],
            feasibility_states=state["feasibility"],
            moved=relearn or bool(state["moved"]),
        )
        if state["fresh"] and not relearn:
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


def _first_admitted(found, part):
    """Return the first coordinates found, (k, r), whose points are of a part of the space."""
    if found.X is None:
        return found.Z
    some = ((rows.Z, part.violation(rows.X) == 0.0) for rows in found.portions(N_LOOKED_AT))
    return next((Z[admitted] for Z, admitted in some if admitted.any()), found.Z[:0])
