"""The candidates that a search evaluates first, because they were given."""

import warnings
from collections.abc import Mapping

import numpy as np
from sklearn.base import BaseEstimator

from skbo_silbo.journal import describe
from skbo_silbo.space import SpaceUnion

CURRENT = "current"


class Given:
    """Candidates that are evaluated before the design.

    Parameters
    ----------
    params : list of dict
    space : Space or SpaceUnion

    Attributes
    ----------
    params : list of dict
        The candidates. They are known again by identity: equal ones may be proposed later.
    n_outside : int
        How many are not of the space. They are evaluated, and the model is not told of them.
    """

    def __init__(self, params, space):
        self.params, self.space = params, space
        self._outside = [i for i, p in enumerate(params) if not is_point_of(p, space)]
        self.n_outside = len(self._outside)

    def number(self, params):
        """Return the place of this candidate in the list, None if it is not in it."""
        return next((i for i, p in enumerate(self.params) if p is params), None)

    def is_modelled(self, params):
        """Return whether the model is told of a candidate."""
        return self.number(params) not in self._outside

    def left(self, candidates):
        """Return those that are not among evaluated candidates."""
        done = {self.number(candidate.params) for candidate in candidates}
        return [p for i, p in enumerate(self.params) if i not in done]

    def encode(self, points):
        """Return places for the journal: of a given candidate its number, beyond the cube."""
        return [self._encode(params) for params in points]

    def decode(self, places):
        """Return the candidates at these places."""
        return [self._decode(place) for place in places]

    def _encode(self, params):
        i = self.number(params)
        return self.space.encode([params])[0] if i is None else np.array([2.0 + i])

    def _decode(self, place):
        if len(place) == 1 and place[0] >= 2:
            return self.params[int(place[0]) - 2]
        return self.space.decode([place])[0]


def read_initial_params(given, estimator, space):
    """Return the candidates that `initial_params` says.

    Parameters
    ----------
    given : "current", dict, list of dict or None
        As `SILBOSearchCV` takes it.
    estimator : estimator object
        Whose parameters are the current ones.
    space : Space or SpaceUnion

    Raises
    ------
    ValueError
        If it is none of these, or a dict lacks parameters of the space or has others.

    Warns
    -----
    UserWarning
        If a dict is outside the space.
    """
    if given is None:
        return Given([], space)
    if isinstance(given, str) and given == CURRENT:
        return Given(_current(estimator, space), space)
    params = [given] if isinstance(given, Mapping) else given
    if not isinstance(params, list) or not all(isinstance(p, Mapping) for p in params):
        raise ValueError(
            f"initial_params must be 'current', a dict, a list of dicts or None: got {given!r}. "
            "Write [{'C': 1.0}, ...]."
        )
    candidates = Given([_checked(p, space) for p in params], space)
    if candidates.n_outside:
        warnings.warn(
            f"{candidates.n_outside} of {len(params)} initial_params are outside the space: they "
            "are evaluated, and the model does not learn from them.",
            UserWarning,
            stacklevel=2,
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
    known = [branch for branch in _branches(space) if has.keys() >= set(branch.parameter_names)]
    readings = [{p.name: _as_listed(has[p.name], p) for p in b.parameters} for b in known]
    inside = (params for params in readings if is_point_of(params, space))
    return [p for p in [next(inside, readings[0] if readings else None)] if p is not None]


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


def _checked(params, space):
    if not any(params.keys() == set(branch.parameter_names) for branch in _branches(space)):
        raise ValueError(
            f"initial_params must have exactly the parameters {space.parameter_names}: got "
            f"{list(params)}. Add or remove some."
        )
    return dict(params)


def _branches(space):
    return space.branches if isinstance(space, SpaceUnion) else [space]
