"""The journal of an optimiser: killed, torn, damaged, shared, of another search."""

import copy
import gc
import json
import os
import sys
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import loguniform

from skbo_silbo import SILBO, Space, minimize
from skbo_silbo.baselines import RandomSearch

BOUNDS = [(-1.0, 2.0), (0.0, 3.0), (0.0, 1.0)]


def bowl(x):
    return float(((x - 0.4) ** 2).sum())


def step(optimizer, n=1):
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x))
    return optimizer


def make(path, **options):
    return SILBO(BOUNDS, journal=path, **{"n_initial": 4, "random_state": 0, **options})


# --- going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 3, 6])
def test_an_optimiser_goes_on_as_if_it_had_not_ended(path, n):
    first = step(make(path), n)
    asked = first.ask()
    first.close_journal()
    second = make(path)
    assert_array_equal(second.x_iters_, first.x_iters_)
    assert_array_equal(second.func_vals_, first.func_vals_)
    assert_array_equal(second.pending_, [asked])
    assert_array_equal(second.ask(2), copy.deepcopy(first).ask(2))


def test_named_parameters_noise_failures_and_cancelled_points(path):
    space = Space({"C": loguniform(1e-3, 1e3), "kind": ["a", "b", None]})
    first = SILBO(space, journal=path, random_state=0)
    a, b, c = first.ask(3)
    first.tell([b, a], [np.nan, -np.inf], noise_std=[np.nan, 0.5])
    first.cancel(c)
    first.close_journal()
    second = SILBO(space, journal=path, random_state=0)
    assert second.x_iters_ == [b, a]
    assert_array_equal(second.func_vals_, [np.nan, -np.inf])
    assert second.pending_ == []
    assert second.to_dict() == first.to_dict()


@pytest.mark.parametrize("method", ["silbo", "silbo-bu", "silbo-td", "add-bo", "sir-bo", "random"])
def test_minimize_goes_on_as_in_one_run(path, method):
    options = {"n_initial": 4} if method != "random" else {}
    calls = []

    def counted(x):
        calls.append(x)
        return bowl(x)

    def search(n_calls):
        return minimize(
            counted,
            BOUNDS,
            method=method,
            n_calls=n_calls,
            journal=path,
            random_state=0,
            x0=[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]],
            **options,
        )

    search(5)
    result = search(6)
    assert result.nfev == len(calls) == 6
    assert_array_equal(result.x_iters, calls)
    path.unlink()
    assert_array_equal(search(6).x_iters, result.x_iters)


def test_without_a_seed_the_journals_is_taken_over(path):
    first = step(make(path, random_state=None), 2)
    first.close_journal()
    assert_array_equal(make(path, random_state=None).ask(), first.ask())


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acquisition": "ucb"}, "acquisition was ei and is ucb"),
        ({"n_initial": 5}, "n_initial was 4 and is 5"),
        ({"random_state": 1}, "random_state gives a seed that was"),
    ],
)
def test_another_search_is_refused(path, options, message):
    step(make(path)).close_journal()
    with pytest.raises(ValueError, match=message):
        SILBO(BOUNDS, journal=path, **{"n_initial": 4, "random_state": 0, **options})
    make(path).close_journal()  # it was not left locked


def test_an_optimiser_that_cannot_be_made_leaves_its_journal_free(path):
    with pytest.raises(ValueError, match="search must be one of"):
        make(path, search="sideways")
    step(make(path)).close_journal()


def test_another_space_sign_or_method_is_refused(path):
    def search(bounds=BOUNDS, **options):
        return minimize(bowl, bounds, n_calls=2, journal=path, random_state=0, **options)

    search()
    with pytest.raises(ValueError, match=r"bounds\.2 was \[0.0, 1.0\] and is \[0.0, 9"):
        search([*BOUNDS[:2], (0.0, 9.0)])
    with pytest.raises(ValueError, match="maximize was False and is True"):
        search(maximize=True)
    with pytest.raises(
        ValueError, match="optimizer was SILBO and is RandomSearch; method was silbo and"
    ):
        search(method="random")
    assert search().nfev == 2


def test_a_journal_without_a_value_is_begun_anew_by_a_mended_call(path):
    def search(func, bounds, n_initial):
        options = {"n_initial": n_initial, "n_calls": 6, "random_state": 0}
        return minimize(func, bounds, journal=path, **options)

    def mistyped(x):
        raise NameError("pi")

    with pytest.raises(NameError):
        search(mistyped, BOUNDS, 5)
    mended = search(bowl, BOUNDS[:2], 4)
    whole = minimize(bowl, BOUNDS[:2], n_initial=4, n_calls=6, random_state=0)
    assert_array_equal(mended.x_iters, whole.x_iters)
    written = path.read_bytes()
    with pytest.raises(ValueError, match="n_initial was 4 and is 5"):
        search(bowl, BOUNDS[:2], 5)
    assert path.read_bytes() == written
    assert search(bowl, BOUNDS[:2], 4).nfev == 6


