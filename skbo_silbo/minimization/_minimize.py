"""Minimise a function in one call."""

import inspect
import math
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from skbo_silbo._checks import brief, check_count, check_flag, check_integer, require, warn_user
from skbo_silbo._descriptions import describe_callable, name_of
from skbo_silbo._typing import (
    ArrayLike,
    Auto,
    BoundsLike,
    ConstraintsLike,
    ExecutorLike,
    Objective,
    PointT,
    RandomState,
)
from skbo_silbo.evaluation import Progress
from skbo_silbo.evaluation.budget import INTERRUPTED, Budget, Stop, check_limits
from skbo_silbo.evaluation.initial_design import warn_of_first_points_only
from skbo_silbo.evaluation.loop import EvaluationLoop
from skbo_silbo.evaluation.progress import show_progress
from skbo_silbo.evaluation.proposals import Proposals
from skbo_silbo.evaluation.resume import read_trials
from skbo_silbo.evaluation.trial import format_point
from skbo_silbo.journal.log import open_log
from skbo_silbo.journal.state import describe_settings
from skbo_silbo.minimization._given_values import read_given, tell_given
from skbo_silbo.minimization._objective import ObjectiveEvaluation
from skbo_silbo.minimization._result import MinimizeResult
from skbo_silbo.minimization.methods import make_optimizer
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.space.any_space import as_space
from skbo_silbo.workers.backends import THREADS, Pool
from skbo_silbo.workers.scheduler import Scheduler, inline_scheduler


