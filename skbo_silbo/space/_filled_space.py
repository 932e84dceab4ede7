"""A user's space with ``"...": "auto"``: the entries given, and all else that is known."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sklearn.base import clone

from skbo_silbo._checks import brief
from skbo_silbo.space._known_space import (
    REST,
    Step,
    as_table,
    branches_of_steps,
    default_space,
    no_range_error,
    steps_of,
    warn_of_unknown,
)
from skbo_silbo.space._known_table import branches_of_class, constants
from skbo_silbo.space._parameters import read_parameter
from skbo_silbo.space._values import range_in_words, same


def as_known_space(given: Any, estimator: Any, X: Any, y: Any) -> Any:
    """Return a space; "auto", or a dict with ``"...": "auto"``, with the default space in it."""
    if isinstance(given, str):
        return default_space(estimator, X, y)
    listed = given if isinstance(given, list) else []
    if any(name in branch for branch in listed if isinstance(branch, dict) for name in REST):
        raise ValueError(
            f'"..." in param_distributions must stand in one dict, not in a list of dicts: got '
            f"{brief(given)}. Write [*default_space(estimator), ...], or one dict."
        )
    asked = [given[name] for name in REST if isinstance(given, dict) and name in given]
    if not asked:
        return given
    if asked != ["auto"]:
        raise ValueError(
            f'"..." in param_distributions must be "auto": got {asked[0]!r}. Write "...": "auto" '
            "for what default_space has besides your entries."
        )
    own = {name: values for name, values in given.items() if name not in REST}
    values_of = {name: read_parameter(name, values).values for name, values in own.items()}
    variants = list(_variants(estimator, X, y, values_of))
    steps = [step for variant in variants for step in variant.steps]
    warn_of_unknown(steps)
    known = {name for variant in variants for branch in variant.branches for name in branch}
    if not known:
        raise no_range_error(estimator)
    has = {name for variant in variants for name in own if variant.has(name)}
    branches = []
    for variant in variants:
        free = {n for n in own if n not in known and (variant.has(n) or n not in has)}
        chosen = {n: ([v], "") for n, v in variant.chosen.items()}
        for branch in variant.branches:
            kept = {n: (own[n], "") for n in own if n not in chosen and n in {*branch, *free}}
            branches.append({**chosen, **branch, **kept})
    deciding = {name for variant in variants for name in variant.chosen}
    for name in sorted(deciding, key=len, reverse=True):
        branches = _merged(branches, name)
    return as_table(branches, steps)


@dataclass(frozen=True)
class _Variant:
    """An estimator with those values of a user's space that decide which parameters there are.

    Attributes
    ----------
    chosen : dict
        These values, by name.
    steps : list of Step
    branches : list of dict
        What is known under them.
    names : set of str
        Of the estimator's parameters.
    """

    chosen: dict[str, Any]
    steps: list[Step]
    branches: list[dict[str, tuple[Any, str]]]
    names: set[str]

    def has(self, name: str) -> bool:
        """Return whether the estimator has a parameter, or a step of it."""
        inside = (
            s.has(name.removeprefix(s.prefix)) for s in self.steps if name.startswith(s.prefix)
        )
        return name in self.names or any(inside)


def _variants(estimator, X, y, listed, chosen=MappingProxyType({})):
    """Yield the estimator with each of a user's values of steps, kernels and the like."""
    steps = steps_of(estimator, X, y)
    deciding = [n for n in listed if n not in chosen and _decides(n, listed[n], estimator, steps)]
    if not deciding:
        branches = [
            {n: pair for n, pair in branch.items() if n not in chosen}
            for branch in branches_of_steps(steps)
            if all(same(branch[n][0], [v]) for n, v in chosen.items() if n in branch)
        ]
        yield _Variant(dict(chosen), steps, branches, set(estimator.get_params()))
        return
    name = min(deciding, key=len)  # a step before what is inside it
    for value in listed[name]:
        variant = clone(estimator).set_params(**{name: value})
        yield from _variants(variant, X, y, listed, {**chosen, name: value})


def _merged(branches, name):
    """Return branches, those in one that differ in nothing but the value of a parameter.

    Ends of distributions of other steps may differ, as those after another scaler do: then the
    first ones are taken.
    """
    merged: list[dict[str, tuple[Any, str]]] = []
    for branch in branches:
        twin = next((b for b in merged if name in b and _is_twin(b, branch, name)), None)
        if twin is None:
            merged.append(dict(branch))
        else:
            twin[name] = [*twin[name][0], *branch[name][0]], ""
    return merged


def _is_twin(one, other, name):
    """Return whether two branches differ in one parameter, and other steps' distributions, alone.

    The ranges of the step that the parameter replaces, or belongs to, have to be the same.
    """
    if one.keys() != other.keys():
        return False
    is_step = any(hasattr(value, "fit") for value in [*one[name][0], *other[name][0]])
    prefix = f"{name}__" if is_step else name.removesuffix(name.rpartition("__")[2])

    def agree(n, a, b):
        if isinstance(a, list):
            return same(a, b)
        return a is b or not n.startswith(prefix) or _in_words(n, a) == _in_words(n, b)

    return all(agree(n, one[n][0], other[n][0]) for n in one.keys() - {name})


def _in_words(name, values):
    return range_in_words(read_parameter(name, values))


def _decides(name, values, estimator, steps):
    """Return whether a parameter of these values, None for a distribution, decides on others."""
    has = estimator.get_params()
    if values is None or name not in has:
        return False
    if any(hasattr(value, "fit") for value in [has[name], *values]):
        return True
    parts = [(s.prefix, part) for s in steps if s.key for part in branches_of_class(s.key)]
    return any(name == prefix + n for prefix, part in parts for n in constants(part))
