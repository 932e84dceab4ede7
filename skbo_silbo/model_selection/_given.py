"""What a search is given: candidates to evaluate first, and scores of an earlier search."""

import math
import sys
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator

from skbo_silbo._checks import brief, warn_user
from skbo_silbo.journal._describe import describe
from skbo_silbo.optimizers._event import Points
from skbo_silbo.space._keys import keys_of
from skbo_silbo.space._known_candidates import known_candidates
from skbo_silbo.space._union import branches_of
from skbo_silbo.space._values import same

CURRENT, KNOWN = "current", "known"


class InitialCandidates:
    """Candidates to evaluate before the initial design.

    Parameters
    ----------
    params : list of dict
    space : Space or SpaceUnion
    n_due : int or None, default=None
        How many of them to evaluate, the first ones; None for all.
    known : list of dict, default=()
        Those of them that come from the table of known candidates.

    Attributes
    ----------
    points : Points
        Writes and reads candidates of the search; these are recognised by identity.
    due : list of (dict, str)
        Candidates to evaluate, and where they come from: "given" or "known".
    outside : list of dict
        Candidates outside the space. They are evaluated, but the model does not learn from them.
    """

    def __init__(self, params, space, *, n_due=None, known=()):
        self.params, self.known = list(params), known
        self.points = Points(space, self.params)
        self.due = [(p, self._source(p)) for p in self.params[:n_due]]
        self.outside = [p for p in self.params if not is_point_of(p, space)]

    def _source(self, params):
        return KNOWN if any(p is params for p in self.known) else "given"


def read_initial_params(given, steps, space, n_iter, violation=None):
    """Return the candidates that `initial_params` says.

    Parameters
    ----------
    given : "known", "current", dict, list of dict or None
        As `SILBOSearchCV` takes it.
    steps : list of Step
        Of the estimator, whose parameters are the current ones.
    space : Space or SpaceUnion
    n_iter : int
        With 1 neither the current nor known ones are evaluated.
    violation : callable or None, default=None
        Of a candidate: 0 if it is valid.

    Raises
    ------
    ValueError
        If it is none of these, or a dict lacks parameters of the space, has others or is not valid.

    Warns
    -----
    UserWarning
        If a dict is outside the space, or the current ones are not valid: these are left out.
    """
    if given is None:
        return InitialCandidates([], space)
    if isinstance(given, str) and given in (CURRENT, KNOWN):
        return _of_estimator(steps, space, n_iter, violation, is_known=given == KNOWN)
    params = [given] if isinstance(given, Mapping) else given
    if not isinstance(params, list) or not all(isinstance(p, Mapping) for p in params):
        raise ValueError(
            "initial_params must be 'known', 'current', a dict, a list of dicts or None: got "
            f"{brief(given)}. Write [{{'C': 1.0}}, ...]."
        )
    candidates = InitialCandidates(
        _once([_checked(p, space, violation) for p in params], space), space
    )
    own = _current(steps, space)  # as those of a portfolio may be
    if outside := [p for p in candidates.outside if not any(is_same(p, c) for c in own)]:
        warn_user(
            f"{len(outside)} of {len(params)} initial_params are outside the space: they are "
            f"evaluated, and the model does not learn from them. {why_outside(outside[0], space)}"
        )
    return candidates


def is_point_of(params, space):
    """Return whether a space has a point."""
    return why_outside(params, space) is None


def why_outside(params, space):
    """Return the words that a space refuses a point with; None where it has it."""
    try:
        space.encode([params])
    except ValueError as error:
        return str(error)


def _of_estimator(steps, space, n_iter, violation, *, is_known):
    """Return the current candidate, and the known ones of its steps."""
    estimator = steps[0].estimator
    current = [p for p in _current(steps, space) if _may_be_evaluated(p, violation)]
    known = known_candidates(steps, estimator.get_params(), branches_of(space)) if is_known else []
    known = [p for p in known if not (violation and violation(p))]
    params = _once(current + known, space)
    n_due = min(n_iter, len(params)) if n_iter > 1 else 0
    return InitialCandidates(params, space, n_due=n_due, known=known)


def _current(steps, space):
    """Return the estimator's own parameters, of the first branch that holds them, in a list.

    CatBoost names only those that were set. The others are not in the candidate, which is {} for
    an untuned model. The list is empty where the space names what the estimator lacks: its fits
    say so.
    """
    has = steps[0].estimator.get_params()
    known = [b for b in branches_of(space) if all(_is_known(n, steps) for n in b.parameter_names)]
    readings = [
        {p.name: _as_listed(has[p.name], p) for p in b.parameters if p.name in has} for b in known
    ]
    inside = (params for params in readings if is_point_of(params, space))
    return [p for p in [next(inside, readings[0] if readings else None)] if p is not None]


def _is_known(name, steps):
    """Whether the estimator, or one inside it, has a parameter of this name."""
    if name in steps[0].estimator.get_params():
        return True
    own = (s for s in steps if name.startswith(s.prefix))
    return any(s.has(name.removeprefix(s.prefix)) for s in own)


def _may_be_evaluated(current, violation):
    """Say if a constraint keeps the estimator as it is from being evaluated.

    It may have values, such as ``gamma="scale"``, that a rule for the space cannot deal with.
    """
    try:
        why = "constraints do not hold for" if violation and violation(current) else None
    except Exception as error:  # whatever a user's function raises
        why = f"constraints raised {type(error).__name__} ({error}) on"
    if why:
        warn_user(
            f"{why} the estimator's current parameters {current}, so these are not evaluated. Give "
            "initial_params valid ones, or None."
        )
    return why is None


