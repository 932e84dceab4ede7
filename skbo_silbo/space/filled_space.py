"""Complete a user's search space with default ranges, requested by ``"...": "auto"``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from sklearn.base import clone

from skbo_silbo._checks import brief
from skbo_silbo.space._parameters import read_parameter
from skbo_silbo.space.default_ranges import (
    REST,
    Branch,
    Step,
    as_table,
    branches_of_steps,
    class_branches,
    constants,
    default_space,
    has_parameter,
    list_steps,
    no_range_error,
    warn_of_unknown,
)
from skbo_silbo.space.values import same

Values: TypeAlias = Mapping[str, Any]


def fill_space(given: Any, estimator: Any, X: Any, y: Any) -> Any:
    """Replace each "auto" in a search space by the default range of the parameter."""
    if isinstance(given, str):
        return default_space(estimator, X, y)
    if not _asks_for_defaults(given):
        return given
    own = {name: values for name, values in given.items() if name not in REST}
    listed = {name: read_parameter(name, values).values for name, values in own.items()}
    variants = list(_iter_variants(estimator, X, y, listed))
    steps = [step for variant in variants for step in variant.steps]
    warn_of_unknown(steps)
    if not any(branch for variant in variants for branch in variant.branches):
        raise no_range_error(estimator, steps)
    branches = _complete_branches(variants, own)
    deciding = {name for variant in variants for name in variant.chosen}
    for name in sorted(deciding, key=len, reverse=True):
        branches = _merge_branches(branches, name)
    return as_table(branches, steps)


def _asks_for_defaults(given: Any) -> bool:
    """Return whether a space has the key "...", which requests default ranges for the rest.

    Raises
    ------
    ValueError
        If its value is not "auto", or it is in a list of dicts.
    """
    listed = given if isinstance(given, list) else []
    if any(name in branch for branch in listed if isinstance(branch, dict) for name in REST):
        raise ValueError(
            f'"..." in `param_distributions` is only supported in a single dict, not in a list of '
            f"dicts, got {brief(given)}. Write [*default_space(estimator), ...] or use one dict."
        )
    asked = [given[name] for name in REST if isinstance(given, dict) and name in given]
    if asked and asked != ["auto"]:
        raise ValueError(
            f'"..." in `param_distributions` must be "auto", got {brief(asked[0])}. Write '
            '"...": "auto" to add the default ranges of the other parameters.'
        )
    return bool(asked)


def _complete_branches(variants: list[Any], own: Values) -> list[Branch]:
    """Combine the default branches of all variants with the user's own values.

    A parameter of the user replaces its default range. A parameter without a default range is added
    to the branches of all variants whose estimator has it. If no estimator has it, it is added to
    all branches, so that the fits report the unknown parameter.
    """
    ranged = {name for variant in variants for branch in variant.branches for name in branch}
    existing = [{name for name in own if has_parameter(v.steps, name)} for v in variants]
    unknown = own.keys() - set().union(*existing)
    branches = []
    for variant, names in zip(variants, existing, strict=True):
        added = (names | unknown) - ranged
        chosen = {name: ([value], "") for name, value in variant.chosen.items()}
        for branch in variant.branches:
            kept = (branch.keys() | added) & own.keys() - chosen.keys()
            branches.append({**chosen, **branch, **{n: (own[n], "") for n in own if n in kept}})
    return branches


@dataclass(frozen=True)
class _Variant:
    """Default search ranges for one combination of the steps and kernels listed by the user.

    Attributes
    ----------
    chosen : dict
        Parameters chosen by the user that determine the branch, with their values.
    steps : list of Step
        Estimator and all estimators nested in it, with the chosen parameters.
    branches : list of dict
        The conditional branches of the default space, one dict per branch.
    """

    chosen: dict[str, Any]
    steps: list[Step]
    branches: list[dict[str, tuple[Any, str]]]


def _iter_variants(
    estimator: Any, X: Any, y: Any, listed: Values, chosen: Values = MappingProxyType({})
) -> Iterator[_Variant]:
    """Yield the default ranges for each combination of steps and kernels listed by the user."""
    steps = list_steps(estimator, X, y)
    deciding = [n for n in listed if n not in chosen and _decides(n, listed[n], estimator, steps)]
    if not deciding:
        branches = [
            {n: pair for n, pair in branch.items() if n not in chosen}
            for branch in branches_of_steps(steps)
            if all(same(branch[n][0], [v]) for n, v in chosen.items() if n in branch)
        ]
        yield _Variant(dict(chosen), steps, branches)
        return
    name = min(deciding, key=len)  # choose a step before its parameters
    for value in listed[name]:
        variant = clone(estimator).set_params(**{name: value})
        yield from _iter_variants(variant, X, y, listed, {**chosen, name: value})


def _merge_branches(branches: list[Branch], name: str) -> list[Branch]:
    """Merge branches that differ only in the value of the named parameter.

    Limits of later steps may also differ if they depend on the data, for example after another
    scaler. The limits of the first branch are used.
    """
    merged: list[dict[str, tuple[Any, str]]] = []
    for branch in branches:
        twin = next((b for b in merged if name in b and _can_be_merged(b, branch, name)), None)
        if twin is None:
            merged.append(dict(branch))
        else:
            twin[name] = [*twin[name][0], *branch[name][0]], ""
    return merged


def _can_be_merged(one: Branch, other: Branch, name: str) -> bool:
    """Return whether two branches have the same ranges, except for the named parameter.

    Distributions in other steps may also differ, because their limits depend on the data. Only the
    step that the parameter replaces or belongs to must have the same distributions.
    """
    if one.keys() != other.keys():
        return False
    is_step = any(hasattr(value, "fit") for value in [*one[name][0], *other[name][0]])
    prefix = f"{name}__" if is_step else name.removesuffix(name.rpartition("__")[2])

    def agree(n: str, a: Any, b: Any) -> bool:
        if isinstance(a, list):
            return same(a, b)
        if a is b or not n.startswith(prefix):
            return True
        return read_parameter(n, a).text == read_parameter(n, b).text

    return all(agree(n, one[n][0], other[n][0]) for n in one.keys() - {name})


def _decides(name: str, values: Any, estimator: Any, steps: list[Step]) -> bool:
    """Return whether a categorical parameter determines which other parameters exist."""
    has = estimator.get_params()
    if values is None or name not in has:
        return False
    if any(hasattr(value, "fit") for value in [has[name], *values]):
        return True
    branches = [(s.prefix, branch) for s in steps if s.key for branch in class_branches(s.key)]
    return any(name == prefix + n for prefix, branch in branches for n in constants(branch))
