"""Compare the default with peers on suites that no decision about this library used.

The suites are bbob-mixint (20 and 40 inputs), bbob-noisy (20), bbob-constrained (10, constraints
learnt) and bbob-largescale (160) of ``coco-experiment``, and thin films of
``nevergrad``. Every method makes 100 evaluations, or another number of ``--calls``, and knows the
box, which inputs are integers, and the number of constraints. A run is judged by its lowest
feasible value; with noise, by the mean of 50 more values at the point with the lowest one. Results
are appended to breadth.jsonl, and interrupted runs are resumed. The last command writes the table,
breadth.csv::

    pip install -e ".[bench-public]" torch nevergrad
    python doc/benchmarks/scripts/breadth.py run --seeds 2 --methods silbo optuna-tpe cma random
    python doc/benchmarks/scripts/breadth.py run --seeds 1 --calls 50 \
        --methods silbo optuna-gp optuna-tpe --suites "mixint, 20" noisy nevergrad
    python doc/benchmarks/scripts/breadth.py report
"""

import argparse
import csv
import json
import subprocess
import time
import warnings
from collections import defaultdict

import numpy as np
from checkout import FOLDER, RESULTS, TABLES
from scipy.stats import binomtest

FILE, TABLE = RESULTS / "breadth.jsonl", TABLES / "breadth.csv"
N_AGAIN = 50
METHODS = ("silbo", "optuna-tpe", "cma", "random", "optuna-gp")
CONSTRAINED = (*(1, 2, 3), *(13, 14, 15), *(25, 26, 27), *(37, 38, 39))  # 1, 3 and 9 constraints
SUITES = {  # title: suite, inputs, functions
    "bbob-mixint, 20 inputs": ("bbob-mixint", 20, range(2, 25, 2)),
    "bbob-mixint, 40 inputs": ("bbob-mixint", 40, range(3, 25, 3)),
    "bbob-noisy, 20 inputs": ("bbob-noisy", 20, range(102, 131, 3)),
    "bbob-constrained, 10 inputs": ("bbob-constrained", 10, CONSTRAINED),
    "bbob-largescale, 160 inputs": ("bbob-largescale", 160, range(3, 25, 3)),
    "nevergrad, 10 to 80 inputs": ("nevergrad", 0, ("bragg", "chirped", "coating")),
}


class Task:
    """A problem: a box whose first inputs are integers, and constraints that hold at most at 0.

    Parameters
    ----------
    suite, d, function, seed
        As in `SUITES`; the seed chooses the instance.
    """

    def __init__(self, suite, d, function, seed):
        self.noisy, self.n_integers, self.n_constraints = suite == "bbob-noisy", 0, 0
        if suite == "nevergrad":
            self._evaluate, self.bounds = from_nevergrad(function)
            return
        import cocoex

        self._suite = cocoex.Suite(
            suite,
            f"instances: {4 + seed}",
            f"dimensions: {d} function_indices: {function - 100 * self.noisy}",
        )
        problem = self._suite.get_problem(0)
        self._evaluate, self._problem = problem, problem
        self.bounds = np.column_stack([problem.lower_bounds, problem.upper_bounds])
        self.n_integers = problem.number_of_integer_variables
        self.n_constraints = problem.number_of_constraints

    def value(self, x):
        """Return the value at a point."""
        return float(self._evaluate(x))

    def constraints(self, x):
        """Return the values of the constraints, of shape (n_constraints,)."""
        return self._problem.constraint(x) if self.n_constraints else np.zeros(0)


def from_nevergrad(name):
    """Return a function of nevergrad and its box."""
    from nevergrad.functions.arcoating import ARCoating
    from nevergrad.functions.photonics import Photonics

    func = ARCoating() if name == "coating" else Photonics(name, 80)
    array = func.parametrization
    lower, upper = (np.ravel(np.broadcast_to(b, array.value.shape)) for b in array.bounds)
    return lambda x: func(x.reshape(array.value.shape)), np.column_stack([lower, upper])


class Enough(Exception):
    """All evaluations are made."""


class Recorder:
    """Evaluates a task `n_calls` times and keeps the values and constraints."""

    def __init__(self, task, n_calls):
        self.task, self.n_calls = task, n_calls
        self.points, self.values, self.violations = [], [], []

    def __call__(self, x):
        """Return value and constraints, of shape (n_constraints,), at a point."""
        if len(self.values) == self.n_calls:
            raise Enough
        x = np.array(x, dtype=float)
        x[: self.task.n_integers] = np.rint(x[: self.task.n_integers])
        value, constraints = self.task.value(x), self.task.constraints(x)
        self.points.append(x)
        self.values.append(value)
        self.violations.append(float(np.max(constraints, initial=0.0)))
        return value, constraints

    def result(self):
        """Return the lowest feasible value, or None; with noise, a mean at its point."""
        feasible = np.array(self.violations) <= 0
        if not feasible.any():
            return None
        best = int(np.argmin(np.where(feasible, self.values, np.inf)))
        if not self.task.noisy:
            return self.values[best]
        return float(np.mean([self.task.value(self.points[best]) for _ in range(N_AGAIN)]))


def run_silbo(recorder, task, seed):
    """Minimise by this library's default."""
    from scipy.stats import randint, uniform

    from skbo_silbo import minimize

    space = {
        f"x{j}": randint(int(low), int(high) + 1)
        if j < task.n_integers
        else uniform(low, high - low)
        for j, (low, high) in enumerate(task.bounds)
    }
    options = {"n_constraints": task.n_constraints} if task.n_constraints else {}

    def func(params):
        value, constraints = recorder(list(params.values()))
        return (value, constraints.tolist()) if task.n_constraints else value

    minimize(func, space, n_calls=recorder.n_calls, random_state=seed, **options)


