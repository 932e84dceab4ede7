"""Read the trials of an Optuna study, and convert its distributions to a `Space`.

Parameters of trials are in Optuna's internal representation: numbers, or the index of a categorical
choice. Points of the space have the external values, with categories as strings.

A parameter with few values becomes a list. One with many values, or a continuous one, becomes a
distribution, and its values are rounded to Optuna's grid when they are converted back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState
from scipy import stats

from skbo_silbo.space import Space
from skbo_silbo.space.keys import first_rows

MOST_LEVELS = 1000  # parameters with more values are treated as continuous
MOST_COUNTED = 2**16  # points of a conditional space that are counted exactly
MOST_BRANCHING = 10  # trials are not split by integers with more values


class OptunaSpace:
    """Conversion between the parameters of Optuna trials and points of a `Space`.

    Parameters
    ----------
    distributions : dict of str to optuna.distributions.BaseDistribution
    inactive : dict of str to list of dict or None, default=None
        For each conditional parameter, the values of other parameters for which trials do not have
        it, as in `TrialsSeen.inactive`.

    Attributes
    ----------
    space : Space
        Search space. In its points, inactive parameters are in the middle of their range.
    """

    def __init__(self, distributions, inactive=None):
        self._axes = {
            name: _Choices(d) if isinstance(d, CategoricalDistribution) else _Numbers(d)
            for name, d in distributions.items()
        }
        self._inactive = inactive or {}
        self.space = _ConditionalSpace({name: axis.values for name, axis in self._axes.items()})
        self.space.deactivate(
            {
                name: [
                    {n: [self._axes[n].to_space(v) for v in values] for n, values in case.items()}
                    for case in cases
                ]
                for name, cases in self._inactive.items()
            }
        )

    def to_point(self, params):
        """Convert a trial's parameters to a point; missing ones are set to mid-range values."""
        values = {name: self._axes[name].to_space(value) for name, value in params.items()}
        return {**self.space.middle(), **values}

    def from_point(self, point):
        """Convert a point of the search space to the active parameters of a trial."""
        params = {name: float(self._axes[name].from_space(value)) for name, value in point.items()}
        return {name: params[name] for name in _active(params, self._inactive)}


class _ConditionalSpace(Space):
    """Space that sets inactive parameters to the middle of their range."""

    inactive = ()  # pairs of columns, and of the codes of each case in the columns of others

    def deactivate(self, inactive):
        """Set the values of other parameters for which each conditional parameter is inactive."""
        columns, held = self.column_groups(), {p.name: p for p in self.parameters}
        self.inactive = [
            (columns[name], [(columns[n], held[n].encode(values)) for n, values in case.items()])
            for name, cases in inactive.items()
            for case in cases
        ]
        if inactive and self.n_points <= MOST_COUNTED:
            self.n_points = len(self.every_point())

    def middle(self):
        """Return the point in the middle of all ranges."""
        return self.decode(np.zeros((1, self.n_features_)))[0]

    def round(self, X):
        X, [center] = super().round(X), self.encode([self.middle()])
        for columns, case in self.inactive:
            rows = np.ones(len(X), dtype=bool)
            for others, codes in case:
                rows &= (X[:, None, others] == codes).all(axis=2).any(axis=1)
            X[np.ix_(rows, columns)] = center[columns]
        return X

    def every_point(self):
        X = super().every_point()
        if self.inactive:
            X = self.round(X)
            X = X[first_rows(X)]
        return X


class _Choices:
    """Conversion of an Optuna categorical distribution, with choices as strings."""

    def __init__(self, distribution):
        self.values = [str(choice) for choice in distribution.choices]
        if len(set(self.values)) < len(self.values):  # 1 and "1"
            self.values = [f"{i}: {choice!r}" for i, choice in enumerate(distribution.choices)]

    def to_space(self, value):
        return self.values[int(value)]

    def from_space(self, value):
        return self.values.index(value)


