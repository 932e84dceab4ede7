"""Stopping criteria of a run."""

import math
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias

from skbo_silbo._checks import check_integer, check_nonnegative
from skbo_silbo.evaluation.trial import Trial

UNITS = {"n_calls": "calls", "n_iter": "candidates"}


@dataclass(frozen=True)
class Stop:
    """Reason for which an optimisation run stopped.

    Attributes
    ----------
    reason : str
        Why the run stopped: "budget" (`n_calls` or `n_iter` evaluations were made), "max_time",
        "target", "patience", "callback", "exhausted" (a finite space has no new point left),
        "workers" (all workers hang), "interrupted" or "error".
    message : str
        Reason for stopping as a sentence.
    """

    reason: str
    message: str


INTERRUPTED = Stop("interrupted", "Interrupted (Ctrl-C): these are the results so far.")


@dataclass(frozen=True)
class Progress:
    """State of a run after an evaluation, passed to callbacks.

    Attributes
    ----------
    n_evaluations : int
        Number of points evaluated so far, including points from the journal.
    n_total : int or float
        Maximum number of evaluations of the run.
    point : ndarray or dict
        The point that has just been evaluated.
    value : float
        The value of the point, or its mean test score in a hyperparameter search. It is NaN if the
        evaluation failed.
    source : str
        Origin of the point: "given" (passed by the user), "known" (a configuration that performed
        well on other data, or the estimator's parameters after moving them into the space), "init"
        (the initial design) or "model" (proposed by the model).
    is_best : bool
        Whether the point is the best one so far.
    best_point : ndarray, dict or None
        The best point so far, or None before the first successful evaluation.
    best_value : float
        The value of the best point, or NaN before the first successful evaluation.
    best_values : tuple of float
        The best value after each evaluation so far, including evaluations from the journal.
    elapsed : float
        Time in seconds since the start of the run.
    seconds_left : float
        Estimate of the remaining time in seconds, which is limited by `max_time`. It is infinite
        before the first evaluation.
    optimizer : AskTellOptimizer
        The optimiser that proposes the points.
    """

    n_evaluations: int
    n_total: float
    point: Any
    value: float
    source: str
    is_best: bool
    best_point: Any
    best_value: float
    best_values: tuple[float, ...]
    elapsed: float
    seconds_left: float
    optimizer: Any


Show: TypeAlias = Callable[[Progress], Any] | None


def check_limits(name: str, n: Any, max_time: Any) -> None:
    """Check that a run has a limit on the number of evaluations, on the time, or on both."""
    check_nonnegative("max_time", max_time, "None")
    if n is not None:
        check_integer(name, n)
    elif max_time is None:
        raise ValueError(
            f"`max_time` must be a number of seconds if `{name}` is None, got None. Set one of "
            "them to limit the search."
        )


