"""What an optimiser has learnt of its objective, as one record."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from skbo_silbo.embedding import Embedding
from skbo_silbo.surrogate import GaussianProcessSurrogate, Surrogate, Warp
from skbo_silbo.surrogate._feasibility import Feasibility


@dataclass(frozen=True, eq=False)
class Model:
    """What was learnt from the observations; the loop replaces it, and changes it never.

    Attributes
    ----------
    embedding : Embedding
        In use; the identity before anything is learnt.
    warp : Warp
        The scale on which learner and surrogate see the values.
    learnt_at, chosen_at : int
        From how many labels embedding and warp are; 0 before.
    path : tuple of (int, str, int)
        From how many labels on which learner's embedding was in use, with how many coordinates.
    surrogate : Surrogate or None
        None before the first model, and while points that moved wait for their values.
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

    def with_embedding(self, embedding, n, name):
        """Return the model with an embedding learnt from n labels by the learner of this name."""
        path = self.path
        if not path or path[-1][1:] != (name, embedding.r):
            path = (*path, (n, name, embedding.r))
        return replace(
            self,
            embedding=embedding,
            learnt_at=n,
            path=path,
            surrogate=None,
            moved=True,
            n_observed=None,
        )

    def with_surrogate(self, surrogate, state, labelled, n_observed):
        """Return the model with a surrogate conditioned on `labelled`."""
        ranked, n_feasible = labelled.ranked()
        return replace(
            self,
            surrogate=surrogate,
            state=state,
            moved=False,
            n_observed=n_observed,
            ranked=ranked,
            n_feasible=n_feasible,
        )


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


class Recommendation(NamedTuple):
    """The evaluated point to use where values are noisy.

    Attributes
    ----------
    point : ndarray of shape (d,) or dict
        The feasible one with the lowest posterior mean.
    mean, std : float
        Of the objective there, without noise, in the units of the values; `std` is NaN where there
        is no model.
    """

    point: Any
    mean: float
    std: float


def in_units_of(y, warp, mean, std):
    """Return mean and standard deviation on the scale of a warp in the units of values y, (n,).

    The warp rises, and is inverted between the values; the deviation goes through its slope.
    """
    value = float(np.interp(mean, np.sort(warp(y)), np.sort(y)))
    nearest = int(np.argmin(np.abs(y - value)))
    return value, float(std * np.exp(-warp.log_slope(y)[nearest]))


def lowest_mean(surrogate, Z):
    """Return the lowest mean at coordinates, (n, r), after refusing what no search can use."""
    if type(surrogate) is GaussianProcessSurrogate:  # subclasses see other coordinates
        return surrogate.predict_mean(Z).min()
    mean, std = surrogate.predict(Z)
    if not np.shape(mean) == np.shape(std) == (len(Z),) or not np.isfinite(mean).all():
        raise ValueError(
            f"predict of {type(surrogate).__name__} must return finite means and standard "
            f"deviations, ({len(Z)},) each: got shapes {np.shape(mean)} and {np.shape(std)}, and "
            f"{np.sum(~np.isfinite(mean))} means that are not finite. Try "
            "skbo_silbo.testing.check_surrogate."
        )
    return mean.min()
