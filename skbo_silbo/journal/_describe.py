"""Any Python value in plain JSON, to its leaves, so that what differs can be told apart."""

import copyreg
import hashlib
import json
import math
import sys
from functools import partial
from numbers import Integral, Real
from types import BuiltinFunctionType, CodeType, MethodType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from skbo_silbo._sklearn import metadata_request

LONGEST = 20  # members of a list or array that are written out; longer ones become a digest
VERSION = 2


def describe(value: object, version: int = VERSION, *, opened: bool = False) -> Any:
    """Return what a value is, in plain JSON: the same in every process, without a memory address.

    Estimators are their class and parameters, as `clone` sees them; other objects their class and
    all that a pickle of them would hold (which is not made); functions their name, and those
    without a name of their own (lambdas, nested functions) their code, defaults and the values
    that they close over. Classes and functions are named with their module.

    Parameters
    ----------
    value : object
    version : {1, 2}, default=2
        How journals of that version have it. The first left out modules within a package, random
        states, slots, bytes and whatever else is not in an object's ``__dict__``.
    opened : bool, default=False
        Whether functions without a name of their own are described part by part, not as a digest
        of all.

    Raises
    ------
    ValueError
        If a part holds what cannot be seen (a lock, a generator): two of them might differ.

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> describe([1.0, None, ("relu", max, slice(1, 4))])
    [1.0, None, ['relu', 'builtins.max', {'class': 'builtins.slice', 'made with': [1, 4, None]}]]
    >>> describe(TruncatedSVD(3))["class"], describe(TruncatedSVD(3))["n_components"]
    ('sklearn.decomposition.TruncatedSVD', 3)
    """
    return (_OPEN if opened else _DESCRIBERS[version]).describe(value)


def describe_data(data: object, version: int = VERSION) -> Any:
    """Return the shape and, as a digest, the content of an array, frame, sparse matrix or list."""
    return _DESCRIBERS[version].describe_data(data)


