import copy
import itertools
import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import OptimizeResult

import skbo_silbo
from skbo_silbo import MinimizeResult, minimize
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.optimizers import AskTellOptimizer
from skbo_silbo.problems import branin

BOUNDS = [(-1.0, 2.0), (0.0, 3.0)]


def bowl(x):
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2)


class Counted:
    def __init__(self):
        self.points = []

    def __call__(self, x):
        self.points.append(np.copy(x))
        return bowl(x)


class Lattice(AskTellOptimizer):
    """Points of a grid from a corner of the cube, one after the other."""

    def __init__(self, bounds, *, step=0.25, random_state=None):
        super().__init__(bounds, random_state)
        self.step = step

    def propose(self, rng, part):
        return np.full(2, -1.0 + self.step * (len(self.func_vals_) + len(self.pending_)))


def lattice(bounds, random_state):
    return Lattice(bounds, random_state=random_state)


@pytest.mark.parametrize("method", [Lattice, lattice])
def test_an_optimiser_of_ones_own(method):
    result = minimize(bowl, BOUNDS, method=method, n_calls=5)
    assert isinstance(result.optimizer, Lattice)
    assert_allclose(result.x_iters, [[-1 + 0.375 * i, 0.375 * i] for i in range(5)])


def test_options_of_an_optimiser_of_ones_own():
    result = minimize(bowl, BOUNDS, method=Lattice, step=0.5, n_calls=3)
    assert_allclose(result.x_iters[-1], [0.5, 1.5])
    with pytest.raises(ValueError, match=r"options of method .*Lattice.* \['step'\], got"):
        minimize(bowl, BOUNDS, method=Lattice, steps=1)