def is_same(one, other):
    """Return whether two candidates have the same values."""
    return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)


def _as_listed(value, parameter):
    """Return the member of a list that is like an estimator, which equals itself alone."""
    if not isinstance(value, BaseEstimator):
        return value
    alike = (v for v in parameter.values or () if type(v) is type(value) and _is_like(v, value))
    return next(alike, value)


def _is_like(one, other):
    try:
        return describe(one) == describe(other)
    except ValueError:  # a part cannot be seen
        return False


def _checked(params, space, violation):
    if not any(params.keys() == set(branch.parameter_names) for branch in branches_of(space)):
        raise ValueError(
            f"initial_params must have exactly the parameters {space.parameter_names}: got "
            f"{list(params)}. Add or remove some."
        )
    if violation and violation(params):
        raise ValueError(
            f"initial_params must satisfy constraints: got {params}. Change the candidate, or "
            "leave it out."
        )
    return dict(params)


def _once(params, space):
    """Return candidates, one of the space only once."""
    once = {}
    for p in params:
        key = keys_of(space.encode([p]))[0] if is_point_of(p, space) else len(once)
        once.setdefault(key, p)
    return list(once.values())


PREFIX = "param_"


def read_initial_results(given, refit, space):
    """Return candidates and their scores.

    Parameters
    ----------
    given : dict or list of (params, score)
        As `SILBOSearchCV` takes them: ``cv_results_``, or columns of it.
    refit : object
        Names the metric, where there are several; otherwise the first of them counts.
    space : Space or SpaceUnion
        Tells a parameter that is None from one that a candidate does not have, both of which are
        NaN in a column of a frame.

    Returns
    -------
    params : list of dict
    scores : list of float
        NaN for a failed candidate.

    Raises
    ------
    ValueError
        If it is none of these, or lacks parameters or scores.
    """
    if isinstance(given, (list, tuple)):
        return _read_pairs(given)
    if not isinstance(given, Mapping):
        raise ValueError(_not_results(given))
    scores = given[_score_name(given, refit)]
    scores = [math.nan if _is_empty(score) else float(score) for score in scores]
    params = _read_params(given, space)
    sources = given.get("source", [None] * len(params))
    resources = given.get("n_resources", [0] * len(params))
    most = max(resources, default=0)
    kept = [
        i
        for i, p in enumerate(params)
        if resources[i] == most
        and (sources[i] != "given" or is_point_of(p, space))  # as ``gamma="scale"`` is not
    ]
    return [params[i] for i in kept], [scores[i] for i in kept]


def _read_pairs(pairs):
    try:
        params, scores = zip(*pairs, strict=True) if pairs else ((), ())
        scores = [float(score) for score in scores]
    except (TypeError, ValueError) as error:
        raise ValueError(_not_results(pairs)) from error
    if not all(isinstance(p, Mapping) for p in params):
        raise ValueError(_not_results(pairs))
    return [dict(p) for p in params], scores


def _score_name(columns, refit):
    prefix = "mean_test_"
    names = [name for name in columns if name.startswith(prefix)]
    if isinstance(refit, str):
        names = [name for name in names if name == prefix + refit]
    if not names:
        raise _no_column(prefix + (refit if isinstance(refit, str) else "score"), columns)
    return names[0]


def _no_column(wanted, columns):
    return ValueError(
        f"initial_results must have a column {wanted!r}: got {brief(sorted(columns))}. Give "
        "cv_results_ of a search with that metric, or columns 'param_...' for every parameter."
    )


def _read_params(columns, space):
    params = list(columns.get("params", ()))
    if params and all(isinstance(p, Mapping) for p in params):
        return [dict(p) for p in params]
    named = {k.removeprefix(PREFIX): v for k, v in columns.items() if k.startswith(PREFIX)}
    if not named:
        raise _no_column("params", columns)
    rows = zip(*named.values(), strict=True)
    return [_candidate(dict(zip(named, row, strict=True)), space) for row in rows]


def _candidate(cells, space):
    """Return the parameters of a row, its empty cells None where a branch of the space says so."""
    given = {name: value for name, value in cells.items() if not _is_empty(value)}
    wanted = ([n for n in b.parameter_names if n in cells] for b in branches_of(space))
    readings = ({**dict.fromkeys(names), **given} for names in wanted)
    fewest_none_first = sorted([given, *readings], key=len)
    return next((params for params in fewest_none_first if is_point_of(params, space)), given)


def _is_empty(value):
    """Whether a cell is masked, NaN, None, or what pandas has for all three."""
    if value is None or value is np.ma.masked or (isinstance(value, float) and np.isnan(value)):
        return True
    pandas = sys.modules.get("pandas")  # not imported: then no value is its NA
    return pandas is not None and value is pandas.NA


def _not_results(given):
    frame = (
        ' For a DataFrame, write frame.to_dict("list"), with polars frame.to_dict(as_series=False).'
        if hasattr(given, "columns")
        else ""
    )
    return (
        "initial_results must be cv_results_ or a list of (params, score): got "
        f"{type(given).__name__}. Write [({{'C': 1.0}}, 0.9), ...].{frame}"
    )
