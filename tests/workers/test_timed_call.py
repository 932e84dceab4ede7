"""One call: its time, and its exceptions, sent or in words."""

import pickle
from concurrent.futures import BrokenExecutor, CancelledError

import pytest
from worker_parts import OfFunctionError, timed, timed_elsewhere

from skbo_silbo.workers import LostWorkerError


class NeedsTwo(Exception):
    """Is made anew from one argument, of two that it needs."""

    def __init__(self, code, where):
        super().__init__(f"licence {code} of {where}")

    def __reduce_ex__(self, protocol):  # also where tblib, which Dask loads, would pickle it
        return type(self), (7,)


class NoWords(Exception):
    def __init__(self, code, where):
        super().__init__(code)

    def __reduce_ex__(self, protocol):
        raise self

    def __repr__(self):
        raise RuntimeError("no words")

    __str__ = __repr__


def failing(error):
    def function(*args):
        raise error

    return function


@pytest.mark.parametrize("error", [BrokenExecutor("own"), CancelledError("own")])
def test_what_a_pool_of_the_functions_own_raises_is_the_functions(error):
    with pytest.raises(OfFunctionError) as caught:
        timed(failing(error))
    assert caught.value.error is error


@pytest.mark.parametrize("error", [LostWorkerError("its own word"), KeyError("a"), SystemExit(3)])
def test_all_else_comes_as_it_is(error):
    for call in (timed, lambda function: timed_elsewhere(function, "func", True)):
        with pytest.raises(type(error)) as caught:
            call(failing(error))
        assert caught.value is error


@pytest.mark.parametrize("error", [NeedsTwo(7, "solver"), NoWords(7, "solver")])
def test_what_cannot_be_unpickled_comes_in_words_that_can(error):
    sent = RuntimeError, type(error)  # itself where tblib, which Dask loads, makes it sendable
    with pytest.raises(sent) as caught:
        timed_elsewhere(failing(error), "a fit", False)
    words = str(pickle.loads(pickle.dumps(caught.value))) if caught.type is RuntimeError else None
    assert words is None or words.startswith(f"a fit raised test_timed_call.{type(error).__name__}")
    assert words is None or "in function" in words  # its traceback


def test_a_value_comes_with_its_seconds():
    value, seconds = timed(max, 3, 4)
    assert value == 4
    assert seconds >= 0.0
