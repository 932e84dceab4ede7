"""Read the trials of an Optuna study, and convert its distributions to a `Space`.

Parameters of trials are in Optuna's internal representation: numbers, or the index of a categorical
choice. Points of the space have the external values, with categories as strings.

A parameter with few values becomes a list. One with many values, or a continuous one, becomes a
distribution, and its values are rounded to Optuna's grid when they are converted back.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from optuna.distributions import CategoricalDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState
from scipy import stats

from skbo_silbo.space import Space

MOST_LEVELS = 1000  # parameters with more values are treated as continuous


class OptunaSpace:
    """Conversion between the parameters of Optuna trials and points of a `Space`.

    Parameters
    ----------
    distributions : dict of str to optuna.distributions.BaseDistribution

    Attributes
    ----------
    space : Space
    """

    def __init__(self, distributions):
        self._axes = {
            name: _Choices(d) if isinstance(d, CategoricalDistribution) else _Numbers(d)
            for name, d in distributions.items()
        }
        self.space = Space({name: axis.values for name, axis in self._axes.items()})
        [self._middle] = self.space.decode(np.zeros((1, self.space.n_features_)))

    def to_point(self, params):
        """Convert a trial's parameters to a point, using mid-range values for missing ones."""
        values = {name: self._axes[name].to_space(value) for name, value in params.items()}
        return {**self._middle, **values}

    def from_point(self, point):
        """Convert a point of the search space to the parameters of a trial."""
        return {name: float(self._axes[name].from_space(value)) for name, value in point.items()}


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

    `value` is the one that the surrogate is fitted to: the last intermediate value of a pruned
    trial and NaN for a failed one, with the opposite sign if the study is maximised. `constraints`
    have the same length for all trials, with NaN for missing ones.
    """

    params: dict[str, float]
    value: float
    constraints: tuple[float, ...]
    state: TrialState


@dataclass(frozen=True)
class TrialsSeen:
    """Trials of a study at the time of a proposal.

    Parameters are dicts of names to Optuna's internal representation.

    Attributes
    ----------
    observed : dict of int to EndedTrial
        The finished trials by number.
    pending : list of params
        Parameters of the other running trials that have already been proposed.
    ahead : list of params
        Parameters of the running trials with a lower number, {} if none have been proposed yet.
        A trial without a proposal is left out once a trial with a higher number has finished.
    """

    observed: dict[int, EndedTrial]
    pending: list[dict[str, float]]
    ahead: list[dict[str, float]]

    @cached_property
    def complete(self):
        """Parameters of the completed trials."""
        return [t.params for t in self.observed.values() if t.state == TrialState.COMPLETE]

    def n_ahead(self, params):
        """Count the earlier running trials that may evaluate the same parameters."""
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
        """Infer from completed trials which parameters of a conditional space are active.

        The trials are split like in a decision tree, by the parameter that best predicts which
        others are present, until all trials of the leaf have the same parameters. If the leaf is
        empty, the parameters that are common to its parent are returned.
        """
        trials, free = self.complete or [params], set(params)
        while len(wholes := {frozenset(p) for p in trials}) > 1:
            common = frozenset.intersection(*wholes)
            undivided = common & free
            if not undivided:
                return common
            best = min(sorted(undivided), key=lambda name: len({(p[name], *p) for p in trials}))
            trials = [p for p in trials if p[best] == params[best]]
            if not trials:
                return common
            free.remove(best)
        return next(iter(wholes))


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
    """Collect the trials of a study but one whose parameters lie in a search space."""
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
    return TrialsSeen(observed, pending, ahead)


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
