"""Describe objects as JSON data, to check whether a resumed search has the same settings."""

import copyreg
import functools
import json
import math
import sys
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # longer lists are described by a digest
CODE = "code"  # key of the bytecode digest of a function; differences only raise a warning
SHOWN = 5  # largest number of differences listed in a message
TEXT = "text"  # key of the text that represents an object in a message
HELD_BY = {  # attributes that define objects which also store results of calls
    functools.partial: ("func", "args", "keywords", "__dict__"),
    np.vectorize: ("pyfunc", "otypes", "excluded", "signature"),
    type(functools.lru_cache(len)): ("__wrapped__",),
}
PLAIN = (bool, int, float, complex, str, bytes, tuple)
BUILT_IN = (*PLAIN, list, dict, set, frozenset, np.ndarray)


def describe(value: object) -> Any:
    """Describe a Python object as JSON data that are the same in every process.

    Classes and functions are described by their qualified name. For lambdas and nested functions, a
    digest of the bytecode is added as ``"code"``. Estimators are described by class and parameters,
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


def _described(value, inside):
    """Describe an object as JSON data, given the ids of the objects that contain it."""
    if isinstance(value, np.generic) and not isinstance(value, (np.timedelta64, np.datetime64)):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if id(value) in inside:
        return "itself"
    part = functools.partial(_described, inside=(*inside, id(value)))
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return _array(value, part)
    if (found := _collection(value, part)) is not None:
        return found
    return _named(value, part) or _object(value, part)


def _collection(value, part):
    if type(value) is dict:
        return _items(value, part)
    if type(value) in (list, tuple, range):
        return _shorten(list(map(part, value)))
    if type(value) in (set, frozenset):
        return _shorten(sorted(map(part, value), key=json.dumps))
    if isinstance(value, OrderedDict):
        return [name_of(type(value)), part(list(value.items()))]
    return None


def _named(value, part):
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type) or _is_found(value):
        return name_of(value)
    if type(value) is MethodType:
        return [part(value.__self__), name_of(value.__func__)]
    return None


def _items(value, part):
    if all(isinstance(key, str) for key in value):
        return {key: part(value[key]) for key in sorted(value)}
    return {"pairs": sorted(([part(k), part(v)] for k, v in value.items()), key=json.dumps)}


def _array(value, part):
    if sparse.issparse(value) or type(value) in (np.ndarray, np.memmap):
        return describe_data(value)
    held = {"holds": describe_data(np.asarray(value)), **getattr(value, "__dict__", {})}
    if isinstance(value, np.ma.MaskedArray):
        held = {"holds": held["holds"], "mask": np.ma.getmaskarray(value)}
    return {"class": name_of(type(value)), **part(held)}


def _object(value, part):
    kind = {"class": name_of(type(value))}
    if type(value) is FunctionType:  # excludes proxies of functions
        return {"class": name_of(value), CODE: _digest(value), **part(vars(value))}
    if type(value) in HELD_BY:
        return {**kind, **part({name: getattr(value, name) for name in HELD_BY[type(value)]})}
    if value is check_random_state(None):
        return "numpy's global generator"
    if hasattr(value, "get_params") and not _is_cloned_whole(value):
        request = metadata_request(value)
        more = {} if request is None else {"metadata request": request}
        return {**kind, **part({**value.get_params(deep=False), **more})}
    try:
        state = _state(value)
        held = {"digest": joblib.hash(value)} if state is None else state
    except Exception as error:  # pickling calls methods of the user's classes
        raise ValueError(
            f"A {name_of(type(value))} cannot be pickled ({error}), so that a journal or a saved "
            "state could not tell whether it is the same. Leave it out, or use journal=None."
        ) from error
    return {**kind, **part(held)}


def _digest(function):
    """Return a hash of a function's bytecode and of the plain values in its closure."""
    held = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the cell is empty
            held.append(cell.cell_contents)
    held = [value for value in held if isinstance(value, (*PLAIN, type(None)))]
    return joblib.hash([_bytecode(function.__code__), held])


