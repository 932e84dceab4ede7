"""How an optimiser is saved: who it is, with its seed, and events of what it was asked and told."""

import inspect
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo.journal._describe import describe, require_same
from skbo_silbo.optimizers._constraints import KnownConstraints
from skbo_silbo.optimizers._records import UNREADABLE, Points, observed_event, read_event
from skbo_silbo.space import Box
from skbo_silbo.space._union import branches_of
from skbo_silbo.space._values import in_words


class RootSeed(int):
    """A root seed itself, in place of a random state to draw one from."""


def root_seed(random_state):
    """Return the integer from which all random numbers of an optimiser come."""
    if isinstance(random_state, RootSeed):
        return int(random_state)
    if random_state is None:
        return np.random.SeedSequence().entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            "random_state must be None, an integer from 0 to 2**32 - 1, a RandomState or a "
            f"Generator: got {random_state!r}. Write random_state=0."
        ) from error


FORMAT, VERSION = "skbo_silbo optimizer", 7
REMEDY = "Give what to_dict() returned, unchanged, to the release of skbo_silbo that wrote it."


def to_data(optimizer):
    """Return everything that an optimiser knows as plain data (`AskTellOptimizer.to_dict`)."""
    history = optimizer._history
    observed = history.points, history.X, history.y, history.noise_std
    observed = *observed, history.constraints, history.goals
    pending = [x.tolist() for x in optimizer._pending.values()]
    learnt = {"asked": pending, "learnt": optimizer._state_to_dict()}
    events = [observed_event(optimizer.space_, *observed), learnt]
    if rule := optimizer._known.described:
        events.append({"constrained": rule})
    who = identity(optimizer, whole=False)
    return {"format": FORMAT, "version": VERSION, **who, "events": events}


def from_data(cls, data, bounds, objects):
    """Return the optimiser that `to_data` was given (`AskTellOptimizer.from_dict`)."""
    _check_header(data, cls)
    try:
        made = _made(cls, data, bounds, objects)
        events = list(data["events"])
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise _not_as_written(error) from error

    def damaged(i, error):
        return _not_as_written(error, f"['events'][{i}]")

    replay(made, read_events(events, Points(made.space_), damaged), damaged)
    return made


def read_events(contents, points, damaged):
    """Return the records of events; `damaged` is as `replay` has it."""
    events = []
    for i, content in enumerate(contents):
        try:
            events.append(read_event(content, points))
        except UNREADABLE as error:
            raise damaged(i, error) from error
    return events


def replay(optimizer, events, damaged, *, and_what_was_learnt=True):
    """Have an optimiser take over events; return what it had learnt by the last, a dict.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    events : list of Event
    damaged : callable
        Returns what is raised where event i is not as it was written, for (i, error).
    and_what_was_learnt : bool, default=True
        Else that is learnt again from the values.
    """
    learnt = {}
    of_learnt = [i for i, event in enumerate(events) if "learnt" in event.content]
    for i, event in enumerate(events):
        try:
            _follow(event, optimizer)
            if "learnt" in event.content:
                learnt = {**learnt, **event.content.pop("learnt")}  # held once
            if and_what_was_learnt and [i] == of_learnt[-1:]:
                is_stale = "fresh" in learnt and any(e.kind == "told" for e in events[i + 1 :])
                state = {**learnt, "fresh": False} if is_stale else learnt  # then it needs no model
                optimizer._state_from_dict(state)
        except UNREADABLE as error:
            raise damaged(i, error) from error
    return learnt


def _follow(event, optimizer):
    if event.kind == "told":
        values = event.y, event.noise_std, event.constraints, event.goals
        optimizer._record(event.points, event.X, *values)
    elif event.kind == "constrained":
        # `ask` is refused until `constrain` is called with what that describes
        optimizer._known = KnownConstraints(described=event.content["constrained"])
    elif event.kind == "asked":
        for x in event.X:
            optimizer._register(x)
    elif event.kind == "cancelled":
        optimizer._withdraw(event.keys)


def _made(cls, data, bounds, objects):
    if bounds is None and "bounds" not in data["space"]:
        raise ValueError(
            "bounds must be given for data of a Space, whose distributions are Python objects: "
            "got none. Write from_dict(data, bounds=space)."
        )
    if bounds is None:
        rows = data["space"]["bounds"]
        bounds = Box([row[:2] for row in rows], [row[2] if row[2:] else None for row in rows])
    options = merge_options(data, objects)
    optimizer = cls(bounds, random_state=RootSeed(index(data["seed"])), **options)
    check_space(data["space"], optimizer.space_)
    optimizer.maximize = bool(data["maximize"])
    return optimizer


def _check_header(data, cls):
    wanted = {"format": FORMAT, "version": VERSION, "class": cls.__name__}
    is_dict = isinstance(data, dict)
    got = {name: data.get(name) for name in wanted} if is_dict else type(data).__name__
    if got != wanted:
        raise ValueError(
            f"data must be what to_dict() returned, a dict with {wanted}: got {got}. Call "
            "from_dict of its class; read another version with the release of skbo_silbo that "
            "wrote it, and tell() its points and values to a new optimiser."
        )


