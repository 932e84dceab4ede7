"""Any Python value in plain JSON, to its leaves, so that what differs can be told apart."""

import copyreg
import dis
import functools
import hashlib
import json
import math
import sys
from collections import OrderedDict
from dataclasses import dataclass
from types import (
    CellType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np
from scipy import sparse

from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # members of a list or array that are written out; longer ones become a digest
HELD_BY = {  # what objects hold that keep it from `pickle`, or keep more, as results of calls
    functools.partial: ("func", "args", "keywords", "__dict__"),
    np.vectorize: ("pyfunc", "otypes", "excluded", "signature", "cache"),
    type(functools.lru_cache(len)): ("__wrapped__", "cache_parameters"),
    functools.cached_property: ("func",),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}
DESCRIPTORS = (
    *(MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType, MemberDescriptorType),
    ClassMethodDescriptorType,
)
HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE, of classes made while a program runs
NOT_HELD = {  # of a class: what Python makes of the rest, or what no call sees
    *("__annotate_func__", "__annotations__", "__annotations_cache__", "__dataclass_fields__"),
    *("__dataclass_params__", "__dict__", "__doc__", "__firstlineno__", "__module__"),
    *("__orig_bases__", "__parameters__", "__qualname__", "__static_attributes__"),
    *("__type_params__", "__weakref__", "_abc_impl"),
}
ARRAYS = (np.ndarray, np.memmap, np.ma.MaskedArray)  # of the same content, the same
# What a module keeps under a name for good: others, as a list, may hold what calls leave there.
LASTING = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray, FunctionType, type)


def describe(value: object, *, opened: bool = False) -> Any:
    """Return what a value is, in plain JSON: the same in every process, without a memory address.

    Classes and functions are named with their module, if that has them by this name. Others
    (lambdas, nested functions, closures that took over a name, classes of a factory) are described
    by what they hold: code, defaults, attributes, the values that they close over, and the numbers,
    text, arrays and functions that they read from their module; bases and members. Estimators are
    their class and parameters, as `clone` sees them; other objects their class and all that a
    pickle of them would hold (which is not made).

    Parameters
    ----------
    value : object
    opened : bool, default=False
        Whether functions that are not named are described part by part, not as a digest of all.

    Raises
    ------
    ValueError
        If a part holds what cannot be seen (a lock, a generator, a function that was compiled into
        a ufunc): two of them might differ.

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> describe([1.0, None, ("relu", max, slice(1, 4))])
    [1.0, None, ['relu', 'builtins.max', {'class': 'builtins.slice', 'made with': [1, 4, None]}]]
    >>> describe(TruncatedSVD(3))["class"], describe(TruncatedSVD(3))["n_components"]
    ('sklearn.decomposition.TruncatedSVD', 3)
    """
    return _Describer(opened).describe(value)


def describe_data(data: object) -> Any:
    """Return the shape and, as a digest, the content of an array, frame, sparse matrix or list."""
    return _Describer().describe_data(data)


def describe_code(code: CodeType) -> Any:
    """Return what a function does, whatever it is called and closes over, in plain JSON."""
    return _Describer()._code(code)


