"""Experiments `state-runs` and `states`: a judge of a changed search that needs minutes, not hours.

Two whole runs differ by chance so much that 200 tell 0.03. So runs of the default are kept once,
and every engine proposes from the same states of them, the first n points and their values: what
its proposals gain is known at once, as the functions can be called. Points are kept to a 65535th
of the box, which is where the run saw the function.
"""

import base64
import zlib
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pkgutil import resolve_name

import numpy as np

from benchmarks.engine import Experiment, Grid, Store, Table
from benchmarks.experiments._public_suites import TUNED, hidden, native
from benchmarks.registry import RESULTS
from benchmarks.search.contestants import find_contestant, variant_options
from benchmarks.search.gap_report import error_of_mean, with_error
from benchmarks.search.problem_data import make_problem
from skbo_silbo import SILBO

RUNS = RESULTS / "state-runs.jsonl"
LENGTH, SIZES, AHEAD = 100, (25, 40, 60, 100), 5
LEVELS = 65535
OURS = "silbo"


def measure_run(problem, method, repeat):
    """Run the default for LENGTH evaluations; return its points, of two bytes a number."""
    function, kept = make_problem(problem, repeat), []
    optimizer = SILBO(function.bounds, random_state=repeat)
    lower, upper = function.bounds.T
    for _ in range(problem["n"]):
        share = (optimizer.ask() - lower) / (upper - lower)
        kept.append(np.rint(LEVELS * share).astype("<u2"))
        x = _placed(function, kept[-1])
        optimizer.tell(x, float(function(x)))
    packed = zlib.compress(np.array(kept).tobytes(), 9)
    return {"points": base64.b64encode(packed).decode("ascii")}


def _placed(function, steps):
    lower, upper = function.bounds.T
    return np.clip(lower + (upper - lower) * (steps / LEVELS), lower, upper)


@cache
def _kept_runs():
    if not RUNS.exists():
        raise ValueError(
            f"{RUNS} must hold the runs that states are of: there is no such file. Make it by "
            "python doc/benchmarks run state-runs --out, and this path."
        )
    return {_key(r["problem"], r["repeat"]): r["points"] for r in Store(RUNS).read()}


def _key(problem, repeat):
    return (*(problem[name] for name in ("function", "kind", "inputs")), repeat)


def state(problem, repeat):
    """Return the function, the first n points of a kept run, (n, d), and their values, (n,)."""
    function = make_problem(problem, repeat)
    raw = zlib.decompress(base64.b64decode(_kept_runs()[_key(problem, repeat)]))
    steps = np.frombuffer(raw, dtype="<u2").reshape(-1, problem["d"])[: problem["n"]]
    X = _placed(function, steps)
    return function, X, np.array([float(function(x)) for x in X])


def measure_state(problem, method, repeat):
    """Return what one proposal gains, and the best of AHEAD, in deviations of the values.

    The deviation is that of the better half of the values from their median: on functions that
    rise over decades that of all values is of the worst few. Where it is 0, as at the end of a run
    that found the optimum early, nothing is gained.
    """
    function, X, y = state(problem, repeat)
    optimizer = _engine(method)(function.bounds, random_state=repeat)
    optimizer.tell(X, y)
    values = []
    for _ in range(AHEAD):
        x = optimizer.ask()
        values.append(float(function(x)))
        optimizer.tell(x, values[-1])
    below = y[y <= np.median(y)] - np.median(y)
    unit = np.sqrt(np.mean(below**2)) or np.inf
    gains = np.maximum(y.min() - np.minimum.accumulate(values), 0.0) / unit
    return {
        "gain": float(f"{gains[0]:.6g}"),
        "gain ahead": float(f"{gains[-1]:.6g}"),
        "standing": float(np.mean(y < values[0])),
    }


def _engine(method):
    """Return what makes an optimiser from bounds and random_state."""
    if "=" not in method and ":" in method:
        return resolve_name(method)
    options = find_contestant(method).run.options
    return lambda bounds, random_state: SILBO(bounds, random_state=random_state, **options)


def count_runs(results):
    """Return how many runs there are, in words."""
    return [f"{len(results)} runs of {LENGTH} values."]


MEASURES = {"gain": "first proposal", "gain ahead": f"best of {AHEAD}", "standing": "standing"}


def report(results):
    """Return a table for each measure, a row for each engine: the default, and differences."""
    ok = [r for r in results if r["status"] == "ok"]
    return [_table(ok, measure, title) for measure, title in MEASURES.items()]


def _table(results, measure, title):
    runs = defaultdict(lambda: defaultdict(dict))
    for r in results:
        runs[r["method"]][_key(r["problem"], r["repeat"])][r["problem"]["n"]] = r[measure]
    rows = [_row(OURS, runs[OURS])] if OURS in runs else []
    for method in sorted(set(runs) - {OURS}):
        pairs = {
            place: {n: own[n] - runs[OURS][place][n] for n in own if n in runs[OURS][place]}
            for place, own in runs[method].items()
            if place in runs[OURS]
        }
        rows.append(_row(f"{method}, less it", pairs))
    note = (
        "Mean over states, and its standard error over runs, as states of a run are alike. Gains "
        "are in root mean squares of the better half of the values from their median; standing is "
        "the share of the state's values that are better than the first proposal."
    )
    header = ("engine", "states", "all", *(f"{n} values" for n in SIZES), "not hidden", "hidden")
    return Table(f"From the same states: {title}", (*header, "better, worse"), rows, note)


def _row(name, runs):
    values = [v for own in runs.values() for v in own.values()]
    parts = [lambda place, n: True]
    parts += [lambda place, n, size=size: n == size for size in SIZES]
    parts += [lambda place, n: place[1] == "native", lambda place, n: place[1] != "native"]
    rows = [_mean_of(runs, part) for part in parts]
    counts = f"{sum(v > 0 for v in values)}, {sum(v < 0 for v in values)}"
    return name, str(len(values)), *rows, counts


def _mean_of(runs, part):
    chosen = [[v for n, v in own.items() if part(place, n)] for place, own in runs.items()]
    means = [np.mean(own) for own in chosen if own]
    return with_error(np.mean(means), error_of_mean(means), 3) if means else "--"


def _with_engines(experiment, names):
    """Return the experiment with engines: variants of ours, or MODULE:CLASS with ask and tell."""
    for name in names:
        _engine(name)  # raises
    return replace(experiment, methods={**experiment.methods, **dict.fromkeys(names, "")})


def _states(functions, sizes):
    problems = (*native(functions, 10, 0), *native(functions, 20, 0), *hidden(functions, 0))
    return tuple({**problem, "n": n} for n in sizes for problem in problems)


STATE_RUNS = Experiment(
    name="state-runs",
    about="runs of the default, of which `states` takes states",
    methods={OURS: "coco-experiment"},
    grids={"full": Grid(_states(TUNED, (LENGTH,)), 1, 1), "tiny": Grid(native((1,), 2, 12), 1, 1)},
    measure=measure_run,
    report=count_runs,
    cap_seconds=600,
)
STATES = Experiment(
    name="states",
    about="what proposals of engines gain from the same states; for tuning",
    methods={OURS: "coco-experiment"},
    grids={"full": Grid(_states(TUNED, SIZES), 1, 1), "tiny": Grid(native((1,), 10, 25), 1, 1)},
    measure=measure_state,
    report=report,
    configure=_with_engines,
    command_options=variant_options,
    cap_seconds=600,
)
