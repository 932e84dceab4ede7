"""Describe objects as JSON data, to check whether a resumed search has the same settings."""

import functools
import json
import math
import sys
from collections.abc import Iterator
from types import MethodType, ModuleType
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # longer lists are described by a digest
SHOWN = 5  # largest number of differences listed in a message
BUILT_IN = (int, float, complex, str, bytes)
TEXT = "text"  # key of the text that represents an object in a message; it is not compared


def describe(value: object) -> Any:
    """Describe a Python object as JSON data that are the same in every process.

    Classes and functions are described by their qualified name, estimators by class and parameters,
    other objects by class and attributes, or by `joblib.hash`.

    Raises
    ------
    ValueError
        If a part cannot be pickled (a lock, a generator).

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> describe([1.0, None, ("relu", max)])
    [1.0, None, ['relu', 'builtins.max']]
    >>> describe(TruncatedSVD(3))["class"], describe(TruncatedSVD(3))["n_components"]
    ('sklearn.decomposition.TruncatedSVD', 3)
    """
    return _described(value, ())


def _described(value, containers):
    """Describe an object as JSON data, given the ids of the objects that contain it."""
    if isinstance(value, np.generic) and not isinstance(value, (np.timedelta64, np.datetime64)):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if id(value) in containers:
        return "itself"
    part = functools.partial(_described, containers=(*containers, id(value)))
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return describe_data(value)
    if isinstance(value, (dict, list, tuple, range, set, frozenset)):
        return _described_collection(value, part)
    if isinstance(value, ModuleType):
        return value.__name__
    if type(value) is MethodType:
        return [part(value.__self__), name_of(value.__func__)]
    is_named = callable(value) and hasattr(value, "__qualname__")
    return name_of(value) if is_named else _described_object(value, part)


def _described_collection(value, part):
    if isinstance(value, (set, frozenset)):
        return _shorten(sorted(map(part, value), key=json.dumps))
    if not isinstance(value, dict):
        return _shorten(list(map(part, value)))
    if all(isinstance(key, str) for key in value):
        return {key: part(value[key]) for key in sorted(value)}
    return {"pairs": sorted(([part(k), part(v)] for k, v in value.items()), key=json.dumps)}


def _described_object(value, part):
    if value is check_random_state(None):
        return "numpy's global generator"
    if isinstance(value, functools.partial):
        parts = {"func": value.func, "args": value.args, "keywords": value.keywords}
    elif hasattr(value, "get_params") and not _defines_clone(value):
        request = metadata_request(value)
        more = {} if request is None else {"metadata request": request}
        parts = {**value.get_params(deep=False), **more}
    else:
        parts = _attributes(value)
    return {"class": name_of(type(value)), **part(parts)}


def _attributes(value):
    """Return the attributes that define an object, or its hash if they may be incomplete."""
    is_plain = type(value).__reduce__ is object.__reduce__ and not isinstance(value, BUILT_IN)
    try:
        value.__reduce_ex__(4)  # raises if it cannot be pickled
        state = value.__getstate__() if is_plain and not _defines_clone(value) else None
        return state if isinstance(state, dict) else {"digest": joblib.hash(value)}
    except Exception as error:  # pickling calls methods of the user's classes
        raise ValueError(
            f"A {name_of(type(value))} cannot be pickled ({error}), so that a journal or a saved "
            "state could not tell whether it is the same. Leave it out, or use journal=None."
        ) from error


def describe_data(data: Any) -> Any:
    """Describe an array, data frame, sparse matrix or list by its shape and a hash."""
    if sparse.issparse(data):
        data = sparse.csr_array(data, copy=True)
        data.sum_duplicates()
        parts = [data.data, data.indices.astype(np.int64), data.indptr.astype(np.int64)]
        return {"shape": list(data.shape), "digest": joblib.hash(parts)}
    if not hasattr(data, "__array__"):
        return describe(data)
    array = np.ascontiguousarray(data)
    content = list(map(describe, array.ravel().tolist())) if array.dtype.kind in "OVT" else array
    digest = joblib.hash([content, data.mask if isinstance(data, np.ma.MaskedArray) else None])
    kind = {"shape": list(np.shape(data)), "dtype": str(array.dtype), "digest": digest}
    if (columns := getattr(data, "columns", None)) is None:
        return kind
    dtypes = _shorten([str(dtype) for dtype in data.dtypes])
    return {"columns": _shorten(list(map(str, columns))), "dtypes": dtypes, **kind}


