"""Optimisers as plain data for JSON: no code, no pickle, every float to the last bit."""

import inspect
import math
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.embedding._nonlinear import TransformerEmbedding
from skbo_silbo.journal import describe, differences_in_words
from skbo_silbo.space import box_difference, describe_space, space_difference

RELEARN = "learn again"  # in place of an embedding: at the next proposal, from all values
FORMAT, VERSION = "skbo_silbo optimizer", 3


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


def check_header(data, cls):
    """Refuse data that is not of this class, format and version.

    Raises
    ------
    ValueError
        Saying what was expected and what was got.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(
            f"data must be what to_dict() returned, with format {FORMAT!r}: got {_brief(data)}. "
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


def option_names(cls: type) -> list[str]:
    """Return the arguments of a class besides the space, the seed and the journal."""
    own = inspect.signature(cls).parameters
    return [name for name in own if name not in ("bounds", "random_state", "journal")]


def options_to_data(optimizer):
    """Return the plain options of an optimiser, and the names of those that are objects.

    Raises
    ------
    ValueError
        When an argument of its class is not kept as the attribute of that name.
    """
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


def describe_objects(optimizer, names):
    """Return what the options of these names are, in plain JSON, by which two are told apart.

    Raises
    ------
    ValueError
        When one holds what cannot be seen.
    """
    described = {}
    for name in names:
        try:
            described[name] = describe(getattr(optimizer, name))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return described


def describe_objects_that_can_be(optimizer, names):
    """Return the same, without those that hold what cannot be seen."""
    given = {name: _described(getattr(optimizer, name)) for name in names}
    return {name: described for name, described in given.items() if described is not None}


def _described(value):
    try:
        return describe(value)
    except ValueError:
        return None


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
    then = data.get("descriptions", {})  # older data lack them
    shown = differences_in_words(then, {name: _described(given[name]) for name in then})
    if shown:
        raise ValueError(
            f"options that are objects must be as they were: {shown}. Give such an object, or, "
            "where the difference does not matter, take it out of data['descriptions']."
        )
    return {**data["options"], **given}


def space_to_data(space):
    """Return bounds as numbers, or a description of a space of named parameters."""
    if space.is_dict:
        return {"parameters": describe_space(space)}
    return {"bounds": np.column_stack([space.lower, space.upper]).tolist()}


def bounds_from_data(data, bounds):
    """Return the bounds to search; those of a space of named parameters must be given again.

    Raises
    ------
    ValueError
        When `bounds` is missing.
    """
    if bounds is None and "bounds" not in data:
        raise ValueError(
            "bounds must be given for data of a Space, whose distributions are Python objects: "
            "got none. Write from_dict(data, bounds=space)."
        )
    return data["bounds"] if bounds is None else bounds


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
    if "bounds" in data:
        different = box_difference(data["bounds"], now["bounds"])
    else:
        different = space_difference(data["parameters"], now["parameters"])
    if different is not None:
        raise ValueError(
            f"bounds must be the space of the data: {different}. A point told would get another "
            "value. Give the space that the optimiser was made with, or tell the old points and "
            "values to a new optimiser."
        )


def rows_from_data(rows, m):
    """Return the array (n, m) whose rows were stored; n is known where m is 0, too."""
    return np.array(rows, dtype=float).reshape(len(rows), m)


def values_to_data(y):
    """Return values as numbers; None for NaN, "inf" and "-inf" for the infinite."""
    special = {math.inf: "inf", -math.inf: "-inf"}
    return [None if math.isnan(v) else special.get(v, v) for v in map(float, y)]


def values_from_data(values):
    """Return the array that `values_to_data` was given."""
    return np.array([math.nan if v is None else float(v) for v in values], dtype=float)


def embedding_to_data(embedding):
    """Return a learnt linear embedding as plain data; None for a sketch, drawn again from seed.

    `RELEARN` for a fitted transformer, which is no plain data.
    """
    if isinstance(embedding, TransformerEmbedding):
        return RELEARN
    if not isinstance(embedding, LinearEmbedding):
        return None
    if embedding.is_identity:
        return {"basis": None}
    order = "C" if embedding.basis.flags.c_contiguous else "F"  # of memory: it decides last bits
    return {"basis": embedding.basis.tolist(), "order": order}


def embedding_from_data(data, d, learner):
    """Return the embedding, on d inputs, that `embedding_to_data` was given.

    A sketch comes from its learner again, who needs no values for it.
    """
    if data is None:
        return learner.learn(np.empty((0, d)), np.empty(0), np.empty((0, d)))
    if data["basis"] is None:
        return LinearEmbedding(d)
    return LinearEmbedding(d, np.array(data["basis"], order=data["order"]))


def _plain(value):
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, list | tuple) and all(isinstance(v, Integral) for v in value):
        return [int(v) for v in value]
    return float(value) if isinstance(value, Real) else NotImplemented


def _brief(data):
    return f"format {data.get('format')!r}" if isinstance(data, dict) else type(data).__name__