class _Numbers:
    """Conversion of an Optuna numeric distribution to a list of levels or a continuous range.

    Optuna does not sample a parameter that has a single value.
    """

    def __init__(self, distribution):
        self._low, self._high, self._step = distribution.low, distribution.high, distribution.step
        n_steps = math.inf if self._step is None else self._place(self._high)
        self._has_levels = n_steps < MOST_LEVELS
        if self._has_levels:
            levels = [self._level(i) for i in range(n_steps + 1)]
            self.values = _log_weighted(levels) if distribution.log else levels
        else:
            margin = (self._step or 0.0) / 2.0
            low, high = self._low - margin, self._high + margin
            is_log = distribution.log
            self.values = stats.loguniform(low, high) if is_log else stats.uniform(low, high - low)

    def to_space(self, value):
        if self._has_levels:
            return self._level(self._place(value))
        return float(np.clip(value, *self.values.support()))  # the support may be rounded

    def from_space(self, value):
        return self._within_bounds(value) if self._step is None else self._level(self._place(value))

    def _place(self, value):
        """Return the index of the level nearest to a number."""
        return round((value - self._low) / self._step)

    def _level(self, i):
        return self._within_bounds(self._low + i * self._step)

    def _within_bounds(self, value):
        """Clip a number to the distribution's bounds, which rounding errors may exceed."""
        return min(max(value, self._low), self._high)


def _log_weighted(values):
    """Return the distribution of a log-uniform number rounded to one of the given integers."""
    middles = np.append(values, values[-1] + 1) - 0.5
    mass = np.diff(np.log(middles)) / math.log(middles[-1] / middles[0])
    return stats.rv_discrete(values=(values, mass / mass.sum()))


# System attribute of a trial with all proposed parameters, so that they are visible to other
# processes at once and before they are suggested.
PROPOSED = "silbo:params"
CONSTRAINTS = "constraints"  # system attribute, also used by Optuna's own samplers


class EndedTrial(NamedTuple):
    """Finished trial, with its parameters in Optuna's internal representation.

    The surrogate is fitted to `value`, which is the last intermediate value of a pruned trial and
    NaN for a failed trial. It has the opposite sign if the study is maximised. `constraints` have
    the same length for all trials, with NaN for missing values.
    """

    params: dict[str, float]
    value: float
    constraints: tuple[float, ...]
    state: TrialState


@dataclass(frozen=True)
class TrialsSeen:
    """Trials of a study at the time of a proposal.

    Parameters are dicts that map names to values in Optuna's internal representation.

    Attributes
    ----------
    observed : dict of int to EndedTrial
        The finished trials by number.
    pending : list of params
        Parameters of the other running trials that have already been proposed.
    ahead : list of params
        Parameters of each running trial with a lower number, or {} if it has no proposal yet. A
        trial without a proposal is left out once a trial with a higher number has finished.
    selectors : dict of str to sequence of float
        Parameters that may determine which other parameters a trial has, with their values.
    """

    observed: dict[int, EndedTrial]
    pending: list[dict[str, float]]
    ahead: list[dict[str, float]]
    selectors: dict[str, Sequence[float]]

    @cached_property
    def complete(self):
        """Parameters of the completed trials."""
        return [t.params for t in self.observed.values() if t.state == TrialState.COMPLETE]

    def n_ahead(self, params):
        """Count the running trials with lower numbers that may evaluate the same parameters."""
        active = self._active(params)
        return sum(not p or _agree(p, params, active) for p in self.ahead)

    def repeats(self, params):
        """Return whether another finished or running trial evaluates the same parameters.

        Conditional parameters that are inactive for these values are ignored.
        """
        wholes = {frozenset(params), *map(frozenset, self.complete)}
        ended = (t.params for t in self.observed.values() if frozenset(t.params) in wholes)
        active = self._active(params)
        return any(_agree(p, params, p) for p in ended) or any(
            _agree(p, params, active) for p in self.pending
        )

    def _active(self, params):
        return _active(params, self.inactive)

    @cached_property
    def inactive(self):
        """Values of other parameters for which no completed trial has a conditional parameter.

        The dict maps the name of each conditional parameter to a list of cases. A case is a dict of
        parameter names and values.
        """
        names = sorted({name for params in self.complete for name in params})
        cases = {name: _cases_without(name, self.complete, self.selectors, {}) for name in names}
        return {name: own for name, own in cases.items() if own}


def _active(params, inactive):
    """Return the names of the parameters that are not inactive for these values."""
    return [
        name
        for name in params
        if not any(
            all(params.get(other) in values for other, values in case.items())
            for case in inactive.get(name, ())
        )
    ]