def test_points_asked_for_stay_with_the_call_that_asked(path):
    """Only another search begins the file anew."""
    first = make(path)
    asked = first.ask(2)
    first.close_journal()
    same = make(path)
    assert_array_equal(same.pending_, asked)
    same.close_journal()
    other = make(path, n_initial=5)
    assert len(other.pending_) == 0
    assert os.listdir(path.parent) == [path.name]


def test_two_optimisers_on_one_journal(path):
    first = make(path)
    with pytest.raises(RuntimeError, match=r"one optimiser at a time.* Call close_journal\(\)"):
        make(path)
    first.close_journal()
    make(path).close_journal()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_two_processes_on_one_journal_call_each_point_once(path, tmp_path):
    """Each goes on where the other has ended; something else writes into the file meanwhile."""
    called, options = tmp_path / "called", {"method": "random", "random_state": 0, "journal": path}

    def func(x):
        with called.open("a") as file:
            file.write(f"{x.tolist()}\n")
        if len(called.read_text().splitlines()) % 4 == 0:
            path.write_bytes(path.read_bytes()[:-30])
        return bowl(x)

    def take_turns():
        warnings.simplefilter("ignore")
        n_calls = 0
        while n_calls < 16:
            try:
                n_calls = minimize(func, BOUNDS, n_calls=n_calls + 1, **options).nfev
            except RuntimeError as error:
                if "in use" not in str(error):
                    raise

    children = []
    for _ in range(2):
        children.append(os.fork())
        if children[-1] == 0:
            try:
                take_turns()
                os._exit(0)
            finally:
                os._exit(1)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    whole = minimize(bowl, BOUNDS, method="random", random_state=0, n_calls=16).x_iters
    assert list(map(json.loads, called.read_text().splitlines())) == whole.tolist()


def test_an_optimiser_that_nothing_refers_to_lets_go_of_its_journal(path):
    def tell_one():
        step(make(path))

    for n_told in range(3):
        tell_one()
        gc.collect()
        optimizer = make(path)
        assert len(optimizer.func_vals_) == n_told + 1
        del optimizer
        gc.collect()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_write_the_journal(path):
    optimizer = step(make(path), 2)
    child = os.fork()
    if child == 0:
        try:
            optimizer.ask()
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    step(optimizer)
    optimizer.close_journal()
    assert len(make(path).func_vals_) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_does_not_hold_the_journal(path):
    optimizer = step(make(path), 2)
    (begun, begin), (ended, end) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        os.write(begin, b".")
        os.read(ended, 1)  # a worker that outlives the process whose search it served
        os._exit(0)
    try:
        os.read(begun, 1)
        with pytest.raises(RuntimeError, match="in use"):  # the first has it all the same
            make(path)
        optimizer.close_journal()
        again = step(make(path))
        assert len(again.func_vals_) == 3
    finally:
        for file in (begun, begin, ended, end):
            os.close(file)
        os.waitpid(child, 0)


@pytest.mark.skipif(os.name == "nt", reason="a copy of a file has no lock there")
def test_a_process_forked_while_it_is_closed_does_not_hold_the_journal(path):
    """It has a copy of the open file for a moment, as `os.dup` makes one."""
    optimizer = step(make(path))
    copied = os.dup(optimizer._log._file)
    try:
        optimizer.close_journal()
        step(make(path)).close_journal()
    finally:
        os.close(copied)


# --- damage ---------------------------------------------------------------------------------------


def test_a_torn_tail_is_dropped(path):
    step(make(path), 3).close_journal()
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for torn in (whole[:-1], whole[:-9], whole + b'{"n": 7, "to', whole[: -len(lines[-1]) + 1]):
        path.write_bytes(torn)
        optimizer = make(path)
        assert len(optimizer.func_vals_) == (3 if torn.startswith(whole[:-1]) else 2)
        step(optimizer).close_journal()
        again = make(path)
        assert len(again.func_vals_) == len(optimizer.func_vals_)
        again.close_journal()


def test_another_release_learns_again_and_loses_nothing(path, monkeypatch):
    step(make(path), 5).close_journal()
    another = {"skbo_silbo": "another"}
    monkeypatch.setattr("skbo_silbo.optimizers._log.made_with", lambda: another)
    optimizer = make(path)
    assert len(optimizer.func_vals_) == 5
    step(optimizer, 1).close_journal()
    monkeypatch.undo()
    again = make(path)  # what was learnt is as far as it has changed since
    assert_array_equal(again.x_iters_, optimizer.x_iters_)
    assert_array_equal(again.ask(), optimizer.ask())