def minimize(
    func: Objective[PointT],
    bounds: BoundsLike,
    *,
    method: str | Callable[..., AskTellOptimizer] = "silbo",
    n_calls: int | None = 100,
    x0: Any = None,
    y0: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    max_time: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    random_state: RandomState = None,
    callback: Callable[[Progress], object] | None = None,
    executor: ExecutorLike | Callable[[], ExecutorLike] | None = None,
    n_pending: int | Auto = "auto",
    timeout: float | None = None,
    n_retries: int = 1,
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    constraints: ConstraintsLike = None,
    n_constraints: int = 0,
    journal: str | PathLike[str] | None = None,
    verbose: int = 0,
    maximize: bool = False,
    scale: str | Sequence[str | None] | None = None,
    **options: Any,
) -> MinimizeResult[PointT]:
    """Minimise an expensive function of many inputs.

    Parameters
    ----------
    func : callable
        The objective to minimise. It is called with one point: an array of shape (d,), or a dict if
        `bounds` has names. It returns a number; NaN or infinity means that the evaluation failed.
        With `n_constraints`, it returns the number and the values of the constraints.
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict, list of dicts or Space
        The search space: lower and upper bounds of each input, or named parameters. With a list of
        dicts, each point has the parameters of one of the dicts.
    method : {"silbo", "silbo-bu", "silbo-td", "rembo", "hesbo", "random"} or callable, \
            default="silbo"
        The optimiser. The default is `SILBO`. The other methods reproduce the literature:

        - "silbo-bu" and "silbo-td": the paper as printed, bottom-up and top-down (`SILBOBottomUp`,
          `SILBOTopDown`), with options such as ``acquisition="ei"`` or ``n_unlabeled=0``. Bottom-up
          evaluates all points again when the embedding changes, and every evaluation is counted.
          Top-down is tens of times slower, because it computes every point by CMA-ES.
        - "rembo" and "hesbo": random embeddings (`REMBO`, `HeSBO`).
        - "random": `RandomSearch`.

        Alternatively, pass your own optimiser: a subclass of
        `skbo_silbo.optimizers.AskTellOptimizer`, or a function ``method(bounds, random_state=...,
        **options)`` that returns one.
    n_calls : int or None, default=100
        Number of points to evaluate, including initial points. If None, only `max_time`, which is
        then required, limits the search. If a call is repeated because a worker was lost, the
        repetition only counts in ``nfev``.
    x0 : point or several points, default=None
        Points to evaluate first. If `y0` is passed, they are not evaluated again.
    y0 : float or array-like, default=None
        Known values of the points `x0`, which do not count towards `n_calls`. With `n_constraints`,
        pass a tuple ``(values, constraints)``, where `constraints` has shape (n, m) or (m,).
    max_time : float, default=None
        Time in seconds after which no further evaluation is started. The first evaluation is
        always started, and running evaluations are completed. If a search is resumed, the time
        starts again at zero.
    target : float, default=None
        Value at which to stop. The search stops once a value is at most `target`, or at least
        `target` with `maximize`.
    patience : int, default=None
        Number of consecutive evaluations without improvement after which the search stops. None
        means no such limit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of all random numbers of the search. The same seed gives the same points on one machine
        with the same libraries. Points may differ on another machine, because processors round
        differently.
    callback : callable, default=None
        Function that is called with a `skbo_silbo.evaluation.Progress` after each evaluation. The
        search stops if it returns a true value.
    executor : executor, or callable that returns one, default=None
        Executor with the interface of ``concurrent.futures``, such as ``ThreadPoolExecutor``,
        ``ProcessPoolExecutor``, loky's executor, ``Client.get_executor()`` of Dask or mpi4py's
        ``MPIPoolExecutor``. If a callable is passed, it is called again to replace an executor that
        breaks because a worker died, and its executors are shut down at the end. With None, `func`
        is called in this process, one point after the other.
    n_pending : int or "auto", default="auto"
        Number of points that are being evaluated or waiting for a worker. "auto" is one point per
        worker plus one that waits.
    timeout : float, default=None
        Time in seconds after which an evaluation counts as failed, with a `LostEvaluationWarning`.
        Threads and most processes cannot be stopped, so their worker is unavailable until the call
        returns.
    n_retries : int, default=1
        Number of times to repeat an evaluation whose worker dies. It is repeated without other
        evaluations running, and finally counts as failed, with a `LostEvaluationWarning`.
    catch : exception class or tuple of exception classes, default=()
        Exceptions of `func` that count as failed evaluations, as in Optuna. Any other exception
        ends the search.
    constraints : NonlinearConstraint, LinearConstraint, (names, constraint) or list, default=None
        Known constraints of `scipy.optimize` on cheap functions of a point, which all proposals
        satisfy. They must be inequalities. With a `Space`, pass a `LinearConstraint` together with
        the names of its columns: ``(["a", "b"], LinearConstraint(A, lb, ub))``.
    n_constraints : int, default=0
        Number of constraints that are observed together with the value. `func` then returns
        ``(value, c)``, where c has this length. A constraint holds if its entry is at most 0, and
        NaN means unknown. If the evaluation failed, `func` may return NaN alone. The result is the
        best feasible point.
    journal : str or path-like, default=None
        File in which every evaluation is saved. The same call with the same journal resumes the
        search. See :doc:`/journals`.
    verbose : int, default=0
        Verbosity. 1 shows a progress bar if tqdm is installed, and otherwise a line per evaluation.
        2 shows lines that include the points.
    maximize : bool, default=False
        Whether to maximise the objective instead. All results keep the sign of the values.
    scale : "log", list of "log" and None, or None, default=None
        Inputs to search on a logarithmic scale if `bounds` is an array or `Bounds`: all inputs, or
        the inputs marked "log" in a list of length d. Their bounds must be positive.
    **options
        Further arguments of the optimiser, such as ``n_initial=20``.

    Returns
    -------
    result : MinimizeResult
        Result as a `scipy.optimize.OptimizeResult`, with the best point ``x`` and its value
        ``fun``, all points ``x_iters`` and values ``func_vals``, ``nfev``, ``stop_reason`` and
        others.

    Warns
    -----
    FirstPointsOnlyWarning
        If the search ends before the first proposal of the model, because `n_calls` is too small.
        If `n_initial` is set, only if `n_calls` is smaller and there is no journal.
    LostEvaluationWarning
        If an evaluation counts as failed because it timed out or its worker died.
    UserWarning
        If the journal was written with another `func`, if points of `x0` violate `constraints`, if
        `y0` contains no constraint values, or if no value is finite.

    Raises
    ------
    ValueError
        If an argument is invalid. In this case, nothing is evaluated.
    BaseException
        Any exception of `callback`, or of `func` that is not in `catch`, is raised after running
        evaluations have ended. Its attribute ``optimize_result`` is the result so far, and
        ``optimize_x`` is the point. Ctrl-C raises no exception: it ends the search, and the result
        so far is returned with ``success=False``.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> bounds = [(0, 1), (0, 2)]
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2 + x[1], bounds, n_calls=25, random_state=0)
    >>> result.nfev, bool(result.fun < 0.01)
    (25, True)
    """
    check_limits("n_calls", n_calls, max_time)
    _check_arguments(func, target, patience, callback, verbose, timeout)
    catch = _check_catch(catch)
    bounds = bounds if scale is None else as_space(bounds, scale)
    maximize, n_retries = check_flag("maximize", maximize), check_count("n_retries", n_retries, 0)
    n_pending = n_pending if n_pending == "auto" else check_count("n_pending", n_pending)
    n_constraints = check_count("n_constraints", n_constraints, least=0)
    make_workers = _worker_maker(executor, n_pending, timeout, n_retries, func)
    others = [name for name in inspect.signature(minimize).parameters if name != "options"]

    with (
        closing(open_log(journal)) as log,
        show_progress(verbose, "minimize", n_calls, "call") as show,
    ):
        optimizer = make_optimizer(method, bounds, log.seed(random_state), options, others)
        optimizer.maximize = maximize
        optimizer.constrain(constraints)
        if n_constraints:
            optimizer.check_constraints(np.zeros(n_constraints))
        initial, values, c0 = read_given(x0, y0, n_constraints, optimizer.space_)
        _warn_of_violations(optimizer, initial)
        _begin_log(log, optimizer, method, func, n_constraints)
        to_evaluate = [(x, "given") for x in initial] if y0 is None else []
        proposals = Proposals(optimizer, log, to_evaluate)
        evaluation = ObjectiveEvaluation(func, n_constraints, -1.0 if maximize else 1.0, catch)
        budget = Budget(
            n_calls,
            "n_calls",
            max_time=max_time,
            patience=patience,
            target=target,
            callback=callback,
            higher_is_better=maximize,
        )
        loop = EvaluationLoop(evaluation, budget, log, proposals, make_workers, show=show)
        trials, _ = read_trials(log, evaluation, proposals)
        if y0 is not None:
            trials += tell_given(optimizer, log, initial, values, c0)
        loop.resume(trials)
        warn_of_first_points_only(loop, is_chosen=options.get("n_initial", "auto") != "auto")
        try:
            stop = loop.run()
        except BaseException as error:
            return _interrupted(loop, error)
        return _ended(loop, stop)


