"""What a search was given, in plain JSON: parameters, names and digests, told apart in words."""

import ast
import copyreg
import functools
import inspect
import json
import math
import re
import sys
import textwrap
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType, MethodType, ModuleType
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # members of a list that are written out; longer ones become a digest
CODE = "code"  # under which a digest of the text of a function stands: another one is a warning
SHOWN = 5  # differences that a message names
HELD_BY = {  # what stands for objects that keep more, as results of calls
    functools.partial: ("func", "args", "keywords", "__dict__"),
    np.vectorize: ("pyfunc", "otypes", "excluded", "signature"),
    type(functools.lru_cache(len)): ("__wrapped__",),
}
PLAIN = (bool, int, float, complex, str, bytes, tuple)
BUILT_IN = (*PLAIN, list, dict, set, frozenset, np.ndarray)
# Values that a function is bound to for good: others, as a list, may hold what calls leave there.
CONSTANT_KINDS = (*PLAIN, type(None), np.generic, FunctionType, type)


def describe(value: object) -> Any:
    """Return what a value is, in plain JSON: the same in every process, without a memory address.

    Classes and functions are named with their module; those that it has not by this name (lambdas,
    nested functions) are described by the plain values that they are bound to as well, and by a
    digest of their text as ``"code"``. Estimators are their class and parameters, as `clone` sees
    them, other objects their class and attributes, or the digest that `joblib.hash` makes.

    Raises
    ------
    ValueError
        If a part cannot be pickled (a lock, a generator): two of them might differ.

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
    """Return what a value is; `inside` holds the ids of what it is a part of."""
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
    if type(value) is FunctionType:  # and no proxy, which says that it is one
        return {
            "class": name_of(value),
            CODE: joblib.hash(_text(value)),
            **part({**_bound(value), **vars(value)}),
        }
    if type(value) in HELD_BY:
        return {**kind, **part({name: getattr(value, name) for name in HELD_BY[type(value)]})}
    if value is np.random.mtrand._rand:
        return "numpy's global generator"
    if hasattr(value, "get_params") and not _is_cloned_whole(value):
        request = metadata_request(value)
        more = {} if request is None else {"metadata request": request}
        return {**kind, **part({**value.get_params(deep=False), **more})}
    try:
        state = _state(value)
        held = {"digest": joblib.hash(value)} if state is None else state
    except Exception as error:  # of whatever the objects of the user do when they are pickled
        raise ValueError(
            f"journal must be None with a {name_of(type(value))}, of which two cannot be told "
            f"apart ({error}). Give an object that can be pickled."
        ) from error
    return {**kind, **part(held)}


def _state(value):
    """Return the attributes of an object that holds nothing else, a dict; None of others."""
    kind = type(value)
    if kind.__module__.startswith("numba.") and hasattr(value, "__wrapped__"):
        return {"__wrapped__": value.__wrapped__}
    is_plain = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__
    if not is_plain or kind in copyreg.dispatch_table or isinstance(value, BUILT_IN):
        return None
    if _is_cloned_whole(value):
        return None
    value.__reduce_ex__(4)  # raises where it cannot be pickled
    state = value.__getstate__()
    if isinstance(state, tuple):  # with slots
        state = {**(state[0] or {}), **(state[1] or {})}
    return {} if state is None else state


def describe_data(data: Any) -> Any:
    """Return the shape and, as a digest, the content of an array, frame, sparse matrix or list."""
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


def describe_function(function: object, *, with_attributes: bool = False) -> dict[str, Any]:
    """Return the name of a callable, and a digest of its text and of what it is bound to.

    Of an object that is called the text is that of its class. Lists, arrays and what else calls can
    change say nothing, attributes where they are asked for; nor do functions that it calls by name.

    Examples
    --------
    >>> one, two = (describe_function(lambda x, a=a: x[0] + a) for a in (1, 2))
    >>> one["class"] == two["class"], one == two
    (True, False)
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    attributes = None
    if with_attributes and type(function) is not FunctionType:
        with suppress(ValueError):  # a part of it cannot be seen
            attributes = describe(getattr(function, "__self__", function))
    return {"class": name, CODE: joblib.hash([_texts(function), attributes])}


def _texts(function):
    """Return what a callable does and is bound to, as text and plain values."""
    if isinstance(function, functools.partial):
        bound = {**dict(enumerate(function.args)), **function.keywords}
        return [_texts(function.func), describe(_lasting(bound, ""))]
    if isinstance(function, FunctionType):
        return [_text(function), describe(_bound(function))]
    if isinstance(function, MethodType):
        return [_texts(function.__func__), _texts(type(function.__self__))]
    if isinstance(function, np.vectorize):
        return _texts(function.pyfunc)
    if isinstance(function, type) or _is_found(function):
        return _text(function)
    return _texts(vars(function).get("__wrapped__", type(function)))


