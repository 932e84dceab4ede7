"""What every optimiser shares besides being asked and told: what is read from it, and journals."""

from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._numerics._threads import one_thread
from skbo_silbo._typing import ArrayLike, BoolArray, BoundsLike, ConstraintsLike, FloatArray
from skbo_silbo.optimizers import _constraints as known
from skbo_silbo.optimizers._ask_tell import AskTell
from skbo_silbo.optimizers._event_log import EventLog, begin_or_check, closed_on_error
from skbo_silbo.optimizers._events import from_data, to_data
from skbo_silbo.optimizers._history import as_points, is_feasible
from skbo_silbo.optimizers._model import Recommendation
from skbo_silbo.optimizers._records import Points
from skbo_silbo.sensitivity import InputModel


class AskTellOptimizer(AskTell):
    """Base of the optimisers: bookkeeping of points asked for and observed values.

    A subclass says how to `propose` the next point. Every proposal has a stream of random numbers
    of its own, numbered by how many points are known (observed or pending). What is proposed
    depends on the seed and on what is known, not on the clock nor on the order of `tell`.
    Threads may share an optimiser: a lock lets one in at a time, and an `ask` that thinks holds it.

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        Where to search.
    random_state : int, RandomState, Generator or None, default=None
        Seed. numpy's global generator is never used.
    """

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
        return is_feasible(self._history.constraints)

    @property
    def best_x_(self) -> Any:
        """The feasible point with the lowest observed value: ndarray of shape (d,), or dict."""
        return self._history.points[self._best_index()].copy()

    @property
    def best_y_(self) -> float:
        """The lowest finite observed value of a feasible point; with `maximize` the highest."""
        return self._sign * float(self._history.y[self._best_index()])

    @property
    def recommended_(self) -> Recommendation:
        """The evaluated point to use where values are noisy; without a model the best one."""
        return Recommendation(self.best_x_, self.best_y_, float("nan"))

    def _point_at(self, x):
        """Return the point, as it was given, at a place (m,) of the cube."""
        return self._history.points[np.flatnonzero((x == self._history.X).all(axis=1))[0]].copy()

    @property
    def input_model_(self) -> InputModel:
        """What the observed values say of the inputs: an `InputModel`, whoever proposed them.

        Computed when asked for, some seconds; nothing of what is proposed changes by it.
        """
        history = self._history
        if self._input_model is None or self._input_model[0] != len(history):
            with one_thread():
                model = InputModel.fit(self.space_, *history.canonical[:3])
            self._input_model = len(history), model
        return self._input_model[1]

    def keep_journal(self, log: EventLog, **facts: Any) -> None:
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
            with closed_on_error(log):
                begin_or_check(log, self, facts)
                log.read_events(Points(self.space_))
                log.replay(self, log.events, and_what_was_learnt=log.is_of_this_release())
            self.keep_events(log)

    def keep_events(self, log: EventLog) -> None:
        """Write to an open log from now on, which has all that came before."""
        self._log = log

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
        made = (
            known.as_violation(constraints, self.space_),
            known.as_equations(constraints, self.space_),
        )
        rule = known.describe_constraints(constraints, self.space_)
        with self._lock:
            was = self._rule or []
            if was and self._violation is None:
                known.require_same_constraints(was, rule)
                rule = was
            self._constraints, self._rule = constraints, rule
            self._violation, self._equations = made
            if self._log is not None and rule != was:
                self._log.tell({"constrained": rule})
        return self

    def _describe_rule(self) -> list[Any]:
        """Return what describes the constraints, plain data: a list, empty without any."""
        return self._rule or []

    def _expect_rule(self, described: list[Any]) -> None:
        """Wait for the constraints that `_describe_rule` described, and be asked nothing before."""
        if not isinstance(described, list):
            raise ValueError(f"'constrained' must be a list: got {described!r}")
        self._constraints = self._violation = self._equations = None
        self._rule = described

    @property
    def keeps_journal(self) -> bool:
        """Whether what is asked and observed is written to a journal."""
        return self._log is not None

    def close_journal(self) -> None:
        """Close the journal, if there is one: what follows is not written down."""
        with self._lock:
            if self._log is not None:
                self._log.close()
                self._log = None

    def check_constraints(self, constraints: ArrayLike) -> None:
        """Refuse constraints of one point, (m,), that `tell` would refuse."""
        self._check_constraints(constraints, (1,))

    def check_points(self, x: Any) -> list[Any]:
        """Return one point or several as a list of points, all inside the bounds.

        Raises
        ------
        ValueError
            When a point is outside the bounds or of wrong length.
        """
        points, _ = as_points(x, self.space_)
        self.space_.encode(points)
        return list(points)

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

    def _state_from_dict(self, state):
        """Take over what `_state_to_dict` returned, history and pending points being there."""
        return

    def _best_index(self):
        index = self._history.best_index()
        if index is None:
            n_finite = int(np.isfinite(self._history.y).sum())
            raise NotFittedError(
                "best_x_ and best_y_ need a finite value of a feasible point: got "
                f"{len(self._history)} values, {n_finite} of them finite"
                f"{', none feasible' if n_finite else ''}. Tell one first."
            )
        return index