@dataclass(eq=False)
class Budget:
    """Limits on the evaluations of a run, and the number of evaluations so far.

    Parameters
    ----------
    n : int or None
        Maximum number of evaluations, including evaluations read from a journal. None means no such
        limit.
    name : {"n_calls", "n_iter"}
        Name of the public parameter that sets `n`, for use in messages.
    max_time : float or None, default=None
        Time in seconds after which no further evaluation is started. The first one is always
        started.
    patience : int or None, default=None
        Number of consecutive evaluations without improvement after which the run stops. None means
        no such limit.
    target : float or None, default=None
        Objective value at which to stop. The run stops after an observed value that is at least as
        good.
    callback : callable or None, default=None
        Function that is called with a `Progress` after each evaluation of this run. The run stops
        if it returns a true value.
    higher_is_better : bool, default=False
        Whether higher values are better.

    Attributes
    ----------
    stop : Stop or None
        Reason why the run stops, or None while it continues. If there are several reasons, it is
        the first one.
    best : Trial or None
        The best feasible trial so far, or None if there is none.
    time_limit : float
        Value of `time.perf_counter` at which `max_time` has passed.
    n_new : int
        Number of evaluations of this run.
    deadline : float
        Value of `time.perf_counter` after which no evaluation is started. It is infinite until the
        first evaluation of this run has begun, and then equal to `time_limit`.
    """

    n: Any
    name: str
    _: KW_ONLY
    max_time: float | None = None
    patience: Any = None
    target: float | None = None
    callback: Callable[[Progress], Any] | None = None
    higher_is_better: bool = False

    def __post_init__(self) -> None:
        self.n = math.inf if self.n is None else self.n
        self.patience = math.inf if self.patience is None else self.patience
        self.sign = -1.0 if self.higher_is_better else 1.0
        self._goal = -math.inf if self.target is None else self.sign * self.target
        self.n_done, self.n_idle, self.n_new = 0, 0, 0
        self.stop: Any = None
        self.best: Any = None
        self._best_values: list[float] = []
        self.deadline = math.inf
        self.start_clock()

    def start_clock(self) -> None:
        """Start measuring the time of the run."""
        self._start = time.perf_counter()
        self.time_limit = math.inf if self.max_time is None else self._start + self.max_time

    def room(self, n_under_way: int = 0) -> float:
        """Return the number of evaluations that may still start, 0 if the run must stop."""
        if self.stop is None and time.perf_counter() >= self.deadline:
            self.end("max_time", f"Time limit of {self.max_time} s reached.")
        if self.stop is None and self.n_done >= self.n:
            unit = UNITS[self.name]
            self.end("budget", f"All {self.n} {unit} made." if self.n > 1 else "Budget spent.")
        return 0 if self.stop else self.n - self.n_done - n_under_way

    def end(self, reason: str, message: str) -> None:
        """Stop the run for a given reason, unless it has already stopped."""
        self.stop = self.stop or Stop(reason, message)

    def abort(self, reason: str, message: str) -> None:
        """Stop the run without any further call of the user's callback."""
        self.callback = None
        self.end(reason, message)

    def count(self, trial: Trial, optimizer: Any, show: Show = None) -> None:
        """Count an evaluation, or an observation supplied by the user.

        For an evaluation, also update the progress display and call the callback.
        """
        observation = trial.observation
        y = observation.y if observation.error is None else math.nan
        c = observation.others.get("constraints")
        is_usable = math.isfinite(y) and (c is None or bool((c <= 0.0).all()))
        is_best = is_usable and (self.best is None or y < self.best.observation.y)
        if is_best:
            self.best, self.n_idle = trial, 0
        if is_usable and y <= self._goal:
            self.end("target", f"Target {self.target} reached.")
        if not trial.is_evaluated:
            return
        self.n_done, self.n_idle = self.n_done + 1, self.n_idle + (not is_best)
        if self.n_idle >= self.patience:
            unit = UNITS[self.name]
            self.end("patience", f"No improvement in {self.patience} {unit} (patience).")
        best = math.nan if self.best is None else self.sign * self.best.observation.y
        self._best_values.append(best)
        is_new = not trial.is_resumed
        self.n_new += is_new
        if show is None and (self.callback is None or not is_new):
            return
        progress = self._progress(trial, self.sign * y, is_best, optimizer)
        if show is not None:
            show(progress)
        if is_new and self.callback is not None and self.callback(progress):
            self.abort("callback", "Stopped by the callback.")

    def _progress(self, trial: Trial, value: float, is_best: bool, optimizer: Any) -> Progress:
        elapsed = time.perf_counter() - self._start
        left = self.time_limit - self._start - elapsed
        if self.n_new:
            left = min(left, elapsed / self.n_new * (self.n - self.n_done))
        return Progress(
            n_evaluations=self.n_done,
            n_total=self.n,
            point=trial.point,
            value=value,
            source=trial.source,
            is_best=is_best,
            best_point=None if self.best is None else self.best.point,
            best_value=self._best_values[-1],
            best_values=tuple(self._best_values),
            elapsed=elapsed,
            seconds_left=max(left, 0.0),
            optimizer=optimizer,
        )
