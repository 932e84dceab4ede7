"""Optuna's distributions as parameters of a `Space`, and values on the way between the two.

Values of trials are Optuna's internal representations: numbers, of a category its place among the
choices. Points of the space have the values that an objective sees, categories as text.

A parameter with few values becomes a list of them; one with many, or with a continuum, becomes a
distribution, whose values are rounded on the way back. So a value never depends on how a library
computes ``low + i * step``.
"""

import math

import numpy as np
from optuna.distributions import CategoricalDistribution
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
    if isinstance(distribution, CategoricalDistribution):
        return _Choices(distribution)
    if distribution.step is None or _n_steps(distribution) >= MOST_LEVELS:
        return _Continuum(distribution)
    return _Steps(distribution)


def _n_steps(distribution):
    return round((distribution.high - distribution.low) / distribution.step)


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


class _Steps:
    """The value itself, of a few: an ordered parameter."""

    def __init__(self, distribution):
        self.distribution = distribution
        steps = range(_n_steps(distribution) + 1)
        self._values = [
            _inside(distribution, distribution.low + i * distribution.step) for i in steps
        ]
        self.values = self._values if not distribution.log else _log_weighted(self._values)

    def to_space(self, value):
        return self._values[round((value - self.distribution.low) / self.distribution.step)]

    def from_space(self, value):
        return value


class _Continuum:
    """The value itself, or a value before it is rounded to a step."""

    def __init__(self, distribution):
        self.distribution = distribution
        margin = 0.0 if distribution.step is None else distribution.step / 2.0
        low, high = distribution.low - margin, distribution.high + margin
        self.values = [0.0] if low == high else _continuous(low, high, distribution.log)

    def to_space(self, value):
        if isinstance(self.values, list):
            return self.values[0]
        return float(np.clip(value, *self.values.support()))  # whose ends are rounded

    def from_space(self, value):
        distribution = self.distribution
        if isinstance(self.values, list):
            return _inside(distribution, distribution.low)
        if distribution.step is not None:
            n = round((value - distribution.low) / distribution.step)
            value = distribution.low + n * distribution.step
        return _inside(distribution, value)


def _continuous(low, high, log):
    return stats.loguniform(low, high) if log else stats.uniform(low, high - low)


def _log_weighted(values):
    """Return integers with the probability that a log-uniform number rounds to them."""
    if len(values) == 1:
        return values
    middles = np.append(values, values[-1] + 1) - 0.5
    mass = np.diff(np.log(middles)) / math.log(middles[-1] / middles[0])
    return stats.rv_discrete(values=(values, mass / mass.sum()))


def _inside(distribution, value):
    """Return a number inside the bounds, which rounding may have passed."""
    return min(max(value, distribution.low), distribution.high)
