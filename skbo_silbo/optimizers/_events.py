"""What an optimiser was asked and told as a list of events: the one form in which it is saved.

============= =========================================================================
event         what it holds
============= =========================================================================
``asked``     places of the cube that are pending from now on, (n, m), and as ``learnt``
              what the optimiser has learnt by then, as far as that has changed
``told``      points, with ``y``, ``noise_std`` and perhaps ``constraints``
``cancelled`` places that are not pending any more
others        places, and what became of calls there: for those who write them
============= =========================================================================
"""

import math
from operator import index

import numpy as np

from skbo_silbo.journal._changes import changed, changes
from skbo_silbo.optimizers._identity import (
    RootSeed,
    box_from_data,
    check_space,
    identity,
    merge_options,
    option_names,
)
from skbo_silbo.space._keys import keys_of

FORMAT, VERSION = "skbo_silbo optimizer", 4
FOLLOWED = ("asked", "told", "cancelled")
OF_CALLS = frozenset({"called", "not called", "raised", "left", "given"})
REMEDY = "Give what to_dict() returned, unchanged, to the release of skbo_silbo that wrote it."
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def to_data(optimizer):
    """Return everything that an optimiser knows as plain data (`AskTellOptimizer.to_dict`)."""
    history = optimizer._history
    observed = history.points, history.X, history.y, history.noise_std, history.constraints
    pending = [x.tolist() for x in optimizer._pending.values()]
    learnt = changes(None, optimizer._state_to_dict())
    events = [observed_event(optimizer.space_, *observed), {"asked": pending, "learnt": learnt}]
    who = identity(optimizer, whole=False)
    return {"format": FORMAT, "version": VERSION, **who, "events": events}


def from_data(cls, data, bounds, objects):
    """Return the optimiser that `to_data` was given (`AskTellOptimizer.from_dict`)."""
    _check_header(data, cls)
    try:
        made = _made(cls, data, bounds, objects)
        events = list(data["events"])
    except (AttributeError, LookupError, TypeError) as error:
        raise _not_as_written(error) from error
    replay(made, events, lambda i, error: _not_as_written(error, f"['events'][{i}]"))
    return made


def replay(optimizer, events, damaged, learnt=None, *, and_what_was_learnt=True):
    """Have an optimiser take over events; return what it had learnt by the last, or None.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    events : list of dict
    damaged : callable
        Returns what is raised where event i is not as it was written, for (i, error).
    learnt : dict or None, default=None
        What it had learnt before the first.
    and_what_was_learnt : bool, default=True
        Else that is learnt again from the values.
    """
    of_learnt = [i for i, event in enumerate(events) if "learnt" in event]
    for i, event in enumerate(events):
        try:
            _follow(event, optimizer)
            if "learnt" in event:
                learnt = changed(learnt, event["learnt"])
            if and_what_was_learnt and [i] == of_learnt[-1:]:
                optimizer._state_from_dict(learnt)
        except UNREADABLE as error:
            raise damaged(i, error) from error
    return learnt


def observed_event(space, points, X, y, noise_std, constraints):
    """Return evaluations as plain data; named parameters as their place in the cube."""
    event = {
        "told": X.tolist() if space.is_dict else np.array(points).tolist(),
        "y": values_to_data(y),
        "noise_std": values_to_data(noise_std),
    }
    if constraints.shape[1]:
        event["constraints"] = [values_to_data(row) for row in constraints]
    return event


def observations_of(event, space):
    """Return points, places, values, noise and constraints that `observed_event` was given.

    Raises
    ------
    ValueError
        When they differ in number, or a point is outside the bounds.
    """
    y, noise_std = (values_from_data(event[name]) for name in ("y", "noise_std"))
    rows = [values_from_data(row) for row in event.get("constraints", [[]] * len(y))]
    constraints = np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)
    if space.is_dict:
        X = places_of(event["told"], space.n_features_)
        points = space.decode(X)
    else:
        points = list(_rows(event["told"], len(space.lower)))
        X = space.encode(points) if points else np.empty((0, space.n_features_))
    if not len(X) == len(y) == len(noise_std) == len(constraints):
        raise ValueError(
            f"'told', 'y' and the others must have equal numbers of members: got {len(X)}, {len(y)}"
        )
    return points, X, y, noise_std, constraints


def places_of(rows, m):
    """Return places of the cube, (n, m), that were written as lists.

    Raises
    ------
    ValueError
        When they are something else.
    """
    X = _rows(rows, m)
    if (np.abs(X) > 1.0).any():
        raise ValueError(f"places must be lists of {m} numbers in [-1, 1]")
    return X


def values_to_data(y):
    """Return values as numbers; None for NaN, "inf" and "-inf" for the infinite."""
    special = {math.inf: "inf", -math.inf: "-inf"}
    return [None if math.isnan(v) else special.get(v, v) for v in map(float, y)]


def values_from_data(values):
    """Return the array that `values_to_data` was given."""
    return np.array([math.nan if v is None else float(v) for v in values], dtype=float)


def _follow(event, optimizer):
    kinds = event.keys() & {*FOLLOWED, *OF_CALLS}
    if len(kinds) != 1:
        raise ValueError(f"an event must be one of {', '.join(sorted({*FOLLOWED, *OF_CALLS}))}")
    [kind] = kinds
    if kind == "told":
        optimizer._record(*observations_of(event, optimizer.space_))
        return
    places = places_of(event[kind], optimizer.space_.n_features_)
    if kind == "asked":
        for x in places:
            optimizer._register(x)
    elif kind == "cancelled":
        optimizer._withdraw(keys_of(places))


def _rows(rows, m):
    X = np.array(rows, dtype=float).reshape(len(rows), -1 if len(rows) else m)
    if X.shape[1] != m or not np.isfinite(X).all():
        raise ValueError(f"points must be lists of {m} numbers: got shape {X.shape}")
    return X


def _made(cls, data, bounds, objects):
    unknown = sorted({*data["options"], *data["objects"]} - set(option_names(cls)))
    if unknown:
        raise _not_as_written(f"['options'] has {unknown}, no arguments of {cls.__name__}")
    if bounds is None and "bounds" not in data["space"]:
        raise ValueError(
            "bounds must be given for data of a Space, whose distributions are Python objects: "
            "got none. Write from_dict(data, bounds=space)."
        )
    bounds = box_from_data(data["space"]["bounds"]) if bounds is None else bounds
    options = merge_options(data, objects)
    optimizer = cls(bounds, random_state=RootSeed(index(data["seed"])), **options)
    check_space(data["space"], optimizer.space_)
    return optimizer


def _check_header(data, cls):
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        got = f"format {data.get('format')!r}" if isinstance(data, dict) else type(data).__name__
        raise ValueError(
            f"data must be what to_dict() returned, with format {FORMAT!r}: got {got}. "
            "Give the dict, read by json.load."
        )
    if data.get("version") != VERSION:
        raise ValueError(
            f"version of the data must be {VERSION}: got {data.get('version')!r}. Read it with the "
            "release of skbo_silbo that wrote it, and tell() its points and values to a new "
            "optimiser."
        )
    if data.get("class") != cls.__name__:
        raise ValueError(
            f"data must be of a {cls.__name__}: got that of a {data.get('class')}. "
            f"Use {data.get('class')}.from_dict."
        )


def _not_as_written(error, place=""):
    why = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    return ValueError(f"data{place} must be as it was written by to_dict(): {why}. {REMEDY}")