def _interrupted(loop: EvaluationLoop, error: Any) -> MinimizeResult[Any]:
    """Return the result so far after Ctrl-C; attach it to any other error and raise this error."""
    if isinstance(error, KeyboardInterrupt):
        return _result(loop, INTERRUPTED, success=False)
    stop = Stop("error", f"Stopped by {type(error).__name__}.")
    result = error.optimize_result = _result(loop, stop, success=False)
    kept = (
        f"{len(result.func_vals)} values from {result.nfev} calls of func are in the attribute "
        "'optimize_result' of this exception."
    )
    if loop.raised is None or loop.raised[0] is not error:
        error.add_note(f"minimize: {kept}")
        raise error
    error.optimize_x = loop.raised[1]
    catch = f" or pass catch={type(error).__name__}" if isinstance(error, Exception) else ""
    error.add_note(
        f"minimize: func raised this at the point {format_point(error.optimize_x)} (attribute "
        f"'optimize_x'). {kept} Return float('nan') where func cannot be evaluated{catch}: the "
        "evaluation then counts as failed, and the search continues. With a journal, the same "
        "call resumes."
    )
    raise error


def _ended(loop: EvaluationLoop, stop: Stop) -> MinimizeResult[Any]:
    """Return the result of a run that ended normally."""
    result = _result(loop, stop)
    if stop.reason == "budget" and not np.isfinite(result.func_vals).any():
        warn_user(
            f"func returned no finite value at {len(result.func_vals)} points, so there is no best "
            "point. Check what it returns at one of them."
        )
    if result.success:
        with suppress(NotFittedError, KeyboardInterrupt):  # this information is optional
            result["x_recommended"] = loop.optimizer.recommended_.point
    return result


