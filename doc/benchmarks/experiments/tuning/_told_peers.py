"""Optimisers of other packages that observe the untuned estimator before they propose."""

import time
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from ._tuning_searches import range_of, suggest


def place_of(model, space):
    """Return a model's own parameters as a trial of Optuna holds them, or None if one is outside.

    Categories are numbered, as in `suggest`.
    """
    if isinstance(space, dict):
        return _place(model.get_params(), space, "")
    inside = [_place(model.get_params(), branch, f"{i}/") for i, branch in enumerate(space)]
    return next(({"branch": i, **own} for i, own in enumerate(inside) if own is not None), None)


def _place(own, space, prefix):
    places = {}
    for name, values in space.items():
        if isinstance(values, list):
            alike = [i for i, value in enumerate(values) if repr(value) == repr(own.get(name))]
            if not alike:
                return None
            places[prefix + name] = alike[0]
            continue
        kind, low, high = range_of(values)
        if not isinstance(own.get(name), (int, float)) or not low <= own[name] <= high:
            return None
        places[prefix + name] = int(own[name]) if kind == "integer" else float(own[name])
    return places


def told_search(make):
    """Return a function that runs an optimiser which is told the untuned estimator first.

    Parameters
    ----------
    make : callable
        From (space, seed) to an object with ``enqueue(place)``, ``ask()`` and ``tell(score)``.

    Notes
    -----
    An untuned estimator that is outside the space is evaluated and not told, as in `SILBOSearchCV`.
    """

    def run(task, n, seed, scorer):
        model, space = task.make()
        X, y = task.rows()
        splits, place = task.splits(seed), place_of(model, space)
        start = time.perf_counter()
        peer = make(space, seed)
        if place is not None:
            peer.enqueue(place)
        means, fits = [], []
        for i in range(n):
            is_told = i > 0 or place is not None
            candidate = clone(model).set_params(**(peer.ask() if is_told else {}))
            got = cross_validate(candidate, X, y, cv=splits, scoring=scorer)
            means.append(got["test_score"].mean())
            fits.append(got["fit_time"].sum() + got["score_time"].sum())
            if is_told:
                peer.tell(means[-1])
        return start, np.array(means), np.array(fits)

    return run


class OptunaPeer:
    """A study of Optuna with a sampler, given by the name of its class."""

    def __init__(self, sampler, space, seed):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        made = getattr(optuna.samplers, sampler)(seed=seed)
        self.space, self.study = space, optuna.create_study(direction="maximize", sampler=made)

    def enqueue(self, place):
        """Propose this point first."""
        self.study.enqueue_trial(place)

    def ask(self):
        """Return the parameters of the next candidate."""
        self._trial = self.study.ask()
        return suggest(self._trial, self.space)

    def tell(self, score):
        """Record the score of the last candidate."""
        self.study.tell(self._trial, score)


class HEBOPeer:
    """HEBO with its defaults, on a space without branches.

    pymoo compares all pairs of its population in Python to find duplicates. A set finds the same
    ones, and halves the time of a proposal.
    """

    def __init__(self, space, seed):
        import torch
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO
        from pymoo.core.mixed import MixedVariableDuplicateElimination

        MixedVariableDuplicateElimination._do = _mark_duplicates
        np.random.seed(seed)  # noqa: NPY002 (HEBO draws from the global generators)
        torch.manual_seed(seed)
        self.space, self._place = space, None
        dimensions = [_dimension(name, values) for name, values in space.items()]
        self._optimizer = HEBO(DesignSpace().parse(dimensions), scramble_seed=seed)

    def enqueue(self, place):
        """Propose this point first."""
        self._place = place

    def ask(self):
        """Return the parameters of the next candidate."""
        import pandas as pd

        if self._place is not None:
            self._row, self._place = pd.DataFrame([self._place]), None
        else:
            self._row = self._optimizer.suggest(1)
        return suggest(_Shown(self._row.iloc[0].to_dict()), self.space)

    def tell(self, score):
        """Record the score of the last candidate."""
        self._optimizer.observe(self._row, np.array([[-score]]))


class _Shown(dict):
    """Values by name, read as from a trial of Optuna."""

    def suggest_categorical(self, name, choices):
        return int(self[name])

    def suggest_int(self, name, low, high):
        return int(self[name])

    def suggest_float(self, name, low, high, log):
        return float(self[name])


def _dimension(name, values):
    if isinstance(values, list):
        return {"name": name, "type": "cat", "categories": list(range(len(values)))}
    kind, low, high = range_of(values)
    kinds = {"uniform": "num", "log": "pow", "integer": "int"}
    return {"name": name, "type": kinds[kind], "lb": low, "ub": high}


def _mark_duplicates(self, pop, other, is_duplicate):
    """Mark members that equal one of `other`, or a later one of their own population."""
    seen = set()
    if other is not None:
        seen = {tuple(sorted(ind.X.items())) for ind in other}
    for i in reversed(range(len(pop))):
        key = tuple(sorted(pop[i].X.items()))
        is_duplicate[i] |= key in seen
        if other is None:
            seen.add(key)
    return is_duplicate


TOLD = {
    "optuna-tpe-told": told_search(partial(OptunaPeer, "TPESampler")),
    "optuna-gp-told": told_search(partial(OptunaPeer, "GPSampler")),
    "hebo-told": told_search(HEBOPeer),
}
TOLD_PACKAGES = {"optuna-tpe-told": "optuna", "optuna-gp-told": "torch", "hebo-told": "HEBO"}
