"""What a search is, in plain JSON, so that one can be told from another in a later process."""

import json
from inspect import signature

import numpy as np

from skbo_silbo.model_selection._describe import VERSION, describe, describe_data, digest
from skbo_silbo.model_selection._initial_results import read_initial_results

SHOWN = 5  # differences that a message names

# Parameters of a search that do not decide what its candidates are and what their scores mean.
MAY_CHANGE = (
    *("callback", "journal", "max_time", "n_iter", "n_jobs", "patience", "pre_dispatch", "timeout"),
    "verbose",
)
# Parameters that the fingerprint has in a form of its own.
IN_OTHER_WORDS = (
    *("batch_size", "cv", "estimator", "initial_results", "param_distributions", "refit"),
)


def search_fingerprint(search, space, state, version=VERSION):
    """Return all that decides what the candidates of a search are and what their scores mean.

    That is every parameter of the search but those in `MAY_CHANGE`, the data, and what is routed
    to splitter, estimator and scorers.

    Parameters
    ----------
    search : SILBOSearchCV
    space : Space or SpaceUnion
        Read from its `param_distributions`.
    state : SearchState
        The data and splits of the fit.
    version : int
        Of the journal that it is for.

    Returns
    -------
    fingerprint : dict
        What JSON can hold.

    Raises
    ------
    ValueError
        If the splitter gives other splits when it splits again, or a part cannot be described.
    """

    def told(value):
        return describe(value, version)

    def held(data):
        return describe_data(data, version)

    fingerprint = {
        "param_distributions": told(space.summary()),
        "order of param_distributions": space.parameter_names,
        "estimator": told(search.estimator),
        "X": held(state.X),
        "y": held(state.y),
        "fit parameters": {k: held(v) for k, v in sorted(state.fit_params.items())},
        "cv": {"splitter": told(state.splitter), "splits": _splits_digest(state)},
        "refit": search.refit if isinstance(search.refit, str) else None,  # the metric searched
        **{name: told(getattr(search, name)) for name in described_parameters(type(search))},
    }
    fingerprint["batch_size"] = 1 if search.batch_size == "auto" else told(search.batch_size)
    if search.initial_results is not None:
        told_before = read_initial_results(search.initial_results, search.refit)
        fingerprint["initial_results"] = told(told_before)
    if version > 1:
        fingerprint["scorer parameters"] = {
            k: held(v) for k, v in sorted(state.score_params.items())
        }
        fingerprint["order of scoring"] = _order(search)
    return fingerprint


def described_parameters(cls):
    """Return the names of a search's parameters that the fingerprint has as they are."""
    left_out = {*MAY_CHANGE, *IN_OTHER_WORDS}
    return [name for name in signature(cls).parameters if name not in left_out]


def _order(search):
    """Return the order of the metrics where it decides which is searched."""
    by_order = isinstance(search.scoring, dict) and not isinstance(search.refit, str)
    return [str(name) for name in search.scoring] if by_order else None


def without_new_defaults(fingerprint, old, cls, version):
    """Leave out parameters that an older journal does not know, where they are at their default."""
    defaults = {name: p.default for name, p in signature(cls).parameters.items()}
    new = [name for name in described_parameters(cls) if name not in old]
    idle = {name for name in new if fingerprint[name] == describe(defaults[name], version)}
    return {name: value for name, value in fingerprint.items() if name not in idle}


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
    """Yield the parts that differ; all of it where the parts that are compared do not say how."""
    if _text(old) == _text(new):
        return
    parts, others, found = _parts(old), _parts(new), []
    if _is_like(old, new, parts, others):
        for key in dict.fromkeys([*parts, *others]):
            inner = f"{where}.{key}" if where else key
            found += _differences(parts.get(key, "absent"), others.get(key, "absent"), inner)
    yield from found or [(where, old, new)]


def _text(value):
    """Return what tells values apart, 1, 1.0 and True too; the order of keys says nothing."""
    return json.dumps(value, sort_keys=True)


def _parts(value):
    """Return the parts of a description that are compared one by one; None if it is one itself."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list) or not any(isinstance(part, dict | list) for part in value):
        return None
    return _steps(value) or {str(i): part for i, part in enumerate(value)}


def _steps(parts):
    """Return (name, rest) members, as those of a Pipeline, by name; None if they are others."""
    if not all(isinstance(part, list) and part and isinstance(part[0], str) for part in parts):
        return None
    if not any(isinstance(part, dict) for _, *rest in parts for part in rest):
        return None
    steps = {name: rest[0] if len(rest) == 1 else rest for name, *rest in parts}
    return steps if len(steps) == len(parts) else None


def _is_like(old, new, parts, others):
    """Whether to compare part by part; the parameters of another class say nothing."""
    if parts is None or others is None or type(old) is not type(new):
        return False
    if isinstance(old, list):
        return list(parts) == list(others)
    return old.get("class") == new.get("class")


def _short(value):
    if isinstance(value, dict) and (value.keys() == {"float"} or "class" in value):
        value = value.get("float", value.get("class"))
    if isinstance(value, list):
        value = list(_steps(value) or value)
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _splits_digest(state):
    first, second = (digest(*_split_bytes(state.split())) for _ in range(2))
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
        yield np.ascontiguousarray(part, dtype=np.int64).data.cast("B") if len(part) else b""
