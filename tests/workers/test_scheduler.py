"""The one pool of workers: what is made again, alone, given up, taken back; and told of."""

import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st
from worker_parts import Call, Scheduler, outcomes_of

from skbo_silbo.workers import LostWorkerError

FOREVER = 600.0


class Breaking(Executor):
    """Breaks, with all that it has, when a call says so; the others end in the order given."""

    def __init__(self, n_workers=2):
        self._max_workers, self.calls, self.is_broken = n_workers, [], False
        self.lock = threading.Lock()

    def submit(self, fn, /, *args):
        if self.is_broken:
            raise BrokenExecutor("broken before")
        future = Future()
        with self.lock:
            self.calls.append((future, fn, args))
        threading.Timer(0.002, self.work).start()
        return future

    def work(self):
        with self.lock:
            calls, self.calls = self.calls, []
        for future, fn, args in calls:
            if not future.set_running_or_notify_cancel():
                continue
            if self.is_broken:
                time.sleep(0.001)  # a pool reports its lost calls one by one
                future.set_exception(BrokenExecutor("broken"))
                continue
            try:
                future.set_result(fn(*args))
            except ZeroDivisionError:  # stands for a death
                self.is_broken = True
                future.set_exception(BrokenExecutor("broken"))

    def shutdown(self, wait=True):
        pass


def kinds_of(workers):
    return {key: outcome.kind for key, outcome in outcomes_of(workers).items()}


@settings(max_examples=15)
@given(deadly=st.sets(st.integers(0, 7)), n_workers=st.integers(1, 3), n_retries=st.integers(0, 2))
def test_only_deadly_calls_are_lost(deadly, n_workers, n_retries):
    if not n_retries and n_workers > 1:
        n_retries = 1  # else those beside it are lost too
    begun = []
    workers = Scheduler(partial(Breaking, n_workers), n_retries=n_retries)
    workers.on_begin = lambda call: begun.append(call.key)
    for i in range(8):
        workers.submit(Call(i, lambda i: i**2 // (i not in deadly), (i,)))
    outcomes = outcomes_of(workers)
    assert {key for key, outcome in outcomes.items() if outcome.kind == "lost"} == deadly
    assert {key: o.value for key, o in outcomes.items() if o.kind == "value"} == {
        i: i**2 for i in set(range(8)) - deadly
    }
    assert all(begun.count(key) >= n_retries + 1 for key in deadly)


def test_what_goes_alone_runs_beside_nothing():
    running, most, lock = [], {}, threading.Lock()

    def run(key):
        with lock:
            running.append(key)
            most[key] = max(len(running), most.get(key, 0))
        time.sleep(0.02)
        with lock:
            running.remove(key)

    with ThreadPoolExecutor(3) as executor:
        workers = Scheduler(executor)
        for key in range(6):
            workers.submit(Call(key, run, (key,), alone=key in (2, 3)))
            assert (workers.n_free == 0) == (key >= 2)
        assert set(kinds_of(workers).values()) == {"value"}
    assert most[2] == most[3] == 1


def test_calls_are_announced_and_withdrawn():
    events, release = [], threading.Event()

    def run(key):
        events.append(("made", key))
        release.wait(FOREVER)

    with ThreadPoolExecutor(1) as executor:
        workers = Scheduler(executor)
        workers.on_begin = lambda call: events.append(("begun", call.key))
        workers.on_take_back = lambda call: events.append(("taken back", call.key))
        for key in range(3):
            workers.submit(Call(key, run, (key,)))
        while ("made", 0) not in events:
            time.sleep(0.001)
        assert [call.key for call in workers.drain()] == [1, 2]
        release.set()
        assert kinds_of(workers) == {0: "value"}
    assert events.index(("begun", 0)) < events.index(("made", 0))
    assert [e for e in events if e[1]] == [
        *(("begun", 1), ("begun", 2)),
        *(("taken back", 1), ("taken back", 2)),
    ]


def test_call_lost_during_shutdown_is_not_retried():
    workers = Scheduler(partial(Breaking, 1), n_retries=5)
    workers.submit(Call(0, lambda: 1 // 0))
    workers.drain()
    assert outcomes_of(workers) == {}


def test_no_call_begins_when_the_time_is_up():
    n_made = []

    def lose():
        n_made.append(1)
        raise LostWorkerError

    with ThreadPoolExecutor(1) as executor:
        workers = Scheduler(executor, n_retries=9)
        workers.submit(Call(0, lose))
        while not workers._done.qsize():
            time.sleep(0.001)
        assert workers.wait(0.0) == []
        assert len(n_made) == 1
        assert kinds_of(workers) == {0: "lost"}
    assert len(n_made) == 10
