"""The candidates that a search evaluates first, because they were given."""

from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator

from skbo_silbo._checks import warn_user
from skbo_silbo.journal._describe import describe
from skbo_silbo.optimizers._events import OF_CALLS
from skbo_silbo.space._keys import keys_of
from skbo_silbo.space._union import branches_of

CURRENT = "current"


class Given:
    """Candidates that are evaluated before the design.

    Parameters
    ----------
    params : list of dict
    space : Space or SpaceUnion
    is_due : bool, default=True
        Whether they are to be evaluated.

    Attributes
    ----------
    params : list of dict
        The candidates. They are known again by identity: equal ones may be proposed later.
    n_outside : int
        How many are not of the space. They are evaluated, and the model is not told of them.
    """

    is_dict = True  # for the journal, as a space is

    def __init__(self, params, space, *, is_due=True):
        self.params, self.space, self._is_due = params, space, is_due
        self._outside = [i for i, p in enumerate(params) if not is_point_of(p, space)]
        self.n_outside = len(self._outside)
        self.n_features_ = space.n_features_ + bool(self._outside)
        inside = [i for i in range(len(params)) if i not in self._outside]
        keys = keys_of(space.encode([params[i] for i in inside])) if inside else []
        self._numbers = dict(zip(keys, inside, strict=True))

    def with_value(self, space, name, value):
        """Return the same in a space with one parameter more, which all of these have set so."""
        params = [{**params, name: value} for params in self.params]
        return Given(params, space, is_due=self._is_due)

    def number(self, params):
        """Return the place of this candidate in the list, None if it is not in it."""
        return next((i for i, p in enumerate(self.params) if p is params), None)

    def is_modelled(self, params):
        """Return whether the model is told of a candidate."""
        return self.number(params) not in self._outside

    def left(self, candidates):
        """Return those to evaluate that are not among evaluated candidates."""
        done = {self.number(candidate.params) for candidate in candidates}
        return [p for i, p in enumerate(self.params) if self._is_due and i not in done]

    def without(self, points):
        """Return those of some points of the space that were not given."""
        keys = keys_of(self.space.encode(points)) if points else []
        return [p for p, key in zip(points, keys, strict=True) if key not in self._numbers]

    def modelled(self, events):
        """Return the events of a journal that are an optimiser's of the space."""
        followed = (e for e in events if "told" not in e or not self._is_outside(e["told"][0]))
        return [self._of_space(e) for e in followed if not OF_CALLS & e.keys()]

    def encode(self, points):
        """Return places for the journal, (n, m); (n, m + 1) if some of the given are outside.

        The last coordinate is then 0 for points of the space, else says the number.
        """
        return np.array([self._encode(params) for params in points])

    def decode(self, places):
        """Return the candidates at these places."""
        return [self._decode(np.asarray(place, dtype=float)) for place in places]

    def _encode(self, params):
        if self.is_modelled(params):
            return np.append(self.space.encode([params])[0], [0.0] * bool(self._outside))
        last = (self.number(params) + 1) / len(self.params)
        return np.append(np.zeros(self.space.n_features_), last)

    def _decode(self, place):
        if self._is_outside(place):
            return self.params[round(place[-1] * len(self.params)) - 1]
        place = place[: self.space.n_features_]
        [key] = keys_of(place[None])
        i = self._numbers.get(key)
        return self.space.decode([place])[0] if i is None else self.params[i]

    def _is_outside(self, place):
        return bool(self._outside) and place[-1] != 0

    def _of_space(self, event):
        if "told" not in event:
            return event
        return {**event, "told": [x[: self.space.n_features_] for x in event["told"]]}


def read_initial_params(given, estimator, space, n_iter, violation=None):
    """Return the candidates that `initial_params` says.

    Parameters
    ----------
    given : "current", dict, list of dict or None
        As `SILBOSearchCV` takes it.
    estimator : estimator object
        Whose parameters are the current ones.
    space : Space or SpaceUnion
    n_iter : int
        With 1 the current ones are not evaluated.
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
        return Given([], space)
    if isinstance(given, str) and given == CURRENT:
        current = [p for p in _current(estimator, space) if _may_be_evaluated(p, violation)]
        return Given(current, space, is_due=n_iter > 1)
    params = [given] if isinstance(given, Mapping) else given
    if not isinstance(params, list) or not all(isinstance(p, Mapping) for p in params):
        raise ValueError(
            f"initial_params must be 'current', a dict, a list of dicts or None: got {given!r}. "
            "Write [{'C': 1.0}, ...]."
        )
    candidates = Given(_once([_checked(p, space, violation) for p in params], space), space)
    if n := candidates.n_outside:
        warn_user(
            f"{n} of {len(candidates.params)} initial_params are outside the space: they are "
            "evaluated, and the model does not learn from them."
        )
    return candidates


def is_point_of(params, space):
    """Return whether a space has a point."""
    try:
        space.encode([params])
    except ValueError:
        return False
    return True


def _current(estimator, space):
    """Return what the estimator has, of the first branch that holds it, in a list.

    Empty where the space names what the estimator lacks: its fits say so.
    """
    has = estimator.get_params()
    known = [branch for branch in branches_of(space) if has.keys() >= set(branch.parameter_names)]
    readings = [{p.name: _as_listed(has[p.name], p) for p in b.parameters} for b in known]
    inside = (params for params in readings if is_point_of(params, space))
    return [p for p in [next(inside, readings[0] if readings else None)] if p is not None]


def _may_be_evaluated(current, violation):
    """Say if a constraint keeps the estimator as it is from being evaluated.

    It may have values, such as ``gamma="scale"``, that a rule for the space cannot deal with.
    """
    try:
        why = "do not satisfy constraints" if violation and violation(current) else None
    except Exception as error:  # whatever a user's function raises
        why = f"are none that constraints can be asked about ({type(error).__name__}: {error})"
    if why:
        warn_user(
            f"the current parameters {why}: {current} is not evaluated. Give initial_params valid "
            "ones, or None."
        )
    return why is None


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
