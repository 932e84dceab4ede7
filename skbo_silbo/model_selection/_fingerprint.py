"""What a search is, in plain JSON, so that one can be told from another in a later process."""

import hashlib
import json
import math
from functools import partial
from numbers import Integral, Real
from types import CodeType, MethodType

import numpy as np
from scipy import sparse

LONGEST = 20  # members of a list or array that are written out; longer ones become a digest
SHOWN = 5  # differences that a message names


def search_fingerprint(search, space, state):
    """Return all that decides what the candidates of a search are and what their scores mean.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
        Read from its `param_distributions`.
    state : SearchState
        The data and splits of the fit.

    Returns
    -------
    fingerprint : dict
        What JSON can hold.

    Raises
    ------
    ValueError
        If the splitter gives other splits when it splits again.
    """
    own = ("scoring", "error_score", "return_train_score", "batch_size", "fold_noise")
    optimizer = ("n_components", "embedding", "acquisition", "n_initial", "random_state")
    return {
        "param_distributions": describe(space.summary()),
        "order of param_distributions": space.parameter_names,
        "estimator": describe(search.estimator),
        "X": describe_data(state.X),
        "y": describe_data(state.y),
        "fit parameters": {k: describe_data(v) for k, v in sorted(state.fit_params.items())},
        "cv": {"splitter": describe(state.splitter), "splits": _splits_digest(state)},
        "refit": search.refit if isinstance(search.refit, str) else None,  # the metric searched
        **{name: describe(getattr(search, name)) for name in own + optimizer},
    }


def require_same(old, new, path):
    """Raise ValueError, naming the differences, unless two fingerprints are the same."""
    found = list(differences(old, new))
    if found:
        shown = "; ".join(f"{where} was {_short(a)} and is {_short(b)}" for where, a, b in found)
        raise ValueError(
            f"journal must be of the same search: {path!r} is of another one. {shown}. "
            "Search as before, or give another path."
        )


def differences(old, new, where=""):
    """Yield (place, old, new) for the first differences between two descriptions."""
    yield from list(_differences(old, new, where))[:SHOWN]


def _differences(old, new, where):
    if _is_like(old, new):
        for key in dict.fromkeys([*old, *new]):
            inner = f"{where}.{key}" if where else key
            yield from _differences(old.get(key, "absent"), new.get(key, "absent"), inner)
    elif json.dumps(old) != json.dumps(new):  # which tells 1, 1.0 and True apart
        yield where, old, new


def _is_like(old, new):
    """Whether to compare part by part; the parameters of another class say nothing."""
    dicts = isinstance(old, dict) and isinstance(new, dict)
    return dicts and old.get("class") == new.get("class")


def _short(value):
    if isinstance(value, dict) and "class" in value:
        value = value["class"]
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def describe(value, inside=()):
    """Return what a parameter's value is, in plain JSON.

    Estimators, scorers and other objects are their class and their parameters or attributes;
    functions are their name, and those without a name of their own (lambdas, nested functions)
    their code. The same in every process: no memory address, no pickle.

    Examples
    --------
    >>> from sklearn.decomposition import TruncatedSVD
    >>> describe([1.0, None, ("relu", max)])
    [1.0, None, ['relu', 'builtins.max']]
    >>> describe(TruncatedSVD(3))["class"], describe(TruncatedSVD(3))["n_components"]
    ('sklearn.TruncatedSVD', 3)
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else str(float(value))
    if id(value) in inside:
        return "itself"
    return _describe_object(value, (*inside, id(value)))


def _describe_object(value, inside):
    if isinstance(value, dict):
        return {str(k): describe(value[k], inside) for k in sorted(value, key=str)}
    if isinstance(value, (list, tuple, range)):
        return _shorten([describe(member, inside) for member in value])
    if isinstance(value, (set, frozenset)):
        return sorted((describe(member, inside) for member in value), key=json.dumps)
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return describe_data(value)
    if isinstance(value, partial):
        parts = {"func": value.func, "args": value.args, "keywords": value.keywords}
        return {"class": "functools.partial", **describe(parts, inside)}
    if isinstance(value, MethodType):
        return [describe(value.__self__, inside), value.__name__]
    if hasattr(value, "__name__"):  # functions and classes
        return _describe_function(value, inside)
    if hasattr(value, "get_params"):
        parts = value.get_params(deep=False)
    else:
        parts = getattr(value, "__dict__", {})
    return {"class": _name(type(value)), **describe(parts, inside)}


def _describe_function(function, inside):
    code = getattr(function, "__code__", None)
    if code is None or "<" not in function.__qualname__:
        return _name(function)
    bound = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = describe([_describe_code(code), function.__defaults__, bound], inside)
    return f"{_name(function)} {_digest(json.dumps(parts).encode())}"


def _describe_code(code):
    inner = [_describe_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), inner]


def _name(thing):
    """Return package and name: modules inside a package may move between its versions."""
    package = (getattr(thing, "__module__", None) or "").split(".")[0]
    return f"{package}.{getattr(thing, '__qualname__', thing.__name__)}"


def describe_data(data):
    """Return the shape and, as a digest, the content of an array, frame, sparse matrix or list."""
    if sparse.issparse(data):
        data = sparse.csr_array(data, copy=True)
        data.sum_duplicates()
        parts = [data.data, data.indices.astype(np.int64), data.indptr.astype(np.int64)]
        return {"shape": list(data.shape), "digest": _digest(*map(_bytes, parts))}
    if not hasattr(data, "__array__"):
        return describe(data)
    array = np.asarray(data)
    columns = {"columns": _shorten([str(c) for c in getattr(data, "columns", ())])}
    kind = {"shape": list(array.shape), "dtype": str(array.dtype)}
    return {**(columns if columns["columns"] else {}), **kind, "digest": _digest(_bytes(array))}


def _bytes(array):
    if array.dtype.kind in "OV":
        return json.dumps([describe(value) for value in array.ravel().tolist()]).encode()
    return np.ascontiguousarray(array).data.cast("B") if array.size else b""


def _shorten(values):
    if len(values) <= LONGEST:
        return values
    return {"length": len(values), "digest": _digest(json.dumps(values).encode())}


def _digest(*parts):
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _splits_digest(state):
    first, second = (_digest(*_split_bytes(state.split())) for _ in range(2))
    if first != second:
        raise ValueError(
            "cv must give the same splits every time when there is a journal, for candidates of "
            f"different runs to be comparable: got {state.splitter!r}. Give it an int as "
            "random_state."
        )
    return first


def _split_bytes(splits):
    for part in (indices for pair in splits for indices in pair):
        yield b"|"
        yield _bytes(np.asarray(part, dtype=np.int64))
