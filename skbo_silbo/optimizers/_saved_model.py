"""A model as plain data, and back."""

from skbo_silbo.embedding._choice import IdentityLearner
from skbo_silbo.embedding._nonlinear import RELEARN, embedding_from_data, embedding_to_data
from skbo_silbo.optimizers._model import Model
from skbo_silbo.optimizers._records import places_of


def model_to_data(model, configuration, n_observed):
    """Return a model as plain data, of an optimiser with so many observations."""
    is_used = not isinstance(configuration.learner, IdentityLearner)
    return {
        "embedding": embedding_to_data(model.embedding),
        "warp": configuration.warps.index(model.warp),
        "counts": [model.learnt_at, model.chosen_at],
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
    learnt_at, chosen_at = (0, 0) if relearn else map(int, state["counts"])
    model = Model(
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
    return model, bool(state["fresh"]) and not relearn