class _Describer:
    """Version 2."""

    def describe(self, value, inside=()):
        """Return what a value is; `inside` holds the ids of what it is a part of."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            return self._number(float(value))
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
        content = [self._bytes(array), *self._beside_values(data)]
        return {**self._columns(data), **kind, "digest": digest(*content)}

    def _number(self, value):
        return value if math.isfinite(value) else {"float": str(value)}

    def _compound(self, value, inside):
        if isinstance(value, dict):
            return self._dict(value, inside)
        if isinstance(value, (list, tuple, range)):
            return self._shorten([self.describe(member, inside) for member in value])
        if isinstance(value, (set, frozenset)):
            return sorted((self.describe(member, inside) for member in value), key=json.dumps)
        if isinstance(value, np.ndarray) or sparse.issparse(value):
            return self.describe_data(value)
        if isinstance(value, partial):
            parts = {"func": value.func, "args": value.args, "keywords": value.keywords}
            return {"class": "functools.partial", **self.describe(parts, inside)}
        if isinstance(value, MethodType):
            return [self.describe(value.__self__, inside), value.__name__]
        if hasattr(value, "__name__"):
            return self._named(value, inside)
        return self._object(value, inside)

    def _named(self, value, inside):
        owner = value.__self__ if isinstance(value, BuiltinFunctionType) else None
        if owner is None or isinstance(owner, ModuleType):
            return self._function(value, inside)
        return [self.describe(owner, inside), value.__name__]

    def _dict(self, value, inside):
        if all(isinstance(key, str) for key in value):
            return {key: self.describe(value[key], inside) for key in sorted(value)}
        pairs = [self.describe(pair, inside) for pair in value.items()]
        return {"pairs": sorted(pairs, key=json.dumps)}

    def _object(self, value, inside):
        if isinstance(value, (bytes, bytearray)):
            return {"class": self._name(type(value)), "length": len(value), "digest": digest(value)}
        if isinstance(value, np.random.RandomState):
            return self._random_state(value, inside)
        if isinstance(value, np.random.Generator):
            return self._with_class(value, {"state": value.bit_generator.state}, inside)
        if not hasattr(value, "get_params"):
            return self._reduced(value, inside)
        if _is_cloned_whole(value):
            return _WHOLE.describe(value, inside[:-1])
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
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:
            raise ValueError(
                f"journal must be None with a {self._name(type(value))}, of which two cannot be "
                f"told apart ({error}). Give an object that can be pickled."
            ) from error
        if isinstance(reduced, str):
            return {"class": self._name(type(value)), "name": reduced}
        made_by, args, state, listed, keyed = (*reduced, None, None, None)[:5]
        attributes = {} if state is None else {"its state": state}
        attributes = state if _is_plain_state(state) else attributes
        parts = {  # names with spaces, that no attribute has
            "made by": None if made_by in (type(value), copyreg.__newobj__) else made_by,
            "made with": [arg for arg in args if arg is not type(value)],
            "its members": list(listed or ()),
            "its items": list(keyed or ()),
        }
        parts = {name: part for name, part in parts.items() if part}
        return self._with_class(value, {**attributes, **parts}, inside)

    def _with_class(self, value, parts, inside):
        return {"class": self._name(type(value)), **self.describe(parts, inside)}

    def _function(self, function, inside):
        if not _is_nameless(function):
            return self._name(function)
        bound = [cell.cell_contents for cell in function.__closure__ or ()]
        return self._nameless(function, bound, inside)

    def _nameless(self, function, bound, inside):
        parts = self._parts_of_function(function, self._code(function.__code__), bound)
        described = json.dumps(self.describe(parts, inside)).encode()
        return f"{self._name(function)} {digest(described)}"

    def _parts_of_function(self, function, code, bound):
        return [code, function.__defaults__, function.__kwdefaults__, bound]

    def _code(self, code):
        inner = [
            self._code(c) if isinstance(c, CodeType) else self._constant(c) for c in code.co_consts
        ]
        return [code.co_code.hex(), list(code.co_names), inner]

    def _constant(self, constant):
        return [type(constant).__name__, self.describe(constant)]

    def _name(self, thing):
        """Return module and name; the public module where it has the same thing by that name."""
        module = getattr(thing, "__module__", None) or ""
        name = getattr(thing, "__qualname__", getattr(thing, "__name__", ""))
        if isinstance(thing, ModuleType):
            return f"module {name}"
        public = _public_part(module)
        if getattr(sys.modules.get(public), name, None) is thing:
            module = public
        return f"{module}.{name}"

    def _columns(self, data):
        columns = self._shorten([str(c) for c in getattr(data, "columns", ())])
        if not columns:
            return {}
        dtypes = self._shorten([str(dtype) for dtype in data.dtypes])
        return {"columns": columns, "dtypes": dtypes}

    def _beside_values(self, data):
        return [self._bytes(data.mask)] if isinstance(data, np.ma.MaskedArray) else []

    def _bytes(self, array):
        if array.dtype.kind in "OVT":  # objects, records, strings of any length
            values = [self.describe(value) for value in array.ravel().tolist()]
            return json.dumps(values).encode()
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""

    def _shorten(self, values):
        if len(values) <= LONGEST:
            return values
        return {"length": len(values), "digest": digest(json.dumps(values).encode())}


class _WholeDescriber(_Describer):
    """Of fitted estimators that `clone` keeps: what they have learnt counts, too."""

    def _object(self, value, inside):
        if hasattr(value, "get_params"):
            return self._reduced(value, inside)
        return super()._object(value, inside)


class _OpenDescriber(_Describer):
    """Of functions that are described by their parts, what they close over by name."""

    def _nameless(self, function, bound, inside):
        code = function.__code__
        parts = {
            "code": digest(json.dumps(self._code(code)).encode()),
            "defaults": [function.__defaults__, function.__kwdefaults__],
            "bound": dict(zip(code.co_freevars, bound, strict=True)),
        }
        return {"class": self._name(function), **self.describe(parts, inside)}


class _FirstDescriber(_Describer):
    """Version 1, for journals that were begun with it."""

    def _number(self, value):
        return value if math.isfinite(value) else str(value)

    def _dict(self, value, inside):
        return {str(k): self.describe(value[k], inside) for k in sorted(value, key=str)}

    def _named(self, value, inside):
        return self._function(value, inside)

    def _object(self, value, inside):
        if hasattr(value, "get_params"):
            return self._with_class(value, value.get_params(deep=False), inside)
        return self._with_class(value, getattr(value, "__dict__", {}), inside)

    def _parts_of_function(self, function, code, bound):
        return [code, function.__defaults__, bound]

    def _constant(self, constant):
        return repr(constant)

    def _name(self, thing):
        package = (getattr(thing, "__module__", None) or "").split(".")[0]
        return f"{package}.{getattr(thing, '__qualname__', thing.__name__)}"

    def _columns(self, data):
        columns = self._shorten([str(c) for c in getattr(data, "columns", ())])
        return {"columns": columns} if columns else {}

    def _beside_values(self, data):
        return []


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


def _is_nameless(function):
    """Whether a function has no name of its own in its module: a lambda or a nested one."""
    return hasattr(function, "__code__") and "<" in function.__qualname__


def _is_plain_state(state):
    return isinstance(state, dict) and all(isinstance(key, str) for key in state)


def _public_part(module):
    parts = module.split(".")
    hidden = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__main__"]
    return ".".join(parts[: hidden[0]] if hidden else parts)


_WHOLE, _OPEN = _WholeDescriber(), _OpenDescriber()
_DESCRIBERS = {1: _FirstDescriber(), 2: _Describer()}
