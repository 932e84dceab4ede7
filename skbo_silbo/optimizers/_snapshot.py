"""Everything that an optimiser knows as one dict for JSON, and back."""

from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._journaling import told_event, told_of
from skbo_silbo.optimizers._shape import (
    OutOfShapeError,
    as_written,
    of_kind,
    require,
    rows,
    told,
    whole,
)

FIELDS = {
    "space": of_kind(dict),
    "options": of_kind(dict),
    "objects": of_kind(list),
    "descriptions": of_kind(dict),
    "seed": whole(),
    "history": of_kind(dict),
    "pending": of_kind(list),
    "state": of_kind(dict),
}
OLDER_LACK = ["descriptions"]
REMEDY = "Give what to_dict() returned, unchanged, to the release of skbo_silbo that wrote it."


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
    with as_written("data of an optimiser", REMEDY):
        require(data, "data", FIELDS, OLDER_LACK)
        _require_known_options(data, cls)
        _require_shape_of_space(data["space"])
    options = _state.merge_options(data, objects)
    bounds = _state.bounds_from_data(data["space"], bounds)
    optimizer = cls(bounds, random_state=_state.RootSeed(data["seed"]), **options)
    space = optimizer.space_
    _state.check_space(data["space"], space)
    with as_written("data of an optimiser", REMEDY):
        told(space)(data["history"], "data['history']")
        rows(space.n_features_)(data["pending"], "data['pending']")
        optimizer._record(*told_of(data["history"], space))
        for x in _state.rows_from_data(data["pending"], space.n_features_):
            optimizer._register(x)
        optimizer._state_from_dict(data["state"])
    return optimizer


def _require_known_options(data, cls):
    unknown = sorted({*data["options"], *data["objects"]} - set(_state.option_names(cls)))
    if unknown:
        raise OutOfShapeError(f"data['options'] has {unknown}, no arguments of {cls.__name__}")


def _require_shape_of_space(described):
    if "bounds" in described:
        rows(2, in_cube=False)(described["bounds"], "data['space']['bounds']")
    else:
        fields = {"parameters": of_kind(list)}
        require(described, "data['space']", fields)
