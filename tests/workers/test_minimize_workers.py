"""`minimize` on executors: threads, processes, loky, Dask; workers that hang or are lost."""

import os
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pickle import PicklingError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import uniform

from skbo_silbo import LostEvaluationWarning, LostWorkerError, minimize
from skbo_silbo.baselines import RandomSearch

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x):
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2)


POISON = [1.5, 1.0]


def kill_at_poison(x):
    """Ends its process, as the system does when memory is out."""
    if x[0] == POISON[0]:
        os._exit(1)
    return bowl(x)


def processes(n=2):
    return ProcessPoolExecutor(n, mp_context=get_context("forkserver"))


class Recorded:
    """An objective for threads that knows how many of its calls overlap."""

    def __init__(self, func=bowl, seconds=0.01, together=1):
        self.func, self.seconds = func, seconds
        self.barrier, self.together = threading.Barrier(together), together
        self.lock, self.now, self.most, self.points = threading.Lock(), 0, 0, []

    def __call__(self, x):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.points.append(x.copy())
            is_first = len(self.points) <= self.together
        try:
            if is_first:
                self.barrier.wait(300)  # all of these run at once, or this is an error
            time.sleep(self.seconds)
            return self.func(x)
        finally:
            with self.lock:
                self.now -= 1


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def assert_is_whole(result, n):
    """Every value belongs to its point, and no point was evaluated twice."""
    assert result.nfev == len(result.func_vals) == n
    assert_array_equal(result.func_vals, [bowl(x) for x in result.x_iters])
    assert len(np.unique(result.x_iters, axis=0)) == n


def test_all_workers_are_used_and_nothing_is_lost(threads):
    func = Recorded(together=4)
    result = minimize(func, BOUNDS, n_calls=13, executor=threads, random_state=0)
    assert_is_whole(result, 13)
    assert func.most == 4
    assert len(func.points) == 13
    assert result.message == "All 13 calls made."


@pytest.mark.parametrize("make", [lambda pool: pool, lambda pool: lambda: pool])
def test_unpicklable_function_raises_before_first_call(make):
    with ProcessPoolExecutor(1) as pool:
        message = r"func must be picklable.* ProcessPoolExecutor, got <function .*lambda.*loky"
        with pytest.raises(ValueError, match=message) as caught:
            minimize(lambda x: 0.0, BOUNDS, executor=make(pool))
        assert not pool._pending_work_items
    assert caught.value.__cause__ is not None


def test_pickling_error_of_executor_is_reported():
    class Pool(Executor):
        _max_workers = 1

        def submit(self, func, *args):
            future = Future()
            future.set_exception(PicklingError("no such thing"))
            return future

    with pytest.raises(PicklingError, match="no such thing") as caught:
        minimize(bowl, BOUNDS, executor=Pool())
    assert any("top level of a module" in note for note in caught.value.__notes__)


def test_one_worker_is_the_sequential_search():
    options = {"n_calls": 6, "n_initial": 4, "random_state": 0}
    with ThreadPoolExecutor(1) as executor:
        one = minimize(bowl, BOUNDS, executor=executor, n_pending=1, **options)
    assert_array_equal(one.x_iters, minimize(bowl, BOUNDS, **options).x_iters)


@pytest.mark.parametrize("n_pending", [1, 3, 6])
def test_no_more_points_are_pending_than_asked_for(threads, n_pending):
    func = Recorded(together=min(n_pending, 4))
    options = {"method": "random", "n_calls": 12, "random_state": 0}
    minimize(func, BOUNDS, executor=threads, n_pending=n_pending, **options)
    assert func.most == min(n_pending, 4)


class Slow(Executor):
    """Runs one job at a time, when told to; says nothing of its workers."""

    def __init__(self):
        self.jobs = []

    def submit(self, fn, /, *args):
        self.jobs.append((Future(), fn, args))
        return self.jobs[-1][0]


def test_executor_without_worker_count_raises():
    with pytest.raises(ValueError, match=r"executor.*many"):
        minimize(bowl, BOUNDS, executor=Slow())


def test_proposals_are_prefetched_while_workers_busy():
    class Watched(Slow):
        _max_workers = 1

        def submit(self, fn, /, *args):
            future = super().submit(fn, *args)
            if len(self.jobs) == 2:  # the first still runs: this one is ahead of time
                for job, fn_, args_ in self.jobs:
                    job.set_result(fn_(*args_))
                self.jobs.clear()
            return future

    result = minimize(
        bowl, BOUNDS, n_calls=8, executor=Watched(), n_pending=2, method="random", random_state=0
    )
    assert_is_whole(result, 8)


