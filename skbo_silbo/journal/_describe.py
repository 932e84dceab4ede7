"""What a search was given, in plain JSON: parameters, names and digests, told apart in words."""

import ast
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
from joblib.hashing import NumpyHasher
from scipy import sparse

from skbo_silbo._checks import warn_user
from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # members of a list that are written out; longer ones become a digest
CODE = "code"  # under which a digest of the text of functions stands: another one is a warning
SHOWN = 5  # differences that a message names
# Values that a function is bound to for good: others, as a list, may hold what calls leave there.
CONSTANT_KINDS = (
    *(bool, int, float, complex, str, bytes, tuple, type(None)),
    *(np.generic, FunctionType, type),
)


def describe(value: Any, inside: tuple[int, ...] = ()) -> Any:
    """Return what a value is, in plain JSON: the same in every process, without a memory address.

    Classes and functions are named with their module. Estimators are their class and parameters, as
    `clone` sees them. All else is its class and a digest of what `pickle` would send, as
    `joblib.hash` makes it; of a function that its module has not by its name (a lambda, a nested
    function) the plain values that it is bound to, and a digest of its text as ``"code"``.

    Parameters
    ----------
    value : object
    inside : tuple of int, default=()
        The ids of what it is a part of.

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
    if isinstance(value, np.generic) and not isinstance(value, (np.timedelta64, np.datetime64)):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if id(value) in inside:
        return "itself"
    if sparse.issparse(value) or type(value) in (np.ndarray, np.memmap):
        return describe_data(value)
    part = functools.partial(describe, inside=(*inside, id(value)))
    if type(value) in (list, tuple) and len(value) <= LONGEST:
        return list(map(part, value))
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {key: part(value[key]) for key in sorted(value)}
    if isinstance(value, (type, ModuleType)) or _is_found(value):
        return name_of(value)
    named = {"class": name_of(value if type(value) is FunctionType else type(value))}
    if not hasattr(value, "get_params") or _is_cloned_whole(value):
        return {**named, **_digests(value)}
    request = metadata_request(value)
    more = {} if request is None else {"metadata request": request}
    return {**named, **part({**value.get_params(deep=False), **more})}


def _digests(value):
    """Return a digest of what a value holds and, if there are functions in it, of their text."""
    hasher = _Hasher()
    try:
        digest = hasher.hash(value)
    except Exception as error:  # of whatever the objects of the user do when they are pickled
        raise ValueError(
            f"journal must be None with a {name_of(type(value))}, of which two cannot be told "
            f"apart ({error}). Give an object that can be pickled."
        ) from error
    texts = [_text(function) for function in hasher.functions]
    return {"digest": digest, **({CODE: joblib.hash(texts)} if texts else {})}


class _Hasher(NumpyHasher):
    """`joblib.hash`, but for what it refuses or does not see all of.

    Attributes
    ----------
    functions : list of function
        Those met that no module has by their name: the hash has what they are bound to.
    """

    def __init__(self):
        super().__init__("md5", coerce_mmap=True)
        self.functions = []

    def save(self, obj):
        """Write what an object is."""
        super().save(self._as_pickled(obj))

    def _as_pickled(self, obj):
        kind = type(obj)
        if isinstance(obj, (type, ModuleType)) or _is_found(obj):
            return "named", name_of(obj)
        if kind is FunctionType:  # and no proxy, which says that it is one
            if obj in self.functions:
                return "function", self.functions.index(obj)
            self.functions.append(obj)
            return name_of(obj), _bound(obj), vars(obj)
        if obj is np.random.mtrand._rand:  # whose state hangs on all that drew from it
            return kind, "global"
        own = kind.__module__.partition(".")[0] in ("functools", "numba")
        if own and kind is not functools.partial and "__wrapped__" in dir(obj):
            return kind, obj.__wrapped__  # without the results that it keeps
        if kind is np.vectorize:  # which keeps what calls gave, too
            return kind, obj.pyfunc, obj.otypes, obj.excluded, obj.signature
        if isinstance(obj, OrderedDict):  # of whose order a hash knows nothing
            return kind, list(obj.items())
        if isinstance(obj, np.ndarray) and kind not in (np.ndarray, np.memmap):
            mask = np.ma.getmask(obj) if isinstance(obj, np.ma.MaskedArray) else vars(obj)
            return kind, np.array(obj), mask
        return obj


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
    content = array.tolist() if array.dtype.kind in "OVT" else array
    mask = data.mask if isinstance(data, np.ma.MaskedArray) else None
    kind = {"shape": list(np.shape(data)), "dtype": str(array.dtype), **_digests([content, mask])}
    if (columns := getattr(data, "columns", None)) is None:
        return kind
    dtypes = describe([str(dtype) for dtype in data.dtypes])
    return {"columns": describe(list(map(str, columns))), "dtypes": dtypes, **kind}


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


def name_of(thing: Any) -> str:
    """Return module and name; the public module where it has the same thing by that name."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    module = getattr(thing, "__module__", None) or ""
    parts = module.split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__main__"]
    public = ".".join(parts[: hidden[0]] if hidden else parts)
    is_public = _found(public, thing.__qualname__) is thing
    return f"{public if is_public else module}.{thing.__qualname__}"


def require_same(old: Any, new: Any, path: str) -> None:
    """Refuse a description that is not that of a journal, naming the differences.

    Parameters
    ----------
    old, new : object
        What a journal has and what is now, as `describe` returns it.
    path : str
        Of the journal.

    Raises
    ------
    ValueError
        Unless they are the same, but for the text of functions, of which a warning says.
    """
    if shown := differences_in_words(old, new):
        raise ValueError(
            f"journal must be of the same search: {path!r} is of another one. {shown}. Search as "
            "before, or give another path. What is not to be compared of an object is left out in "
            "the __getstate__ of its class."
        )
    warn_of_functions(old, new, f"journal {path!r}")


def warn_of_functions(old: Any, new: Any, holder: str) -> None:
    """Warn of functions whose text is not that of then, though their names are.

    Parameters
    ----------
    old, new : object
        What `holder`, a text, has and what is now, as `describe` returns it.
    """
    changed = [where.rpartition(".")[0] for where, *_ in _leaves(old, new) if _is_code(where)]
    if changed:
        warn_user(
            f"{holder} was written with other functions of these names, or bound to other values: "
            f"{', '.join(changed)}. Nothing is lost, and the search goes on from what it has. Give "
            "another path if they decide otherwise now; go on if they would say the same."
        )


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