def _cases_without(target, trials, selectors, case):
    """Return the cases in which no trial has a parameter, as leaves of a decision tree.

    Each split uses the parameter that best predicts whether the trials have `target`. Values that
    no trial has belong to no case, so `target` is proposed together with them.
    """
    has = [target in params for params in trials]
    if all(has):
        return []
    if not any(has):
        return [case]
    groups = {}
    for name, levels in sorted(selectors.items()):
        if name != target and name not in case and all(name in params for params in trials):
            groups[name] = [[p for p in trials if p[name] == level] for level in levels]
    best = min(groups, key=lambda name: _cost(target, groups[name]), default=None)
    if best is None:
        return []
    by_answer = {}
    for level, own in zip(selectors[best], groups[best], strict=True):
        answer = frozenset(target in params for params in own)
        by_answer.setdefault(answer, []).append(level)
    cases = []
    for levels in by_answer.values():
        own = [params for params in trials if params[best] in levels]
        cases += _cases_without(target, own, selectors, {**case, best: tuple(levels)})
    return cases


def _cost(target, groups):
    """Return a cost: how badly values of a parameter predict whether trials have `target`.

    A value costs 1 if only some of its trials have `target`. It also costs 1 if it has a single
    trial, because any parameter would predict this trial.
    """
    has = [[target in params for params in own] for own in groups]
    return sum((len(set(own)) > 1) + (len(own) == 1) for own in has)


def _agree(one, other, names):
    return all(name in one and one[name] == other.get(name) for name in names)


def common_space(study):
    """Return the most recent distribution of each parameter of the completed trials.

    Parameters with a single value are excluded.
    """
    space = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        space |= trial.distributions
    return {name: space[name] for name in sorted(space) if not space[name].single()}


def see_trials(study, number, distributions):
    """Collect the other trials of a study whose parameters lie in a search space."""
    trials = [t for t in study.get_trials(deepcopy=False) if t.number != number]
    shown = {t.number: _inside(t, distributions) for t in trials}
    running = [t.number for t in trials if t.state == TrialState.RUNNING]
    last = max((t.number for t in trials if t.state.is_finished()), default=-1)
    ended = [t for t in trials if t.state.is_finished() and shown[t.number]]
    constraints = [_constraints_of(t) for t in ended]
    names, observed = sorted(set().union(*constraints)), {}
    for t, own in zip(ended, constraints, strict=True):
        told = tuple(own.get(name, math.nan) for name in names)
        observed[t.number] = EndedTrial(shown[t.number], _modelled_value(study, t), told, t.state)
    pending = [shown[n] for n in running if shown[n]]
    # A trial without a proposal although later trials have finished was probably killed.
    ahead = [shown[n] for n in running if n < number and (shown[n] or n > last)]
    selectors = {name: levels for name, d in distributions.items() if (levels := _levels_of(d))}
    return TrialsSeen(observed, pending, ahead, selectors)


def _levels_of(distribution):
    """Return the values of a categorical distribution, or of an integer one with few values."""
    if isinstance(distribution, CategoricalDistribution):
        return range(len(distribution.choices))
    if not isinstance(distribution, IntDistribution):
        return ()
    levels = range(distribution.low, distribution.high + 1, distribution.step)
    return levels if len(levels) <= MOST_BRANCHING else ()


def _inside(trial, distributions):
    """Return the parameters of a trial, or {} if one is outside the search space.

    For a running trial, proposed parameters that are not suggested yet are included.
    """
    is_running = trial.state == TrialState.RUNNING
    params = dict(trial.system_attrs.get(PROPOSED, {})) if is_running else {}
    try:
        for name in distributions.keys() & trial.params.keys():
            params[name] = distributions[name].to_internal_repr(trial.params[name])
    except (TypeError, ValueError):  # the value has another type or is not one of the choices
        return {}
    params = {name: float(params[name]) for name in distributions if name in params}
    return params if all(distributions[k]._contains(v) for k, v in params.items()) else {}


def keep_attribute(study, trial, key, value):
    """Store a system attribute with a running trial, through a private Optuna function."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def _modelled_value(study, trial):
    value, reported = math.nan, trial.intermediate_values
    if trial.state == TrialState.COMPLETE:
        value = trial.value
    elif trial.state == TrialState.PRUNED and reported:
        value = reported[max(reported)]
    return -value if study.direction == StudyDirection.MAXIMIZE else value


def _constraints_of(trial):
    """Return the constraint values of a trial by name; positive values are violations."""
    attributes = trial.system_attrs
    unnamed = enumerate(attributes.get(CONSTRAINTS) or ())
    named = {k: v for k, v in attributes.items() if k.startswith(f"{CONSTRAINTS}:")}
    return {f"{CONSTRAINTS}[{i}]": float(v) for i, v in unnamed} | named