@dataclass(frozen=True)
class _Describer:
    """Where `opened`, functions are their parts; where `whole`, what estimators learnt counts."""

    opened: bool = False
    whole: bool = False

    def describe(self, value, inside=()):
        """Return what a value is; `inside` holds the ids of what it is a part of."""
        if isinstance(value, np.floating):
            value = float(value)
        elif isinstance(value, (np.bool_, np.integer, np.str_)) and not _is_time(value):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return self._number(value)
        if id(value) in inside:
            return "itself"
        return self._compound(value, (*inside, id(value)))

    def describe_data(self, data):
        if sparse.issparse(data):
            data = sparse.csr_array(data, copy=True)
            data.sum_duplicates()
            parts = [data.data, data.indices.astype(np.int64), data.indptr.astype(np.int64)]
            kind = {"shape": list(data.shape)}
            return {**kind, "digest": digest(*map(self._bytes, parts))}
        if not hasattr(data, "__array__"):
            return self.describe(data)
        array = np.asarray(data)
        kind = {"shape": list(array.shape), "dtype": str(array.dtype)}
        content = [array, *([data.mask] if isinstance(data, np.ma.MaskedArray) else [])]
        return {**self._columns(data), **kind, "digest": digest(*map(self._bytes, content))}

    def _number(self, value):
        return value if math.isfinite(value) else {"float": str(value)}

    def _compound(self, value, inside):
        kind = type(value)
        if kind is dict:
            return self._dict(value, inside)
        if kind in (list, tuple, range):
            return self._shorten([self.describe(member, inside) for member in value])
        if isinstance(value, (set, frozenset)):
            members = sorted((self.describe(member, inside) for member in value), key=json.dumps)
            return members if kind in (set, frozenset) else self._holding(members, value, inside)
        if isinstance(value, np.ndarray):
            content = self.describe_data(value)
            return content if kind in ARRAYS else self._holding(content, value, inside)
        if sparse.issparse(value):
            return self.describe_data(value)
        if kind is MethodType:
            return [self.describe(part, inside) for part in (value.__self__, value.__func__)]
        if isinstance(value, ModuleType) or _is_found(value) or _is_of_c(value):
            return _name(value)
        if isinstance(value, type):
            return self._class(value, inside)
        if kind is FunctionType:  # and no proxy, which says that it is one
            return self._function(value, inside)
        return self._object(value, inside)

    def _dict(self, value, inside):
        if all(isinstance(key, str) for key in value):
            return {key: self.describe(value[key], inside) for key in sorted(value)}
        pairs = [self.describe(pair, inside) for pair in value.items()]
        return {"pairs": sorted(pairs, key=json.dumps)}

    def _holding(self, content, value, inside):
        """Describe an object of a class derived from one of Python or NumPy."""
        return self._with_class(value, {"holds": content, **getattr(value, "__dict__", {})}, inside)

    def _object(self, value, inside):
        if type(value) in HELD_BY:
            parts = {name: getattr(value, name) for name in HELD_BY[type(value)]}
            called = {name: part() for name, part in parts.items() if name == "cache_parameters"}
            return self._with_class(value, {**parts, **called}, inside)
        if type(value).__module__.startswith("numba.") and hasattr(value, "__wrapped__"):
            parts = {"options": getattr(value, "targetoptions", None)}
            return self._with_class(value, {"function": value.__wrapped__, **parts}, inside)
        if type(value) in (bytes, bytearray):
            return {"class": _name(type(value)), "length": len(value), "digest": digest(value)}
        if isinstance(value, np.random.RandomState):
            return self._random_state(value, inside)
        if isinstance(value, np.random.Generator):
            return self._with_class(value, {"state": value.bit_generator.state}, inside)
        if self.whole or not hasattr(value, "get_params"):
            return self._reduced(value, inside)
        if _is_cloned_whole(value):
            return _Describer(whole=True).describe(value, inside[:-1])
        return self._estimator(value, inside)

    def _estimator(self, value, inside):
        request = metadata_request(value)
        parts = {} if request is None else {"metadata request": request}
        return self._with_class(value, {**value.get_params(deep=False), **parts}, inside)

    def _random_state(self, value, inside):
        if value is np.random.mtrand._rand:
            return "numpy's global generator"
        return self._with_class(value, {"state": value.get_state(legacy=False)}, inside)

    def _reduced(self, value, inside):
        """Describe an object by what `copy` and `pickle` would make it from."""
        if isinstance(value, np.ufunc):
            raise _unseen(value, "numpy and scipy.special have it not")
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as error:
            raise _unseen(value, error) from error
        if isinstance(reduced, str):
            own = getattr(value, "__module__", None) or type(value).__module__  # of ...
            module = sys.modules.get(own)
            if getattr(module, reduced, None) is not value:
                raise _unseen(value, f"its module has no {reduced}")
            return {"class": _name(type(value)), "name": reduced}
        made_by, args, state, listed, keyed = (*reduced, None, None, None)[:5]
        is_plain = isinstance(state, dict) and all(isinstance(key, str) for key in state)
        attributes = state if is_plain else {} if state is None else {"its state": state}
        parts = {  # names with spaces, that no attribute has
            "made by": None if made_by in (type(value), copyreg.__newobj__) else made_by,
            "made with": [arg for arg in args if arg is not type(value)],
            "its members": list(listed or ()),
            "its items": list(keyed or ()) if isinstance(value, OrderedDict) else dict(keyed or ()),
        }
        parts = {name: part for name, part in parts.items() if part}
        return self._with_class(value, {**attributes, **parts}, inside)

    def _with_class(self, value, parts, inside):
        kind = self.describe(type(value), inside)
        return {"class": kind, **self.describe(parts, inside)}

    def _class(self, kind, inside):
        members = {name: part for name, part in vars(kind).items() if name not in NOT_HELD}
        return f"{_name(kind)} {self._digest([type(kind), kind.__bases__, members], inside)}"

    def _function(self, function, inside):
        parts = self._parts(function)
        if not self.opened:
            return f"{_name(function)} {self._digest(parts, inside)}"
        parts["code"] = digest(json.dumps(parts["code"]).encode())
        return {"class": _name(function), **self.describe(parts, inside)}

    def _parts(self, function):
        cells = function.__closure__ or ()
        return {
            "code": self._code(function.__code__),
            "defaults": [function.__defaults__, function.__kwdefaults__],
            "bound": dict(zip(function.__code__.co_freevars, map(content_of, cells), strict=True)),
            "attributes": vars(function),
            "read": _read_from_its_module(function),
        }

    def _digest(self, parts, inside):
        return digest(json.dumps(self.describe(parts, inside)).encode())

    def _code(self, code):
        inner = [
            self._code(c) if isinstance(c, CodeType) else [type(c).__name__, self.describe(c)]
            for c in code.co_consts
        ]
        counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
        names = [list(code.co_names), list(code.co_varnames), list(code.co_freevars)]
        return [code.co_code.hex(), code.co_exceptiontable.hex(), *names, counts, inner]

    def _columns(self, data):
        columns = self._shorten([str(c) for c in getattr(data, "columns", ())])
        if not columns:
            return {}
        dtypes = self._shorten([str(dtype) for dtype in data.dtypes])
        return {"columns": columns, "dtypes": dtypes}

    def _bytes(self, array):
        if array.dtype.kind in "OVT":  # objects, records, strings of any length
            values = [self.describe(value) for value in array.ravel().tolist()]
            return json.dumps(values).encode()
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""

    def _shorten(self, values):
        if len(values) <= LONGEST:
            return values
        return {"length": len(values), "digest": digest(json.dumps(values).encode())}