BESIDE = [".state", ".state.new", ".begun", ".begun.new"]  # that earlier versions wrote


@pytest.mark.parametrize("content", [b"my only copy", b'{"n": 99, "state": {}}'])
def test_files_beside_the_journal_are_the_users(path, content):
    """Those of another run cannot matter, nor be overwritten."""
    for ending in BESIDE:
        path.with_name(path.name + ending).write_bytes(content)
    target = path.with_name("target")
    target.write_bytes(content)
    path.with_name(path.name + ".state.new").unlink()
    path.with_name(path.name + ".state.new").symlink_to(target)
    step(make(path), 5).close_journal()
    plain = step(SILBO(BOUNDS, n_initial=4, random_state=0), 5)
    again = make(path)
    assert_array_equal(again.x_iters_, plain.x_iters_)
    assert_array_equal(again.ask(), plain.ask())
    for ending in BESIDE:
        assert path.with_name(path.name + ending).read_bytes() == content
    assert target.read_bytes() == content


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"embedding": "semi-sir", "n_components": 2},
    ],
)
def test_cut_after_any_event_it_goes_on_as_uninterrupted(path, options):
    """As `kill -9` between any two writes leaves it."""

    def run(optimizer):
        while len(optimizer.func_vals_) < 6:
            x = optimizer.pending_[0] if len(optimizer.pending_) else optimizer.ask()
            optimizer.tell(x, bowl(x))
        return optimizer

    run(make(path, **options)).close_journal()
    lines = path.read_bytes().splitlines(keepends=True)
    whole = run(SILBO(BOUNDS, n_initial=4, random_state=0, **options))
    for n in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:n]))
        again = run(make(path, **options))
        assert_array_equal(again.x_iters_, whole.x_iters_)
        again.close_journal()
        assert path.read_bytes().splitlines(keepends=True) == lines


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        make(tmp_path / "run.jsonl")


def test_without_fcntl(path, monkeypatch):
    """As on Windows, with its lock, and as where there is no lock at all."""
    step(make(path), 2).close_journal()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with pytest.raises(RuntimeError, match="must be None on this system"):
        make(path)
    locked = []

    class Windows:
        LK_NBLCK = 2

        @staticmethod
        def locking(file, mode, n_bytes):
            if locked:
                raise PermissionError(13, "Permission denied")
            locked.append(file)

    monkeypatch.setitem(sys.modules, "msvcrt", Windows)
    assert len(make(path).func_vals_) == 2
    with pytest.raises(RuntimeError, match="one optimiser at a time"):
        make(path)


# --- threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomSearch, SILBO])
def test_threads_asking_and_telling_at_once(kind):
    optimizer, n_threads, n = kind(BOUNDS, random_state=0), 4, 3
    start, errors = threading.Barrier(n_threads), []

    def work():
        try:
            start.wait()
            step(optimizer, n)
        except Exception as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(n_threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    X = optimizer.x_iters_
    assert len(X) == n_threads * n == len(np.unique(X, axis=0))
    assert_array_equal(optimizer.func_vals_, [bowl(x) for x in X])
    assert len(optimizer.pending_) == 0


LEARNERS = [{}, {"embedding": "semi-sir", "n_components": 2}]


@pytest.mark.parametrize("options", LEARNERS)
def test_ctrl_c_while_a_proposal_is_written_spoils_nothing_of_what_was_learnt(
    path, monkeypatch, options
):
    fsync, optimizer = os.fsync, step(make(path, **options), 5)
    with monkeypatch.context() as patched:
        interrupts = iter([True])
        patched.setattr(
            os, "fsync", lambda file: fsync(file) if not next(interrupts, False) else interrupt()
        )
        with pytest.raises(KeyboardInterrupt):
            optimizer.ask()
    assert len(optimizer.pending_) == 0
    step(optimizer).close_journal()
    again = make(path, **options)
    assert_array_equal(again.x_iters_, optimizer.x_iters_)
    assert again.to_dict()["events"][1]["learnt"] == optimizer.to_dict()["events"][1]["learnt"]


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("options", LEARNERS)
def test_a_journal_written_anew_goes_on_as_it_would_have(path, options):
    optimizer = step(make(path, **options), 6)
    path.write_bytes(b"my shopping list")
    with pytest.warns(UserWarning, match="something else was written into it"):
        step(optimizer).close_journal()
    again, plain = make(path, **options), SILBO(BOUNDS, n_initial=4, random_state=0, **options)
    assert_array_equal(again.x_iters_, step(plain, 7).x_iters_)
    assert_array_equal(again.ask(), plain.ask())


def test_what_was_learnt_is_held_once(path):
    step(make(path, **LEARNERS[1]), 6).close_journal()
    again = make(path, **LEARNERS[1])
    assert not any("learnt" in event.content for event in again._log.events)
    again.close_journal()
