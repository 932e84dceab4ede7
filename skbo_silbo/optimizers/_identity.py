"""Who an optimiser is, as plain data for JSON, so that what is saved is of one like it."""

import inspect
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo.journal._describe import describe
from skbo_silbo.journal._differences import differences_in_words
from skbo_silbo.space._box import Box
from skbo_silbo.space._description import describe_space


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
    return int(check_random_state(random_state).randint(2**31 - 1))


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
        "objects": objects,
        "descriptions": {name: is_ for name, is_ in described.items() if is_ is not None},
        "seed": int(optimizer._seed),
    }


def option_names(cls: type) -> list[str]:
    """Return the arguments of a class besides the space, the seed and the journal."""
    own = inspect.signature(cls).parameters
    return [name for name in own if name not in ("bounds", "scale", "random_state", "journal")]


def engine_options(cls: type) -> list[str]:
    """Return those that do not say which way values are better, which every other door says."""
    return [name for name in option_names(cls) if name != "maximize"]


def merge_options(data, given):
    """Return the stored options with the objects given again.

    Raises
    ------
    ValueError
        When an object is missing or another one, or what is given was not one.
    """
    if set(given) != set(data["objects"]):
        raise ValueError(
            f"options that are objects must be given again, here {data['objects']}: "
            f"got {sorted(given)}. Write from_dict(data, name=object)."
        )
    then = data["descriptions"]
    shown = differences_in_words(
        then, {name: _described(name, given[name], False) for name in then}
    )
    if shown:
        raise ValueError(
            f"options that are objects must be as they were: {shown}. Give such an object, or, "
            "where the difference does not matter, take it out of data['descriptions']."
        )
    return {**data["options"], **given}


def space_to_data(space):
    """Return bounds as numbers and their scale, or what describes a space of named parameters."""
    if space.is_dict:
        return {"parameters": describe_space(space)}
    rows = zip(space.lower.tolist(), space.upper.tolist(), space.scale, strict=True)
    return {"bounds": [[part for part in row if part is not None] for row in rows]}


def box_from_data(bounds):
    """Return the box of which `space_to_data` gave the bounds."""
    return Box([row[:2] for row in bounds], [row[2] if row[2:] else None for row in bounds])


def check_space(data, space):
    """Refuse a space that is not that of the data, naming the difference.

    Raises
    ------
    ValueError
        Also when only the order of the parameters differs.
    """
    now = space_to_data(space)
    if data.keys() != now.keys():
        raise ValueError(
            f"bounds must be a {'box' if 'bounds' in data else 'space of named parameters'}, as "
            f"the data: got {space!r}. Give what the optimiser was made with."
        )
    different = differences_in_words(data, now)
    if different:
        raise ValueError(
            f"bounds must be the space of the data: {different}. An observed point would get "
            "another value. Give the space that the optimiser was made with, or tell the old "
            "points and values to a new optimiser."
        )


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
