"""Minimise a function in one call."""

import inspect
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Real
from os import PathLike
from time import perf_counter
from typing import Any

import numpy as np

from skbo_silbo._checks import (
    brief,
    check_count,
    check_flag,
    check_integer,
    check_nonnegative,
    warn_user,
)
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
from skbo_silbo.minimization._call_log import CallLog, tell_known, unknown
from skbo_silbo.minimization._methods import make_optimizer, name_of
from skbo_silbo.minimization._result import MinimizeResult
from skbo_silbo.minimization._run import Limits, Run, Stop, in_short
from skbo_silbo.optimizers import AskTellOptimizer, EmbeddedOptimizer
from skbo_silbo.optimizers._event_log import open_log
from skbo_silbo.optimizers._history import as_points
from skbo_silbo.optimizers._records import Points
from skbo_silbo.space._keys import keys_of
from skbo_silbo.space._read import as_space
from skbo_silbo.workers._joblib import THREADS, Pool
from skbo_silbo.workers._scheduler import InPlace, Scheduler

GOES_ON = (
    "The same call with the same journal goes on with this point; if func raises there again, and "
    "returns a value elsewhere, it counts as failed then."
)


def minimize(
    func: Objective[PointT],
    bounds: BoundsLike,
    *,
    method: str | Callable[..., AskTellOptimizer] = "silbo",
    n_calls: int = 100,
    x0: Any = None,
    y0: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    max_time: float | None = None,
    target: float | None = None,
    random_state: RandomState = None,
    callback: Callable[[MinimizeResult[Any]], object] | None = None,
    executor: ExecutorLike | Callable[[], ExecutorLike] | None = None,
    n_pending: int | Auto = "auto",
    timeout: float | None = None,
    n_retries: int = 1,
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
        Called with one point: ndarray of shape (d,), or a dict when `bounds` has names. Returns
        a number; NaN or infinite means that the evaluation failed and is avoided from then on. With
        `n_constraints` it returns the number and the values of constraints.
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict, list of dicts or Space
        Where to search. With a list of dicts a point has the parameters of one of them.
    method : {"silbo", "silbo-bu", "silbo-td", "silbo-bu-as-run", "silbo-td-as-run", "rembo", \
            "rembo-kx", "rembo-kpsi", "rembo-zonotope", "hesbo", "sir-bo", "ksir-bo", "si-bo", \
            "add-bo", "add-bo-sampled", "bock", "random"} or callable, default="silbo"
        The optimiser. "silbo-bu" and "silbo-td" are the paper as printed (bottom-up and top-down;
        50 first points, the embedding learnt again every 20), `SILBOBottomUp` and `SILBOTopDown`,
        with options such as ``acquisition="ei"``, ``embedding="semi-sir-local"``
        (the paper's pencil solved exactly), ``n_unlabeled=0`` (only labelled points) or
        ``update_every=None`` (only random points). Bottom-up evaluates every point again
        when the embedding changes; all of that is counted. "silbo-bu-as-run" and
        "silbo-td-as-run" are the code of the paper's authors. The others are
        `REMBO` with three kernels, `HeSBO`, `SIRBO`, `SIBO`, `AddBO`, `BOCK` and `RandomSearch`.
        "rembo-zonotope" takes the shortest point of every z in place of a clipped one, "ksir-bo"
        scores of `KernelSlicedInverseRegression`, and "add-bo-sampled" groups from a Markov chain.
        One of your own is given as its class, or as a function
        ``method(bounds, random_state=..., **options)`` that makes one; its base is
        `skbo_silbo.optimizers.AskTellOptimizer`.
    n_calls : int, default=100
        At how many points to call `func`, initial points included. A second call at a point whose
        worker was lost counts in ``nfev``, not here.
    x0 : point or several points, default=None
        Evaluated first (and counted), unless `y0` gives their values.
    y0 : float or array-like, default=None
        Known values of `x0`: told to the optimiser, neither evaluated nor counted. With
        `n_constraints` a tuple ``(values, constraints)``, the latter of shape (n, m) or (m,).
        A `journal` keeps them, so that later calls can leave them out; those that it lacks are
        added, and one that differs from what it has of a point is refused.
    max_time : float, default=None
        Seconds, at least 0, after which no further call is started. What runs is waited for.
    target : float, default=None
        Stop once a value is at most this (with `maximize` at least).
    random_state : int, RandomState, Generator or None, default=None
        Seed.
    callback : callable, default=None
        Called with the result so far after every call of `func`; a true return value stops.
    executor : executor, or callable that returns one, default=None
        Workers: anything with ``submit`` in the manner of ``concurrent.futures``, as
        ``ThreadPoolExecutor``, ``ProcessPoolExecutor``, loky's, ``Client.get_executor()`` of Dask
        or mpi4py's ``MPIPoolExecutor``. A point is proposed whenever a worker is free, and ahead of
        time while all are busy. A callable is asked for a new executor when one breaks because a
        worker died; what it returns is shut down at the end. None: `func` is called here, one point
        after the other. Which points are proposed then depends on which values come first.
    n_pending : int or "auto", default="auto"
        How many points are evaluated, or ready to be, at once. "auto": one for every worker and,
        ahead of time, as many as evaluations end while a proposal is made, at most one a worker.
        With 4 workers, evaluations of 10 s and proposals of 2 s that is 4 + 1; with proposals of
        .1 s, in which hardly any ends, it is 4.
    timeout : float, default=None
        Seconds after which an evaluation counts as failed, with a `LostEvaluationWarning`. Threads
        and most processes cannot be stopped: their worker is lost until the call returns. Without
        an executor every call gets a thread of its own.
    n_retries : int, default=1
        How often a point is evaluated again, alone, whose worker died; then it counts as failed,
        with a `LostEvaluationWarning`. 0 gives it up at once.
    constraints : NonlinearConstraint, LinearConstraint, (names, constraint) or list, default=None
        Of `scipy.optimize`, on cheap known functions: every point that is proposed satisfies them;
        they are called with a point, often, before `func` is; with a journal with random points
        too. A `LinearConstraint` may have equal bounds, as shares that sum to one: it holds to nine
        digits of the ranges. With a `Space` it needs names for its columns, ``(["a", "b"],
        LinearConstraint(A, lb, ub))``, and inequalities. Points of `x0` are evaluated as given.
    n_constraints : int, default=0
        How many constraints an evaluation shows that cannot be known before: `func` then returns
        ``(value, c)``, c of this length and at most 0 where a constraint holds, NaN where one is
        not known, no booleans; or NaN alone where all failed. They are learnt (see `SILBO.tell`),
        the result is the best feasible point, and ``result.constraints`` are all of them. For
        expected improvement (``acquisition="ei"``) and random search.
    journal : str or path-like, default=None
        A file in which every point and value is on disk before the search goes on. The same call
        with the same journal goes on where it ended, be it by ``kill -9``: its calls count, points
        that were being evaluated come first. One at which `func` raises again in a second run, and
        then returns a value elsewhere, counts as failed, with a `LostEvaluationWarning`; so does
        one with which the process has died twice (without an executor, or in its threads). A
        journal of another space, method, option, seed or constraint is refused, the difference
        named; one whose last value is of another `func` is warned of. It is locked while in use.
    verbose : int, default=0
        1 prints a line whenever the best value improves, 2 after every call.
    maximize : bool, default=False
        Look for the highest value. Everything given and returned keeps its sign.
    scale : "log", list of "log" and None, or None, default=None
        With an array or `Bounds`: the inputs that are searched by their logarithm, all or those so
        named in a list of d, with bounds above 0. Points are arrays in the inputs' own units.
    **options
        Further arguments of the optimiser, for example ``n_initial=20``.

    Returns
    -------
    result : MinimizeResult
        A `scipy.optimize.OptimizeResult`: ``x`` and ``fun``, the best point and its value (None and
        NaN if no value is finite, or none of them of a feasible point); ``x_iters`` and
        ``func_vals``, all points and values in order; ``nfev``, ``optimizer``, ``stop_reason`` and
        others, which `MinimizeResult` says all about.

    Warns
    -----
    FirstPointsOnlyWarning
        When `n_calls` ends with the first points, of which there are ``optimizer.n_initial_``, and
        `n_initial` was not given.
    LostEvaluationWarning
        When an evaluation is given up.
    UserWarning
        When the journal has values of another `func`, as far as its code and what it is bound to
        tell. They are kept, and the search goes on from them. When points of `x0` violate
        `constraints`. When `y0` has no constraints, with
        `n_constraints`. When no value of all `n_calls` is finite.

    Raises
    ------
    ValueError
        When the method or an option is unknown, or an argument is invalid; nothing is evaluated.
    BaseException
        What `func` or `callback` raises, ``sys.exit`` too, is raised again once all other running
        evaluations have ended, and nothing paid for is lost: the result so far is its attribute
        ``optimize_result`` (its ``x_iters`` and ``func_vals``, with `n_constraints` these and its
        ``constraints``, can be given as `x0` and `y0` to go on), the point at which `func` raised
        ``optimize_x``, and a note says both. Ctrl-C is not raised: it ends the search, and the
        result so far is returned with ``success=False``.

    Examples
    --------
    >>> from skbo_silbo import minimize
    >>> bounds = [(0, 1), (0, 2)]
    >>> result = minimize(lambda x: (x[0] - 0.3) ** 2 + x[1], bounds, n_calls=25, random_state=0)
    >>> result.nfev, bool(result.fun < 0.01)
    (25, True)
    """
    if not callable(func):
        raise ValueError(
            f"func must be callable: got {brief(func)}. Give a function of a point, before bounds: "
            "minimize(func, bounds)."
        )
    bounds = bounds if scale is None else as_space(bounds, scale)
    limits = _check_limits(n_calls, max_time, target, callback)
    maximize = check_flag("maximize", maximize)
    n_retries = check_count("n_retries", n_retries, least=0)
    n_pending = n_pending if n_pending == "auto" else check_count("n_pending", n_pending)
    n_constraints = check_count("n_constraints", n_constraints, least=0)
    report = make_report(verbose, limits.n_calls)
    log, seed = open_log(journal, random_state)
    optimizer = None
    try:
        others = [name for name in inspect.signature(minimize).parameters if name != "options"]
        optimizer = make_optimizer(method, bounds, seed, options, others)
        optimizer.maximize = maximize
        optimizer = optimizer.constrain(constraints)
        if n_constraints:
            optimizer.check_constraints(np.zeros(n_constraints))
        if log is not None:
            learnt = {"n_constraints": n_constraints} if n_constraints else {}
            facts = {"method": name_of(method, optimizer), "maximize": optimizer.maximize, **learnt}
            optimizer.keep_journal(log, **facts, constraints=optimizer._known.described)
        is_pair = n_constraints and isinstance(y0, tuple) and len(y0) == 2
        known: Any = y0 if is_pair else (y0, None)
        y0, c0 = known
        calls = CallLog(log, Points(optimizer.space_))
        calls.check_objective(func)
        queue = _prepare(optimizer, x0, y0, c0, calls, n_constraints)
        _warn_of_violations(optimizer, x0)
        n_known = len(optimizer.func_vals_) - calls.n_given
        workers = _make_workers(executor, n_pending, timeout, n_retries, func)
        if "n_initial" not in options and len(queue) + n_known < n_calls:
            warn_of_first_points_only(optimizer, "n_calls", n_calls, calls.n_given)
        run = Run(func, optimizer, workers, limits, n_pending, report, calls, n_constraints)
        run.begin_with(queue, n_known)
        return _perform(run)
    finally:
        if optimizer is not None:
            optimizer.close_journal()
        if log is not None:
            log.close()


def _perform(run):
    """Run until a stopping rule, error or interrupt; return the result, or raise with it."""
    ended = False
    try:
        stop = run.loop()
        run.finish()
        if stop.reason in ("n_calls", "exhausted"):
            run.conclude()
        ended = True
        return run.final(stop)
    except KeyboardInterrupt:
        run.rescue()
        stop = Stop("interrupted", "Interrupted (Ctrl-C): this is the result so far.")
        return run.result(stop, interrupted=True)
    except BaseException as error:
        while run.workers.n_calls:  # what runs is recorded, whatever else goes wrong
            with suppress(Exception):
                run.finish()
        run.rescue()
        stop = Stop("error", f"Stopped by {type(error).__name__}.")
        raised, point = run.raised
        _attach(error, run.result(stop, interrupted=True), point if raised is error else None)
        raise
    finally:
        run.workers.close(wait=ended)
        run.calls.close()


def _check_limits(n_calls, max_time, target, callback):
    check_nonnegative("max_time", max_time, "None")
    if target is not None and (not isinstance(target, Real) or math.isnan(target)):
        raise ValueError(f"target must be None or a number: got {brief(target)}.")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be None or callable: got {brief(callback)}.")
    return Limits(check_count("n_calls", n_calls), max_time, target, callback)


def _prepare(optimizer, x0, y0, c0, calls, n_constraints):
    """Tell what is known; return the points to be evaluated first."""
    if y0 is not None:
        if x0 is None:
            raise ValueError("x0 must be given with y0: got y0 alone. Give the points too.")
        if n_constraints and c0 is None:
            warn_user(
                "y0 has values without their constraints, which count as unknown: none of these "
                "points can be the best. Give y0=(values, constraints), of an earlier result "
                "(result.func_vals, result.constraints)."
            )
        tell_known(optimizer, calls, x0, y0, c0)
        return list(optimizer.pending_)
    pending = list(optimizer.pending_)
    if x0 is None:
        return pending
    space = optimizer.space_
    points, _ = as_points(x0, space)
    there = [*optimizer.x_iters_, *pending]
    known = keys_of(space.encode(there)) if there else ()
    new = unknown(keys_of(space.encode(points)), known)  # one that is given twice is called twice
    return pending + [points[i] for i in new]


def _warn_of_violations(optimizer, x0):
    """Warn of points that are given and violate known constraints."""
    violation = optimizer._known.violation
    if x0 is None or violation is None:
        return
    if bad := [x for x in as_points(x0, optimizer.space_)[0] if violation(x) > 0.0]:
        warn_user(
            f"x0 must satisfy constraints: {len(bad)} of its points do not, as {in_short(bad[0])}. "
            "They count as given, and one of them may be the best. Leave them out."
        )


def _make_workers(executor, n_pending, timeout, n_retries, func):
    is_time = isinstance(timeout, Real) and not isinstance(timeout, bool) and timeout > 0
    if timeout is not None and not is_time:
        raise ValueError(
            f"timeout must be None or a positive number of seconds: got {brief(timeout)}."
        )
    if executor is None:
        if n_pending != "auto":
            raise ValueError(
                f"n_pending must be 'auto' without an executor: got {brief(n_pending)}. Give one, "
                "such as executor=concurrent.futures.ProcessPoolExecutor(4)."
            )
        return Scheduler(InPlace() if timeout is None else Pool(1, THREADS), timeout=timeout)
    n_workers = None if n_pending == "auto" else n_pending
    options = {"n_workers": n_workers, "n_retries": n_retries, "func": func}
    return Scheduler(executor, timeout=timeout, **options)


def _attach(error, result, point):
    """Give an exception the result so far, and say so; and where `func` raised it, at which point.

    Parameters
    ----------
    error : BaseException
    result : MinimizeResult
    point : ndarray of shape (d,), dict or None
        None where something else raised it.
    """
    error.optimize_result = result
    kept = (
        f"Calls of func in all: {result.nfev}. Values known: {len(result.func_vals)}, in the "
        "attribute 'optimize_result' of this exception."
    )
    if point is None:
        error.add_note(f"minimize: {kept}")
        return
    error.optimize_x = point
    error.add_note(
        f"minimize: func raised this at the point {in_short(point)} (exactly: attribute "
        f"'optimize_x'). {kept} Have func return float('nan') where it cannot be evaluated: that "
        "counts as failed, and the search goes on. "
        + (GOES_ON if result.optimizer.keeps_journal else "With a journal none is paid for twice.")
    )


class FirstPointsOnlyWarning(UserWarning):
    """The budget ends with the first points, before there is a model to propose others."""


def warn_of_first_points_only(
    optimizer: AskTellOptimizer, name: str, budget: int, n_known: int
) -> None:
    """Warn where a model will propose none of the points that a budget pays for.

    The number of first points is not cut to the budget: what is proposed depends on what is known,
    so that a search can go on with a greater one as if it had been meant from the start.

    An optimiser without a model is not warned of, nor a finite space that the budget exhausts.
    `name` is the argument that is the budget; the `n_known` values known without it take the place
    of first points.
    """
    if not isinstance(optimizer, EmbeddedOptimizer) or budget >= optimizer.space_.n_points:
        return
    n, n_in_all = optimizer.n_initial_, n_known + budget
    if n_in_all > n:
        return
    known = f" ({n_known} known ones count)" if n_known else ""
    warn_user(
        f"{name} must be greater than {n - n_known} for the model to propose points: got {budget}, "
        f"and the first {n} points{known} are a design made without a model. Give {name} more, or "
        f"fewer first points (n_initial={max(n_in_all // 2, 1)}); n_initial={n} says that all of "
        "this is meant.",
        FirstPointsOnlyWarning,
    )


def make_report(verbose, n_calls):
    """Return what prints a line for a result and the value last found; None where it is silent.

    Parameters
    ----------
    verbose : int
        0: nothing; 1: when the best value improves; 2 or more: always.
    n_calls : int
        Calls that there will be.

    Raises
    ------
    ValueError
        When `verbose` is no integer of at least 0.
    """
    if not isinstance(verbose, bool):
        check_integer("verbose", verbose, 0)
    if not verbose:
        return None
    began, best = perf_counter(), [None]

    def report(result, value):
        improved, best[0] = result.fun == result.fun and result.fun != best[0], result.fun
        if verbose > 1 or improved:
            print(
                f"[{result.nfev}/{n_calls}] value {value:.6g}, best {result.fun:.6g}, "
                f"{perf_counter() - began:.1f} s"
            )

    return report
