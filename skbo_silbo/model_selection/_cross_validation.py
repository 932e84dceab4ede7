"""Evaluation of candidates by cross-validation, with the same splits for all candidates."""

import math
import re
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from skbo_silbo._joblib import eval_expr
from skbo_silbo._sklearn import SearchState, check_scores
from skbo_silbo._typing import Rows
from skbo_silbo.evaluation.trial import Evaluation, Observation, Trial
from skbo_silbo.model_selection._goals import goal_values
from skbo_silbo.model_selection._results import (
    SCORES,
    mean_score,
    with_all_metrics,
    with_floats,
)
from skbo_silbo.workers.backends import executor_maker, nested_in
from skbo_silbo.workers.scheduler import Scheduler, inline_scheduler

NEEDED = {"fit_error", "fit_time", "score_time", "test_scores"}  # entries of the result of a fit


class CrossValidation(Evaluation):
    """Evaluates candidates by cross-validation, with one fit per split.

    Parameters
    ----------
    search : SILBOSearchCV
    state : SearchState
    total : int or float
        Maximum number of candidates, shown in scikit-learn's messages.
    callback_ctx : CallbackContext or None
        Context of the search for scikit-learn's callbacks.
    """

    def __init__(self, search: Any, state: SearchState, total: float, callback_ctx: Any) -> None:
        self.n_calls = search.n_splits_
        self._search, self._state, self._total = search, state, total
        self._callback_ctx = callback_ctx
        self._tasks: dict[int, ExitStack] = {}  # open tasks for scikit-learn's callbacks by trial
        may_mix = callable(search.scoring)
        self._reader = FitReader(self.n_calls, len(search._goals or ()), may_mix=may_mix)

    def make_workers(self) -> Scheduler:
        """Create the workers that run the fits, by joblib or in the current process."""
        search, n_workers = self._search, effective_n_jobs(self._search.n_jobs)
        if n_workers == 1 and search.timeout is None:
            return inline_scheduler(search.n_retries)
        return Scheduler(
            executor_maker(self._state.parallel, n_workers, search.timeout),
            timeout=search.timeout,
            n_retries=search.n_retries,
            what="a fit",
            most_in_flight=read_pre_dispatch(search.pre_dispatch, n_workers),
        )

    def calls(self, trial: Trial) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return one function call per split that fits and scores a candidate."""
        search, task = self._search, ExitStack()
        about = {"task_name": "batch", "max_subtasks": self.n_calls, "sequential_subtasks": False}
        ctx = task.enter_context(callback_task(search, self._callback_ctx, **about))
        self._tasks[trial.number] = task
        total = "?" if self._total == math.inf else self._total
        fits = self._state.make_fits(trial.point, (trial.number, total), ctx, search)
        if effective_n_jobs(search.n_jobs) > 1 or search.timeout is not None:
            fits = [nested_in(self._state.parallel, fit) for fit in fits]
        return [(fit, self._state.data()) for fit in fits]

    def observation(self, trial: Trial) -> Observation:
        """Convert the results of all splits to an observation, with the negative mean score."""
        self._close_task(trial)
        search = self._search
        rows = [with_floats(trial.results[i]) for i in range(self.n_calls)]
        if callable(search.scoring):
            rows = with_all_metrics(rows, search.error_score)
        check_scores(search, rows[0]["test_scores"])
        errors = [row["fit_error"] for row in rows]
        error = errors[-1] if all(errors) else None
        return Observation(-mean_score(rows, search.refit), self._other_values(rows), error, rows)

    def failure(self, trial: Trial, why: str, error: BaseException) -> Observation:
        """Return the observation of a candidate that timed out or whose worker died.

        With ``error_score="raise"``, `error` is raised instead.
        """
        self._close_task(trial)
        if self._search.error_score == "raise":
            raise error
        return Observation(-float(self._search.error_score), self._other_values(None), f"it {why}")

    def record(self, trial: Trial) -> dict[str, Any]:
        """Return the results of a candidate as JSON-compatible data for the journal."""
        rows = trial.observation.rows
        return {
            "rows": None if rows is None else [_to_json(row) for row in rows],
        }

    def rows_from_record(self, content: dict[str, Any]) -> Rows | None:
        """Restore the results of a candidate from the journal, or return None if there are none."""
        return self._reader(content)

    def close(self) -> None:
        """Close all open tasks of scikit-learn's callbacks."""
        for task in self._tasks.values():
            task.close()
        self._tasks = {}

    def _close_task(self, trial: Trial) -> None:
        if trial.number in self._tasks:
            self._tasks.pop(trial.number).close()

    def _other_values(self, rows: Rows | None) -> dict[str, Any]:
        goals = self._search._goals
        if not goals:
            return {}
        return {"goals": goal_values(rows, goals, self._search.error_score)}


