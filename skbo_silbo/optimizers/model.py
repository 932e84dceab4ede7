"""The fitted model of an optimiser: embedding, surrogate and learnt constraints."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.embedding import Embedding
from skbo_silbo.embedding.choice import IdentityLearner
from skbo_silbo.embedding.linear import embedding_from_data, embedding_to_data
from skbo_silbo.journal.records import points_from_data
from skbo_silbo.surrogate import Warp
from skbo_silbo.surrogate.feasibility import Feasibility


@dataclass(frozen=True, eq=False)
class Model:
    """Immutable record of a fitted embedding, surrogate and constraint models.

    Attributes
    ----------
    embedding : Embedding
        The current embedding, which is the identity before the first fit.
    warp : Warp
        Transformation of the observed values before the models are fitted.
    unlabeled : ndarray of shape (k, d)
        Candidates that the last search ranked just below its proposal. They are used as unlabelled
        points when the embedding is learnt again.
    learnt_at : int
        Number of evaluations from which the embedding was learnt, 0 before the first fit.
    path : tuple of (int, str, int)
        One entry for each change of the embedding: the number of labelled points, the name of the
        learner, and the number of coordinates.
    surrogate : Surrogate or None
        The fitted surrogate, or None before the first fit.
    state : dict or None
        State of the surrogate, which also contains the number of labelled points at its last
        hyperparameter search. None before the first fit.
    moved : bool
        Whether the embedding has changed since `state` was saved.
    n_observed : int or None
        Number of evaluations to which the surrogate was fitted, or None without a surrogate.
    ranked : ndarray of shape (n, d)
        The points to which the surrogate was fitted, best first. Feasible points come before
        infeasible ones.
    n_feasible : int
        Number of feasible points in `ranked`. Without constraints, all points are feasible.
    feasibility : Feasibility or None
        Models of the observed constraints, or None if there are none.
    feasibility_states : dict
        States of the constraint models, by the index of the constraint.
    """

    embedding: Embedding
    warp: Warp
    unlabeled: FloatArray
    learnt_at: int = 0
    path: tuple[tuple[int, str, int], ...] = ()
    surrogate: Any = None
    state: dict[str, Any] | None = None
    moved: bool = True
    n_observed: int | None = None
    ranked: Any = None
    n_feasible: int = 0
    feasibility: Feasibility | None = None
    feasibility_states: dict[str, Any] = field(default_factory=dict)


def learning_data(X, y, unlabeled, warp):
    """Return the points and transformed values to learn from, and unlabelled points."""
    finite = np.isfinite(y)
    return X[finite], warp(y[finite]), np.vstack([X[~finite], unlabeled])


def model_to_data(model, configuration, n_observed):
    """Convert a fitted model to JSON-compatible data."""
    is_used = not isinstance(configuration.learner, IdentityLearner)
    return {
        "embedding": embedding_to_data(model.embedding),
        "learnt_at": model.learnt_at,
        "path": [list(step) for step in model.path],
        "surrogate": model.state,
        "feasibility": model.feasibility_states,
        "moved": model.moved,
        "fresh": model.n_observed == n_observed and model.surrogate is not None,
        "unlabeled": model.unlabeled.tolist() if is_used else [],
    }


def model_from_data(state, configuration, d):
    """Restore a fitted model from saved data, except for its surrogate."""
    model = Model(
        embedding_from_data(state["embedding"], d, configuration.learner),
        configuration.warp,
        points_from_data(state["unlabeled"], d),
        int(state["learnt_at"]),
        tuple((n, name, r) for n, name, r in state["path"]),
        state=state["surrogate"],
        feasibility_states=state["feasibility"],
        moved=bool(state["moved"]),
    )
    return model, bool(state["fresh"])