def test_dict_points_and_finite_spaces_on_workers(threads):
    space = {"a": [3, 1, 2], "b": ["x", "y"]}
    result = minimize(lambda p: p["a"], space, executor=threads, random_state=0)
    assert result.nfev == 6
    assert result.stop_reason == "exhausted"
    assert len({tuple(p.values()) for p in result.x_iters}) == 6


def test_limits_wait_for_what_runs_and_record_it(threads):
    func = Recorded(seconds=0.05)
    options = {"method": "random", "executor": threads, "random_state": 0}
    result = minimize(func, BOUNDS, target=100.0, **options)
    assert result.stop_reason == "target"
    assert len(func.points) == result.nfev == len(result.func_vals) <= 8
    func = Recorded(seconds=0.05)
    result = minimize(func, BOUNDS, max_time=0.12, **options)
    assert result.stop_reason == "max_time"
    assert len(func.points) == result.nfev == len(result.func_vals)


def test_error_waits_for_running_evaluations(threads):
    def func(x):
        if len(recorded.points) > 5 and (x == recorded.points[5]).all():
            raise OSError("simulator died")
        return bowl(x)

    recorded = Recorded(func, seconds=0.05)
    with pytest.raises(OSError, match="simulator died") as caught:
        minimize(recorded, BOUNDS, method="random", executor=threads, random_state=0)
    result = caught.value.optimize_result
    told = {tuple(x) for x in result.x_iters}
    returned = [tuple(x) for x in recorded.points if tuple(x) in told]
    assert len(returned) == len(result.func_vals)
    assert len(recorded.points) == result.nfev
    assert recorded.now == 0


# --- workers that hang ----------------------------------------------------------------------------


def test_hanging_evaluation_without_executor_fails(clock):
    release, calls = threading.Event(), []

    def func(x):
        calls.append(x)
        if len(calls) == 2:
            clock.move()
            release.wait(300)
        return bowl(x)

    try:
        with pytest.warns(LostEvaluationWarning, match="took longer"):
            result = minimize(func, BOUNDS, n_calls=3, method="random", timeout=9.0, random_state=0)
    finally:
        release.set()
    assert_array_equal(np.isnan(result.func_vals), [False, True, False])


def test_the_other_workers_go_on_when_one_hangs(clock):
    """Its time is up when the others have been evaluated."""
    release, first, is_first = threading.Event(), [], threading.Lock()

    def func(x):
        if is_first.acquire(blocking=False):
            first.append(x)
            release.wait(300)
        return bowl(x)

    options = {"method": "random", "n_calls": 8, "random_state": 0, "timeout": 9.0}
    with ThreadPoolExecutor(2) as executor:
        with pytest.warns(LostEvaluationWarning):
            result = minimize(
                func,
                BOUNDS,
                executor=executor,
                callback=lambda progress: clock.move() if progress.n_evaluations == 7 else None,
                **options,
            )
        release.set()
    assert_array_equal(np.isnan(result.func_vals), (result.x_iters == first[0]).all(axis=1))
    assert result.nfev == 8


def two_hang(clock, release):
    """Return a function of which the first two calls hang together; the others are of the bowl."""
    calls, together = [], threading.Barrier(2)

    def func(x):
        calls.append(x)
        if len(calls) > 2:
            return bowl(x)
        together.wait(300)
        clock.run()
        release.wait(300)
        return None

    return func


@pytest.mark.filterwarnings("ignore:func returned no finite value")
def test_all_workers_hang(clock):
    release = threading.Event()
    options = {"n_calls": 9, "timeout": 9.0, "random_state": 0}
    with ThreadPoolExecutor(2) as executor:
        with pytest.warns(LostEvaluationWarning):
            result = minimize(two_hang(clock, release), BOUNDS, executor=executor, **options)
        clock.stand()
        release.set()
    assert result.stop_reason == "workers"
    assert "All 2 workers hang" in result.message
    assert_array_equal(result.func_vals, [np.nan] * 2)
    assert result.nfev == 2


class Stubborn(ThreadPoolExecutor):
    """Cancels nothing."""

    def submit(self, fn, /, *args):
        future = super().submit(fn, *args)
        future.cancel = lambda: False
        return future


