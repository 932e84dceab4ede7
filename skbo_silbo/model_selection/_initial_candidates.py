"""Read the `initial_params` of a search: the candidates to evaluate before the initial design."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, TypeAlias

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.space import Space
from skbo_silbo.space.any_space import NamedSpace, branches_of
from skbo_silbo.space.default_ranges import Step, has_parameter
from skbo_silbo.space.first_candidates import as_listed, in_space, known_candidates
from skbo_silbo.space.keys import keys_of
from skbo_silbo.space.values import same

Params: TypeAlias = Sequence[dict[str, Any]]
Violation: TypeAlias = Callable[[Any], float]
CURRENT, KNOWN = "current", "known"
MAX_MOVED = 4  # branches that are tried with the current parameters


class InitialCandidates:
    """Candidates that a search evaluates before its initial design.

    Parameters
    ----------
    params : list of dict
        The candidates, as dicts of parameter values.
    space : Space or SpaceUnion
        The search space that candidates are drawn from.
    n_due : int or None, default=None
        Number of candidates to evaluate, or None for all of them.
    known : list of dict, default=()
        Candidates that perform well on many other data sets.

    Attributes
    ----------
    due : list of (dict, str)
        Candidates to evaluate, each with its source, "given" or "known".
    outside : list of dict
        Candidates outside the search space. They are evaluated, but not used to fit the surrogate.
    """

    def __init__(
        self, params: Params, space: NamedSpace, *, n_due: int | None = None, known: Params = ()
    ) -> None:
        self.params, self.known = list(params), known
        sources = [KNOWN if any(p is k for k in known) else "given" for p in self.params]
        self.due = list(zip(self.params, sources, strict=True))[:n_due]
        self.outside = [p for p in self.params if not is_point_of(p, space)]


def read_initial_params(
    given: Any, steps: list[Step], space: NamedSpace, n_iter: Any, violation: Violation
) -> InitialCandidates:
    """Read the parameter `initial_params` of a search.

    Parameters
    ----------
    given : "known", "current", dict, list of dict or None
        The parameter `initial_params` of `SILBOSearchCV`.
    steps : list of Step
        The estimator to be tuned and all estimators nested in it.
    space : Space or SpaceUnion
        The search space that candidates are drawn from.
    n_iter : int or float
        Maximum number of candidates of the search, possibly infinite. With 1, only candidates that
        the user passed are evaluated.
    violation : callable
        Function that returns the constraint violation of a candidate, 0 if all constraints are
        satisfied.

    Returns
    -------
    candidates : InitialCandidates

    Raises
    ------
    ValueError
        If `given` has none of these types, or if a candidate does not have exactly the parameters
        of the space, violates a constraint, or contains NaN or a number as text that neither the
        space nor the estimator has.

    Warns
    -----
    UserWarning
        If a given candidate is outside the space, or the estimator's current parameters violate a
        constraint and are therefore skipped.
    """
    if given is None:
        return InitialCandidates([], space)
    if isinstance(given, str) and given in (CURRENT, KNOWN):
        return _of_estimator(steps, space, n_iter, violation, is_known=given == KNOWN)
    params = [given] if isinstance(given, Mapping) else given
    if not isinstance(params, list) or not all(isinstance(p, Mapping) for p in params):
        raise ValueError(
            "`initial_params` must be 'known', 'current', a dict, a list of dicts or None, got "
            f"{brief(given)}. Write [{{'C': 1.0}}, ...]."
        )
    current = steps[0].estimator.get_params()
    checked = [_check_candidate(p, space, violation, current) for p in params]
    candidates = InitialCandidates(drop_duplicates(checked, space), space)
    own = _current(steps, space)  # may be outside without a warning, e.g. from another search
    if outside := [p for p in candidates.outside if not any(same(p, c) for c in own)]:
        warn_user(
            f"{len(outside)} of {len(params)} initial_params are outside the space. They are "
            "evaluated but not used to fit the surrogate. The first one: "
            f"{why_outside(outside[0], space)}"
        )
    return candidates


def is_point_of(params: Any, space: NamedSpace) -> bool:
    """Return whether a candidate lies in the search space."""
    return why_outside(params, space) is None


def why_outside(params: Any, space: NamedSpace) -> str | None:
    """Return why a candidate lies outside the search space, or None if it is inside."""
    try:
        space.encode([params])
    except ValueError as error:
        return str(error)
    return None


def _of_estimator(
    steps: list[Step], space: NamedSpace, n_iter: Any, violation: Violation, *, is_known: bool
) -> InitialCandidates:
    """Return the estimator's current parameters and, on request, the default candidates."""
    current = [p for p in _current(steps, space) if _may_be_evaluated(p, violation)]
    known = known_candidates(steps, space) if is_known and isinstance(space, Space) else []
    branches = branches_of(space) if is_known else []
    empty = [b for b in branches if not any(is_point_of(p, b) for p in current + known)]
    known += [in_space(b, steps[0].estimator.get_params()) for b in empty[:MAX_MOVED]]
    known = [p for p in known if not violation(p)]
    params = drop_duplicates(current + known, space)
    n_due = min(n_iter, len(params)) if n_iter > 1 else 0
    return InitialCandidates(params, space, n_due=n_due, known=known)


