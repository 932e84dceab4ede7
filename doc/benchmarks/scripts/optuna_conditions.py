"""Compare samplers of Optuna on eleven problems with conditional parameters.

Append a line for each problem and seed that results/optuna_conditions.jsonl lacks, and write
tables/optuna-conditions.csv::

    python doc/benchmarks/scripts/optuna_conditions.py run silbo 10
    python doc/benchmarks/scripts/optuna_conditions.py report

The first problem is the script of Optuna's issue 3826. Another revision of this library is run with
``--checkout FOLDER --revision NAME``.
"""

import csv
import json
import sys
from collections import defaultdict

import numpy as np
from checkout import RESULTS, TABLES, make_parser

PATH, TABLE = RESULTS / "optuna_conditions.jsonl", TABLES / "optuna-conditions.csv"
N_TRIALS = 30


def issue_3826(t):
    if t.suggest_categorical("kind", ["a", "b"]) == "a":
        t.suggest_float("meaningless", 0, 10)
        return 1.0
    return t.suggest_float("meaningful", 0, 10)


def five_kinds(t):
    kind = t.suggest_categorical("kind", list("abcde"))
    if kind != "b":
        t.suggest_float(f"meaningless_{kind}", 0, 10)
        return 1.0
    return t.suggest_float("meaningful", 0, 10)


def model_choice(t):
    model = t.suggest_categorical("model", ["svm", "forest", "knn"])
    if model == "svm":
        C = abs(np.log10(t.suggest_float("C", 1e-3, 1e3, log=True)) - 1)
        gamma = abs(np.log10(t.suggest_float("gamma", 1e-5, 10, log=True)) + 2)
        return 0.30 + 0.1 * C + 0.1 * gamma
    if model == "forest":
        depth = abs(t.suggest_int("depth", 1, 20) - 12)
        return 0.35 + 0.02 * depth + 0.1 * t.suggest_float("subsample", 0.1, 1) ** 2
    value = 0.25 + 0.01 * abs(t.suggest_int("k", 1, 50) - 7)
    return value + (0.1 if t.suggest_categorical("weights", ["u", "d"]) == "u" else 0)


def momentum(t):
    rate = t.suggest_float("rate", 1e-5, 1e-1, log=True)
    layers = t.suggest_int("layers", 1, 4)
    value = 0.2 * (layers - 2) ** 2 + 0.3 * abs(np.log10(rate) + 3) + 0.3
    optimizer = t.suggest_categorical("optimizer", ["adam", "sgd", "rms"])
    if optimizer == "sgd":
        return value - 0.3 + 2 * abs(t.suggest_float("momentum", 0, 1) - 0.9)
    return value + (0.1 if optimizer == "rms" else 0)


def layers(t):
    n = t.suggest_int("n", 1, 4)
    best = (60, 30, 90, 20)
    value = sum(((t.suggest_int(f"u{i}", 1, 128) - best[i]) / 128) ** 2 for i in range(n))
    return value + 0.15 * abs(n - 3)


def nested(t):
    if t.suggest_categorical("a", ["x", "y", "z"]) == "x":
        return 0.3 + t.suggest_float("fx", 0, 1)
    if t.suggest_categorical("b", ["u", "v"]) == "u":
        first = abs(t.suggest_int("fu", 0, 9) - 4) / 9
        return 0.2 + first + abs(t.suggest_float("gu", 0, 1) - 0.3)
    return 4 * abs(t.suggest_float("fv", 0, 1) - 0.7) + abs(t.suggest_float("gv", -1, 1) - 0.2)


def boolean(t):
    value = 0.1 * (t.suggest_float("x", -5, 5) - 1) ** 2
    if t.suggest_categorical("extra", [False, True]):
        y, z = t.suggest_float("y", -5, 5), t.suggest_float("z", -5, 5)
        return value + 0.1 * ((y - 2) ** 2 + (z + 3) ** 2)
    return value + 1


def shared(t):
    model = t.suggest_categorical("m", ["lasso", "ridge", "net", "ols"])
    value = {"s": 0, "r": 0.1, "n": 0.3}[t.suggest_categorical("scale", ["s", "r", "n"])]
    if model == "ols":
        return value + 1
    value += 0.2 * abs(np.log10(t.suggest_float("alpha", 1e-4, 1e2, log=True)) + 1)
    if model == "net":
        return value + abs(t.suggest_float("l1", 0, 1) - 0.35)
    return value + {"lasso": 0.2, "ridge": 0.35}[model]


