"""What an optimiser has learnt: the record, how it is learnt, what is read from it, as plain data.

The scale of the values, the embedding, the surrogate, and constraints.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from skbo_silbo.acquisition import AcquisitionSurface, ParzenTurns, log_expected_improvement
from skbo_silbo.acquisition._acquisition_functions import no_improvement
from skbo_silbo.embedding import Embedding
from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._nonlinear import RELEARN, embedding_from_data, embedding_to_data
from skbo_silbo.optimizers._event import places_of
from skbo_silbo.optimizers._history import impute_failures
from skbo_silbo.surrogate import Surrogate, Warp
from skbo_silbo.surrogate._feasibility import Feasibility, fit_feasibility
from skbo_silbo.surrogate._process import refit
from skbo_silbo.surrogate._warps import warped_variance


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
    learnt_at : int
        From how many labels the embedding is; 0 before.
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
    path: tuple = ()
    surrogate: Surrogate | None = None
    state: dict | None = None
    moved: bool = True
    n_observed: int | None = None
    ranked: np.ndarray | None = None
    n_feasible: int = 0
    feasibility: Feasibility | None = None
    feasibility_states: dict = field(default_factory=dict)


def learn(model, labelled, configuration):
    """Return the model (`Model`) with the embedding learnt from what is `Labelled`, where due."""
    X, y, *_ = labelled
    n, first = y.size, model.learnt_at == 0
    if not (first or is_update_due(configuration.update_every, n, model.learnt_at)):
        return model
    learner = configuration.learner
    if isinstance(learner, IdentityLearner) and not first:
        return replace(model, learnt_at=n)
    learnt = learner.learn(*learning_data(X, y, model.unlabeled, model.warp))
    if not first and learnt.is_identity and model.embedding.is_identity:
        return replace(model, learnt_at=n)
    step, path = (learner.name, learnt.r), model.path
    path = path if path and path[-1][1:] == step else (*path, (n, *step))
    relearnt = replace(model, embedding=learnt, learnt_at=n, path=path, moved=True)
    return replace(relearnt, surrogate=None, n_observed=None)


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


def condition(model, labelled, coordinates, template, *, n_observed, rng=None):
    """Return the model with a surrogate of all observations, hyperparameters searched if due.

    Parameters
    ----------
    model : Model
    labelled : Labelled
    coordinates : callable
        ``coordinates(embedding, X, *values)`` is the rows that points have in the embedding, and
        what there is of each point, a row for each of these.
    template : Surrogate
    n_observed : int
        How many evaluations that is.
    rng : numpy.random.Generator or None, default=None
        None: hyperparameters are those of the model's states.
    """
    X, y, noise_std, constraints, _ = labelled
    filled, noise_std = impute_failures(y), np.where(np.isfinite(y), noise_std, np.nan)
    variance = warped_variance(model.warp, filled, noise_std)
    Z, *values = coordinates(model.embedding, X, model.warp(filled), variance)
    how = {"moved": model.moved, "tune": rng is not None, "rng": rng}
    # a copy: the history stays ours
    surrogate, state = refit(template, model.state, np.array(Z), *values, **how)
    ranked, n_feasible = labelled.ranked()
    model = replace(model, surrogate=surrogate, state=state, moved=False, n_observed=n_observed)
    model = replace(model, ranked=ranked, n_feasible=n_feasible)
    if not constraints.shape[1]:
        return model
    states, tune = model.feasibility_states, rng is not None
    feasibility, states = fit_feasibility(states, X, constraints, tune=tune)
    return replace(model, feasibility=feasibility, feasibility_states=states)


def make_surface(model, pending, coordinates, make_acquisition, part=None):
    """Return the acquisition, conditioned on predicted values of the pending points.

    Parameters
    ----------
    model : Model
        With a surrogate.
    pending : list of ndarray of shape (d,)
    coordinates : callable
        As for `condition`.
    make_acquisition : callable
        Gives the `AcquisitionFunction`; asked where there is a point to improve on.
    part : Part or None
        Of the space, to propose in.
    """
    surrogate, feasibility, embedding = model.surrogate, model.feasibility, model.embedding
    good = []  # coordinates that a new point is to improve on
    if model.n_feasible:
        good += coordinates(embedding, model.ranked[: model.n_feasible])
    if pending:
        pending = np.array(pending)
        holds = np.ones(len(pending), bool)
        if feasibility is not None:
            holds = feasibility.holds_with_margin(pending)
            feasibility = feasibility.with_pending(pending)
        Z, holds = coordinates(embedding, pending, holds)
        surrogate = surrogate.with_points(Z, surrogate.predict(Z)[0])
        good.append(Z[holds])
    acquisition, best = no_improvement, np.inf
    if model.n_feasible:
        Z = np.vstack(good)  # noise makes low values too: the lowest mean
        has_mean = hasattr(surrogate, "predict_mean")
        best = (surrogate.predict_mean(Z) if has_mean else surrogate.predict(Z)[0]).min()
        acquisition = make_acquisition()
    return AcquisitionSurface(
        acquisition, surrogate, embedding, best, feasibility, model.surrogate, part
    )


def model_to_data(model, configuration, n_observed):
    """Return a model as plain data, of an optimiser with so many observations."""
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
    """Return the model that `model_to_data` was given, without surrogate, and if it had one."""
    relearn = state["embedding"] == RELEARN
    model = Model(
        embedding_from_data(state["embedding"], d, configuration.learner),
        configuration.warp,
        places_of(state["unlabeled"], d),
        0 if relearn else int(state["learnt_at"]),
        tuple((n, name, r) for n, name, r in state["path"]),
        state=state["surrogate"],
        feasibility_states=state["feasibility"],
        moved=relearn or bool(state["moved"]),
    )
    return model, bool(state["fresh"]) and not relearn


FIRST_BATCH = 16  # candidates checked against constraints at a time


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


class Prediction(NamedTuple):
    """What a model expects of the objective, without noise, in the units and sign of the values.

    Attributes
    ----------
    mean, std : float, or ndarray of shape (n,) for n points
    probability : float, or ndarray of shape (n,) for n points
        That all learnt constraints hold; 1 where there are none.
    """

    mean: Any
    std: Any
    probability: Any


def predict(model, X, Z, history, y):
    """Return mean, deviation and probability of feasibility at places X of the cube, (n,) each.

    Mean and deviation are in the units in which values are minimised.

    Parameters
    ----------
    model : Model
    X, Z : ndarray of shape (n, d) and (n, r)
        Places, and their coordinates.
    history : History
    y : ndarray
        The values that the model is of, as it sees them.
    """
    mean, std = model.surrogate.predict(Z)
    probability = np.ones(len(X))
    if model.feasibility is not None:
        probability = np.exp(model.feasibility.log_probability(X))
    return *in_units_of_values(model, mean, std, history, y), probability


def in_units_of_values(model, mean, std, history, y):
    """Return means and deviations of the model, (n,), in the units in which values are minimised.

    The warp rises. It is inverted between the values and goes on beyond the outermost as straight
    as it is there; the deviation goes through its slope at the nearest value.
    """
    y = y[np.isfinite(y)]
    order = np.argsort(y)
    warped, run = model.warp(y)[order], np.exp(-model.warp.log_slope(y))[order]
    y = y[order]
    value = np.interp(mean, warped, y)
    value = value + np.minimum(mean - warped[0], 0.0) * run[0]
    value = value + np.maximum(mean - warped[-1], 0.0) * run[-1]
    nearest = np.abs(y - np.expand_dims(value, -1)).argmin(axis=-1)
    return history.in_units(value), history.in_units(std * run[nearest])


def expected_gain(model, surface, search, space, rng, history, y):
    """Return the largest expected improvement in the space, or the part of the surface.

    In the units of the values; infinite where no candidate is admitted.
    """
    search = search.search if isinstance(search, ParzenTurns) else search
    surface = replace(surface, acquisition=log_expected_improvement)
    found = search.find(surface, model.ranked, space, rng)
    Z = found.Z if surface.part is None else first_admitted(found, surface.part)
    return float(_improvement(model, surface.values_at(Z).max(), history, y)) if len(Z) else np.inf


def expected_improvement(model, surface, X, history, y):
    """Return the expected improvement at places X, (n,), in the units of the values.

    Times the probability that learnt constraints hold; infinite where no feasible point is known.
    """
    if not model.n_feasible:
        return np.full(len(X), np.inf)
    surface = replace(surface, acquisition=log_expected_improvement)
    return _improvement(model, surface.values(X), history, y)


def _improvement(model, log_gain, history, y):
    best = model.warp(y[np.isfinite(y)]).min()
    return in_units_of_values(model, best, np.exp(log_gain), history, y)[1]


def first_admitted(found, part):
    """Return the first coordinates found, (k, r), whose points are of a part of the space."""
    if found.X is None:
        return found.Z
    some = ((rows.Z, part.violation(rows.X) == 0.0) for rows in found.portions(FIRST_BATCH))
    return next((Z[admitted] for Z, admitted in some if admitted.any()), found.Z[:0])
