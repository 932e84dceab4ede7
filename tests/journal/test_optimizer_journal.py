"""The journal of an optimiser: killed, torn, damaged, shared, of another search."""

import gc
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import loguniform

from skbo_silbo import SILBO, Space, minimize

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


def test_named_noisy_failed_and_cancelled_points_resume(path):
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


@pytest.mark.parametrize(
    "method", [pytest.param("hesbo", marks=pytest.mark.slow), "rembo", "silbo"]
)
def test_resumed_run_keeps_embedding_of_first_run(path, method):
    options = {"method": method, "n_initial": 3}
    minimize(bowl, BOUNDS, n_calls=4, journal=path, random_state=3, **options)
    resumed = minimize(bowl, BOUNDS, n_calls=7, journal=path, **options)
    whole = minimize(bowl, BOUNDS, n_calls=7, random_state=3, **options)
    assert_array_equal(resumed.x_iters, whole.x_iters)


@pytest.mark.parametrize(
    "method", ["silbo", pytest.param("silbo-bu", marks=pytest.mark.slow), "silbo-td", "random"]
)
def test_minimize_resumes_as_in_one_run(path, method):
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


def test_seed_of_journal_is_kept_without_one(path):
    first = step(make(path, random_state=None), 2)
    first.close_journal()
    assert_array_equal(make(path, random_state=None).ask(), first.ask())


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acquisition": "ucb"}, "acquisition was ei and is ucb"),
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"search": "sideways"}, "search must be one of"),
    ],
)
def test_rejected_options_release_journal(path, options, message):
    step(make(path)).close_journal()
    with pytest.raises(ValueError, match=message):
        make(path, **options)
    make(path).close_journal()


def test_other_space_sign_or_method_is_rejected(path):
    def search(bounds=BOUNDS, **options):
        return minimize(bowl, bounds, n_calls=2, journal=path, random_state=0, **options)

    search()
    with pytest.raises(ValueError, match=r"bounds\.2 was \[0.0, 1.0\] and is \[0.0, 9"):
        search([*BOUNDS[:2], (0.0, 9.0)])
    with pytest.raises(ValueError, match="maximize was False and is True"):
        search(maximize=True)
    with pytest.raises(ValueError, match="optimizer was SILBO and is RandomSearch"):
        search(method="random")
    assert search().nfev == 2


def test_mended_call_restarts_journal_without_values(path):
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


def test_pending_points_stay_with_same_search(path):
    first = make(path)
    asked = first.ask(2)
    first.close_journal()
    same = make(path)
    assert_array_equal(same.pending_, asked)
    same.close_journal()
    with pytest.raises(ValueError, match="n_initial"):
        make(path, n_initial=5)


def test_collected_optimiser_releases_journal(path):
    for n_told in range(3):
        optimizer = make(path)
        assert len(optimizer.func_vals_) == n_told
        step(optimizer)
        del optimizer
        gc.collect()


# --- damage ---------------------------------------------------------------------------------------


def test_other_release_learns_again_and_keeps_values(path, monkeypatch):
    step(make(path), 5).close_journal()
    another = {"skbo_silbo": "another"}
    monkeypatch.setattr("skbo_silbo.journal.log.made_with", lambda: another)
    with pytest.warns(UserWarning, match="other versions of skbo_silbo"):
        optimizer = make(path)
    assert len(optimizer.func_vals_) == 5
    step(optimizer, 1).close_journal()
    monkeypatch.undo()
    again = make(path)  # what was learnt is as far as it has changed since
    assert_array_equal(again.x_iters_, optimizer.x_iters_)
    assert_array_equal(again.ask(), optimizer.ask())


LEARNERS = [{}, {"embedding": "semi-sir", "n_components": 2}]


@pytest.mark.parametrize(
    "options", [LEARNERS[0], pytest.param(LEARNERS[1], marks=pytest.mark.slow)]
)
def test_journal_cut_after_any_event_equals_uninterrupted(path, options):
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


@pytest.mark.parametrize("options", LEARNERS)
def test_interrupt_while_writing_keeps_what_was_learnt(path, monkeypatch, options):
    fsync, optimizer = os.fsync, step(make(path, **options), 5)
    with monkeypatch.context() as patched:
        interrupts = iter([True])
        patched.setattr(os, "fsync", lambda f: interrupt() if next(interrupts, 0) else fsync(f))
        with pytest.raises(KeyboardInterrupt):
            optimizer.ask()
    assert len(optimizer.pending_) == 0
    step(optimizer).close_journal()
    again = make(path, **options)
    assert_array_equal(again.x_iters_, optimizer.x_iters_)
    assert again.to_dict()["events"][1]["learnt"] == optimizer.to_dict()["events"][1]["learnt"]


def test_interrupted_close_releases_journal(path, monkeypatch):
    optimizer = make(path)
    point = optimizer.ask()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: fail())
        with pytest.raises(OSError, match="No space left"):
            optimizer.tell(point, 1.0)
        patched.setattr(os, "fsync", lambda file: interrupt())
        with pytest.raises(KeyboardInterrupt):
            optimizer.close_journal()  # writes what is left
    make(path).close_journal()


def fail():
    raise OSError(28, "No space left on device")


def interrupt():
    raise KeyboardInterrupt
