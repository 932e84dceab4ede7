"""When a run stops."""

import math
import time
from dataclasses import dataclass
from typing import Any

UNITS = {"n_calls": "calls", "n_iter": "candidates"}


@dataclass(frozen=True)
class Stop:
    """Why a run stopped.

    Attributes
    ----------
    reason : str
        "budget" (`n_calls` or `n_iter` evaluations were made), "max_time", "target", "patience",
        "callback", "exhausted" (a finite space has no other point), "workers" (all hang),
        "interrupted" or "error".
    message : str
        The same as a sentence.
    """

    reason: str
    message: str


@dataclass(frozen=True)
class Progress:
    """The state of a run after an evaluation, as callbacks receive it.

    Attributes
    ----------
    n_evaluations : int
        How many points have been evaluated, including those from the journal.
    n_total : int or float
        How many will be evaluated at most.
    point : ndarray or dict
        The point that was evaluated.
    value : float
        Its value, or mean test score; NaN if the evaluation failed.
    source : str
        Where it comes from: "given", "known", "init", "model" or "resumed".
    is_best : bool
        Whether it is the best so far.
    best_point : ndarray, dict or None
        The best point so far; None before the first success.
    best_value : float
        Its value; NaN before the first success.
    best_values : tuple of float
        The best value after every evaluation so far, including those from the journal.
    elapsed : float
        Seconds since the start.
    seconds_left : float
        Estimate of the seconds left, at most `max_time`; infinite before the first evaluation.
    optimizer : AskTellOptimizer
        What proposes the points.
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


class Budget:
    """Count evaluations, time and evaluations without improvement.

    Parameters
    ----------
    n : int
        Most evaluations, those from a journal included.
    name : {"n_calls", "n_iter"}
        What `n` is called, for messages.
    max_time : float or None, default=None
        Seconds after which no further evaluation begins; the first one always does.
    patience : int, "auto" or None, default=None
        Evaluations in a row without improvement; "auto" leaves it to `stop_if_gain_is_negligible`.
    target : float or None, default=None
        Value that is good enough.
    callback : callable or None, default=None
        Called with a `Progress` after every evaluation of this run; a true return value stops.
    higher_is_better : bool, default=False

    Attributes
    ----------
    stop : Stop or None
        Why the run stops; the first reason counts.
    best : Trial or None
        The best feasible trial.
    time_limit : float
        Time, of `time.perf_counter`, at which `max_time` is over.
    deadline : float
        The same once an evaluation of this run has begun; infinite before.
    """

    def __init__(
        self,
        n,
        name,
        *,
        max_time=None,
        patience=None,
        target=None,
        callback=None,
        higher_is_better=False,
    ):
        self.n, self.name, self.max_time = n, name, max_time
        self.watches_gain = patience == "auto"
        self.patience = math.inf if patience is None or self.watches_gain else patience
        self.target, self.callback = target, callback
        self.sign = -1.0 if higher_is_better else 1.0
        self._goal = -math.inf if target is None else self.sign * target
        self.n_done, self.n_idle, self._n_new = 0, 0, 0
        self.stop, self.best, self._best_values = None, None, []
        self.deadline = math.inf
        self.start_clock()

    def start_clock(self):
        """Measure time from now on."""
        self._start = time.perf_counter()
        self.time_limit = math.inf if self.max_time is None else self._start + self.max_time

    def room(self, n_under_way=0):
        """Return how many evaluations may still begin; 0 if the run stops."""
        if self.stop is None and time.perf_counter() >= self.deadline:
            self.end("max_time", f"Time limit of {self.max_time} s reached.")
        if self.stop is None and self.n_done >= self.n:
            unit = UNITS[self.name]
            self.end("budget", f"All {self.n} {unit} made." if self.n > 1 else "Budget spent.")
        return 0 if self.stop else self.n - self.n_done - n_under_way

    def end(self, reason, message):
        """Let no further evaluation begin; the first reason counts."""
        self.stop = self.stop or Stop(reason, message)

    def abort(self, reason, message):
        """Let no further evaluation begin, and do not call the callback again."""
        self.callback = None
        self.end(reason, message)

    def stop_if_gain_is_negligible(self, gain, standard_error):
        """Stop if all evaluations left are expected to gain less than the best is uncertain by.

        The gain of the remaining evaluations is bounded by their number times the largest expected
        improvement. The threshold is that of Makarova et al. (2022), who compare it with a bound on
        the regret.

        Parameters
        ----------
        gain : float
            Largest expected improvement.
        standard_error : float
            Of the best value.
        """
        if (self.n - self.n_done) * gain < standard_error:
            self.end("patience", "The model expects no gain above the standard error of the best.")

    def count(self, trial, optimizer, show=None):
        """Count an evaluation, or a value supplied by the user, and show an evaluation."""
        observation = trial.observation
        y = observation.y if observation.error is None else math.nan
        c = observation.told.get("constraints")
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
        is_new = trial.source != "resumed"
        self._n_new += is_new
        if show is None and (self.callback is None or not is_new):
            return
        progress = self._progress(trial, self.sign * y, is_best, optimizer)
        if show is not None:
            show(progress)
        if is_new and self.callback is not None and self.callback(progress):
            self.abort("callback", "Stopped by the callback.")

    def _progress(self, trial, value, is_best, optimizer):
        elapsed = time.perf_counter() - self._start
        left = self.time_limit - self._start - elapsed
        if self._n_new:
            left = min(left, elapsed / self._n_new * (self.n - self.n_done))
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