def _defines_clone(estimator):
    """Return whether a class defines how `clone` copies its estimators, as FrozenEstimator does."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is not None and not own.__module__.startswith("sklearn.base")


def _shorten(values):
    if len(values) <= LONGEST:
        return values
    return {"length": len(values), "digest": joblib.hash(json.dumps(values))}


def name_of(thing: Any) -> str:
    """Return the qualified name of a class or function, in the outermost package that exports it.

    Examples
    --------
    >>> from skbo_silbo.surrogate import Surrogate
    >>> name_of(Surrogate), name_of(np.random.RandomState)
    ('skbo_silbo.surrogate.Surrogate', 'numpy.random.RandomState')
    """
    module = getattr(thing, "__module__", None) or ""
    parts = module.split(".")
    homes = (".".join(parts[:n]) for n in range(1, len(parts)))
    home = next((h for h in homes if _import_loaded(h, thing.__qualname__) is thing), module)
    return f"{home}.{thing.__qualname__}"


def _import_loaded(module, name):
    """Return the object with a qualified name in a module that is already imported, or None."""
    thing = sys.modules.get(module)
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing


def describe_callable(function: Any) -> str:
    """Describe a callable by its name only, because calls may change its attributes.

    A callable object is described by the name of its class.

    Examples
    --------
    >>> describe_callable(functools.partial(max, 1))
    'builtins.max'
    """
    while isinstance(function, functools.partial):
        function = function.func
    return name_of(function if hasattr(function, "__qualname__") else type(function))


def require_same(old: Any, new: Any, rule: str, remedy: str) -> None:
    """Raise a ValueError that lists the differences between two descriptions, if any.

    Parameters
    ----------
    old, new : object
        Descriptions to compare, as returned by `describe`.
    rule, remedy : str
        Beginning and end of the error message.

    Raises
    ------
    ValueError
        If the descriptions differ.
    """
    if shown := format_differences(old, new):
        raise ValueError(f"{rule}: {shown}. {remedy}")


def format_differences(old: Any, new: Any) -> str:
    """Format the first differences between two descriptions, or return an empty string."""
    return "; ".join(
        f"{where.removesuffix('.digest')} has other values"
        if where.endswith(".digest")
        else f"{where} was {_short(a)} and is {_short(b)}"
        for where, a, b in list(_leaves(old, new))[:SHOWN]
    )


def _leaves(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, old value and new value of each difference between descriptions.

    The values 1, 1.0 and True are different from one another. The order of keys does not matter.
    For objects of different classes, only the objects are listed, not their parts. An object that
    has a description as text is shown by this text.
    """
    if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True):
        return
    parts, others = _parts(old), _parts(new)
    if parts is None or others is None or parts.get("class") != others.get("class"):
        yield where, old, new
        return
    is_single = isinstance(old, list) and len(parts) == len(others) == 1
    differences = [
        leaf
        for key in dict.fromkeys([*parts, *others])
        if key != TEXT
        for leaf in _leaves(
            parts.get(key, "absent"),
            others.get(key, "absent"),
            f"{where}.{key}" if where and not is_single else where or key,
        )
    ]
    if TEXT in parts and differences:
        yield where, old, new
    else:
        yield from differences


def _parts(value):
    """Split a description into parts to compare, or return None if it has no parts."""
    if not isinstance(value, list) or not any(isinstance(part, (dict, list)) for part in value):
        return value if isinstance(value, dict) else None
    parts = {str(i): part for i, part in enumerate(value)}
    if all(isinstance(part, list) and part and isinstance(part[0], str) for part in value):
        steps = {name: _only(rest) for name, *rest in value}  # the steps of a Pipeline
        return {**steps, "order": list(steps)} if len(steps) == len(value) else parts
    return parts


def _only(rest):
    return rest[0] if len(rest) == 1 and isinstance(rest[0], dict) else rest


def _short(value):
    if isinstance(value, dict):
        value = next((value[name] for name in ("float", "class", TEXT) if name in value), value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