def test_error_ends_run_of_hanging_workers(clock):
    """The third call cannot be cancelled, and does not begin."""
    release = threading.Event()
    options = {"n_calls": 9, "n_pending": 3, "timeout": 9.0, "method": "random", "random_state": 0}
    with Stubborn(2) as executor:
        try:
            with pytest.raises(LostEvaluationWarning):  # warnings are errors in tests
                minimize(two_hang(clock, release), BOUNDS, executor=executor, **options)
        finally:
            clock.stand()
            release.set()


def test_all_workers_hang_and_new_ones_come(clock):
    release, made = threading.Event(), []

    def make():
        if made:
            clock.stand()
        made.append(ThreadPoolExecutor(2))
        return made[-1]

    options = {"n_calls": 8, "timeout": 9.0, "method": "random", "random_state": 0}
    with pytest.warns(LostEvaluationWarning):
        result = minimize(two_hang(clock, release), BOUNDS, executor=make, **options)
    release.set()
    assert result.stop_reason == "budget"
    assert np.isnan(result.func_vals).sum() == 2
    assert len(made) == 2


# --- workers lost ---------------------------------------------------------------------------------


class Fragile(ThreadPoolExecutor):
    """Breaks as a pool of processes does: with it goes all that runs, and what waits."""

    def __init__(self, n=2):
        super().__init__(n)
        self.is_broken, self.given = threading.Event(), []

    def submit(self, fn, /, *args):
        if self.is_broken.is_set():
            raise BrokenProcessPool("broken")
        self.given.append(super().submit(self._call, fn, *args))
        return self.given[-1]

    def _call(self, fn, func, point):
        if point[0] == POISON[0]:
            self.is_broken.set()
        if self.is_broken.wait(0.02):
            raise BrokenProcessPool("broken")
        return fn(func, point)


def minimize_with_poison(executor, **options):
    x0 = [[0.0, 0.0], POISON, [1.0, 1.0]]
    return minimize(
        kill_at_poison if executor is processes else bowl,
        BOUNDS,
        n_calls=7,
        x0=x0,
        method="random",
        executor=executor,
        random_state=0,
        **options,
    )


def assert_only_poison_failed(result):
    poisoned = result.x_iters[:, 0] == POISON[0]
    assert poisoned.sum() == 1
    assert len(result.func_vals) == 7
    assert_array_equal(np.isnan(result.func_vals), poisoned)
    assert_array_equal(result.func_vals[~poisoned], [bowl(x) for x in result.x_iters[~poisoned]])


@pytest.mark.parametrize(("n_retries", "said"), [(0, "once"), (1, "2 times"), (2, "3 times")])
def test_point_killing_worker_fails_after_retries(n_retries, said):
    with pytest.warns(LostEvaluationWarning, match=f"lost its worker {said}"):
        result = minimize_with_poison(lambda: Fragile(1), n_retries=n_retries)
    assert_only_poison_failed(result)
    assert result.nfev == 7 + n_retries


def test_the_innocent_beside_it_are_evaluated_again():
    with pytest.warns(LostEvaluationWarning) as caught:
        result = minimize_with_poison(Fragile)
    assert len(caught) == 1
    assert_only_poison_failed(result)
    assert result.nfev > 7


def test_real_processes_that_die():
    with pytest.warns(LostEvaluationWarning, match="its worker 2 times"):
        result = minimize_with_poison(processes)
    assert_only_poison_failed(result)


@pytest.mark.parametrize("named", [False, True])
def test_warning_abbreviates_point_of_many_inputs(named):
    bounds = {f"x{i}": uniform() for i in range(60)} if named else [(0.0, 1.0)] * 60
    calls = []

    def second_is_lost(x):
        calls.append(x)
        if len(calls) == 2:
            raise LostWorkerError("simulator ended by signal 9")
        return 1.0

    with ThreadPoolExecutor(1) as workers, pytest.warns(LostEvaluationWarning) as caught:
        result = minimize(
            *(second_is_lost, bounds),
            n_calls=3,
            executor=workers,
            n_pending=1,
            n_retries=0,
            method="random",
            random_state=0,
        )
    [text] = [str(warning.message) for warning in caught]
    assert text.startswith("The evaluation of ")
    assert "lost its worker once (LostWorkerError('simulator ended by signal 9'))" in text
    assert np.isnan(result.func_vals[1])
    assert len(text) < 400
    assert "\n" not in text