def _result(loop: EvaluationLoop, stop: Stop, *, success: bool = True) -> MinimizeResult[Any]:
    """Return the result of the evaluations made so far."""
    optimizer = loop.optimizer
    values, feasible = optimizer.func_vals_, optimizer.feasible_
    found = bool((np.isfinite(values) & feasible).any())
    best = optimizer.best_x_ if found else None
    constraints = optimizer.constraints_
    by_row = {trial.row: trial for trial in loop.trials}  # a callback may tell other values
    trials = [by_row.get(row) for row in range(len(values))]
    sources = [trial.source if trial else "given" for trial in trials]
    note = " No point is feasible." if len(values) and not feasible.any() else ""
    if found and "model" in sources:
        counted = np.where(feasible & np.isfinite(values), values, np.nan)
        row = np.nanargmax(counted) if optimizer.maximize else np.nanargmin(counted)
        is_init = sources[row : row + 1] == ["init"]
        note = " No proposal improved on the initial design." if is_init else ""
    return MinimizeResult(
        x=best,
        x_recommended=best,
        fun=optimizer.best_y_ if found else float("nan"),
        nfev=loop.n_calls,
        x_iters=optimizer.x_iters_,
        func_vals=values,
        sources=sources,
        resumed=[trial is not None and trial.is_resumed for trial in trials],
        errors=[trial.observation.error if trial else None for trial in trials],
        optimizer=optimizer,
        maximize=optimizer.maximize,
        objective=describe_callable(loop.evaluation.func),
        message=stop.message + note,
        stop_reason=stop.reason,
        success=found and success,
        **({"constraints": constraints} if constraints.shape[1] else {}),
    )


def _begin_log(
    log: Any, optimizer: AskTellOptimizer, method: Any, func: Any, n_constraints: int
) -> None:
    """Write the settings of the run to the journal, or compare them with the recorded ones.

    Warn if the objective is a different one.
    """
    name = describe_callable(func)
    description = {
        "entry point": "minimize",
        "method": method if isinstance(method, str) else name_of(type(optimizer)),
        "n_constraints": n_constraints,
        "constraints": optimizer.known_constraints_,
    }
    if log.path is not None:
        description |= describe_settings(optimizer)
    log.begin(description, optimizer.space_, optimizer.seed_, {"func": name})
    then = log.fixed.get("func")
    if then != name and any(record.kind == "observed" for record in log.records):
        warn_user(
            f"journal {log.path!r} was started with the objective {then}, but the objective is now "
            f"{name}. Earlier evaluations are kept. Use another path if the objective has changed."
        )


def _check_arguments(
    func: Any, target: Any, patience: Any, callback: Any, verbose: Any, timeout: Any
) -> None:
    require(callable(func), "`func`", "callable, as in minimize(func, bounds)", func)
    is_number = isinstance(target, Real) and not math.isnan(target)
    require(target is None or is_number, "`target`", "None or a number", target)
    if patience is not None:
        check_count("patience", patience)
    require(callback is None or callable(callback), "`callback`", "None or callable", callback)
    if not isinstance(verbose, bool):
        check_integer("verbose", verbose, 0)
    is_time = isinstance(timeout, Real) and not isinstance(timeout, bool)
    rule = "None or a positive number of seconds"
    require(timeout is None or (is_time and timeout > 0), "`timeout`", rule, timeout)


def _check_catch(catch: Any) -> tuple[type[Exception], ...]:
    """Validate `catch`, and return it as a tuple of exception classes."""
    given = catch if isinstance(catch, tuple) else (catch,)
    are_exceptions = all(isinstance(e, type) and issubclass(e, Exception) for e in given)
    require(are_exceptions, "`catch`", "an exception class or a tuple of these", catch)
    return given


def _warn_of_violations(optimizer: AskTellOptimizer, initial: Any) -> None:
    """Warn about initial points that violate known constraints."""
    if bad := [x for x in initial if optimizer.constraint_violation(x) > 0.0]:
        warn_user(
            f"{len(bad)} points of `x0` violate `constraints`, such as {format_point(bad[0])}. "
            "They are evaluated all the same, and one of them may become the best point."
        )


def _worker_maker(
    executor: Any, n_pending: Any, timeout: float | None, n_retries: int, func: Callable[..., Any]
) -> Callable[[], Scheduler]:
    """Return a function that creates the workers when they are needed."""
    if executor is not None:
        is_usable = callable(executor) or hasattr(executor, "submit")
        rule = "None, an executor that has submit(), or a callable that returns one"
        require(is_usable, "executor", rule, executor)
        n_pending = None if n_pending == "auto" else n_pending
        options = {"n_pending": n_pending, "n_retries": n_retries, "func": func}
        return partial(Scheduler, executor, timeout=timeout, **options)
    if n_pending != "auto":
        raise ValueError(
            f"`n_pending` must be 'auto' without an executor, got {brief(n_pending)}. Pass one, "
            "such as executor=concurrent.futures.ProcessPoolExecutor(4)."
        )
    if timeout is None:
        return partial(inline_scheduler, n_retries)
    return partial(Scheduler, Pool(1, THREADS), timeout=timeout, n_retries=n_retries)
