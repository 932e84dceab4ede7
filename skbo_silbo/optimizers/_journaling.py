"""How an optimiser writes down what it is asked and told, and goes on from what is written."""

from importlib.metadata import PackageNotFoundError, version

import numpy as np

from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._event_log import EventLog
from skbo_silbo.space import keys_of


def open_log(path, random_state):
    """Return the open log of a path, and the random state to make its optimiser with.

    That is the seed of the journal where no random state is given, so that the run goes on as it
    would have.

    Returns
    -------
    log : EventLog or None
        None without a path.
    random_state : int, RandomState, Generator or None
    """
    if path is None:
        return None, random_state
    log = EventLog(path)
    if log.header is not None and random_state is None:
        random_state = _state.RootSeed(log.header["seed"])
    return log, random_state


def begin_or_check(log, optimizer, facts):
    """Write who the optimiser is into a new log, or refuse another one's that holds values.

    Parameters
    ----------
    log : EventLog
    optimizer : AskTellOptimizer
    facts : dict
        What else must be as it was, as plain data.

    Raises
    ------
    ValueError
        Naming the first difference.
    """
    now = _identity(optimizer, facts)

    def check(then):
        _check_same(then, now, optimizer.space_, log.path)

    log.begin_or_check(lambda: {"made with": _version(), **now}, check, log.forget_state)


def replay(log, optimizer):
    """Have an optimiser take over all events of a log, and what was learnt, if this release did."""
    n_before, state = log.read_state() if log.header["made with"] == _version() else (0, None)
    for n, event in enumerate(log.records, start=1):
        _follow(event, optimizer)
        if n == n_before:
            optimizer._state_from_dict(state)


def _follow(event, optimizer):
    m = optimizer.space_.n_features_
    if "asked" in event:
        for x in _state.rows_from_data(event["asked"], m):
            optimizer._register(x)
    elif "told" in event:
        optimizer._record(*told_of(event, optimizer.space_))
    else:
        optimizer._withdraw(keys_of(_state.rows_from_data(event["cancelled"], m)))


def told_event(space, points, X, y, noise_std, constraints):
    """Return evaluations as plain data; named parameters as their place in the cube."""
    event = {
        "told": X.tolist() if space.is_dict else np.array(points).tolist(),
        "y": _state.values_to_data(y),
        "noise_std": _state.values_to_data(noise_std),
    }
    if constraints.shape[1]:
        event["constraints"] = [_state.values_to_data(row) for row in constraints]
    return event


def told_of(event, space):
    """Return points, places, values, noise and constraints that `told_event` was given."""
    values = [_state.values_from_data(event[name]) for name in ("y", "noise_std")]
    rows = event.get("constraints", [[]] * len(event["y"]))  # absent where there are none
    m = len(rows[0]) if rows else 0
    values.append(np.array([_state.values_from_data(row) for row in rows]).reshape(len(rows), m))
    if space.is_dict:
        X = _state.rows_from_data(event["told"], space.n_features_)
        return space.decode(X), X, *values
    points = _state.rows_from_data(event["told"], len(space.lower))
    return list(points), space.encode(points), *values


def _identity(optimizer, facts):
    options, objects = _state.options_to_data(optimizer)
    return {
        "class": type(optimizer).__name__,
        "space": _state.space_to_data(optimizer.space_),
        "options": options,
        "objects": objects,
        "seed": int(optimizer._seed),
        "facts": facts,
    }


def _check_same(then, now, space, path):
    try:
        _state.check_space(then["space"], space)
    except ValueError as error:
        raise ValueError(f"{error} The data are journal {path!r}.") from None
    for name in ("class", "facts", "options", "objects", "seed"):
        different = _difference(name, then[name], now[name])
        if different is not None:
            raise ValueError(
                f"journal must be of the same search: {path!r} is of another one. {different}. "
                "Search as before, or give another path."
            )


def _difference(name, then, now):
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*then, *now]):
            before, after = then.get(key, "absent"), now.get(key, "absent")
            if before != after:
                return f"{key} was {before!r} and is {after!r}"
        return None
    named = "random_state gives a seed that" if name == "seed" else name
    return None if then == now else f"{named} was {then!r} and is {now!r}"


def _version():
    try:
        return version("skbo_silbo")
    except PackageNotFoundError:
        return None
