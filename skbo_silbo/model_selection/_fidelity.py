"""Candidates on a part of a resource, rows or trees, before all of it.

The resource is one more input of the model, an ordered parameter whose levels are the rungs:

    rung k of K gives ``max_resources / factor^(K - 1 - k)`` of the resource.                (1)

A new candidate is where the model expects the largest improvement at the full resource, and is
evaluated on the lowest rung. As soon as a rung has `factor` candidates for every one that went on
from it, the one that promises most at the full resource goes on to the next (asynchronous
successive halving: Li, Jamieson, Rostamizadeh et al. 2020, "A system for massively parallel
hyperparameter tuning", algorithm 2; one model of candidates and resource in it: Klein, Tiao,
Lienhart, Archambeau and Seeger 2020, "Model-based asynchronous hyperparameter and neural
architecture search"). Which goes on is there the best score of the rung.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count, takewhile
from numbers import Integral

import numpy as np
from scipy.stats import rankdata
from sklearn.base import is_classifier

from skbo_silbo._checks import did_you_mean, refuse_beside, warn_user
from skbo_silbo._numerics._threads import one_thread
from skbo_silbo.acquisition import AcquisitionSurface
from skbo_silbo.acquisition._part import Part
from skbo_silbo.optimizers import SILBO
from skbo_silbo.optimizers._loop import lowest_mean
from skbo_silbo.space import SpaceExhausted, SpaceUnion, key_of
from skbo_silbo.space._keys import keys_of

ROWS = "n_samples"
WHY_NOT = {
    "racing": "candidates that lose get no more of the resource anyway",
    "time_aware": "what a candidate costs is decided by its size",
    "initial_results": "what resource their scores are of is not known",
}


@dataclass(frozen=True)
class Rungs:
    """The sizes of a resource that candidates are evaluated with.

    Attributes
    ----------
    name : str
        ``"n_samples"`` or a parameter of the estimator.
    sizes : tuple of int
        Increasing; the last is the full resource.
    factor : float
        Candidates of a rung for each that goes on to the next.
    n_rows : int
        Of the data.
    """

    name: str
    sizes: tuple
    factor: float
    n_rows: int

    @property
    def n_to_full(self):
        """How many evaluations come before the first on the full resource, it included."""
        return sum(int(np.ceil(self.factor**k)) for k in range(len(self.sizes)))

    def added_to(self, space):
        """Return a space with the resource as one parameter more, the last."""
        if isinstance(space, SpaceUnion):
            return SpaceUnion([self.added_to(branch) for branch in space.branches])
        if self.name in space.parameter_names:
            raise ValueError(
                f"resource must not be a parameter that is searched: got {self.name!r}. Take it "
                "out of param_distributions."
            )
        return space.with_parameter(self.name, list(self.sizes))

    def of(self, params):
        """Return the number of the rung that a candidate is on."""
        return self.sizes.index(params[self.name])

    def is_full(self, params):
        """Return whether a candidate has the full resource."""
        return params[self.name] == self.sizes[-1]

    def set_on_estimator(self, params):
        """Return what of a candidate the estimator is given."""
        return {k: v for k, v in params.items() if k != ROWS or self.name != ROWS}

    def splitter(self, whole, params):
        """Return the splitter of a candidate's rung: that of all rows, or of fewer to fit."""
        share = params[self.name] / self.n_rows
        return whole if self.name != ROWS or share == 1.0 else FewerRows(whole, share)


@dataclass(frozen=True)
class FewerRows:
    """A splitter that leaves a share of the rows to fit, and all to score.

    The rows are the same whenever it splits, and those of a smaller share are among them.

    Attributes
    ----------
    whole : splitter
    share : float
        Of the rows to fit.
    """

    whole: object
    share: float

    def split(self, X, y=None, **params):
        """Give the (train, test) pairs."""
        for i, (train, test) in enumerate(self.whole.split(X, y, **params)):
            train = np.flatnonzero(train) if np.asarray(train).dtype == bool else np.asarray(train)
            n = max(round(self.share * len(train)), 1)
            kept = np.random.default_rng(i).permutation(len(train))[:n]
            yield train[np.sort(kept)], test


def read_rungs(search, state):
    """Return the `Rungs` that the parameters of a search with a resource say.

    Parameters
    ----------
    search : SILBOSearchCV
    state : SearchState
        Of the fit.

    Raises
    ------
    ValueError
        If they are not possible, or go with another option that is set.
    """
    _require_alone(search)
    n_rows = state.X.shape[0] if hasattr(state.X, "shape") else len(state.X)
    most = _most(search, n_rows)
    least = _least(search, state, most)
    levels = takewhile(lambda r: r >= least, (int(most / search.factor**k) for k in count()))
    sizes = tuple(sorted(set(levels)))
    if len(sizes) < 2:
        raise ValueError(
            f"min_resources must be at most max_resources / factor = {most / search.factor:g}, for "
            f"there to be two sizes of {search.resource!r}: got {least}. Give less, or no resource."
        )
    search.n_resources_ = list(sizes)
    return Rungs(search.resource, sizes, float(search.factor), n_rows)


