"""Everything that an optimiser knows as one dict for JSON, and back."""

from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._journaling import told_event, told_of


def to_data(optimizer):
    """Return everything that an optimiser knows as plain data (`AskTellOptimizer.to_dict`)."""
    options, objects = _state.options_to_data(optimizer)
    history = optimizer._history
    told = history.points, history.X, history.y, history.noise_std, history.constraints
    return {
        "format": _state.FORMAT,
        "version": _state.VERSION,
        "class": type(optimizer).__name__,
        "space": _state.space_to_data(optimizer.space_),
        "options": options,
        "objects": objects,
        "descriptions": _state.describe_objects_that_can_be(optimizer, objects),
        "seed": int(optimizer._seed),
        "history": told_event(optimizer.space_, *told),
        "pending": [x.tolist() for x in optimizer._pending.values()],
        "state": optimizer._state_to_dict(),
    }


def from_data(cls, data, bounds, objects):
    """Return the optimiser that `to_data` was given (`AskTellOptimizer.from_dict`)."""
    _state.check_header(data, cls)
    options = _state.merge_options(data, objects)
    bounds = _state.bounds_from_data(data["space"], bounds)
    optimizer = cls(bounds, random_state=_state.RootSeed(data["seed"]), **options)
    space = optimizer.space_
    _state.check_space(data["space"], space)
    optimizer._record(*told_of(data["history"], space))
    for x in _state.rows_from_data(data["pending"], space.n_features_):
        optimizer._register(x)
    optimizer._state_from_dict(data["state"])
    return optimizer
