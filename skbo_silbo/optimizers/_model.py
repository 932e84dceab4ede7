"""The fitted model of an optimiser: embedding, surrogate and learnt constraints."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np

from skbo_silbo.acquisition import AcquisitionSurface
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
    """The embedding, surrogate and constraint models fitted to the evaluations; immutable.

    Attributes
    ----------
    embedding : Embedding
        The current embedding; the identity before the first fit.
    warp : Warp
        Transformation of the values before the fits.
    unlabeled : ndarray of shape (k, d)
        Points that the last search ranked next, used as unlabelled points of the next fit.
    learnt_at : int
        Number of labels that the embedding was learnt from; 0 before the first fit.
    path : tuple of (int, str, int)
        Changes of the embedding: the number of labels, the name of the learner, and the number of
        coordinates.
    surrogate : Surrogate or None
        None before the first model.
    state : dict or None
        State of the surrogate, with the number of labels at its last hyperparameter search.
    moved : bool
        Whether the embedding has changed since `state` was saved.
    n_observed : int or None
        Number of evaluations that the surrogate was fitted to; None without one.
    ranked : ndarray of shape (n, d)
        The points that the surrogate was fitted to, best first, feasible ones before the others.
    n_feasible : int
        Number of feasible points in `ranked`; all of them without constraints.
    feasibility : Feasibility or None
        Models of the learnt constraints; None without any.
    feasibility_states : dict
        States of these models.
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
    """Return the `Model` with a newly learnt embedding, if an update is due."""
    X, y, *_ = labelled
    n, first = y.size, model.learnt_at == 0
    if not (first or is_update_due(configuration.update_every, n, model.learnt_at)):
        return model
    learner = configuration.learner
    if isinstance(learner, IdentityLearner) and not first:
        return replace(model, learnt_at=n)
    with warnings.catch_warnings():  # a search concentrates its evaluations on purpose
        warnings.filterwarnings("ignore", "The unlabelled samples lie apart", UserWarning)
        learnt = learner.learn(*learning_data(X, y, model.unlabeled, model.warp))
    if not first and learnt.is_identity and model.embedding.is_identity:
        return replace(model, learnt_at=n)
    step, path = (learner.name, learnt.r), model.path
    path = path if path and path[-1][1:] == step else (*path, (n, *step))
    relearnt = replace(model, embedding=learnt, learnt_at=n, path=path, moved=True)
    return replace(relearnt, surrogate=None, n_observed=None)


def is_update_due(schedule, n, learnt_at):
    """Return whether to learn the embedding again, given n values and the last update.

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
    """Return labelled points, their warped values, and unlabelled points."""
    finite = np.isfinite(y)
    return X[finite], warp(y[finite]), np.vstack([X[~finite], unlabeled])


def condition(model, labelled, coordinates, template, *, n_observed, rng=None):
    """Return the model with a surrogate fitted to all evaluations.

    Parameters
    ----------
    model : Model
    labelled : Labelled
    coordinates : callable
        ``coordinates(embedding, X, *values)`` returns the coordinates of points X, and the values
        for each row of coordinates.
    template : Surrogate
    n_observed : int
        Number of evaluations.
    rng : numpy.random.Generator or None, default=None
        Generator for the hyperparameter search; None keeps the hyperparameters of the model's
        states.
    """
    X, y, noise_std, constraints, _ = labelled
    filled, noise_std = impute_failures(y), np.where(np.isfinite(y), noise_std, np.nan)
    variance = warped_variance(model.warp, filled, noise_std)
    Z, *values = coordinates(model.embedding, X, model.warp(filled), variance)
    how = {"moved": model.moved, "tune": rng is not None, "rng": rng}
    # a copy, so that a user's surrogate cannot change the history
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
    """Return the acquisition surface, with predicted values at the pending points.

    Parameters
    ----------
    model : Model
        A model with a surrogate.
    pending : list of ndarray of shape (d,)
    coordinates : callable
        As for `condition`.
    make_acquisition : callable
        Returns the `AcquisitionFunction`; called only if there is a point to improve on.
    part : Part or None
        The region to propose in; None for the whole space.
    """
    surrogate, feasibility, embedding = model.surrogate, model.feasibility, model.embedding
    good = []  # coordinates of the points to improve on
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
        Z = np.vstack(good)  # improve on the lowest mean: the lowest noisy value is biased
        has_mean = hasattr(surrogate, "predict_mean")
        best = (surrogate.predict_mean(Z) if has_mean else surrogate.predict(Z)[0]).min()
        acquisition = make_acquisition()
    return AcquisitionSurface(
        acquisition, surrogate, embedding, best, feasibility, model.surrogate, part
    )


def model_to_data(model, configuration, n_observed):
    """Return a model as plain data."""
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
    """Restore a model without its surrogate, and return whether it had one."""
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
