"""What code an objective runs, so that the values of another one are told apart."""

import dis
import json
from importlib import util
from types import CodeType, FunctionType, MethodType

import numpy as np

from skbo_silbo.journal._describe import HELD_BY, content_of, describe_code, digest

PLAIN = (bool, int, float, complex, str, bytes, type(None))
FUNCTIONS = (FunctionType, MethodType, *HELD_BY)


def describe_objective(func: object) -> dict[str, str] | None:
    """Return name, version of the code and a digest of what a callable runs, in plain JSON.

    Compared are the code of functions, the plain values that they are bound to, and the functions
    and methods that an object has. The name, and all that a call can change, say nothing: names
    that are bound anew, attributes, lists, dicts and arrays. So nothing has to be pickled or
    called.

    Returns
    -------
    description : dict or None
        None where a part cannot be seen.

    Examples
    --------
    >>> one, two = (describe_objective(lambda x, a=a: x[0] + a) for a in (1, 2))
    >>> one["name"] == two["name"], is_another(one, two), is_another(one, None)
    (True, True, False)
    """
    try:
        first = _Reader()
        first.describe(func)  # a name may be rebound by what is read after it
        parts = json.dumps(_Reader(first.rebound).describe(func)).encode()
        return {"name": _name(func), "python": util.MAGIC_NUMBER.hex(), "digest": digest(parts)}
    except Exception:  # the objective is the user's, and so is what its parts do when looked at
        return None


def is_another(then: dict[str, str] | None, now: dict[str, str] | None) -> bool:
    """Return whether two descriptions, of code for one version of Python, are of different code."""
    if then is None or now is None or then["python"] != now["python"]:
        return False
    return then["digest"] != now["digest"]


class _Reader:
    """Describes parts, each once; of what a function closes over not what some function rebinds."""

    def __init__(self, rebound=frozenset()):
        self.rebound, self._left_out = set(), rebound  # ids of cells
        self._met = {}  # by id; held, so that no other object gets that

    def describe(self, value, *, opened=False):
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, tuple):
            return [self.describe(member) for member in value]
        is_read = opened or callable(value) or isinstance(value, FUNCTIONS)
        if isinstance(value, type) or not is_read:
            return _name(value)
        if id(value) in self._met:
            return "met"
        self._met[id(value)] = value
        return self._compound(value)

    def _compound(self, value):
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return [self.describe(value.__self__, opened=True), self.describe(value.__func__)]
        if type(value) in HELD_BY:
            parts = [getattr(value, name) for name in HELD_BY[type(value)]]
            return [type(value).__name__, *map(self.describe, map(_in_order, parts))]
        return self._object(value)

    def _function(self, function):
        code, cells = function.__code__, function.__closure__ or ()
        names = _stored(code)
        self.rebound |= {id(c) for c, n in zip(cells, code.co_freevars, strict=True) if n in names}
        bound = tuple(content_of(c) for c in cells if id(c) not in self._left_out)
        defaults = function.__defaults__, _in_order(function.__kwdefaults__)
        if function.__doc__ is not None and code.co_consts[:1] == (function.__doc__,):
            code = code.replace(co_consts=(None, *code.co_consts[1:]))
        return [describe_code(code), self.describe(bound), self.describe(defaults)]

    def _object(self, value):
        """Describe the functions of an object and its class, not those of another module's base.

        Not those that methods, as of an object that is ready after its first call, give it.
        """
        kind = type(value)
        members = {}
        for base in reversed(kind.__mro__):
            members |= vars(base) if base.__module__ == kind.__module__ else {}
        methods = {name: part for name, part in members.items() if name != "__init__"}
        set_later = set().union(*(_stored(code, "STORE_ATTR") for code in _codes(methods)))
        held = {n: v for n, v in getattr(value, "__dict__", {}).items() if n not in set_later}
        parts = sorted((n, v) for n, v in (members | held).items() if isinstance(v, FUNCTIONS))
        return [_name(value), *([name, self.describe(part)] for name, part in parts)]


def _codes(members):
    return [part.__code__ for part in members.values() if isinstance(part, FunctionType)]


def _stored(code, how="STORE_DEREF"):
    """Return the names that code, or a function in it, binds anew: variables or attributes."""
    inner = (_stored(const, how) for const in code.co_consts if isinstance(const, CodeType))
    return {s.argval for s in dis.get_instructions(code) if s.opname == how}.union(*inner)


def _in_order(part):
    return tuple(sorted(part.items())) if isinstance(part, dict) else part


def _name(value):
    return str(getattr(value, "__qualname__", type(value).__qualname__))