def test_the_journal_of_an_optimiser_of_ones_own(tmp_path):
    def search(n_calls, **options):
        path = tmp_path / "own.jsonl"
        return minimize(bowl, BOUNDS, n_calls=n_calls, journal=path, random_state=0, **options)

    search(3, method=Lattice)
    assert_allclose(search(5, method=Lattice).x_iters[-1], [0.5, 1.5])
    with pytest.raises(ValueError, match=r"step was 0.25 and is 0.1"):
        search(5, method=Lattice, step=0.1)
    with pytest.raises(ValueError, match="optimizer was Lattice and is RandomSearch"):
        search(5, method="random")
    other = type("Lattice", (Lattice,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match=r"method was .*minimize.Lattice and is elsewhere.Latt"):
        search(5, method=other)


class Forgetful(RandomSearch):
    """Keeps nothing of its arguments."""

    def __init__(self, bounds, *, random_state=None, power=2, **others):
        super().__init__(bounds, random_state=random_state)


def test_optimiser_not_storing_arguments_raises(tmp_path):
    func, journal = Counted(), tmp_path / "own"
    assert minimize(bowl, BOUNDS, method=Forgetful, power=3, n_calls=2).nfev == 2
    with pytest.raises(AttributeError, match=r"Forgetful.* no attribute 'power'"):
        minimize(func, BOUNDS, method=Forgetful, journal=journal)
    assert func.points == []


def test_the_objective_may_change_its_argument():
    def func(x):
        value = bowl(x)
        x[:] = np.nan
        return value

    assert_array_equal(
        minimize(func, BOUNDS, n_calls=6, n_initial=5, random_state=0).x_iters,
        minimize(bowl, BOUNDS, n_calls=6, n_initial=5, random_state=0).x_iters,
    )


def test_first_points_are_evaluated_first_and_counted():
    x0 = [[0.0, 0.0], [1.0, 1.0]]
    func = Counted()
    result = minimize(func, BOUNDS, method="random", x0=x0, n_calls=5, random_state=0)
    assert result.nfev == len(func.points) == 5
    assert_array_equal(result.x_iters[:2], x0)
    assert_array_equal(minimize(bowl, BOUNDS, x0=x0[1], n_calls=1).x_iters, x0[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": Counted}, "must be one of .*Counted'>. Or give an .*AskTellOptimizer"),
        ({"method": 3}, "must be one of .*, got 3. Or give .* function of bounds and rand"),
        ({"method": Counted()}, "method must take bounds and random_state: .*Counted.* takes x"),
        ({"method": lambda bounds, random_state: 3}, "method must make an .*lambda.* made 3"),
        ({"method": lambda bounds: 3}, "method must take bounds and random_state: .*lambda"),
        ({"method": Lattice(BOUNDS)}, "must be one of .*got Lattice.*by its class"),
        ({"executor": lambda: None}, r"returned None\. For example, pass lambda: ThreadPool"),
        ({"executor": lambda: ThreadPoolExecutor}, "returned <class"),
        ({"journal": True}, "`journal` must be .* got True"),
        (
            {"method": "cma"},
            r"method must be one of \[.*'random', .*'silbo'.*\], got 'cma'.* 'Write your own",
        ),
        ({"n_jobs": 4}, r"got \['n_jobs'\]\. .* minimize itself are func, .* n_calls, .* executor"),
        ({"noise_std": 0.1}, r"^Pass known noise to SILBO.tell\(.*got \['noise_std'\]"),
        ({"n_inital": 3}, r"must be among \[.*'n_initial'.*\], got \['n_inital'\]"),
        ({"method": "random", "n_initial": 3}, "^method 'random' takes no options, got"),
        ({"method": "random", "n_components": 3}, "^method 'random' takes no options, got"),
        ({"n_calls": 0}, "n_calls must be an integer >= 1"),
        ({"y0": 1.0}, "`x0` must be given"),
        ({"x0": [9.0, 9.0]}, "`x0` must be points of the search space.* inside the bounds"),
        ({"x0": [0.5, 0.5, 0.5]}, "`x0` must be points of the search space"),
        ({"max_time": -1}, "max_time must be None or a finite number >= 0, got -1"),
        ({"max_time": np.nan}, "max_time must be"),
        ({"target": "low"}, "`target` must be .* got 'low'"),
        ({"callback": 3}, "`callback` must be"),
        ({"timeout": 0}, "`timeout` must be .* got 0"),
        ({"maximize": "no"}, "maximize must be True or False, got 'no'"),
        ({"n_retries": -1}, "n_retries must be an integer >= 0"),
        ({"n_pending": 2}, "`n_pending` must be 'auto'"),
        ({"executor": 4}, r"executor must be None, an executor that has submit\(\)"),
        ({"timeout": True}, "positive number of seconds, got True"),
        ({"verbose": -1}, "verbose must be an integer >= 0"),
        ({"x0": [0.0, 0.0], "y0": [1.0, 2.0]}, "y must be one number"),
        ({"x0": [0.0, 0.0], "y0": (1.0, [0.0]), "n_constraints": 2}, "constraints must be of sh"),
    ],
)
def test_invalid_argument_leaves_no_journal(options, message, path):
    func = Counted()
    with pytest.raises(ValueError, match=message):
        minimize(func, BOUNDS, **{"journal": path, **options})
    assert func.points == []
    assert not path.exists()


def test_target_reached_by_known_values_costs_nothing():
    func = Counted()
    result = minimize(func, BOUNDS, x0=[0.5, 1.0], y0=0.0, target=0.1)
    assert result.nfev == len(func.points) == 0
    assert result.fun == 0.0


def test_given_values_of_journal_reach_target(tmp_path):
    """A later call may leave out `x0` and `y0`, which the journal keeps."""
    options = {"journal": tmp_path / "run.jsonl", "method": "random", "random_state": 0}
    minimize(bowl, BOUNDS, x0=[0.5, 1.0], y0=-1.0, n_calls=2, **options)
    seen = []
    minimize(bowl, BOUNDS, n_calls=3, callback=seen.append, **options)
    assert [progress.best_value for progress in seen] == [-1.0]
    result = minimize(bowl, BOUNDS, n_calls=4, target=-0.5, **options)
    assert (result.nfev, result.stop_reason, result.fun) == (3, "target", -1.0)


def test_time_limit(monkeypatch):
    clock = [0.0]

    def func(x):
        clock[0] += 4.0
        return bowl(x)

    monkeypatch.setattr("skbo_silbo.evaluation.budget.time.perf_counter", lambda: clock[0])
    result = minimize(func, BOUNDS, method="random", max_time=10, random_state=0)
    assert result.nfev == 3
    assert result.success
    assert result.message == "Time limit of 10 s reached."
    assert result.stop_reason == "max_time"
    assert minimize(func, BOUNDS, max_time=0).nfev == 1


def test_values_told_by_callback_are_given():
    def callback(progress):
        if progress.n_evaluations == 2:
            progress.optimizer.tell([0.5] * len(BOUNDS), 9.0)

    result = minimize(bowl, BOUNDS, n_calls=4, n_initial=3, callback=callback, random_state=0)
    assert result.sources == ["init", "init", "given", "model", "model"]
    assert result.to_frame()["value"].tolist() == result.func_vals.tolist()
    assert result.func_vals[2] == 9.0


def test_a_clock_that_jumps_ends_nothing(monkeypatch):
    jumps, clock = itertools.cycle([0.0, 1e9, -1e9]), time.time
    monkeypatch.setattr(time, "time", lambda: clock() + next(jumps))
    options = {"method": "random", "n_calls": 6, "max_time": 300.0, "timeout": 300.0}
    assert minimize(bowl, BOUNDS, **options).stop_reason == "budget"


PACKAGE = str(Path(skbo_silbo.__file__).parent)


def run_traced(at_line):
    """Run a search of 2 calls, calling a function at every line that the package runs of it.

    From the first evaluation on; with how many evaluations were begun, and the frame.
    """
    func = Counted()

    def trace(frame, event, arg):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line" and func.points:
            at_line(len(func.points), frame)
        return trace

    sys.settrace(trace)
    try:
        return func, minimize(func, BOUNDS, method="random", n_calls=2, random_state=0)
    finally:
        sys.settrace(None)


def lines_to(frame):
    """Return function and line of every frame of the package, that one first."""
    lines = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            lines.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return lines


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_interrupted_anywhere_nothing_paid_is_lost(step):
    """Ctrl-C at every line, from every place that leads there, at every stage, once each."""
    places, left = {}, set()
    run_traced(lambda n, frame: places.setdefault((n, *lines_to(frame))))
    for n, *lines in [*places][::step]:
        left.add((n, *lines))

        def interrupt(now, frame, n=n, lines=lines):
            is_there = now == n and (frame.f_code, frame.f_lineno) == lines[0]
            if is_there and (n, *lines) in left and lines_to(frame) == lines:
                left.remove((n, *lines))
                raise KeyboardInterrupt

        try:
            func, result = run_traced(interrupt)
        except KeyboardInterrupt:
            continue  # while the run was being closed, its result being made
        assert_array_equal(result.x_iters, func.points)
        assert_array_equal(result.func_vals, [bowl(x) for x in func.points])
    assert not left
    assert {"ask", "tell", "minimize"} <= {lines[0][0].co_name for _, *lines in places}
    assert {n for n, *_ in places} == {1, 2}


def test_array_of_one_number_is_accepted():
    result = minimize(lambda x: np.array([[bowl(x)]]), BOUNDS, n_calls=3, random_state=0)
    assert_allclose(result.func_vals, [bowl(x) for x in result.x_iters])
    with pytest.raises(TypeError, match="`func` must return one real number"):
        minimize(lambda x: [1.0, 2.0], BOUNDS)


def test_it_finds_what_random_search_does_not():
    # the minimum is .3979; random search reaches about 1.7
    assert minimize(branin(), branin().bounds, n_calls=30, random_state=0).fun < 0.45


# --- signs, words and lines -----------------------------------------------------------------------


def test_maximize_mirrors_everything_but_the_points():
    seen = []
    options = {"n_calls": 6, "n_initial": 5, "random_state": 0, "x0": [[0.0, 0.0]]}
    low = minimize(bowl, BOUNDS, y0=[5.0], **options)
    high = minimize(
        lambda x: -bowl(x),
        BOUNDS,
        y0=[-5.0],
        maximize=True,
        callback=lambda progress: seen.append(progress.best_value),
        **options,
    )
    assert_array_equal(high.x_iters, low.x_iters)
    assert_array_equal(high.func_vals, -low.func_vals)
    assert high.fun == -low.fun == high.optimizer.best_y_ == max(seen)
    assert np.all(np.diff(seen) >= 0)
    reached = minimize(lambda x: -bowl(x), BOUNDS, target=-0.1, maximize=True, random_state=0)
    assert reached.stop_reason == "target"
    assert reached.fun >= -0.1 > np.max(reached.func_vals[:-1])


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (2, 9)])
def test_verbose(verbose, n_lines, capsys):
    result = minimize(bowl, BOUNDS, method="random", n_calls=9, random_state=0, verbose=verbose)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == n_lines
    if lines:
        assert lines[-1].startswith("[minimize 9/9] value")
        assert f"best {result.fun:.4g}" in lines[-1]