def _not_as_written(error, place=""):
    why = f"{type(error).__name__}: {error}"
    return ValueError(f"data{place} must be as it was written by to_dict(): {why}. {REMEDY}")


def identity(optimizer, *, whole):
    """Return class, space, options and seed of an optimiser, objects as they are described.

    Raises
    ------
    ValueError
        When an option holds what cannot be seen and `whole` is true; else it has no description.
    """
    options, objects = _options(optimizer)
    given = {name: getattr(optimizer, name) for name in objects}
    described = {name: _described(name, value, whole) for name, value in given.items()}
    return {
        "class": type(optimizer).__name__,
        "space": space_to_data(optimizer.space_),
        "options": options,
        "maximize": bool(optimizer.maximize),
        "objects": objects,
        "descriptions": {name: is_ for name, is_ in described.items() if is_ is not None},
        "seed": int(optimizer._seed),
    }


def option_names(cls: type) -> list[str]:
    """Return the arguments of a class besides the space, the seed and the journal."""
    own = inspect.signature(cls).parameters
    return [name for name in own if name not in ("bounds", "scale", "random_state", "journal")]


def engine_options(cls: type) -> list[str]:
    """Return those that do not say which way values are better: all other entry points say it."""
    return [name for name in option_names(cls) if name != "maximize"]


def merge_options(data, given):
    """Return the stored options with the objects given again.

    Raises
    ------
    ValueError
        When an object is missing or another one, or what is given was not one.
    """
    if set(given) != set(data["objects"]):
        again = "".join(f", {name}=..." for name in data["objects"])
        raise ValueError(
            f"options that are objects must be given again, here {data['objects']}: "
            f"got {sorted(given)}. Write from_dict(data{again})."
        )
    then = data["descriptions"]
    now = {name: _described(name, given[name], False) for name in then}
    remedy = "Give such an object, or take what does not matter out of data['descriptions']."
    require_same(then, now, "options that are objects must be as in", "the saved optimiser", remedy)
    return {**data["options"], **given}


def space_to_data(space):
    """Return bounds as numbers and their scale, or what describes a space of named parameters."""
    if space.is_dict:
        return {"parameters": describe_space(space)}
    rows = zip(space.lower.tolist(), space.upper.tolist(), space.scale, strict=True)
    return {"bounds": [[part for part in row if part is not None] for row in rows]}


def describe_space(space):
    """Return the parameters of a space of named parameters, as data for JSON.

    Parameters
    ----------
    space : Space or SpaceUnion

    Returns
    -------
    description : list of list of [str, dict]
        For every branch (a `Space` is its own) the parameters in order: name, and what the values
        are.

    Examples
    --------
    >>> from skbo_silbo import Space
    >>> describe_space(Space({"C": [1, 10], "kernel": ["rbf", None]}))
    [[['C', {'levels': [1, 10], 'centres': [-0.5, 0.5]}],
      ['kernel', {'categories': ['rbf', None]}]]]
    """
    return [
        [
            [p.name, {k: _value_described(v) for k, v in p.summary().items()}]
            for p in branch.parameters
        ]
        for branch in branches_of(space)
    ]


def _value_described(value):
    """Return what tells a value from others; its text where they cannot be seen."""
    if isinstance(value, list):
        return [_value_described(member) for member in value]
    try:
        return describe(value)
    except ValueError:
        return in_words(value)


def check_space(data, space, holder="the data"):
    """Refuse a space that is not that of the data, naming the difference.

    Raises
    ------
    ValueError
        Also when only the order of the parameters differs.
    """
    remedy = (
        "An observed point would get another value. Give the space that the optimiser was made "
        "with, or tell the old points and values to a new optimiser."
    )
    require_same(data, space_to_data(space), "bounds must be the space of", holder, remedy)


def _options(optimizer):
    """Return the plain options, and the names of those that are objects."""
    names = option_names(type(optimizer))
    lost = [name for name in names if not hasattr(optimizer, name)]
    if lost:
        raise ValueError(
            f"{type(optimizer).__name__} must keep its arguments as attributes of their names, for "
            f"journals and to_dict: it has no {', '.join(lost)}. Write self.{lost[0]} = {lost[0]} "
            "in its __init__, and name there what it takes as **options."
        )
    options = {name: _plain(getattr(optimizer, name)) for name in names}
    objects = [name for name, value in options.items() if value is NotImplemented]
    return {name: value for name, value in options.items() if name not in objects}, objects


def _plain(value):
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, list | tuple) and all(isinstance(v, Integral) for v in value):
        return [int(v) for v in value]
    return float(value) if isinstance(value, Real) else NotImplemented


def _described(name, value, whole):
    try:
        return describe(value)
    except ValueError as error:
        if whole:
            raise ValueError(f"{name}: {error}") from error
        return None


def changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of plain data that older ones have not, or have otherwise.

    Examples
    --------
    >>> changes({"rows": [1.0], "n": 1}, {"rows": [1.0], "n": True})
    {'n': True}
    """
    return {k: v for k, v in new.items() if k not in old or repr(old[k]) != repr(v)}
