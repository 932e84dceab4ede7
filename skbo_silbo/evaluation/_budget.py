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
    elapsed: float
    seconds_left: float
    optimizer: Any


def value_of(observation):
    """Return the value of an observation, NaN if it failed, whatever the optimiser is told."""
    return observation.y if observation.error is None else math.nan


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
        self.n, self.name = n, name
        self.max_time = math.inf if max_time is None else max_time
        self.watches_gain = patience == "auto"
        self.patience = math.inf if patience is None or self.watches_gain else patience
        self.target, self.callback = target, callback
        self.sign = -1.0 if higher_is_better else 1.0
        self.n_done, self.n_idle = 0, 0
        self.stop, self.best = None, None
        self._n_new = 0
        self._start = time.perf_counter()

    @property
    def elapsed(self):
        """Seconds since the start, or since the last evaluation from the journal."""
        return time.perf_counter() - self._start

    @property
    def deadline(self):
        """Time, of `time.perf_counter`, after which no evaluation begins."""
        return self._start + self.max_time if self._n_new else math.inf

    @property
    def seconds_left(self):
        """Seconds until `max_time`, or until `n` evaluations at the pace so far."""
        pace = self.elapsed / self._n_new if self._n_new else math.inf
        return max(min(self.max_time - self.elapsed, pace * (self.n - self.n_done)), 0.0)

    def room(self, n_under_way=0):
        """Return how many evaluations may still begin; 0 if the run stops."""
        if self.stop is None and self._n_new and self.elapsed >= self.max_time:
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

    def count(self, trial, optimizer, *, is_feasible=True, show=None):
        """Count an evaluation, and show it."""
        is_new = trial.source != "resumed"
        if not is_new:
            self._start = time.perf_counter()
        self._n_new += is_new
        self.n_done, self.n_idle = self.n_done + 1, self.n_idle + 1
        y = value_of(trial.observation)
        best = math.inf if self.best is None else self.best.observation.y
        is_best = is_feasible and math.isfinite(y) and y < best
        if is_best:
            self.best, self.n_idle = trial, 0
        if is_feasible:
            self._look_at(y)
        if self.n_idle >= self.patience:
            unit = UNITS[self.name]
            self.end("patience", f"No improvement in {self.patience} {unit} (patience).")
        if show is None and (self.callback is None or not is_new):
            return
        progress = self._progress(trial, optimizer, is_best)
        if show is not None:
            show(progress)
        if is_new and self.callback is not None and self.callback(progress):
            self.abort("callback", "Stopped by the callback.")

    def know(self, trial):
        """Take a value that was known before the run for the best so far."""
        self.best = trial
        self._look_at(trial.observation.y)

    def _look_at(self, y):
        goal = -math.inf if self.target is None else self.sign * self.target
        if math.isfinite(y) and y <= goal:
            self.end("target", f"Target {self.target} reached.")

    def _progress(self, trial, optimizer, is_best):
        best = self.best
        return Progress(
            n_evaluations=self.n_done,
            n_total=self.n,
            point=trial.point,
            value=self.sign * value_of(trial.observation),
            source=trial.source,
            is_best=is_best,
            best_point=None if best is None else best.point,
            best_value=math.nan if best is None else self.sign * best.observation.y,
            elapsed=self.elapsed,
            seconds_left=self.seconds_left,
            optimizer=optimizer,
        )