@pytest.mark.parametrize("maximize", [False, True])
def test_message_says_when_no_proposal_improved(maximize):
    sign = -1.0 if maximize else 1.0
    calls = []

    def worsens(x):
        calls.append(x)
        return sign * len(calls)

    options = {"n_calls": 8, "n_initial": 5, "maximize": maximize, "random_state": 0}
    result = minimize(worsens, BOUNDS, **options)
    assert result.message.endswith("No proposal improved on the initial design.")
    improved = minimize(lambda x: -worsens(x), BOUNDS, **options)
    assert "improved" not in improved.message


def test_result_has_annotated_entries():
    result = minimize(
        lambda x: (bowl(x), [0.0]), BOUNDS, method="random", n_calls=3, n_constraints=1
    )
    assert isinstance(result, OptimizeResult)
    assert set(result) == set(MinimizeResult.__annotations__)
    without = minimize(bowl, BOUNDS, method="random", n_calls=3)
    assert set(result) - set(without) == {"constraints"}
    for copied in (copy.copy(without), pickle.loads(pickle.dumps(without))):
        assert type(copied) is MinimizeResult
        assert copied.fun == copied["fun"] == without.fun


@pytest.mark.parametrize(
    "argument", ["method", "n_calls", "max_time", "target", "callback", "timeout", "verbose"]
)
def test_error_abbreviates_long_value(argument):
    with pytest.raises(ValueError, match=rf"{argument}`? must be .*got .*") as refused:
        minimize(bowl, BOUNDS, **{argument: list(range(5000))})
    assert len(str(refused.value)) < 800