def given_all(search, space, given):
    """Return the given candidates of a search with all of its resource, in the space that has it.

    Raises
    ------
    ValueError
        If `n_iter` ends before a proposed candidate can have all of it.
    """
    rungs = search._rungs
    needed = min(rungs.n_to_full + len(given.left([])), space.n_points + given.n_outside)
    if search.n_iter < needed:
        raise ValueError(
            f"n_iter must be at least {needed} with resource={rungs.name!r} of sizes "
            f"{list(rungs.sizes)}: every evaluation counts, and {rungs.n_to_full} of them lead to "
            f"the first with all of it: got {search.n_iter}. Give more, or more min_resources."
        )
    return given.with_value(space, rungs.name, rungs.sizes[-1])


def add_resources(table, candidates, rungs):
    """Add to ``cv_results_`` what candidates had of the resource; those with most rank first.

    Warns
    -----
    UserWarning
        If none that had all of it has succeeded.
    """
    iterations = np.array([rungs.of(candidate.params) for candidate in candidates])
    table["n_resources"], table["iter"] = np.array(rungs.sizes)[iterations], iterations
    for name in [name for name in table if name.startswith("rank_test_")]:
        failed = np.isnan(table[f"mean_test_{name.removeprefix('rank_test_')}"])
        level = np.where(failed, len(rungs.sizes), len(rungs.sizes) - 1 - iterations)
        order = level * (len(candidates) + 1) + table[name]
        table[name] = rankdata(order, method="min").astype(table[name].dtype)
    if not any(rungs.is_full(c.params) and np.isfinite(c.score) for c in candidates):
        warn_user(
            f"no candidate with all of the resource, {rungs.name}={rungs.sizes[-1]}, has been "
            "evaluated with success: the best is one of those with most of it. Give n_iter or "
            "max_time more."
        )


def _require_alone(search):
    known = search.estimator.get_params()
    if search.resource != ROWS and search.resource not in known:
        raise ValueError(
            f"resource must be {ROWS!r} or a parameter of the estimator: got {search.resource!r}. "
            f"{did_you_mean([search.resource], [ROWS, *known])}Give {ROWS!r} or one of "
            f"{sorted(known)}."
        )
    refuse_beside(search, f"resource={search.resource!r}", WHY_NOT)


def _most(search, n_rows):
    most, is_of_rows = search.max_resources, search.resource == ROWS
    if most == "auto":
        most = n_rows if is_of_rows else search.estimator.get_params()[search.resource]
    if not isinstance(most, Integral) or isinstance(most, bool) or most < 1:
        raise ValueError(
            f"resource must be a parameter that is a positive integer, or max_resources must be a "
            f"number where the estimator has {search.resource}={most!r}: got resource="
            f"{search.resource!r} and max_resources='auto'. Say how much is all of it."
        )
    if is_of_rows and most > n_rows:
        raise ValueError(
            f"max_resources must be at most the number of rows, {n_rows}: got {most}. Give "
            "'auto' for all of them."
        )
    return int(most)


def _least(search, state, most):
    """Return the smallest size: one step below all, or what scikit-learn has if that is more.

    That is two rows for every fold and class, and 1 of a parameter. More steps were worse
    (doc/benchmarks/seconds.rst).
    """
    if search.min_resources != "smallest":
        return search.min_resources
    least = 1
    if search.resource == ROWS:
        n_classes = len(np.unique(state.y)) if is_classifier(search.estimator) else 1
        least = 2 * search.n_splits_ * n_classes
    return max(least, int(most / search.factor))


@dataclass(frozen=True, eq=False)
class FullSurface(AcquisitionSurface):
    """What points are worth at the full resource, whatever they have of it.

    Attributes
    ----------
    column : int
        Of the resource in the cube.
    full : float
        Its value there.
    """

    column: int = 0
    full: float = 1.0

    def values(self, X):
        """Return the acquisition at the rows of X, (n,), with the full resource."""
        return super().values(with_column(X, self.column, self.full))

    def values_at(self, Z):
        """Return the same at coordinates Z, (n, r), where their points of least norm are."""
        return self.values(np.clip(self.embedding.expand(Z), -1.0, 1.0))

    def value_and_gradient(self, x, sign=1.0):
        """Return the same at one point x, (d,), and its gradient, (d,), times `sign`."""
        value, gradient = super().value_and_gradient(with_column(x, self.column, self.full), sign)
        return value, with_column(gradient, self.column, 0.0)


