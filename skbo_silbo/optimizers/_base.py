"""What every optimiser shares: being asked for points and told values."""

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from skbo_silbo._checks import check_count
from skbo_silbo._sklearn import one_thread
from skbo_silbo.optimizers import _state
from skbo_silbo.optimizers._history import History
from skbo_silbo.optimizers._input_model import InputModel
from skbo_silbo.optimizers._journaling import (
    begin_or_check,
    points_from_data,
    points_to_data,
    state_in,
)
from skbo_silbo.optimizers._modelled_values import BeyondModelWarning, is_beyond
from skbo_silbo.space import SpaceExhausted, as_space, key_of, keys_of, refuse_intervals


class AskTellOptimizer(ABC):
    """Base of the optimisers: bookkeeping of points asked for and values told.

    A subclass says how to `_propose` the next point. Random numbers come from a stream of its own
    for every proposal, numbered by how many points are known (told or pending): what is
    proposed depends on the seed and on what is known, not on the clock nor on the order of `tell`.
    Threads may share an optimiser: a lock lets one in at a time, and an `ask` that thinks holds it.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed. numpy's global generator is never used.
    """

    def __init__(self, bounds, random_state=None):
        self.bounds = bounds
        self.random_state = random_state
        refuse_intervals(bounds)
        self.space_ = as_space(bounds)
        self._lock = threading.RLock()
        self._history = History(self.space_.n_features_)
        self._pending = {}  # key of the point -> its place in the cube, in the order asked
        self._told = set()
        self._log = None
        self._seed = _root_seed(random_state)
        self._input_model = None  # the last `input_model_`, and of how many values

    def __repr__(self):
        return f"{type(self).__name__}({self.space_!r}, n_told={len(self._history)})"

    def __getstate__(self):
        with self._lock:  # a copy writes no journal
            return {k: v for k, v in vars(self).items() if k not in ("_lock", "_log")}

    def __setstate__(self, state):
        vars(self).update(state, _lock=threading.RLock(), _log=None)

    @property
    def x_iters_(self):
        """The points told, in that order: ndarray of shape (n, d), or list of n dicts."""
        return self._as_results(self._history.points)

    @property
    def pending_(self):
        """The points asked for and not yet told or cancelled, in the order asked: as `x_iters_`."""
        X = np.array(list(self._pending.values()))
        return self.space_.decode(X.reshape(-1, self.space_.n_features_))

    @property
    def func_vals_(self):
        """The values told, in that order: ndarray of shape (n,)."""
        return self._history.y.copy()

    @property
    def best_x_(self):
        """The point with the lowest value told: ndarray of shape (d,), or dict."""
        return self._history.points[self._best_index()].copy()

    @property
    def best_y_(self):
        """The lowest finite value told."""
        return float(self._history.y[self._best_index()])

    @property
    def input_model_(self):
        """What the values told say of the inputs: an `InputModel`, whatever proposed the points.

        Computed when asked for, some seconds; nothing of what is proposed changes by it.
        """
        history = self._history
        if self._input_model is None or self._input_model[0] != len(history):
            with one_thread():
                model = InputModel.fit(self.space_, history.X, history.y, history.noise_std)
            self._input_model = len(history), model
        return self._input_model[1]

    def ask(self, n=None):
        """Propose points to evaluate.

        The points are pending until they are told: further proposals take them into account.

        Parameters
        ----------
        n : int or None, default=None
            How many points; None means one.

        Returns
        -------
        x : ndarray of shape (d,) or dict; with n, ndarray of shape (n, d) or list of n dicts
            Distinct points, none of them asked for or told before.

        Raises
        ------
        SpaceExhausted
            When a finite space has fewer than n new points left.
        """
        count = 1 if n is None else check_count("n", n)
        with self._lock:
            self._require_left(count)
            before = dict(self._pending)
            try:
                X = [self._register(self._propose()) for _ in range(count)]
                self._log_asked(X)
            except BaseException:
                self._pending = before
                raise
        points = self.space_.decode(np.array(X).reshape(count, self.space_.n_features_))
        return points[0] if n is None else points

    def tell(self, x, y, noise_std=None):
        """Record the value of one point or of several.

        Parameters
        ----------
        x : ndarray of shape (d,) or dict, or ndarray of shape (n, d) or list of n dicts
            Points inside the bounds, in any order, asked for or not; repeats are kept.
        y : float, or array-like of shape (n,)
            Their values, to be minimised. NaN, infinite or masked means that the evaluation failed;
            so does a value that is too large to be modelled with the others (1e308 among numbers
            like 1), with a `BeyondModelWarning`.
        noise_std : float, array-like of shape (n,) or None, default=None
            Standard deviation of the noise of every value, at least 0, in the units of y, where it
            is known: a Gaussian process takes it on top of the noise that it finds in all values.
            NaN or None: not known. One number is for all points.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            When a point is outside the bounds or of wrong length, or x, y and noise_std differ in
            number, or noise_std is negative, infinite, or of no use to the method's surrogate.
            Then nothing is recorded.
        """
        points, values = self._check_evaluations(x, y)
        noise_std = self._check_noise(noise_std, values.shape)
        X = self.space_.encode(points)
        with self._lock:
            n_beyond = self._history.count_beyond()
            self._record(points, X, values, noise_std)
            self._log_told(points, X, values, noise_std)
            n_beyond = self._history.count_beyond() - n_beyond
        if n_beyond > 0:
            _warn_of_values_beyond(n_beyond, self._history.y)
        return self

    def cancel(self, x):
        """Take back a request: the point is not pending any more, and may be asked for again.

        For an evaluation that was lost, with a worker or a machine, and is worth another try. One
        that shall not be tried again is told as failed: ``tell(x, float("nan"))``.

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
        points, _ = self._as_points(x)
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
                self._log.append({"cancelled": self.space_.encode(points).tolist()})
        return self

    def keep_journal(self, log, **facts):
        """Go on from what a log holds, and write to it from now on.

        Parameters
        ----------
        log : EventLog
            Open. Of a new file, or of an optimiser like this one.
        **facts
            What else must be as it was when the log was begun, as plain data.

        Raises
        ------
        ValueError
            When the log is of another space, class, option or seed; it is named, the log closed.
        """
        with self._lock:
            try:
                begin_or_check(log, self, facts)
                self._replay(log)
            except BaseException:
                log.close()
                raise
            self._log = log

    def close_journal(self):
        """Close the journal, if there is one: what follows is not written down."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def was_told(self, x):
        """Return whether a value of this point, (d,) or dict, has been told."""
        return key_of(self.space_.encode([x])[0]) in self._told

    def check_points(self, x):
        """Return one point or several as a list of points, all inside the bounds.

        Raises
        ------
        ValueError
            When a point is outside the bounds or of wrong length.
        """
        points, _ = self._as_points(x)
        self.space_.encode(points)
        return list(points)

    def to_dict(self):
        """Return everything known as plain data for JSON.

        Returns
        -------
        data : dict
            Of dicts, lists, strings, numbers, True, False and None; ``json.dumps(data)`` is exact.
            Options that are objects (a transformer, a mapping) are only named; the parameters of a
            `Space` are described, and its points are stored by their place in the cube.
        """
        with self._lock:
            return self._to_dict()

    def _to_dict(self):
        options, objects = _state.options_to_data(self)
        points = "X" if self.space_.is_dict else "points"
        rows = self._history.X if self.space_.is_dict else self.x_iters_
        return {
            "format": _state.FORMAT,
            "version": _state.VERSION,
            "class": type(self).__name__,
            "space": _state.space_to_data(self.space_),
            "options": options,
            "objects": objects,
            "seed": int(self._seed),
            "history": {
                points: rows.tolist(),
                "y": _state.values_to_data(self._history.y),
                "noise_std": _state.values_to_data(self._history.noise_std),
            },
            "pending": [x.tolist() for x in self._pending.values()],
            "state": self._state_to_dict(),
        }

    @classmethod
    def from_dict(cls, data, *, bounds=None, **objects):
        """Return the optimiser that `to_dict` was called on: it proposes the same points.

        Parameters
        ----------
        data : dict
            What `to_dict` returned, also by way of JSON.
        bounds : Space, array-like of shape (d, 2) or scipy.optimize.Bounds, default=None
            The space, if it has named parameters. A box needs not be given again.
        **objects
            The options that were objects.

        Returns
        -------
        optimizer : object

        Raises
        ------
        ValueError
            When the data is of another class, format or version, or of another space, or bounds
            or objects are missing or superfluous.
        """
        _state.check_header(data, cls)
        options = _state.merge_options(data, objects)
        bounds = _state.bounds_from_data(data["space"], bounds)
        optimizer = cls(bounds, random_state=_state.RootSeed(data["seed"]), **options)
        _state.check_space(data["space"], optimizer.space_)
        optimizer._restore(data)
        return optimizer

    def _restore(self, data):
        m, history = self.space_.n_features_, data["history"]
        if "X" in history:
            points = self.space_.decode(np.reshape(history["X"], (-1, m)))
        else:
            points = np.reshape(history["points"], (-1, len(self.space_.lower)))
        values, noise_std = (_state.values_from_data(history[name]) for name in ("y", "noise_std"))
        self._record(list(points), self.space_.encode(points), values, noise_std)
        for x in np.reshape(data["pending"], (-1, m)):
            self._register(x)
        self._state_from_dict(data["state"])

    def _state_to_dict(self):
        """Return what a subclass knows beyond history, pending points and options."""
        return {}

    def _state_from_dict(self, state):
        """Take over what `_state_to_dict` returned, history and pending points being there."""
        return

    @abstractmethod
    def _propose(self):
        """Return the next point, (m,), of the cube: canonical, and not in `_seen`."""

    @property
    def _seen(self):
        return self._told | self._pending.keys()

    @property
    def _n_known(self):
        return len(self._history) + len(self._pending)

    def _rng(self, *key):
        """Return the random stream of this number, the same whenever it is asked for."""
        return np.random.default_rng([self._seed, *key])

    def _register(self, x):
        self._pending[key_of(x)] = x
        return x

    def _record(self, points, X, values, noise_std):
        history = self._history.with_added(points, X, values, noise_std)
        keys = set(keys_of(X))
        pending = {key: x for key, x in self._pending.items() if key not in keys}
        told = self._told | keys
        # Together and last: whatever interrupts, all of it is known or nothing.
        self._history, self._pending, self._told = history, pending, told

    def _withdraw(self, keys):
        keys = set(keys)
        self._pending = {key: x for key, x in self._pending.items() if key not in keys}

    def _log_asked(self, X):
        if self._log is not None:
            self._log.append({"asked": np.array(X).tolist()})
            self._log.keep_state(self._state_to_dict())

    def _log_told(self, points, X, values, noise_std):
        if self._log is not None:
            numbers = map(_state.values_to_data, (values, noise_std))
            numbers = dict(zip(("y", "noise_std"), numbers, strict=True))
            self._log.append({"told": points_to_data(self.space_, points, X), **numbers})

    def _replay(self, log):
        n_before, state = state_in(log)
        for n, event in enumerate(log.events, start=1):
            if "asked" in event:
                for x in np.reshape(event["asked"], (-1, self.space_.n_features_)):
                    self._register(x)
            elif "told" in event:
                values, noise_std = (
                    _state.values_from_data(event[name]) for name in ("y", "noise_std")
                )
                self._record(*points_from_data(self.space_, event["told"]), values, noise_std)
            else:
                X = np.reshape(event["cancelled"], (-1, self.space_.n_features_))
                self._withdraw(keys_of(X))
            if n == n_before:
                self._state_from_dict(state)

    def _as_results(self, points):
        if self.space_.is_dict:
            return [point.copy() for point in points]
        return np.array(points) if points else np.empty((0, len(self.space_.lower)))

    def _best_index(self):
        index = self._history.best_index()
        if index is None:
            raise NotFittedError(
                "best_x_ and best_y_ need a finite value: "
                f"got {len(self._history)} values, none of them finite. Tell one first."
            )
        return index

    def _require_left(self, n):
        left = self.space_.n_points - len(self._seen)
        if n > left:
            raise SpaceExhausted(
                f"n must be at most the number of new points left: got {n}, but of the "
                f"{self.space_.n_points} points of this finite space {max(left, 0)} are left. "
                "End the search, or widen the space.",
                n_left=max(left, 0),
            )

    def _check_evaluations(self, x, y):
        """Return x as points of the space, and y as a float array of as many."""
        points, single = self._as_points(x)
        values = _as_numbers("y", y, "Tell float('nan') for a failed evaluation.")
        if values.shape != (() if single else (len(points),)):
            raise ValueError(
                f"y must be {'one number' if single else f'{len(points)} numbers'}, one for every "
                f"point in x: got shape {values.shape}. Tell points and values in equal number."
            )
        return points, values.reshape(len(points))

    def _check_noise(self, noise_std, shape):
        """Return standard deviations of this shape, (n,), NaN where they are not known."""
        if noise_std is None:
            return np.full(shape, np.nan)
        noise_std = _as_numbers("noise_std", noise_std, "Give NaN where it is not known.")
        if noise_std.shape not in ((), shape):
            raise ValueError(
                f"noise_std must be one number, or one for every value in y, {shape[0]}: got shape "
                f"{noise_std.shape}. Give NaN where it is not known."
            )
        if (noise_std < 0).any() or np.isinf(noise_std).any():
            raise ValueError(
                f"noise_std must be at least 0 and finite: got {noise_std.tolist()}. "
                "Give NaN where it is not known."
            )
        return np.broadcast_to(noise_std, shape)

    def _as_points(self, x):
        if self.space_.is_dict:
            single = isinstance(x, Mapping)
            return ([dict(x)] if single else list(x)), single
        if np.ma.is_masked(x):
            raise ValueError(f"x must have no masked numbers: got {x!r}. Tell the whole point.")
        try:
            x = np.array(x, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"x must be numbers, a point (d,) or points (n, d): got {x!r}. "
                "Tell what ask() returned, or use a Space for named parameters."
            ) from error
        return (x if x.ndim == 2 else x.reshape(1, -1)), x.ndim < 2


def _as_numbers(name, given, remedy):
    mask = np.ma.getmaskarray(given) if np.ma.isMaskedArray(given) else False
    values = np.asarray(given)
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers: got {given!r}. {remedy}")
    return np.where(mask, np.nan, values.astype(float))


def _warn_of_values_beyond(n, y):
    least = np.min(y[is_beyond(y)])
    warnings.warn(
        f"{n} of {y.size} values count as failed evaluations: from {least:.3g} on they are too "
        "large to be modelled with the others. Return float('nan') for a failure.",
        BeyondModelWarning,
        stacklevel=3,
    )


def _root_seed(random_state):
    if isinstance(random_state, _state.RootSeed):
        return int(random_state)
    if random_state is None:
        return np.random.SeedSequence().entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))
