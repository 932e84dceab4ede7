"""Optimisers: points are asked for, and values told."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import as_noise, brief, check_count
from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import (
    ArrayLike,
    BoolArray,
    BoundsLike,
    ConstraintsLike,
    FloatArray,
    RandomState,
)
from skbo_silbo.acquisition._part_of_space import N_BEST, Part
from skbo_silbo.optimizers import _history as history
from skbo_silbo.optimizers._constraints import NO_CONSTRAINTS, KnownConstraints, in_words
from skbo_silbo.optimizers._model import Recommendation
from skbo_silbo.optimizers._state import from_data, root_seed, to_data
from skbo_silbo.sensitivity import InputModel
from skbo_silbo.space import draw_unseen, key_of
from skbo_silbo.space._keys import keys_of, too_few_left
from skbo_silbo.space._read import AnySpace, as_space, refuse_intervals


class AskTellOptimizer(ABC):
    """Base of the optimisers: bookkeeping of points asked for and observed values.

    A subclass says how to `propose` the next point. Every proposal has a stream of random numbers
    of its own, numbered by how many points are known (observed or pending). What is proposed
    depends on the seed and on what is known, not on the clock nor on the order of `tell`.
    Threads may share an optimiser: a lock lets one in at a time, and an `ask` that thinks holds it.
    Arguments cannot be changed once it is made (`maximize` not once a point is known).

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed. numpy's global generator is never used.
    """

    maximize = False

    # What is known is in values that are replaced and never changed: a copy of the attributes is
    # another optimiser, and `ask` undoes by them what it could not finish.
    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        vars(self).setdefault("bounds", bounds)  # where a subclass has not kept them
        vars(self).setdefault("random_state", random_state)
        refuse_intervals(bounds)
        self.space_: AnySpace = as_space(bounds)
        self._lock = threading.RLock()
        self._history = history.History(self.space_.n_features_)
        # key of the point -> its place in the cube, in the order asked
        self._pending: dict[bytes, FloatArray] = {}
        self._observed_keys: frozenset[bytes] = frozenset()
        # key of a point asked for with fixed parameters -> the point
        self._exact: dict[bytes, Any] = {}
        self._known = NO_CONSTRAINTS
        self._seed = root_seed(random_state)
        # the last `input_model_`, and of how many values
        self._input_model: tuple[int, Any] | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and "_input_model" in vars(self):
            self._refuse_change(name, value)
        super().__setattr__(name, value)

    def _refuse_change(self, name, value):
        """Refuse another value of an argument; the sign of the values may be said at first."""
        is_free = name not in vars(self) or name not in _arguments(type(self))
        if not self._n_known if name == "maximize" else is_free:
            return
        raise AttributeError(
            f"{name} of {type(self).__name__} must stay as it was when the optimiser was made, "
            f"since its parts were made from it: got {brief(value)}. Make another one with it, "
            "and tell() that x_iters_ and func_vals_."
        )

    def __getstate__(self):
        with self._lock:
            return {k: v for k, v in vars(self).items() if k != "_lock"}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock())

    def ask(self, n: int | None = None, fixed: Mapping[Any, Any] | None = None) -> Any:
        """Propose points to evaluate.

        The points are pending until they are observed: further proposals take them into account.

        Parameters
        ----------
        n : int or None, default=None
            How many points; None means one.
        fixed : dict or None, default=None
            Values that the points must have: by name for named parameters, by index (from 0) for
            a box. The model still learns from all points.

        Returns
        -------
        x : ndarray of shape (d,) or dict; with n, ndarray of shape (n, d) or list of n dicts
            Distinct points, none of them asked for or observed before.

        Raises
        ------
        SpaceExhausted
            When a finite space, or what `fixed` leaves of it, has fewer than n new points left.
        ValueError
            When `fixed` names no parameter or a value outside the space, or no point satisfies the
            constraints, or they have to be given again: see `constrain`.
        """
        count = 1 if n is None else check_count("n", n)
        part = None if fixed is None and self._known is NO_CONSTRAINTS else self._part(fixed)
        with self._lock:
            if count > self.space_.n_points - len(self._seen):
                raise too_few_left(self.space_, self._seen, count)
            before = dict(vars(self))
            try:
                points = self._propose_all(count, part)
            except BaseException:
                vars(self).update(before)
                raise
        return points[0] if n is None else self._as_results(points)

    def tell(
        self,
        x: Any,
        y: ArrayLike,
        *,
        noise_std: ArrayLike | None = None,
        constraints: ArrayLike | None = None,
    ) -> Self:
        """Record the value of one point or of several.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points inside the bounds, in any order, asked for or not; repeats are kept.
        y : float, or array-like of shape (n,)
            Their values, to be minimised (or, with `maximize`, maximised). NaN, infinite or masked
            means that the evaluation failed; so does a value that is too large to be modelled with
            the others (1e308 among numbers like 1), with a `BeyondModelWarning`.
        noise_std : float, array-like of shape (n,) or None, default=None
            Standard deviation of the noise of every value, at least 0, in the units of y, where it
            is known: a Gaussian process takes it on top of the noise that it finds in all values.
            NaN or None: not known. One number is for all points.
        constraints : array-like of shape (m,), or (n, m) for n points, or None, default=None
            What the evaluation showed of m constraints: at most 0 where one holds, as Optuna and
            pymoo have it; NaN or None: not known. Each is learnt, also from failed evaluations, and
            points are proposed by expected improvement times the probability that all hold; by that
            probability alone until a feasible point is known. With m = 1 a number for one
            point and (n,) for n points will do. Values without, after others with, are warned of.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            When a point is outside the bounds or of wrong length, or x, y, noise_std and
            constraints differ in number, or noise_std is negative, infinite, or of no use to the
            method's surrogate, or the method cannot learn constraints. Then nothing is recorded.
        OSError
            When the journal cannot be written, as on a full disk. The value is known here, need not
            be given again, and is written as soon as the journal can be.
        """
        return self._tell(x, y, noise_std, constraints)

    def _tell(self, x, y, noise_std, constraints, goals=None):
        """Do the same, with the values of several goals, (n, k), beside those of one."""
        points, values = history.as_evaluations(x, y, self.space_)
        values = self._sign * values
        noise_std = as_noise(noise_std, values.shape)
        X = self.space_.encode(points)
        with self._lock:
            n_constraints = self._history.constraints.shape[1]
            left_out = n_constraints and constraints is None and np.isfinite(values).any()
            constraints = history.as_constraints(constraints, values.shape, n_constraints)
            self._refuse_unusable(noise_std, constraints)
            before = self._history.y
            goals = np.empty((len(X), 0)) if goals is None else goals
            observed = points, X, values, noise_std, constraints, goals
            self._record(*observed)
            y = self._history.y
        history.warn_of_told(before, y, self._sign, left_out)
        return self

    def cancel(self, x: Any) -> Self:
        """Take back a request: the point is not pending any more, and may be asked for again.

        For an evaluation that was lost, with a worker or a machine, and is worth another try. One
        that shall not be tried again has failed: ``tell(x, float("nan"))``.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points that are pending.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            When one of the points is not pending. Then none is cancelled.
        """
        points, _ = history.as_points(x, self.space_)
        keys = keys_of(self.space_.encode(points))
        with self._lock:
            for key, point in zip(keys, points, strict=True):
                if key not in self._pending:
                    raise ValueError(
                        f"x must be pending, asked for and neither told nor cancelled: got {point}."
                        f" Look at pending_, which holds {len(self._pending)} points."
                    )
            self._withdraw(keys)
        return self

    def register(self, x: Any) -> Self:
        """Mark points as pending, as if `ask` had proposed them.

        For points that are evaluated although the optimiser did not propose them: further
        proposals take them into account.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points inside the bounds.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a point is outside the bounds.
        """
        points, _ = history.as_points(x, self.space_)
        places = self.space_.encode(points)
        with self._lock:
            for place in places:
                self._add_pending(place)
        return self

    @abstractmethod
    def propose(self, rng: np.random.Generator, part: Part | None) -> FloatArray | None:
        """Return a place, (m,), of the cube [-1, 1]^m that is to be evaluated next.

        Where it is known already or outside the part, and where it is None, a random new one is
        taken.

        Parameters
        ----------
        rng : numpy.random.Generator
            The only source of random numbers.
        part : Part or None
            Where parameters are fixed or there are constraints; it may be left out of account.
        """

    def constrain(self, constraints: ConstraintsLike) -> Self:
        """Propose only points that satisfy constraints on cheap known functions from now on.

        Parameters
        ----------
        constraints : NonlinearConstraint, LinearConstraint, (names, constraint), list, or None
            Of `scipy.optimize`; the functions are called with a point, or with the array of the
            parameters that are named. Only a `LinearConstraint` without names may have equal
            bounds. With a `Space` also a function of a point that returns True if it is valid.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            When they are of another kind, or equalities that are not linear; when others were saved
            and not given since.

        Notes
        -----
        A journal and `to_dict` keep what describes them. Give them again to go on: `ask` is refused
        before.
        """
        made = KnownConstraints.of(constraints, self.space_)
        with self._lock:
            self._take_constraints(made.following(self._known))
        return self

    def __repr__(self):
        pending = f", n_pending={len(self._pending)}" if self._pending else ""
        return f"{type(self).__name__}({self.space_!r}, n_observed={len(self._history)}{pending})"

    @property
    def x_iters_(self) -> Any:
        """The observed points, in that order: ndarray of shape (n, d), or list of n dicts."""
        return self._as_results(self._history.points)

    @property
    def pending_(self) -> Any:
        """The points asked for, not observed or cancelled, in the order asked: as `x_iters_`."""
        with self._lock:
            pending, exact = dict(self._pending), dict(self._exact)
        decode = self.space_.decode
        points = [exact[k] if k in exact else decode(x[None])[0] for k, x in pending.items()]
        return self._as_results(points)

    @property
    def func_vals_(self) -> FloatArray:
        """The observed values, in that order: ndarray of shape (n,)."""
        return self._sign * self._history.y

    @property
    def constraints_(self) -> FloatArray:
        """The observed constraints: ndarray of shape (n, m), NaN if not known; m is 0 without."""
        return self._history.constraints.copy()

    @property
    def feasible_(self) -> BoolArray:
        """Whether all constraints of a point are known and at most 0: bool, of shape (n,)."""
        return history.is_feasible(self._history.constraints)

    @property
    def best_x_(self) -> Any:
        """The feasible point with the lowest observed value: ndarray of shape (d,), or dict."""
        return self._history.points[self._history.require_best()].copy()

    @property
    def best_y_(self) -> float:
        """The lowest finite observed value of a feasible point; with `maximize` the highest."""
        return self._sign * float(self._history.y[self._history.require_best()])

    @property
    def recommended_(self) -> Recommendation:
        """The evaluated point to use where values are noisy; without a model the best one."""
        return Recommendation(self.best_x_, self.best_y_, float("nan"))

    @property
    def input_model_(self) -> InputModel:
        """What the observed values say of the inputs: an `InputModel`, whoever proposed them.

        Computed when asked for, some seconds; nothing of what is proposed changes by it.
        """
        if self._input_model is None or not self.has_input_model:
            with one_thread():
                model = InputModel.fit(self.space_, *self._history.canonical[:3])
            self._input_model = len(self._history), model
        return self._input_model[1]

    @property
    def has_input_model(self) -> bool:
        """Whether `input_model_` of all values has been made, so that reading it takes no time."""
        return self._input_model is not None and self._input_model[0] == len(self._history)

    @property
    def known_constraints_(self) -> list[Any]:
        """Description of the constraints passed to `constrain`, as plain data."""
        return self._known.described

    @property
    def constraint_violation(self) -> Any:
        """Function of a point that is 0 where all known constraints hold; None without any."""
        return self._known.violation

    def check_constraints(self, constraints: ArrayLike) -> None:
        """Refuse constraints of one point, (m,), that `tell` would refuse."""
        n_known = self._history.constraints.shape[1]
        constraints = history.as_constraints(constraints, (1,), n_known)
        self._refuse_unusable(np.full(1, np.nan), constraints)

    def to_dict(self) -> dict[str, Any]:
        """Return everything known as plain data for JSON: who this is, and a list of events.

        Following them brings an optimiser into this state, as those of a journal do.

        Returns
        -------
        data : dict
            Of dicts, lists, strings, numbers, True, False and None; ``json.dumps(data)`` is exact.
            Options that are objects (a transformer, a learner) are described, as far as they can be
            pickled, and so are the parameters of a `Space` and what `constrain` was called with;
            none can be made from that. Points
            of a `Space` are stored by their place in the cube.
        """
        with self._lock:
            return to_data(self)

    @classmethod
    def from_dict(
        cls, data: dict[str, Any], *, bounds: BoundsLike | None = None, **objects: Any
    ) -> Self:
        """Return the optimiser that `to_dict` was called on: it proposes the same points.

        Where that had `constrain` called, this needs it again, with the same, before `ask`.

        Parameters
        ----------
        data : dict
            What `to_dict` returned, also by way of JSON.
        bounds : Space, array-like of shape (d, 2) or scipy.optimize.Bounds, default=None
            The space, if it has named parameters. A box needs not be given again.
        **objects
            The options that were objects, as they were when the data were made.

        Returns
        -------
        optimizer : object

        Raises
        ------
        ValueError
            When the data is of another class, format or version, or of another space, or bounds
            or objects are missing, superfluous or others; the difference is named.
        """
        return from_data(cls, data, bounds, objects)

    # --- for subclasses -------------------------------------------------------------------------

    def _state_to_dict(self):
        """Return what a subclass knows beyond history, pending points and options."""
        return {}

    def _state_from_dict(self, state):
        """Take over what `_state_to_dict` returned, history and pending points being there."""
        return

    def _refuse_unusable(self, noise_std, constraints):
        """Refuse what is told of noise, (n,), and constraints, (n, m), and cannot be used."""
        return

    @property
    def _sign(self):
        """What values are multiplied by, to be minimised, and those given back."""
        return -1.0 if self.maximize else 1.0

    @property
    def _seen(self):
        return self._observed_keys | self._pending.keys()

    @property
    def _n_known(self):
        return len(self._history) + len(self._pending)

    def _rng(self, *key):
        """Return the random stream of this number, the same whenever it is asked for."""
        return np.random.default_rng([self._seed, *key])

    def _part(self, fixed):
        """Return the `Part` of the space to propose in; None for the whole."""
        known, space = self._known, self.space_
        if known.are_missing:
            raise ValueError(
                f"constrain must be called before ask: this {type(self).__name__} was saved with "
                f"{in_words(known.described)}, and has only what describes that. Call constrain() "
                "with it."
            )
        if fixed is not None and not isinstance(fixed, Mapping):
            raise ValueError(
                f"fixed must be None or a dict, {'a name' if space.is_dict else 'an index'} and a "
                f"value for every fixed parameter: got {brief(fixed)}. Write "
                f"{{{'name' if space.is_dict else 0}: value}}."
            )
        if not fixed and known.violation is None:
            return None
        return Part(space, fixed or {}, known.violation, known.equations)

    def _propose_all(self, count, part):
        """Return so many new points, which are pending now."""
        points = []
        for _ in range(count):
            rng = self._rng(self._n_known)
            points.append(self._accept(self.propose(rng, part), part, rng))
        return points

    def _take_constraints(self, known):
        self._known = known

    def _accept(self, x, part, rng):
        """Return the point of a proposal x, or of a random place where x is None or not new.

        It is pending now.
        """
        if part is not None:
            return self._accept_in(part, x)
        if x is not None:
            [x] = self.space_.round(x[None])
        if x is None or key_of(x) in self._seen:
            x = draw_unseen(self.space_, self._seen, rng)
        return self.space_.decode(self._add_pending(x)[None])[0]

    def _accept_in(self, part, x):
        """Return the same for a part of the space, with exactly the values that are fixed."""
        best = self._history.best_places(N_BEST)
        proposed = best[:0] if x is None else part.admitted(part.round(x[None]))
        if not len(proposed) or key_of(proposed[0]) in self._seen:
            proposed = part.draw(self._seen, best, self._rng(self._n_known, 4))[None]
        [point] = part.decode(proposed)
        [x] = self.space_.encode([point])
        self._exact = {**self._exact, key_of(self._add_pending(x)): point}
        return point

    def _record(self, points, X, *values):
        longer = self._history.with_added(points, X, *values)
        keys, pending = keys_of(X), dict(self._pending)
        for key in keys:
            pending.pop(key, None)
        observed = self._observed_keys.union(keys)
        # Together and last: whatever interrupts, all of it is known or nothing.
        self._history, self._pending, self._observed_keys = longer, pending, observed

    def _add_pending(self, x):
        self._pending = {**self._pending, key_of(x): x}
        return x

    def _withdraw(self, keys):
        keys = set(keys)
        self._pending = {key: x for key, x in self._pending.items() if key not in keys}

    def _as_results(self, points):
        if self.space_.is_dict:
            return [point.copy() for point in points]
        return np.array(points) if points else np.empty((0, len(self.space_.lower)))


@cache
def _arguments(cls):
    return frozenset(signature(cls).parameters)