@contextmanager
def callback_task(search: Any, parent: Any, **task: Any) -> Iterator[Any]:
    """Open a task for scikit-learn's callbacks, or return None if there are no callbacks."""
    if parent is None:
        yield None
        return
    ctx = parent.subcontext(**task).call_on_fit_task_begin(estimator=search)
    try:
        yield ctx
    finally:
        ctx.call_on_fit_task_end(estimator=search)


def read_pre_dispatch(given: Any, n_workers: int) -> int | None:
    """Convert joblib's `pre_dispatch` to a number of fits, or None for all fits.

    Raises
    ------
    ValueError
        If it is not "all", a number, "n_jobs" or a multiple such as "2*n_jobs".
    """
    if given == "all":
        return None
    try:
        n = int(eval_expr(re.sub(r"\bn_jobs\b", str(n_workers), str(given))))  # as joblib reads it
    except (ArithmeticError, LookupError, SyntaxError, TypeError, ValueError):
        n = 0
    if n < 1 or isinstance(given, bool):
        raise ValueError(
            f"pre_dispatch must be 'all', a positive number of fits, or a multiple of n_jobs, got "
            f"{given!r}. Write '2*n_jobs'."
        )
    return n


class FitReader:
    """Reads the results of the fits of a candidate from its record in a journal.

    Parameters
    ----------
    n_splits : int or None, default=None
        Number of fits per candidate, or None if it is unknown.
    n_goals : int, default=0
        Number of objectives of a multi-objective search.
    may_mix : bool, default=True
        Whether some fits may have a single score although others have several metrics. This occurs
        if `scoring` is a function that returns several metrics and raises an error in some fits.
    """

    def __init__(
        self, n_splits: int | None = None, n_goals: int = 0, *, may_mix: bool = True
    ) -> None:
        self._n_splits, self._n_goals, self._may_mix = n_splits, n_goals, may_mix
        self._entries: Set[str] | None = None  # names of the entries of the first fit
        self._metrics: dict[str, Any] = {}  # names of metrics by kind, None for a single score

    def __call__(self, content: dict[str, Any]) -> Rows | None:
        """Return the results of all fits, or None for a candidate without results.

        Raises
        ------
        ArithmeticError, LookupError, TypeError, ValueError
            If the content was not returned by `CrossValidation.record`.
        """
        if len(content.get("goals", [[]])[0]) != self._n_goals:
            raise ValueError(f"'goals' must have {self._n_goals} values")
        if content["rows"] is None and content["error"] is not None:
            return None
        rows = [_row_from_json(row) for row in content["rows"]]
        self._n_splits = len(rows) if self._n_splits is None else self._n_splits
        if not rows or len(rows) != self._n_splits:
            raise ValueError(f"'rows' must have {self._n_splits} entries, got {len(rows)}")
        for row in rows:
            self._check(row)
        return rows

    def _check(self, row: dict[str, Any]) -> None:
        """Check that the result of a fit has the same entries and metrics as the others."""
        self._entries = row.keys() if self._entries is None else self._entries
        is_alike = row.keys() == self._entries
        for kind in SCORES & row.keys():
            metrics = sorted(row[kind]) if isinstance(row[kind], dict) else None
            if metrics is not None or not (self._may_mix or row["fit_error"]):
                is_alike = is_alike and metrics == self._metrics.setdefault(kind, metrics)
        if not is_alike:
            raise ValueError("all fits must have scores of the same metrics")


def _to_json(value: Any) -> Any:
    """Convert the result of a fit to JSON data; NaN and other objects become strings."""
    if isinstance(value, dict):
        return {k: _to_json(v) for k, v in value.items()}
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, Real) and not isinstance(value, Integral):
        value = float(value)
    is_json = value is None or isinstance(value, (int, str))
    is_json = is_json or (isinstance(value, float) and math.isfinite(value))
    return value if is_json else repr(value)


def _row_from_json(stored: dict[str, Any]) -> dict[str, Any]:
    """Restore the result of a fit from JSON data."""
    if missing := NEEDED - stored.keys():
        raise LookupError(f"the results of a fit must have {sorted(missing)}")
    error, row = stored["fit_error"], {"fit_error": stored["fit_error"]}
    if not (error is None or isinstance(error, str)):
        raise TypeError(f"'fit_error' must be text or null, got {error!r}")
    for name, value in stored.items():
        if name in SCORES and isinstance(value, dict) and value:
            row[name] = {metric: _number_from_json(score) for metric, score in value.items()}
        elif name != "fit_error":
            row[name] = _number_from_json(value)
    return row


def _number_from_json(value: Any) -> Any:
    if not isinstance(value, (Real, str)):
        raise TypeError(f"a score or time must be a number, got {value!r}")
    number = float(value)  # raises for an integer beyond the range of floats
    return number if isinstance(value, str) else value
