"""What the trials of an Optuna study say, and its distributions as parameters of a `Space`.

Values of trials are internal representations of Optuna: numbers, of a category its place among the
choices. Points of the space have the values that an objective sees, categories as text.

A parameter with few values becomes a list of them; one with many, or with a continuum, becomes a
distribution, whose values are rounded on the way back. So a value never depends on how a library
computes ``low + i * step``.
"""

import math
from dataclasses import dataclass

import numpy as np
from optuna.distributions import CategoricalDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState
from scipy import stats

from skbo_silbo.space import Space

MOST_LEVELS = 1000  # more values than that are searched as a continuum


class OptunaSpace:
    """The `Space` of some of Optuna's parameters.

    Parameters
    ----------
    distributions : dict of str to optuna.distributions.BaseDistribution

    Attributes
    ----------
    space : Space
    """

    def __init__(self, distributions):
        self._axes = {name: make_axis(d) for name, d in distributions.items()}
        self.space = Space({name: axis.values for name, axis in self._axes.items()})
        [self._middle] = self.space.decode(np.zeros((1, self.space.n_features_)))

    def to_point(self, params):
        """Return a trial's parameters as a point of `space`; what it has not is at the middle.

        So a parameter that a trial does not have, because another has a value with which it is not
        needed, makes no difference between trials.
        """
        known = {name: self._axes[name].to_space(value) for name, value in params.items()}
        return {**self._middle, **known}

    def from_point(self, point):
        """Return a point of `space` as parameters for a trial: dict of str to float."""
        return {name: float(self._axes[name].from_space(value)) for name, value in point.items()}


def make_axis(distribution):
    """Return how a distribution is searched: `values` for a `Space`, `to_space`, `from_space`."""
    is_choice = isinstance(distribution, CategoricalDistribution)
    return _Choices(distribution) if is_choice else _Numbers(distribution)


class _Choices:
    """The choice, as text: a category."""

    def __init__(self, distribution):
        self.values = [str(choice) for choice in distribution.choices]
        if len(set(self.values)) < len(self.values):  # 1 and "1"
            self.values = [f"{i}: {choice!r}" for i, choice in enumerate(distribution.choices)]

    def to_space(self, value):
        return self.values[int(value)]

    def from_space(self, value):
        return self.values.index(value)


class _Numbers:
    """The value itself, one of a few levels; or a value before it is rounded to a step."""

    def __init__(self, distribution):
        self._low, self._high, self._step = distribution.low, distribution.high, distribution.step
        continuous = self._step is None and self._low < self._high
        n_steps = math.inf if continuous else self._place(self._high)
        self._has_levels = n_steps < MOST_LEVELS
        if self._has_levels:
            levels = [self._level(i) for i in range(n_steps + 1)]
            self.values = _log_weighted(levels) if distribution.log else levels
            return
        margin = 0.0 if continuous else self._step / 2.0
        low, high = self._low - margin, self._high + margin
        made = stats.loguniform(low, high) if distribution.log else stats.uniform(low, high - low)
        self.values = made

    def to_space(self, value):
        if self._has_levels:
            return self._level(self._place(value))
        return float(np.clip(value, *self.values.support()))  # whose ends are rounded

    def from_space(self, value):
        return self._within_bounds(value) if self._step is None else self._level(self._place(value))

    def _place(self, value):
        """Return the number of the level nearest a value."""
        return round((value - self._low) / (self._step or 1.0))

    def _level(self, i):
        return self._within_bounds(self._low + i * (self._step or 0))

    def _within_bounds(self, value):
        """Return a number inside the bounds, which rounding may have passed."""
        return min(max(value, self._low), self._high)


def _log_weighted(values):
    """Return integers with the probability that a log-uniform number rounds to them."""
    if len(values) == 1:
        return values
    middles = np.append(values, values[-1] + 1) - 0.5
    mass = np.diff(np.log(middles)) / math.log(middles[-1] / middles[0])
    return stats.rv_discrete(values=(values, mass / mass.sum()))


# Attribute of a trial: what is proposed before it is suggested. In one, so that it is seen whole or
# not at all: Optuna keeps those of a trial in columns for text of any length.
PROPOSED = "silbo:params"
CONSTRAINTS = "constraints"  # attribute that Optuna's own samplers keep and read


