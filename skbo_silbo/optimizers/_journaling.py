"""How an optimiser writes down what it is asked and told, and goes on from what is written."""

from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from skbo_silbo.journal import agreeing, require_same
from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._event_log import EventLog
from skbo_silbo.optimizers._shape import rows, told
from skbo_silbo.space import keys_of

COUNTED = (
    "Search as before, or give another path. If that is not what a function is but what it has "
    "counted or kept, leave it out in the __getstate__ of its class."
)
CALLS = frozenset({"called", "not called", "raised", "left", "given"})  # events of `Calls`
PLACES = CALLS | {"asked", "cancelled"}  # events that hold places of the cube


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


@contextmanager
def closed_on_error(log):
    """Close a log, or None, where its optimiser could not be made: it would stay locked."""
    try:
        yield
    except BaseException:
        if log is not None:
            log.close()
        raise


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
        Naming the differences; or an option that holds what cannot be seen.
    """

    def make_header():
        return {"made with": _version(), **_identity(optimizer, facts, _state.describe_objects)}

    def check(then):
        # Of what cannot be seen into an older journal knows no more than that it is an object.
        now = _identity(optimizer, facts, _state.describe_objects_that_can_be)
        _check_same(then, now, optimizer.space_, log.path)

    log.begin_or_check(make_header, check, log.forget_state)


def replay(log, optimizer):
    """Have an optimiser take over all events of a log, and what was learnt, if this release did."""
    n_before, state = log.read_state() if log.header["made with"] == _version() else (0, None)
    checks = _checks_of_events(optimizer.space_)
    for n, event in enumerate(log.records, start=1):
        _check_event(log, n - 1, event, checks)
        _follow(event, optimizer)
        if n == n_before:
            with log.state_as_written():
                optimizer._state_from_dict(state)


def _checks_of_events(space):
    """Return what the events of a log can be, names to checks of the whole event."""
    places = rows(space.n_features_)

    def of_places(name):
        return lambda event, place: places(event[name], f"{place}[{name!r}]")

    return {"told": told(space), **{name: of_places(name) for name in PLACES}}


def _check_event(log, i, event, checks):
    kinds = checks.keys() & event.keys()
    if len(kinds) != 1:
        raise log.damaged_record(i, f"it must be one of {', '.join(sorted(checks))}")
    try:
        checks[kinds.pop()](event, "it")
    except ValueError as error:
        raise log.damaged_record(i, str(error)) from error


def _follow(event, optimizer):
    m = optimizer.space_.n_features_
    if "asked" in event:
        for x in _state.rows_from_data(event["asked"], m):
            optimizer._register(x)
    elif "told" in event:
        optimizer._record(*told_of(event, optimizer.space_))
    elif "cancelled" in event:  # else it is of a call: see `Calls`
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


def _identity(optimizer, facts, describe_objects):
    options, objects = _state.options_to_data(optimizer)
    return {
        "class": type(optimizer).__name__,
        "space": _state.space_to_data(optimizer.space_),
        "options": options,
        "objects": objects,
        "descriptions": describe_objects(optimizer, objects),
        "seed": int(optimizer._seed),
        "facts": facts,
    }


def _check_same(then, now, space, path):
    try:
        _state.check_space(then["space"], space)
    except ValueError as error:
        raise ValueError(f"{error} The data are journal {path!r}.") from None
    undescribed = set(then["objects"]) - set(then.get("descriptions", {}))  # of older journals
    _refuse_other_door(then, now, path)
    who, constraints = zip(_who(then, now), _who(now, now), strict=True)
    require_same(*who, path)
    require_same(*agreeing(*constraints), path, COUNTED)
    require_same(_options(then, undescribed), _options(now, undescribed), path)
    seeds = ({"random_state gives a seed that": header["seed"]} for header in (then, now))
    require_same(*seeds, path)


def _refuse_other_door(then, now, path):
    """Refuse to go on, as `minimize` or as the optimiser itself, with a journal of the other."""
    if ("method" in then["facts"]) == ("method" in now["facts"]):
        return
    own = "x_iters_ and func_vals_"
    by, remedy = "minimize(journal=)", "Go on with minimize"
    if "method" in now["facts"]:
        by, remedy = f"{then['class']}(journal=)", f"Go on with {then['class']}(journal=)"
        own += " (as x0 and y0)"
    raise ValueError(
        f"journal must be of the same door: {path!r} was written by {by}, for whose points and "
        f"signs the other does not know. {remedy}; or give another path, and tell it {own} from "
        "there."
    )


def _who(header, now):
    """Return optimiser and facts, and the constraints; those not said of old can be any."""
    facts, known = dict(header["facts"]), now["facts"].get("constraints")
    constraints = {"constraints": facts.pop("constraints", known)}
    return {"optimizer": header["class"], **facts}, constraints


def _options(header, undescribed):
    """Return plain options, and descriptions of the others: what has none can be any object."""
    unseen = dict.fromkeys(header["objects"], "one that cannot be pickled")
    known = {**header["options"], **unseen, **header.get("descriptions", {})}
    return known | {name: "an object" for name in undescribed if name in header["objects"]}


def _version():
    try:
        return version("skbo_silbo")
    except PackageNotFoundError:
        return None
