"""Being asked for points and told values: what every proposal goes through."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from skbo_silbo._checks import as_noise, check_count
from skbo_silbo._typing import ArrayLike, BoundsLike, ConstraintsLike, FloatArray, RandomState
from skbo_silbo.acquisition._nearby_points import N_BEST
from skbo_silbo.acquisition._part_of_space import Part
from skbo_silbo.optimizers import _history as history
from skbo_silbo.optimizers._constraints import in_words
from skbo_silbo.optimizers._event_log import EventLog
from skbo_silbo.optimizers._records import observed_event
from skbo_silbo.optimizers._seed import root_seed
from skbo_silbo.space import draw_unseen, key_of
from skbo_silbo.space._keys import keys_of, too_few_left
from skbo_silbo.space._read import AnySpace, as_space, refuse_intervals


class AskTell(ABC):
    """Points asked for and values observed; `AskTellOptimizer` is the base for subclasses.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed. numpy's global generator is never used.
    """

    maximize = False

    def __init__(self, bounds: BoundsLike, random_state: RandomState = None) -> None:
        self.bounds = bounds
        self.random_state = random_state
        refuse_intervals(bounds)
        self.space_: AnySpace = as_space(bounds)
        self._lock = threading.RLock()
        self._history = history.History(self.space_.n_features_)
        # key of the point -> its place in the cube, in the order asked
        self._pending: dict[bytes, FloatArray] = {}
        self._observed_keys: set[bytes] = set()
        # key of a point asked for with fixed parameters -> the point
        self._exact: dict[bytes, Any] = {}
        self._constraints: ConstraintsLike = None
        self._violation = self._equations = None
        # what describes the constraints, of a saved optimiser before they are given; None: not yet
        self._rule: list[Any] | None = None
        self._log: EventLog | None = None
        self._seed = root_seed(random_state)
        # the last `input_model_`, and of how many values
        self._input_model: tuple[int, Any] | None = None

    def __getstate__(self):
        with self._lock:  # a copy writes no journal
            return {k: v for k, v in vars(self).items() if k not in ("_lock", "_log")}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock(), _log=None)

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
        whole = fixed is None and not self._rule and self._violation is None
        part = None if whole else self._part(fixed)
        with self._lock:
            if count > self.space_.n_points - len(self._seen):
                raise too_few_left(self.space_, self._seen, count)
            before = self._pending, self._exact
            self._pending, self._exact = dict(self._pending), dict(self._exact)
            try:
                points = []
                for _ in range(count):
                    rng = self._rng(self._n_known)
                    points.append(self._accept(self.propose(rng, part), part, rng))
                if self._log is not None:
                    asked = list(self._pending.values())[-count:]
                    self._log.ask(np.array(asked).tolist(), self._state_to_dict())
            except BaseException:
                self._pending, self._exact = before
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
        points, values = history.as_evaluations(x, y, self.space_)
        values = self._sign * values
        noise_std = self._check_noise(noise_std, values.shape)
        X = self.space_.encode(points)
        with self._lock:
            n_constraints = self._history.constraints.shape[1]
            left_out = n_constraints and constraints is None and np.isfinite(values).any()
            constraints = self._check_constraints(constraints, values.shape)
            before = self._history.y
            observed = points, X, values, noise_std, constraints
            self._record(*observed)
            if self._log is not None:
                self._log.tell(observed_event(self.space_, *observed))
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
            if self._log is not None:
                self._log.tell({"cancelled": self.space_.encode(points).tolist()})
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

    def _state_to_dict(self):
        """Return what a subclass knows beyond history, pending points and options."""
        return {}

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
        if self._rule and self._violation is None:
            raise ValueError(
                f"constrain must be called before ask: this {type(self).__name__} was saved with "
                f"{in_words(self._rule)}, and has only what describes that. Call constrain() with "
                "it."
            )
        if fixed is not None and not isinstance(fixed, Mapping):
            key = "a name" if self.space_.is_dict else "an index"
            raise ValueError(
                f"fixed must be None or a dict, {key} and a value for every fixed parameter: got "
                f"{fixed!r}. Write {{{'name' if self.space_.is_dict else 0}: value}}."
            )
        if not fixed and self._violation is None:
            return None
        return Part(self.space_, fixed or {}, self._violation, self._equations)

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
        self._pending[key_of(x)] = x
        return self.space_.decode(x[None])[0]

    def _accept_in(self, part, x):
        """Return the same for a part of the space, with exactly the values that are fixed."""
        best = self._history.best_places(N_BEST)
        proposed = best[:0] if x is None else part.admitted(part.round(x[None]))
        if not len(proposed) or key_of(proposed[0]) in self._seen:
            proposed = part.draw(self._seen, best, self._rng(self._n_known, 4))[None]
        [point] = part.decode(proposed)
        [x] = self.space_.encode([point])
        self._pending[key_of(x)] = x
        self._exact[key_of(x)] = point
        return point

    def _record(self, points, X, values, noise_std, constraints):
        longer = self._history.with_added(points, X, values, noise_std, constraints)
        keys = set(keys_of(X))
        pending = {key: x for key, x in self._pending.items() if key not in keys}
        observed = self._observed_keys | keys
        # Together and last: whatever interrupts, all of it is known or nothing.
        self._history, self._pending, self._observed_keys = longer, pending, observed

    def _register(self, x):
        self._pending[key_of(x)] = x
        return x

    def _withdraw(self, keys):
        keys = set(keys)
        self._pending = {key: x for key, x in self._pending.items() if key not in keys}

    def _check_noise(self, noise_std, shape):
        return as_noise(noise_std, shape)

    def _check_constraints(self, constraints, shape):
        return history.as_constraints(constraints, shape, self._history.constraints.shape[1])

    def _as_results(self, points):
        if self.space_.is_dict:
            return [point.copy() for point in points]
        return np.array(points) if points else np.empty((0, len(self.space_.lower)))