@dataclass(frozen=True)
class TrialsSeen:
    """What is known of a study when a trial is to be proposed.

    Parameters are dicts of names to Optuna's internal representations: numbers, of a category its
    place among the choices.

    Attributes
    ----------
    observed : dict of int to (params, value, constraints)
        By number of the trial; it need not have all parameters. The value is NaN for a failed one,
        a constraint, of a tuple of as many for every trial, where the trial has none of that name.
    complete : list of params
        Of those of `observed` that are complete.
    pending : list of params
        Of the other running trials, as far as they are known.
    ahead : list of params
        Of the trials that began to run before this one; empty where they have not been shown, and
        no trial that began after them has ended.
    """

    observed: dict
    complete: list
    pending: list
    ahead: list

    def n_ahead(self, params):
        """Return how many of the trials ahead may take what is proposed, or have taken these."""
        active = self._active(params or {})
        return sum(not p or (params is not None and _agree(p, params, active)) for p in self.ahead)

    def repeats(self, params):
        """Return whether another trial is, or is about to be, what one with these would be.

        A trial that ended did without those parameters that its other values made superfluous;
        which of a running one's proposal are so is not known yet, and inferred.
        """
        wholes = {frozenset(params), *map(frozenset, self.complete)}
        ended = (p for p, *_ in self.observed.values() if frozenset(p) in wholes)
        if any(_agree(p, params, p) for p in ended):
            return True
        active = self._active(params)
        return any(_agree(p, params, active) for p in self.pending)

    def _active(self, params):
        """Return the names of the parameters that a trial with these has.

        Read from the complete trials as from a tree: they are divided by the parameter that best
        says which others a trial has, until all that are left have the same. Where none is left,
        only those that all had before.
        """
        known, free = self.complete or [params], set(params)
        while len(wholes := {frozenset(p) for p in known}) > 1:
            common = frozenset.intersection(*wholes)
            undivided = common & free
            if not undivided:
                return common
            best = min(sorted(undivided), key=lambda name: len({(p[name], *p) for p in known}))
            known = [p for p in known if p[best] == params[best]]
            if not known:
                return common
            free.remove(best)
        return next(iter(wholes))


def _agree(one, other, names):
    return all(name in one and one[name] == other.get(name) for name in names)


def common_space(study):
    """Return the distribution of every parameter that a complete trial has had, by name.

    Of parameters that have had several, the latest. A parameter with one value only is left out.
    """
    space = {}
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        space |= trial.distributions
    return {name: space[name] for name in sorted(space) if not space[name].single()}


def see_trials(study, number, distributions):
    """Return what the trials of a study but this one say of parameters with these distributions."""
    trials = [t for t in study.get_trials(deepcopy=False) if t.number != number]
    shown = {t.number: _inside(t, distributions) for t in trials}
    running = [t.number for t in trials if t.state == TrialState.RUNNING]
    last = max((t.number for t in trials if t.state.is_finished()), default=-1)
    ended = {t.number: t for t in trials if t.state.is_finished() and shown[t.number]}
    constraints = {n: constraints_of(t) for n, t in ended.items()}
    names = sorted(set().union(*constraints.values()))
    observed = {
        n: (
            shown[n],
            modelled_value(study, t),
            tuple(constraints[n].get(name, math.nan) for name in names),
        )
        for n, t in ended.items()
    }
    return TrialsSeen(
        observed=observed,
        complete=[shown[n] for n, t in ended.items() if t.state == TrialState.COMPLETE],
        pending=[shown[n] for n in running if shown[n]],
        # A trial that has shown nothing although later ones have ended was killed, most likely.
        ahead=[
            shown[n]
            for n in running
            if number is not None and n < number and (shown[n] or n > last)
        ],
    )


def _inside(trial, distributions):
    """Return those parameters of a trial that have a distribution; none if one is outside it.

    Of a running trial with what was proposed and not suggested yet.
    """
    is_running = trial.state == TrialState.RUNNING
    params = dict(trial.system_attrs.get(PROPOSED, {})) if is_running else {}
    try:
        for name in distributions.keys() & trial.params.keys():
            params[name] = distributions[name].to_internal_repr(trial.params[name])
    except (TypeError, ValueError):  # of another type, or none of the choices
        return {}
    params = {name: float(params[name]) for name in distributions if name in params}
    return params if all(distributions[k]._contains(v) for k, v in params.items()) else {}


def keep_attribute(study, trial, key, value):
    """Write an attribute of a running trial; Optuna has no public way for a sampler to do so."""
    study._storage.set_trial_system_attr(trial._trial_id, key, value)


def modelled_value(study, trial):
    """Return the value of an ended trial, to be minimised.

    A complete trial has its value, with a minus sign if the study maximises. A pruned one has its
    last intermediate value. A failed one has NaN.
    """
    value, reported = math.nan, trial.intermediate_values
    if trial.state == TrialState.COMPLETE:
        value = trial.value
    elif trial.state == TrialState.PRUNED and reported:
        value = reported[max(reported)]
    return -value if study.direction == StudyDirection.MAXIMIZE else value


def constraints_of(trial):
    """Return a trial's values of constraints by name: at most 0 where they hold."""
    attributes = trial.system_attrs
    unnamed = enumerate(attributes.get(CONSTRAINTS) or ())
    named = {k: v for k, v in attributes.items() if k.startswith(f"{CONSTRAINTS}:")}
    return {f"{CONSTRAINTS}[{i}]": float(v) for i, v in unnamed} | named