def _bound(function):
    """Return the values that a function is bound to by its defaults and by closing over them."""
    held = {**dict(enumerate(function.__defaults__ or ())), **(function.__kwdefaults__ or {})}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a name that has no value yet
            held[name] = cell.cell_contents
    held = {name: value for name, value in held.items() if value is not function}
    inner = [value for value in held.values() if type(value) is FunctionType]
    return _lasting(held, "\n".join(map(_text, [function, *inner])))


def _lasting(held, text):
    """Return what calls do not change: plain values, of names that no function binds anew."""
    rebound = re.findall(r"\w+", " ".join(re.findall("nonlocal (.*)", text)))
    return {
        str(k): v for k, v in held.items() if isinstance(v, CONSTANT_KINDS) and k not in rebound
    }


def _text(thing):
    """Return the text of a function or class without comments; its name where there is none.

    Of a lambda the text is of all those in its statement.
    """
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return name_of(thing)
    is_lambda = thing.__name__ == "<lambda>"
    try:
        tree = ast.parse(source)
    except SyntaxError:  # lines of a longer statement
        return source.partition("lambda")[2] if is_lambda else source
    lambdas = [node for node in ast.walk(tree) if is_lambda and isinstance(node, ast.Lambda)]
    return "\n".join(map(ast.unparse, lambdas or [tree]))


def _is_cloned_whole(estimator):
    """Whether `clone` keeps more of an estimator than its parameters, as of a frozen one."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is not None and not own.__module__.startswith("sklearn.base")


def _is_found(value):
    """Whether a module leads to a thing by its name, as `pickle` finds it."""
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
    """Return module and name; the public module where it has the same thing by that name."""
    module = getattr(thing, "__module__", None) or ""
    parts = module.split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__main__"]
    public = ".".join(parts[: hidden[0]] if hidden else parts)
    is_public = _found(public, thing.__qualname__) is thing
    return f"{public if is_public else module}.{thing.__qualname__}"


def require_same(old: Any, new: Any, rule: str, holder: str, remedy: str) -> None:
    """Refuse a description that is not that of then, naming the differences.

    Parameters
    ----------
    old, new : object
        What `holder` has and what is now, as `describe` returns it.
    rule, holder, remedy : str
        For messages: what must be the same, as what, and what to do.

    Raises
    ------
    ValueError
        Unless they are the same, but for the text of functions, of which a warning says.
    """
    if shown := differences_in_words(old, new):
        raise ValueError(f"{rule} {holder}: {shown}. {remedy}")
    changed = [where.rpartition(".")[0] for where, *_ in _leaves(old, new) if _is_code(where)]
    if changed:
        warn_user(
            f"{holder} was written with other functions of these names, or bound to other values: "
            f"{', '.join(changed)}. Nothing is lost, and the search goes on from what it has. Give "
            "another path if they decide otherwise now; go on if they would say the same."
        )


def require_same_search(old: Any, new: Any, path: str) -> None:
    """Do the same for what the journal of a path says of its search."""
    remedy = (
        "Search as before, or give another path. What is not to be compared of an object is left "
        "out in the __getstate__ of its class."
    )
    require_same(old, new, "search must be that of", f"journal {path!r}", remedy)


def differences_in_words(old: Any, new: Any) -> str:
    """Return the first differences between two descriptions; nothing where there are none."""
    found = [leaf for leaf in _leaves(old, new) if not _is_code(leaf[0])][:SHOWN]
    return "; ".join(f"{where} was {_short(a)} and is {_short(b)}" for where, a, b in found)


def _leaves(old: Any, new: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (place, old, new) of the parts that differ; the parameters of another class say none.

    1, 1.0 and True are different; the order of keys says nothing.
    """
    if json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True):
        return
    parts, others = _parts(old), _parts(new)
    if parts is None or others is None or parts.get("class") != others.get("class"):
        yield where, old, new
        return
    for key in dict.fromkeys([*parts, *others]):
        inner = f"{where}.{key}" if where else key
        yield from _leaves(parts.get(key, "absent"), others.get(key, "absent"), inner)


def _is_code(where):
    return where.rpartition(".")[2] == CODE


def _parts(value):
    """Return the parts of a description that are compared one by one; None if it is one itself."""
    if not isinstance(value, list) or not any(isinstance(part, (dict, list)) for part in value):
        return value if isinstance(value, dict) else None
    parts = {str(i): part for i, part in enumerate(value)}
    if all(isinstance(part, list) and part and isinstance(part[0], str) for part in value):
        steps = {name: _only(rest) for name, *rest in value}  # as those of a Pipeline
        return {**steps, "order": list(steps)} if len(steps) == len(value) else parts
    return parts


def _only(rest):
    return rest[0] if len(rest) == 1 and isinstance(rest[0], dict) else rest


def _short(value):
    if isinstance(value, dict) and (value.keys() == {"float"} or "class" in value):
        value = value.get("float", value.get("class"))
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
