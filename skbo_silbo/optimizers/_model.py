"""What an optimiser has learnt of its objective, as one record."""

from dataclasses import dataclass, field

import numpy as np

from skbo_silbo.embedding import Embedding
from skbo_silbo.surrogate import Surrogate, Warp
from skbo_silbo.surrogate._feasibility import Feasibility


@dataclass(frozen=True, eq=False)
class Model:
    """What was learnt from the observations; immutable, the loop replaces it.

    Attributes
    ----------
    embedding : Embedding
        In use; the identity before anything is learnt.
    warp : Warp
        The scale on which learner and surrogate see the values.
    unlabeled : ndarray of shape (k, d)
        The points that the last search ranked next: without a value, for the next learning.
    learnt_at, chosen_at : int
        From how many labels embedding and warp are; 0 before.
    path : tuple of (int, str, int)
        From how many labels on which learner's embedding was in use, with how many coordinates.
    surrogate : Surrogate or None
        None before the first model.
    state : dict or None
        The surrogate's, and at how many labels its hyperparameters were searched.
    moved : bool
        Whether the coordinates are others than those that the state is from.
    n_observed : int or None
        How many evaluations the surrogate knows; None without one.
    ranked : ndarray of shape (n, d)
        The points that it knows, the lowest value first; feasible ones before all others.
    n_feasible : int
        How many of these are feasible (`Labelled.ranked`); all, where there are no constraints.
    feasibility : Feasibility or None
        Of learnt constraints; None where nothing is known of any.
    feasibility_states : dict
        Of its processes.
    """

    embedding: Embedding
    warp: Warp
    unlabeled: np.ndarray
    learnt_at: int = 0
    chosen_at: int = 0
    path: tuple = ()
    surrogate: Surrogate | None = None
    state: dict | None = None
    moved: bool = True
    n_observed: int | None = None
    ranked: np.ndarray | None = None
    n_feasible: int = 0
    feasibility: Feasibility | None = None
    feasibility_states: dict = field(default_factory=dict)