def test_broken_executor_error_carries_result():
    with Fragile() as executor, pytest.raises(BrokenExecutor) as caught:
        minimize_with_poison(executor)
    result = caught.value.optimize_result
    assert_array_equal(result.func_vals, [bowl(x) for x in result.x_iters])
    assert any("Give executor as a callable" in note for note in caught.value.__notes__)


class Together(Executor):
    """Three evaluations return at once."""

    _max_workers = 3

    def __init__(self):
        self.jobs = []

    def submit(self, fn, /, *args):
        self.jobs.append((Future(), fn, args))
        if len(self.jobs) == 3:
            for future, fn_, args_ in self.jobs:
                future.set_result(fn_(*args_))
        return self.jobs[-1][0]


def test_callback_error_loses_no_value():
    def callback(progress):
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full") as caught:
        minimize(bowl, BOUNDS, n_calls=3, executor=Together(), callback=callback, random_state=0)
    result = caught.value.optimize_result
    assert len(result.func_vals) == 3
    assert_array_equal(result.func_vals, [bowl(x) for x in result.x_iters])


@pytest.mark.parametrize("is_told", [False, True])
def test_interrupted_tell_loses_no_value(is_told):
    class Interrupted(RandomSearch):
        n_tells = 0

        def tell(self, *args, **options):
            self.n_tells += 1
            if is_told or self.n_tells > 1:
                super().tell(*args, **options)
            if self.n_tells == 1:
                raise KeyboardInterrupt
            return self

    options = {"n_calls": 3, "executor": Together(), "random_state": 0}
    result = minimize(bowl, BOUNDS, method=Interrupted, **options)
    assert (result.stop_reason, result.nfev, len(result.func_vals)) == ("interrupted", 3, 3)
    assert_array_equal(result.func_vals, [bowl(x) for x in result.x_iters])


def test_interrupt_does_not_hide_error():
    class Interrupted(RandomSearch):
        def tell(self, *args, **options):
            super().tell(*args, **options)
            if len(self.func_vals_) == 1:
                raise KeyboardInterrupt

    calls, options = [], {"n_calls": 3, "executor": Together(), "random_state": 0}

    def func(x):
        calls.append(x)
        return "text" if len(calls) == 2 else bowl(x)

    with pytest.raises(TypeError, match="must return one real number") as caught:
        minimize(func, BOUNDS, method=Interrupted, **options)
    assert_array_equal(caught.value.optimize_result.x_iters, [calls[0], calls[2]])


# --- pools of the function itself -----------------------------------------------------------------


def own_pool_breaks(x):
    if x[0] == 1.5:
        raise BrokenProcessPool("a pool of the function itself")
    return bowl(x)


def own_future_is_cancelled(x):
    if x[0] == 1.5:
        future = Future()
        future.cancel()
        future.result()
    return bowl(x)


@pytest.mark.parametrize(
    ("func", "error", "executor"),
    [
        (own_pool_breaks, BrokenExecutor, None),
        (own_pool_breaks, BrokenExecutor, lambda: ThreadPoolExecutor(1)),
        (own_pool_breaks, BrokenExecutor, lambda: processes(1)),
        (own_future_is_cancelled, CancelledError, None),
    ],
    ids=["here", "threads", "processes", "cancelled"],
)
def test_broken_nested_pool_is_not_lost_worker(func, error, executor):
    """It is raised as anything else is, at once: no point is tried again, no executor replaced."""
    x0 = [[0.0, 0.0], [1.5, 1.0]]
    n_pending = "auto" if executor is None else 1
    with pytest.raises(error) as caught:
        minimize(func, BOUNDS, x0=x0, n_calls=5, n_pending=n_pending, executor=executor)
    assert caught.value.optimize_x.tolist() == x0[1]
    assert caught.value.optimize_result.func_vals.tolist() == [bowl([0.0, 0.0])]
    assert caught.value.optimize_result.nfev == 2


def test_rejected_submission_counts_no_call(path):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown") as caught:
        minimize(bowl, BOUNDS, method="random", executor=executor, journal=path)
    assert caught.value.optimize_result.nfev == 0
    assert minimize(bowl, BOUNDS, n_calls=3, journal=path, method="random").nfev == 3