def deceptive(t):
    if t.suggest_categorical("k", ["safe", "wild"]) == "safe":
        return 0.3 + 0.05 * t.suggest_float("s", 0, 1)
    return sum(abs(t.suggest_float(f"w{i}", -1, 1) - c) for i, c in enumerate((0.3, -0.4, 0.6)))


def two_choices(t):
    value, step = 0.3, t.suggest_categorical("prep", ["none", "pca", "select"])
    if step == "pca":
        value += 0.5 * abs(t.suggest_float("ratio", 0, 1) - 0.8) - 0.3
    elif step == "select":
        value += 0.02 * abs(t.suggest_int("k", 1, 30) - 22) - 0.1
    model = t.suggest_categorical("clf", ["a", "b", "c"])
    if model == "a":
        return value + 0.3 * abs(np.log10(t.suggest_float("Ca", 1e-3, 1e3, log=True)))
    if model == "b":
        return value + 0.2 + 0.02 * abs(t.suggest_int("nb", 1, 40) - 5)
    return value + 0.15 + 0.4 * abs(t.suggest_float("pc", 0, 1) - 0.25)


def many_levels(t):
    level = int(t.suggest_categorical("k", [f"l{i}" for i in range(8)])[1:])
    value = abs(t.suggest_float("x", 0, 1) - 0.1 * level) + (level - 5) ** 2 * 0.03
    return value + (0.5 * abs(t.suggest_float("odd", 0, 1) - 0.6) if level % 2 else 0)


PROBLEMS = (
    *(issue_3826, five_kinds, model_choice, momentum, layers, nested),
    *(boolean, shared, deceptive, two_choices, many_levels),
)


def new_sampler(method, seed):
    """Return a sampler by its name."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if method == "silbo":
        from skbo_silbo.integrations import SILBOSampler

        return SILBOSampler(seed=seed)
    peers = {"optuna-tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    return peers[method](seed=seed)


def run(method, n_seeds, revision, checkout):
    """Append the runs that the file does not hold."""
    import optuna

    if checkout:
        sys.path.insert(0, checkout)
    name = revision or method
    done = {(r["problem"], r["method"], r["seed"]) for r in read()}
    for seed in range(n_seeds):
        for problem in PROBLEMS:
            if (problem.__name__, name, seed) in done:
                continue
            study = optuna.create_study(sampler=new_sampler(method, seed))
            study.optimize(problem, N_TRIALS)
            row = {"problem": problem.__name__, "method": name, "seed": seed}
            row["best"] = float(f"{study.best_value:.6g}")
            with PATH.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(*row.values(), flush=True)


def read():
    """Return the rows of the file."""
    return [json.loads(line) for line in PATH.read_text().splitlines()] if PATH.exists() else []


def report():
    """Write the mean lowest value of each problem and method, with its standard error."""
    found = defaultdict(list)
    for r in read():
        found[r["problem"], r["method"]].append(r["best"])
    methods = list(dict.fromkeys(method for _, method in found))
    table = [["problem", *methods]]
    for problem in PROBLEMS:
        runs = [found[problem.__name__, method] for method in methods]
        errors = [np.std(own, ddof=1) / len(own) ** 0.5 for own in runs]
        cells = [f"{np.mean(own):.3f} ({e:.3f})" for own, e in zip(runs, errors, strict=True)]
        table.append([problem.__name__, *cells])
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    csv.writer(sys.stdout).writerows(table)


def main():
    """Run or report."""
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run")
    running.add_argument("method", choices=["silbo", "optuna-tpe", "random"])
    running.add_argument("n_seeds", type=int)
    running.add_argument("--revision", help="name of the method, for another checkout")
    running.add_argument("--checkout", help="folder of another revision of this library")
    commands.add_parser("report")
    options = parser.parse_args()
    if "method" not in options:
        report()
    else:
        run(options.method, options.n_seeds, options.revision, options.checkout)


if __name__ == "__main__":
    main()