def digest(*parts: bytes | bytearray | memoryview) -> str:
    """Return 16 hexadecimal digits that stand for bytes."""
    found = hashlib.blake2b(digest_size=8)
    for part in parts:
        found.update(part)
    return found.hexdigest()


def _is_cloned_whole(estimator):
    """Whether `clone` keeps more of an estimator than its parameters, as of a frozen one."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is not None and not own.__module__.startswith("sklearn.base")


def _is_found(value):
    """Whether a module leads to a thing by its name, as `pickle` finds it."""
    if isinstance(value, np.ufunc):
        return _module_of_ufunc(value) is not None
    name, module = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    if not (isinstance(name, str) and isinstance(module, str)):
        return False
    thing = sys.modules.get(module)
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing is value


def _read_from_its_module(function):
    """Return the lasting values that a function reads by name and does not change, a dict."""
    instructions = [i for code in _codes(function.__code__) for i in dis.get_instructions(code)]
    read, written = (
        {i.argval for i in instructions if i.opname == name}
        for name in ("LOAD_GLOBAL", "STORE_GLOBAL")
    )
    held = function.__globals__
    return {k: held[k] for k in read - written if isinstance(held.get(k), LASTING)}


def _codes(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _is_time(value):
    """Whether a NumPy scalar is a span of time, which NumPy counts among the whole numbers."""
    return isinstance(value, np.timedelta64)


def _is_of_c(value):
    """Whether a thing is a class or method that compiled code defines, once and for all."""
    if isinstance(value, type):
        return not value.__flags__ & HEAP_TYPE
    return isinstance(value, DESCRIPTORS)


def _module_of_ufunc(ufunc):
    modules = ("numpy", "scipy.special")
    has = [name for name in modules if getattr(sys.modules.get(name), ufunc.__name__, 0) is ufunc]
    return has[0] if has else None


def content_of(cell: CellType) -> object:
    """Return what a function closes over by one name."""
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return {"class": "no value"}


def _unseen(value, why):
    return ValueError(
        f"journal must be None with a {_name(type(value))}, of which two cannot be told apart "
        f"({why}). Give an object that can be pickled."
    )


def _name(thing):
    """Return module and name; the public module where it has the same thing by that name."""
    if isinstance(thing, ModuleType):
        return f"module {thing.__name__}"
    if isinstance(thing, np.ufunc):
        return f"{_module_of_ufunc(thing)}.{thing.__name__}"
    of_class = getattr(thing, "__objclass__", thing)  # of a method
    module, name = getattr(of_class, "__module__", None) or "", thing.__qualname__
    public = _public_part(module)
    if getattr(sys.modules.get(public), name, None) is thing:
        module = public
    return f"{module}.{name}"


def _public_part(module):
    parts = module.split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__main__"]
    return ".".join(parts[: hidden[0]] if hidden else parts)