class ResourceSILBO(SILBO):
    """`SILBO` in a space whose last parameter is a resource of some sizes.

    Attributes
    ----------
    rungs : Rungs
        To be set before anything else is done.
    """

    rungs: Rungs

    def constrain(self, constraints):
        """Do as `SILBO` does; the constraints are asked about what a user sees."""
        super().constrain(constraints)
        if (violation := self._violation) is not None:
            self._violation = partial(_violation_of_estimator, violation, self.rungs)
        return self

    def configure(self, d):
        """Return the `Configuration` for d columns, whose points stay where they are."""
        configuration = super().configure(d)
        if configuration.mapping.keeps_coordinates:
            raise ValueError(
                "mapping must not move points that were evaluated where there is a resource: got "
                f"{self.mapping!r}. Leave one of them out."
            )
        return configuration

    @property
    def _column(self):
        return self.space_.column_groups()[self.rungs.name][0]

    def _on_rung(self, X, k):
        """Return points of the cube, (n, m) or (m,), with the resource of a rung."""
        return with_column(X, self._column, place_of(k, len(self.rungs.sizes)))

    def propose(self, rng, part):
        """Return a candidate on its next rung if one is due, or a new one on the lowest."""
        if part is not None and part.held_columns.any():
            return super().propose(rng, part)
        x = self._promotion()
        if x is not None:
            return x
        fixed = {self.rungs.name: self.rungs.sizes[0]}
        lowest = Part(self.space_, fixed, self._violation)
        x = super().propose(rng, lowest)
        found = np.empty((0, len(lowest.held_columns))) if x is None else lowest.round(x[None])
        known = np.vstack([self._history.X, *self._pending.values()])
        seen = set(keys_of(self._on_rung(known, 0)))  # on whatever rung they are
        if len(lowest.admitted(found)) and key_of(found[0]) not in seen:
            return found[0]
        try:
            return lowest.draw(seen, found, rng)
        except SpaceExhausted:
            x = self._promotion(is_due=False)
            if x is None:
                raise
            return x

    def _promotion(self, is_due=True):
        """Return a candidate on its next rung, the highest first, or None if none is due."""
        top = len(self.rungs.sizes) - 1
        X, y = self._history.X, self._history.y
        pending = np.array(list(self._pending.values())).reshape(-1, self.space_.n_features_)
        rungs, rungs_pending = self._rungs_of(X), self._rungs_of(pending)
        keys, keys_pending = (keys_of(self._on_rung(rows, top)) for rows in (X, pending))
        above = list(zip(keys + keys_pending, [*rungs, *rungs_pending], strict=True))
        for k in reversed(range(top)):
            here = np.flatnonzero(rungs == k)
            gone_on = {key for key, rung in above if rung > k}
            n_gone_on = sum(keys[i] in gone_on for i in here)
            waiting = [i for i in here if np.isfinite(y[i]) and keys[i] not in gone_on]
            if waiting and not (is_due and len(here) < self.rungs.factor * (n_gone_on + 1)):
                return self._on_rung(self._most_promising(X[waiting], y[waiting]), k + 1)
        return None

    def _rungs_of(self, X):
        n = len(self.rungs.sizes)
        return np.round((X[:, self._column] + 1.0) * n / 2.0 - 0.5).astype(int)

    def _state_to_dict(self):
        return {**super()._state_to_dict(), "rungs": asdict(self.rungs)}

    def _state_from_dict(self, state):
        rungs = state["rungs"]
        self.rungs = Rungs(**{**rungs, "sizes": tuple(rungs["sizes"])})
        super()._state_from_dict(state)

    def _most_promising(self, X, y):
        """Return the row that is worth most at the full resource; without a model the best."""
        if self._n_known < self.n_initial_:
            return X[np.argmin(y)]
        with one_thread():
            self._update_model()
            return X[np.argmax(self._surface().values(X))]

    def _surface(self, part=None):
        surface = super()._surface(part)
        top = len(self.rungs.sizes) - 1
        known = np.vstack([self._model.ranked, *self._pending.values()])
        Z = surface.embedding.project(self._on_rung(known, top))
        surface = replace(surface, best=lowest_mean(surface.surrogate, Z))
        return FullSurface(**vars(surface), column=self._column, full=place_of(top, top + 1))


def _violation_of_estimator(violation, rungs, point):
    """Return how far what the estimator is given of a point is from satisfying constraints."""
    return violation(rungs.set_on_estimator(point))


def with_column(X, column, value):
    """Return points, (n, m) or (m,), with another value in a column."""
    X = np.array(X)
    X[..., column] = value
    return X


def place_of(k, n):
    """Return where the cube has level k of n."""
    return (2.0 * k + 1.0) / n - 1.0