def _current(steps: list[Step], space: NamedSpace) -> list[dict[str, Any]]:
    """Return the estimator's current parameters in the first branch that contains them.

    The list is empty if the space contains parameters that the estimator does not have. CatBoost
    only returns parameters that were set, so that its candidate may be {}.
    """
    has = steps[0].estimator.get_params()
    readings = [
        {p.name: as_listed(has[p.name], p) for p in branch.parameters if p.name in has}
        for branch in branches_of(space)
        if all(has_parameter(steps, name) for name in branch.parameter_names)
    ]
    inside = [params for params in readings if is_point_of(params, space)]
    return (inside or readings)[:1]


def _may_be_evaluated(current: dict[str, Any], violation: Violation) -> bool:
    """Return whether the current parameters satisfy the constraints, and warn if not.

    Constraints may fail on values outside the space, such as ``gamma="scale"``.
    """
    try:
        why = "violate the constraints" if violation(current) else None
    except Exception as error:  # constraints of users may raise anything
        why = f"make a constraint raise {type(error).__name__} ({error})"
    if why:
        warn_user(
            f"The estimator's current parameters {brief(current)} {why}, so they are not "
            "evaluated. Set initial_params to valid candidates or None."
        )
    return why is None


def _check_candidate(params: Any, space: NamedSpace, violation: Violation, current: Any) -> Any:
    if not any(params.keys() == set(branch.parameter_names) for branch in branches_of(space)):
        raise ValueError(
            f"`initial_params` must have exactly the parameters {space.parameter_names}, got "
            f"{list(params)}. Add or remove parameters."
        )
    for name, value in params.items():
        listed = [p for b in branches_of(space) for p in b.parameters if p.name == name]
        is_possible = same(value, current.get(name)) or any(p.holds(value) for p in listed)
        if not is_possible and _is_misread(value, [v for p in listed for v in p.values or ()]):
            raise ValueError(
                "`initial_params` must contain neither NaN nor numbers as text, got "
                f"{brief(value)} for {name!r}. Change or remove this candidate."
            )
    if violation(params):
        raise ValueError(
            f"`initial_params` must satisfy `constraints`, got {brief(params)}. Change or remove "
            "this candidate."
        )
    return dict(params)


def _is_misread(value: Any, listed: list[Any]) -> bool:
    """Return whether a value is NaN, or text such as "1.0" although the space lists no text."""
    if isinstance(value, str) and not any(isinstance(v, str) for v in listed):
        with suppress(ValueError):
            return isinstance(float(value), float)
    return isinstance(value, Real) and math.isnan(value)


def drop_duplicates(params: Params, space: NamedSpace) -> list[dict[str, Any]]:
    """Remove duplicate candidates, except those outside the search space."""
    distinct: dict[bytes | int, dict[str, Any]] = {}
    for p in params:
        try:
            [key] = keys_of(space.encode([p]))
            distinct.setdefault(key, p)
        except ValueError:  # outside the space
            distinct[len(distinct)] = p
    return list(distinct.values())
