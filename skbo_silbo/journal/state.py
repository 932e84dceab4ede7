"""Save and restore optimisers as settings, a seed, and the records of their history."""

import inspect
from collections.abc import Sequence
from contextlib import suppress
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo._checks import brief
from skbo_silbo._descriptions import describe, require_same
from skbo_silbo._typing import Content, Damaged
from skbo_silbo.journal.records import (
    UNREADABLE,
    PointFormat,
    Record,
    read_records,
    values_to_record,
)
from skbo_silbo.space.descriptions import box_from_data, space_to_data


class RootSeed(int):
    """Integer that is used directly as the root seed, not as a `random_state`."""


def root_seed(random_state: Any) -> int:
    """Return the integer that seeds all random streams of an optimiser."""
    if isinstance(random_state, RootSeed):
        return int(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise ValueError(
            "`random_state` must be None, an integer from 0 to 2**32 - 1, a RandomState or a "
            f"Generator, got {brief(random_state)}."
        ) from error


FORMAT, VERSION = "skbo_silbo optimizer", 10
REMEDY = "Pass what to_dict() returned, unchanged, to the release of skbo_silbo that wrote it."


def to_data(optimizer: Any) -> Content:
    """Convert an optimiser to JSON-compatible data, as `AskTellOptimizer.to_dict` does."""
    options = {name: _plain(getattr(optimizer, name)) for name in option_names(type(optimizer))}
    objects = [name for name, value in options.items() if value is NotImplemented]
    described = {}
    for name in objects:
        del options[name]
        with suppress(ValueError):  # it is only named
            described[name] = describe(getattr(optimizer, name))
    write, history = PointFormat(optimizer.space_).write, optimizer._history
    values = history.y, history.noise_std, history.constraints, history.goals
    events = [
        {"observed": list(map(write, history.points)), **values_to_record(*values)},
        {"asked": list(map(write, optimizer.pending_)), "learnt": optimizer.model_to_dict()},
    ]
    if rule := optimizer.known_constraints_:
        events.append({"constrained": rule})
    return {
        "format": FORMAT,
        "version": VERSION,
        "class": type(optimizer).__name__,
        "space": space_to_data(optimizer.space_),
        "options": options,
        "maximize": bool(optimizer.maximize),
        "objects": objects,
        "descriptions": described,
        "seed": optimizer.seed_,
        "events": events,
    }


def from_data(cls: type, data: Any, bounds: Any, objects: Content) -> Any:
    """Restore an optimiser from JSON-compatible data, as `AskTellOptimizer.from_dict` does."""
    _check_header(data, cls)
    try:
        made = _made(cls, data, bounds, objects)
        events = list(data["events"])
        points = PointFormat(made.space_, data["space"].get("parameters"))
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise _not_as_written(error) from error

    def damaged(n: int, error: Exception) -> ValueError:
        return _not_as_written(error, f"['events'][{n}]")

    replay(made, read_records(events, points, damaged), damaged)
    return made


def replay(
    optimizer: Any, records: Sequence[Record], damaged: Damaged, *, and_what_was_learnt: bool = True
) -> Content:
    """Restore an optimiser by replaying records, and return its last fitted model.

    Parameters
    ----------
    optimizer : AskTellOptimizer
    records : list of Record
    damaged : callable
        Function ``damaged(n, error)`` that returns the error to raise if record n is invalid.
    and_what_was_learnt : bool, default=True
        Whether to restore the fitted model as well. If False, it is fitted again when needed.

    Returns
    -------
    learnt : dict
    """
    learnt: Content = {}
    of_learnt = [i for i, record in enumerate(records) if "learnt" in record.content]
    for i, record in enumerate(records):
        try:
            optimizer.replay(record)
            if "learnt" in record.content:
                learnt = {**learnt, **record.content.pop("learnt")}  # popped to save memory
            if and_what_was_learnt and [i] == of_learnt[-1:]:
                is_stale = "fresh" in learnt and any(r.kind == "observed" for r in records[i + 1 :])
                state = {**learnt, "fresh": False} if is_stale else learnt
                optimizer.model_from_dict(state)
        except UNREADABLE as error:
            raise damaged(record.n, error) from error
    return learnt


def _made(cls: type, data: Any, bounds: Any, objects: Content) -> Any:
    if bounds is None and "bounds" not in data["space"]:
        raise ValueError(
            "`bounds` must be given for a Space, whose distributions cannot be saved. Write "
            "from_dict(data, bounds=space)."
        )
    if bounds is None:
        bounds = box_from_data(data["space"]["bounds"])
    options = merge_options(data, objects)
    optimizer = cls(bounds, random_state=RootSeed(index(data["seed"])), **options)
    remedy = "Use the same space, or tell the old points and values to a new optimiser."
    rule = "`bounds` differs from the space of the saved optimiser"
    require_same(data["space"], space_to_data(optimizer.space_), rule, remedy)
    optimizer.maximize = bool(data["maximize"])
    return optimizer


def _check_header(data: Any, cls: type) -> None:
    wanted = {"format": FORMAT, "version": VERSION, "class": cls.__name__}
    is_dict = isinstance(data, dict)
    got = {name: data.get(name) for name in wanted} if is_dict else type(data).__name__
    if got != wanted:
        raise ValueError(
            f"`data` must be what to_dict() returned, a dict with {wanted}, got {got}. Call "
            "from_dict of the class that was saved. Read another version with the release of "
            "skbo_silbo that wrote it, and tell() the points and values to a new optimiser."
        )


def _not_as_written(error: Exception, place: str = "") -> ValueError:
    why = f"{type(error).__name__}: {error}"
    return ValueError(f"`data`{place} is not as to_dict() wrote it: {why}. {REMEDY}")


def describe_settings(optimizer: Any) -> Content:
    """Return JSON-compatible data that identify an optimiser's settings in a journal.

    Raises
    ------
    ValueError
        If an option cannot be described.
    """
    names = option_names(type(optimizer))
    return {
        "optimizer": type(optimizer).__name__,
        "space": space_to_data(optimizer.space_),
        "maximize": bool(optimizer.maximize),
        **{name: describe(getattr(optimizer, name)) for name in names},
    }


def option_names(cls: type) -> list[str]:
    """Return the names of an optimiser's options, without space, seed and journal."""
    own = inspect.signature(cls).parameters
    return [name for name in own if name not in ("bounds", "scale", "random_state", "journal")]


def engine_options(cls: type) -> list[str]:
    """Return the names of the `SILBO` options that other entry points accept."""
    return [name for name in option_names(cls) if name != "maximize"]


def merge_options(data: Any, given: Content) -> Content:
    """Merge an optimiser's saved options with objects that the user passed again.

    Raises
    ------
    ValueError
        If an object is missing, superfluous or differs from the saved one.
    """
    if set(given) != set(data["objects"]):
        again = "".join(f", {name}=..." for name in data["objects"])
        raise ValueError(
            f"Options that are objects must be passed again, here {data['objects']}, got "
            f"{sorted(given)}. Write from_dict(data{again})."
        )
    then = data["descriptions"]
    now = {name: describe(given[name]) for name in then}
    remedy = "Pass the same object, or delete what does not matter from data['descriptions']."
    require_same(then, now, "An option differs from that of the saved optimiser", remedy)
    return {**data["options"], **given}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, list | tuple) and all(isinstance(v, Integral) for v in value):
        return [int(v) for v in value]
    return float(value) if isinstance(value, Real) else NotImplemented