def run_optuna(recorder, task, seed, sampler):
    """Minimise by a sampler of Optuna."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    options = {"seed": seed}
    if task.n_constraints:
        options["constraints_func"] = lambda trial: trial.user_attrs["constraints"]
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(**options))

    def objective(trial):
        x = [
            trial.suggest_int(f"x{j}", int(low), int(high))
            if j < task.n_integers
            else trial.suggest_float(f"x{j}", low, high)
            for j, (low, high) in enumerate(task.bounds)
        ]
        value, constraints = recorder(x)
        trial.set_user_attr("constraints", constraints.tolist())
        return value

    study.optimize(objective, n_trials=recorder.n_calls)


def run_cma(recorder, task, seed):
    """Minimise by CMA-ES; integers are rounded, constraints in an augmented Lagrangian."""
    import cma

    lower, upper = task.bounds.T
    rng = np.random.default_rng(seed)
    options = {"bounds": [0.0, 1.0], "seed": np.nan, "randn": lambda *n: rng.standard_normal(n)}
    options |= {"verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(rng.random(len(lower)), 0.25, options)
    last = [None, None]  # point and its result: value and constraints are asked for one by one

    def evaluate(u):
        if last[0] is None or not np.array_equal(last[0], u):
            last[:] = np.array(u), recorder(lower + np.clip(u, 0.0, 1.0) * (upper - lower))
        return last[1]

    fitness = first = lambda u: evaluate(u)[0]
    if task.n_constraints:
        fitness = cma.ConstrainedFitnessAL(first, lambda u: evaluate(u)[1])
    while True:
        points = strategy.ask()
        strategy.tell(points, [fitness(u) for u in points])
        if task.n_constraints:
            fitness.update(strategy)


def run_random(recorder, task, seed):
    """Draw uniform points."""
    rng = np.random.default_rng(seed)
    lower, upper = task.bounds.T.astype(float)
    lower[: task.n_integers] -= 0.5 - 1e-9
    upper[: task.n_integers] += 0.5 - 1e-9
    while True:
        recorder(rng.uniform(lower, upper))


def measure(method, task, seed, n_calls):
    """Return the result of one run, a number or None, and its processor seconds."""
    recorder, start = Recorder(task, n_calls), time.process_time()
    try:
        if method == "silbo":
            run_silbo(recorder, task, seed)
        elif method.startswith("optuna"):
            sampler = {"optuna-tpe": "TPESampler", "optuna-gp": "GPSampler"}[method]
            run_optuna(recorder, task, seed, sampler)
        else:
            {"cma": run_cma, "random": run_random}[method](recorder, task, seed)
    except Enough:
        pass
    if len(recorder.values) != n_calls:
        raise RuntimeError(f"{method} made {len(recorder.values)} of {n_calls} evaluations.")
    return recorder.result(), time.process_time() - start


def read():
    """Return the results so far."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def run(seeds, methods, suites, n_calls):
    """Make the missing runs, one seed of all problems after another."""
    done = {
        (r["title"], str(r["function"]), r["seed"], r["method"])
        for r in read()
        if r["evaluations"] == n_calls
    }
    git = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    revision = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    cells = [
        (title, suite, d, function, seed, method)
        for seed in range(seeds)
        for title, (suite, d, functions) in SUITES.items()
        if any(part in title for part in suites)
        for function in functions
        for method in methods
        if (title, str(function), seed, method) not in done
    ]
    for title, suite, d, function, seed, method in cells:
        value, seconds = measure(method, Task(suite, d, function, seed), seed, n_calls)
        result = {"title": title, "function": function, "seed": seed, "method": method}
        result |= {"evaluations": n_calls, "value": value, "cell_seconds": round(seconds, 1)}
        result |= {"environment": {"revision": revision}}
        with FILE.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(title, function, seed, method, value, round(seconds, 1), flush=True)


def report():
    """Write the table, losses first: problems on which ours has the better mean rank."""
    cells = defaultdict(dict)
    for r in read():
        value = np.inf if r["value"] is None else r["value"]
        problem = cells[r["title"], r["evaluations"], str(r["function"])]
        problem.setdefault(r["seed"], {})[r["method"]] = value
    suites = sorted({place[:2] for place in cells}, key=lambda s: (-s[1], list(SUITES).index(s[0])))
    rows = []
    for title, n in suites:
        problems = [seeds for place, seeds in cells.items() if place[:2] == (title, n)]
        for peer in METHODS[1:]:
            pairs = [
                [(own["silbo"], own[peer]) for own in seeds.values() if {"silbo", peer} <= set(own)]
                for seeds in problems
            ]
            pairs = [np.array(own) for own in pairs if own]
            if not pairs:
                continue
            leads = [np.sign(own[:, 1] - own[:, 0]) for own in pairs]  # nan: both infeasible
            net = np.array([np.nan_to_num(lead).sum() for lead in leads])
            won, lost = int((net > 0).sum()), int((net < 0).sum())
            p = binomtest(won, won + lost).pvalue if won + lost else 1.0
            counts = [len(pairs), sum(map(len, pairs)), lost, len(pairs) - won - lost, won]
            rows.append([title, n, peer, *counts, f"{p:.2g}"])
    rows.sort(key=lambda row: -row[5] / row[3])
    header = ["suite", "evaluations", "other method", "problems", "pairs"]
    header += ["ours worse", "level", "better", "p"]
    with TABLE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    for row in [header, *rows]:
        print(*row, sep=",")


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--methods", nargs="+", default=METHODS[:4], choices=METHODS)
    parser.add_argument("--suites", nargs="+", default=[""], help="parts of titles of suites")
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.command == "run":
        run(options.seeds, options.methods, options.suites, options.calls)
    else:
        report()


if __name__ == "__main__":
    main()
