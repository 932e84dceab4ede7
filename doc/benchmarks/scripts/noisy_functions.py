"""Compare the default search with peers on noisy functions of 20 inputs (bbob-noisy).

Every method evaluates the centre of the bounds first. Append a line for each run, then print in how
many runs the default search was better than each peer::

    python doc/benchmarks/scripts/noisy_functions.py --run silbo 3
    python doc/benchmarks/scripts/noisy_functions.py --print

A point is judged by the median of 1,001 values. For the default search, it is the recommended
point, and "best" is the point with the lowest observed value, which the other methods recommend.
The methods are silbo, random, optuna-tpe and optuna-gp.

The noise of the suite is the same sequence in every problem. Each run therefore starts at another
place of it.
"""

import json
import subprocess
from collections import defaultdict

import numpy as np
from checkout import FOLDER, RESULTS, make_parser

from skbo_silbo import minimize

FILE = RESULTS / "noisy_functions.jsonl"
FUNCTIONS = (101, 104, 107, 110, 113, 116, 119, 122, 125, 128)  # multiplied by lognormal noise
D, REACH, N_CALLS, N_JUDGED = 20, 5.0, 50, 1001


def find_point(method, func, seed):
    """Return the point that a method recommends after `N_CALLS` evaluations, and the best one."""
    if method == "silbo":
        result = minimize(func, [(-REACH, REACH)] * D, n_calls=N_CALLS, random_state=seed)
        return result.x_recommended, result.x
    if method == "random":
        X = np.random.default_rng(seed).uniform(-REACH, REACH, (N_CALLS, D))
        X[0] = 0.0
        return (min(X, key=func),) * 2
    import optuna

    sampler = {"optuna-tpe": "TPESampler", "optuna-gp": "GPSampler"}[method]
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
    names = [f"x{j:02d}" for j in range(D)]
    study.enqueue_trial(dict.fromkeys(names, 0.0))
    study.optimize(
        lambda trial: func(np.array([trial.suggest_float(n, -REACH, REACH) for n in names])),
        N_CALLS,
    )
    return (np.array([study.best_params[name] for name in names]),) * 2


def make_problem(function, seed, n_skipped):
    """Return a noisy function, after the first values of its noise."""
    from cocoex import Suite

    chosen = f"dimensions:{D} function_indices:{function - 100} instance_indices:{seed + 1}"
    suite = Suite("bbob-noisy", "", chosen)
    problem = suite[0]
    for _ in range(n_skipped):
        problem(np.zeros(D))

    def func(x, suite=suite):  # the suite has to live as long as its problem
        return float(problem(x))

    return func


def true_value(function, seed, x):
    """Return the median of many values of a point, with the same noise for all points."""
    func = make_problem(function, seed, 0)
    return float(np.median([func(x) for _ in range(N_JUDGED)]))


def run(method, n_seeds):
    """Append the runs of a method that the results lack."""
    done = {(r["method"], r["function"], r["seed"]) for r in read_results()}
    for seed in range(n_seeds):
        for function in FUNCTIONS:
            if (method, function, seed) in done:
                continue
            func = make_problem(function, seed, 100 + 37 * (function - 100) + 997 * seed)
            value, best = (true_value(function, seed, x) for x in find_point(method, func, seed))
            result = {"method": method, "function": function, "seed": seed, "value": value}
            result |= {"best": best, "environment": {"revision": read_revision()}}
            with FILE.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


def read_revision():
    """Return the short name of the current commit."""
    command = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def read_results():
    """Return the stored results."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def print_wins():
    """Print the share of runs that the default search wins, with an error over functions.

    Runs that recommend equally good points, as the centre, count as half a win.
    """
    runs = defaultdict(dict)
    for r in read_results():
        runs[r["method"]][r["function"], r["seed"]] = r
    own = runs.pop("silbo")
    for key in ("value", "best"):
        for method, theirs in runs.items():
            wins = defaultdict(list)
            for place in own.keys() & theirs.keys():
                difference = theirs[place]["value"] - own[place][key]
                wins[place[0]].append(0.5 * (1.0 + np.sign(difference)))
            shares = [np.mean(won) for won in wins.values()]
            total, n = sum(map(sum, wins.values())), sum(map(len, wins.values()))
            error = np.std(shares, ddof=1) / np.sqrt(len(shares))
            print(f"{key} {method}: {total} of {n}, {np.mean(shares):.2f} ± {error:.2f}")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--run", nargs=2, metavar=("METHOD", "SEEDS"))
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    if options.run:
        run(options.run[0], int(options.run[1]))
    if options.print:
        print_wins()
