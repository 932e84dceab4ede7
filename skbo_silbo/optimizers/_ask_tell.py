"""Base class of the ask-and-tell optimisers."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import Generator

from skbo_silbo._checks import as_noise, brief, check_count, warn_user
from skbo_silbo._evaluation_table import evaluation_table
from skbo_silbo._numerics.threads import one_thread
from skbo_silbo._typing import (
    ArrayLike,
    BoolArray,
    BoundsLike,
    ConstraintsLike,
    FloatArray,
    RandomState,
)
from skbo_silbo.acquisition.restricted_space import RestrictedSpace
from skbo_silbo.acquisition.searches import N_BEST
from skbo_silbo.journal.records import Record
from skbo_silbo.journal.state import from_data, root_seed, to_data
from skbo_silbo.optimizers.constraints import NO_CONSTRAINTS, KnownConstraints
from skbo_silbo.optimizers.history import (
    History,
    as_constraints,
    as_evaluations,
    as_points,
    is_feasible,
    warn_about_large_values,
)
from skbo_silbo.optimizers.predictions import Recommendation
from skbo_silbo.sensitivity import InputModel
from skbo_silbo.space import draw_unseen, key_of
from skbo_silbo.space.any_space import AnySpace, as_space, refuse_intervals
from skbo_silbo.space.keys import keys_of, too_few_left

if TYPE_CHECKING:
    import pandas as pd

MOST_PROPOSALS = 10_000  # in one call of `ask`, whose time grows with the square of their number


class AskTellOptimizer(ABC):
    """Base class of optimisers with the methods `ask` and `tell`.

    An optimiser stores the evaluated points, and the pending points, which have been proposed but
    not evaluated. A subclass implements `propose`, which chooses the next point.

    Proposals depend on the seed and on the evaluated and pending points, not on timing or on the
    order of the calls of `tell`. Threads can share an optimiser, because a lock admits one thread
    at a time. Constructor arguments cannot be changed afterwards, except for `maximize` before the
    first point.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results. NumPy's global generator is
        never used.
    """

    maximize = False

    # Attributes are replaced, never modified in place, so `ask` can restore them after an error.
    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        vars(self).setdefault("bounds", bounds)  # where a subclass has not kept them
        vars(self).setdefault("random_state", random_state)
        refuse_intervals(bounds)
        self.space_: AnySpace = as_space(bounds)
        self._lock = threading.RLock()
        self._history = History(np.empty((0, self.space_.n_features_)))
        # key of a point -> the point and its encoding in the cube, in the order of the proposals
        self._pending: dict[bytes, tuple[Any, FloatArray]] = {}
        self._observed_keys: frozenset[bytes] = frozenset()
        self._known_constraints = NO_CONSTRAINTS
        self._log: Any = None  # an `EventLog`, for optimisers with a journal
        self.seed_ = root_seed(random_state)
        # the last `input_model_`, and the number of values that it was fitted to
        self._input_model: tuple[int, Any] | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and "_input_model" in vars(self):
            is_argument = name in vars(self) and name in signature(type(self)).parameters
            if self._n_points if name == "maximize" else is_argument:
                raise AttributeError(
                    f"{name} of {type(self).__name__} cannot be changed after construction, got "
                    f"{brief(value)}. Create a new optimiser with this value, and pass x_iters_ "
                    "and func_vals_ to its tell()."
                )
        super().__setattr__(name, value)

    def __getstate__(self):
        with self._lock:  # the journal stays with the original
            return {k: v for k, v in vars(self).items() if k != "_lock"} | {"_log": None}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock())

    def ask(self, n: int | None = None, fixed: Mapping[Any, Any] | None = None) -> Any:
        """Propose points to evaluate.

        The points are pending until their values are passed to `tell`; further proposals take
        pending points into account.

        Parameters
        ----------
        n : int or None, default=None
            Number of points to propose, at most 10,000. If None, a single point is returned rather
            than a list of points.
        fixed : dict or None, default=None
            Values of parameters to keep fixed. The keys are names for named parameters, and indices
            (from 0) for a box. The model is still fitted to all evaluations.

        Returns
        -------
        x : ndarray of shape (d,) or dict; with n, ndarray of shape (n, d) or list of n dicts
            Proposed points, which are distinct and neither evaluated nor pending.

        Raises
        ------
        SpaceExhausted
            If a finite search space has fewer than n new points left. With `fixed`, only points
            with these values count.
        ValueError
            If n is too large, if `fixed` has an unknown parameter or a value outside the space, if
            no point satisfies the constraints, or if the constraints of a restored optimiser were
            not passed to `constrain` again.
        """
        count = 1 if n is None else check_count("n", n)
        known = self._known_constraints
        is_whole = fixed is None and known is NO_CONSTRAINTS
        restricted = None if is_whole else known.restrict(self.space_, fixed)
        with self._lock:
            if count > self.space_.n_points - len(self._seen):
                raise too_few_left(self.space_, self._seen, count)
            if count > MOST_PROPOSALS:
                raise ValueError(
                    f"n must be at most {MOST_PROPOSALS}, got {n}. Ask for fewer points and `tell` "
                    "their values, so that later proposals learn from them."
                )
            before, points = dict(vars(self)), []
            try:
                for _ in range(count):
                    rng = self._rng(self._n_points)
                    points.append(self._accept(self.propose(rng, restricted), restricted, rng))
                if self._log is not None:
                    self._log.record_proposals(self, count)
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
        """Record the objective values of one or more points.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points inside the bounds, in any order, whether or not `ask` proposed them. Repeated
            evaluations of a point are all kept.
        y : float, or array-like of shape (n,)
            Observed values of the objective, to be minimised (maximised with `maximize`). NaN,
            infinite or masked values mean that the evaluation failed. A value that is too large to
            be modelled with the others, such as 1e308 among values near 1, also counts as failed,
            with a `BeyondModelWarning`.
        noise_std : float, array-like of shape (n,) or None, default=None
            Known standard deviation of the noise in each value, non-negative and in the units of y.
            A single number applies to all points. It is added to the noise that the Gaussian
            process estimates, so 0, None and NaN have the same effect.
        constraints : array-like of shape (m,), or (n, m) for n points, or None, default=None
            Observed values of m constraints. As in Optuna and pymoo, a constraint holds if its
            value is at most 0. NaN or None means unknown. A model of each constraint is also fitted
            to failed evaluations. Proposals maximise the expected improvement times the probability
            that all constraints hold, and that probability alone until a feasible point is known.
            For m = 1, a number or an array of shape (n,) is accepted. A warning is issued when
            constraints are omitted after earlier calls had them.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a point is outside the bounds or has the wrong length, the arguments have different
            lengths, `noise_std` is negative, infinite or not supported by the surrogate, or the
            method cannot learn constraints. Nothing is recorded in that case.
        OSError
            If the journal cannot be written, for example on a full disk. The value is kept in
            memory and written as soon as the journal is writable again; do not pass it again.
        """
        return self._tell(x, y, noise_std, constraints)

    def _tell(self, x, y, noise_std, constraints, goals=None):
        """Add validated observations to the history.

        If y contains scalarised values, `goals` contains the values of the k objectives that they
        were computed from, with shape (n, k).
        """
        points, values = as_evaluations(x, y, self.space_)
        values = self.sign * values
        noise_std = as_noise(noise_std, values.shape)
        X = self.space_.encode(points)
        with self._lock:
            n_constraints = self._history.constraints.shape[1]
            left_out = n_constraints and constraints is None and np.isfinite(values).any()
            constraints = as_constraints(constraints, values.shape, n_constraints)
            self._refuse_unusable(noise_std, constraints)
            goals = np.empty((len(X), 0)) if goals is None else goals
            new = History(X, points, values, noise_std, constraints, goals)
            self._record(new)
            if self._log is not None:
                self._log.record_observations(points, values, noise_std, constraints, goals)
        if left_out:
            warn_user(
                "constraints were left out for these points, although earlier points have them. "
                "Points not known to be feasible cannot be the best. Pass constraints with every "
                "value, NaN if unknown."
            )
        warn_about_large_values(self.sign * values)
        return self

    def cancel(self, x: Any) -> Self:
        """Withdraw pending points, so that `ask` may propose them again.

        Use it for evaluations that were lost, for example with a worker, and may be repeated. To
        record a failed evaluation instead, call ``tell(x, float("nan"))``.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Pending points to withdraw, as returned by `ask`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If one of the points is not pending. No point is withdrawn in that case.
        """
        points, _ = as_points(x, self.space_)
        X = self.space_.encode(points)
        keys = keys_of(X)
        with self._lock:
            for key, point in zip(keys, points, strict=True):
                if key not in self._pending:
                    raise ValueError(
                        "`x` must be pending: proposed by ask, neither evaluated nor cancelled. "
                        f"Got {point}. The {len(self._pending)} pending points are in pending_."
                    )
            self._withdraw(keys)
            if self._log is not None:
                self._log.record_cancellation(points)
        return self

    def register(self, x: Any) -> Self:
        """Mark points as pending, as if `ask` had proposed them.

        Use it for points that are evaluated although the optimiser did not propose them.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points inside the bounds. They need not have been proposed by `ask`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a point is outside the bounds.
        """
        points, _ = as_points(x, self.space_)
        X = self.space_.encode(points)
        with self._lock:
            self._add_pending(points, X)
        return self

    @abstractmethod
    def propose(self, rng: Generator, restricted: RestrictedSpace | None) -> FloatArray | None:
        """Return the next point to evaluate.

        If the result is None, already evaluated, pending or outside `restricted`, the optimiser
        proposes a random new point instead.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random number generator, the only source of randomness that may be used.
        restricted : RestrictedSpace or None
            Search space restricted by fixed parameters and known constraints. None means that there
            are no restrictions. An implementation may ignore it.

        Returns
        -------
        x : ndarray of shape (m,) or None
            The proposed point, encoded in the cube [-1, 1]^m. None means that a random new point is
            proposed instead.
        """

    def constrain(self, constraints: ConstraintsLike) -> Self:
        """Restrict further proposals to points that satisfy the given constraints.

        Parameters
        ----------
        constraints : NonlinearConstraint, LinearConstraint, (names, constraint), list, or None
            Constraints of `scipy.optimize`. Their functions are called with a point, or, in a pair
            (names, constraint), with the array of the named parameters. Equality constraints are
            not supported. For a `Space`, a function that returns True for valid points is also
            accepted.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a constraint has an unsupported type or is an equality, or if the
            constraints of a restored optimiser differ from the saved ones.

        Notes
        -----
        A journal and `to_dict` store a description of the constraints only. Pass them again before
        calling `ask` on a restored optimiser.
        """
        made = KnownConstraints.of(constraints, self.space_)
        with self._lock:
            known, before = made.following(self._known_constraints), self._known_constraints
            self._known_constraints = known
            if self._log is not None and known.described != before.described:
                self._log.write({"constrained": known.described})
        return self

    def __repr__(self):
        pending = f", n_pending={len(self._pending)}" if self._pending else ""
        return f"{type(self).__name__}({self.space_!r}, n_observed={len(self._history)}{pending})"

    @property
    def x_iters_(self) -> Any:
        """Evaluated points in the order of `tell`, as an array (n, d) or a list of dicts."""
        return self._as_results(self._history.points)

    @property
    def pending_(self) -> Any:
        """Points that were proposed but not evaluated, as an array (n, d) or a list of dicts."""
        with self._lock:
            return self._as_results([point for point, _ in self._pending.values()])

    @property
    def func_vals_(self) -> FloatArray:
        """Observed objective values in the order of `tell`."""
        return self.sign * self._history.y

    @property
    def constraints_(self) -> FloatArray:
        """Observed constraint values as an array of shape (n, m), with NaN for unknown values.

        m is 0 if no constraint has been observed.
        """
        return self._history.constraints.copy()

    @property
    def feasible_(self) -> BoolArray:
        """Mask of the evaluated points that are known to satisfy all constraints."""
        return is_feasible(self._history.constraints)

    @property
    def best_x_(self) -> Any:
        """Feasible point with the best observed objective value."""
        return self._history.points[self._history.best_index()].copy()

    @property
    def best_y_(self) -> float:
        """Best finite objective value observed at a feasible point."""
        return self.sign * float(self._history.y[self._history.best_index()])

    @property
    def recommended_(self) -> Recommendation:
        """Evaluated point to use if the objective is noisy.

        Without a model, this is the point with the best observed value.
        """
        return Recommendation(self.best_x_, self.best_y_, float("nan"))

    @property
    def input_model_(self) -> InputModel:
        """`InputModel` that describes how each input affects the objective.

        It is fitted on first access, which takes some seconds, and has no effect on proposals.
        """
        if self._input_model is None or self._input_model[0] != len(self._history):
            with one_thread():
                model = InputModel.fit(self.space_, *self._history.canonical[:3])
            self._input_model = len(self._history), model
        return self._input_model[1]

    @property
    def known_constraints_(self) -> list[Any]:
        """JSON-compatible description of the constraints passed to `constrain`."""
        return self._known_constraints.described

    def constraint_violation(self, point: Any) -> float:
        """Return by how much a point violates the constraints of `constrain`, or 0."""
        return self._known_constraints.violation(point)

    def check_constraints(self, constraints: ArrayLike) -> None:
        """Raise an error if `tell` would reject the constraint values of a point."""
        n_constraints = self._history.constraints.shape[1]
        constraints = as_constraints(constraints, (1,), n_constraints)
        self._refuse_unusable(np.full(1, np.nan), constraints)

    def evaluation_table(self) -> dict[str, list[Any]]:
        """Return the evaluations as a dict of columns, for use without pandas."""
        with self._lock:
            values, feasible, constraints = self.func_vals_, self.feasible_, self.constraints_
            points = self.x_iters_
        results = {"value": values.tolist()}
        results |= {f"constraint_{i}": c.tolist() for i, c in enumerate(constraints.T)}
        return evaluation_table(points, results, values, feasible)

    def to_frame(self) -> "pd.DataFrame":
        """Return the evaluations as a pandas DataFrame, in the order of `tell`.

        Returns
        -------
        frame : DataFrame
            One column per parameter ("x0", "x1", ... for a box), then "value", "constraint_0", ...
            if there are constraints, and "status". The status is "ok", "failed" if the value is NaN
            or infinite, or "infeasible" if a constraint is violated or unknown. If a parameter has
            the name of one of the other columns, an underscore is appended to the name of that
            column.

        Examples
        --------
        >>> from skbo_silbo import SILBO
        >>> optimizer = SILBO({"width": [0.5, 1.0, 2.0]}, random_state=0)
        >>> optimizer = optimizer.tell([{"width": 0.5}, {"width": 1.0}], [3.0, float("nan")])
        >>> optimizer.to_frame()
           width  value  status
        0    0.5    3.0      ok
        1    1.0    NaN  failed
        """
        import pandas as pd

        return pd.DataFrame(self.evaluation_table())

    def to_dict(self) -> dict[str, Any]:
        """Convert the state of the optimiser to JSON-compatible data.

        `from_dict` restores an optimiser in the same state.

        Returns
        -------
        data : dict
            The class, the options and a list of events, as JSON-compatible data.
            ``json.dumps(data)`` loses no precision. Objects passed as options (a transformer or a
            learner), a `Space` and constraints are described but not stored. Pass them again to
            `from_dict` and `constrain`.
        """
        with self._lock:
            return to_data(self)

    @classmethod
    def from_dict(
        cls, data: dict[str, Any], *, bounds: BoundsLike | None = None, **objects: Any
    ) -> Self:
        """Restore an optimiser, and its future proposals, from the data of `to_dict`.

        If the saved optimiser had known constraints, call `constrain` with them before `ask`.

        Parameters
        ----------
        data : dict
            The data returned by `to_dict`, possibly read back from JSON.
        bounds : Space, array-like of shape (d, 2) or scipy.optimize.Bounds, default=None
            The search space. It must be passed if the parameters have names.
        **objects
            Objects that were passed as options to the saved optimiser, such as a transformer.

        Returns
        -------
        optimizer : object

        Raises
        ------
        ValueError
            If the data is of another class, format, version or space, or if bounds or objects are
            missing, unexpected or different. The message names the difference.
        """
        return from_data(cls, data, bounds, objects)

    @property
    def encoded_pending_(self) -> FloatArray:
        """Pending points in the order of `ask`, encoded in the cube [-1, 1]^m."""
        shape = len(self._pending), self.space_.n_features_
        return np.array([x for _, x in self._pending.values()]).reshape(shape)

    # --- for subclasses -------------------------------------------------------------------------

    def model_to_dict(self) -> dict[str, Any]:
        """Convert the fitted model to JSON-compatible data; {} if there is no model."""
        return {}

    def model_from_dict(self, state: dict[str, Any]) -> None:
        """Restore the fitted model from the data of `model_to_dict`."""
        return

    def _refuse_unusable(self, noise_std, constraints):
        """Raise an error if the optimiser does not support noise or constraint values."""
        return

    @property
    def sign(self) -> float:
        """Factor that converts between the user's values and values to minimise, 1 or -1."""
        return -1.0 if self.maximize else 1.0

    @property
    def _seen(self):
        return self._observed_keys | self._pending.keys()

    @property
    def _n_points(self):
        """Total number of evaluated and pending points."""
        return len(self._history) + len(self._pending)

    def _rng(self, *key):
        """Return a random generator seeded with the given key."""
        return np.random.default_rng([self.seed_, *key])

    def _accept(self, x, restricted, rng):
        """Mark a proposed point as pending and decode it.

        If x is None, evaluated or pending, a random new point is used instead.
        """
        if restricted is not None:
            return self._accept_in(restricted, x)
        if x is not None:
            [x] = self.space_.round(x[None])
        if x is None or key_of(x) in self._seen:
            x = draw_unseen(self.space_, self._seen, rng)
        points = self.space_.decode(x[None])
        self._add_pending(points, x[None])
        return points[0]

    def _accept_in(self, restricted, x):
        """Mark a point of a restricted space as pending, and decode it with the fixed values."""
        best = self._history.best_points(N_BEST)
        proposed = best[:0] if x is None else restricted.admitted(restricted.round(x[None]))
        if not len(proposed) or key_of(proposed[0]) in self._seen:
            proposed = restricted.draw(self._seen, best, self._rng(self._n_points, 4))[None]
        points = restricted.decode(proposed)
        self._add_pending(points, self.space_.encode(points))
        return points[0]

    def _record(self, new):
        longer = self._history.extended(new)
        keys, pending = keys_of(new.X), dict(self._pending)
        for key in keys:
            pending.pop(key, None)
        observed = self._observed_keys.union(keys)
        # In one statement at the end, so that an interrupt cannot leave a partial update.
        self._history, self._pending, self._observed_keys = longer, pending, observed

    def replay(self, record: Record) -> None:
        """Repeat the change of state that a journal record describes."""
        if record.values is not None:
            self._record(History(record.X, record.points, *record.values))
        elif record.kind == "asked":
            self._add_pending(record.points, record.X)
        elif record.kind == "cancelled":
            self._withdraw(record.keys)
        elif record.kind == "constrained":
            # `ask` raises an error until `constrain` is called with the constraints described here
            described = record.content["constrained"]
            self._known_constraints = KnownConstraints(described=described)

    def _add_pending(self, points, X):
        pairs = zip(points, X, strict=True)  # copies, because users may change the points
        new = {key_of(x): (point.copy(), x) for point, x in pairs}
        self._pending = {**self._pending, **new}

    def _withdraw(self, keys):
        keys = set(keys)
        self._pending = {key: pair for key, pair in self._pending.items() if key not in keys}

    def _as_results(self, points):
        if self.space_.is_dict:
            return [point.copy() for point in points]
        return np.array(points) if points else np.empty((0, len(self.space_.lower)))