def _bytecode(code):
    constants = [_bytecode(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return [code.co_code, code.co_names, constants]


def _state(value):
    """Return the attributes that define an object, or None if they may be incomplete."""
    kind = type(value)
    if kind.__module__.startswith("numba.") and hasattr(value, "__wrapped__"):
        return {"__wrapped__": value.__wrapped__}
    is_plain = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    if not is_plain or kind in copyreg.dispatch_table or isinstance(value, BUILT_IN):
        return None
    if _is_cloned_whole(value):
        return None
    value.__reduce_ex__(4)  # raises if it cannot be pickled
    state = value.__getstate__()
    if isinstance(state, tuple):  # the class has slots
        state = {**(state[0] or {}), **(state[1] or {})}
    return {} if state is None else state


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


def _is_cloned_whole(estimator):
    """Return whether `clone` copies more than an estimator's parameters, as if it were frozen."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is not None and not own.__module__.startswith("sklearn.base")


def _is_found(value):
    """Return whether an object can be imported by its qualified name, as `pickle` requires."""
    name, module = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    if not (isinstance(name, str) and isinstance(module, str)):
        return False
    return _found(module, name) is value


def _found(module, name):
    thing = sys.modules.get(module)
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing


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
    home = next((h for h in homes if _found(h, thing.__qualname__) is thing), module)
    return f"{home}.{thing.__qualname__}"


def describe_callable(function: Any) -> dict[str, Any]:
    """Describe a callable by its name only, because calls may change its attributes.

    A callable object is described by the name of its class. For lambdas and nested functions, a
    digest of the bytecode is added.

    Examples
    --------
    >>> describe_callable(functools.partial(max, 1))
    {'class': 'builtins.max'}
    """
    while isinstance(function, functools.partial):
        function = function.func
    name = name_of(function if hasattr(function, "__qualname__") else type(function))
    is_named = _is_found(function) or type(function) is not FunctionType
    return {"class": name, **({} if is_named else {CODE: _digest(function)})}


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
        If the descriptions differ in anything but the bytecode of functions.

    Warns
    -----
    UserWarning
        If only the bytecode of a lambda or nested function differs.
    """
    if shown := format_differences(old, new):
        raise ValueError(f"{rule}: {shown}. {remedy}")
    changed = [where.rpartition(".")[0] for where, *_ in _leaves(old, new) if _is_code(where)]
    if changed:
        warn_user(
            f"The code of {', '.join(changed)} has changed since the earlier evaluations, which "
            "are kept. Use another path if the change matters."
        )


def format_differences(old: Any, new: Any) -> str:
    """Format the first differences between two descriptions, or return an empty string."""
    found = [leaf for leaf in _leaves(old, new) if not _is_code(leaf[0])][:SHOWN]
    return "; ".join(
        f"{where.removesuffix('.digest')} has other values"
        if where.endswith(".digest")
        else f"{where} was {_short(a)} and is {_short(b)}"
        for where, a, b in found
    )


def _leaves(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path, old value and new value of each difference between descriptions.

    The values 1, 1.0 and True are different from one another. The order of keys does not matter. If
    the class differs, the other parts of an object are not listed. An object with a text is shown
    by it, unless only bytecode differs.
    """
    if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True):
        return
    parts, others = _parts(old), _parts(new)
    if parts is None or others is None or parts.get("class") != others.get("class"):
        yield where, old, new
        return
    is_single = isinstance(old, list) and len(parts) == len(others) == 1
    found = [
        leaf
        for key in dict.fromkeys([*parts, *others])
        if key != TEXT
        for leaf in _leaves(
            parts.get(key, "absent"),
            others.get(key, "absent"),
            f"{where}.{key}" if where and not is_single else where or key,
        )
    ]
    if TEXT in parts and not all(_is_code(path) for path, *_ in found):
        yield where, old, new
    else:
        yield from found


def _is_code(where):
    return where.rpartition(".")[2] == CODE


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
