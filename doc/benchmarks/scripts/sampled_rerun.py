"""Run a sample of stored results again, and say whether they are equal.

For five runs of each file of results, or for more, longer or outdated ones::

    python doc/benchmarks/scripts/sampled_rerun.py results/public-silbo.jsonl results/paper.jsonl
    python doc/benchmarks/scripts/sampled_rerun.py results/paper.jsonl --cells 20 --seconds 600
    python doc/benchmarks/scripts/sampled_rerun.py results/paper.jsonl --outdated

The runs are of different methods, as far as there are such. Each is "equal" if it finds the same
values, "equal up to the processor" if only this machine differs (its own revision gives the same
here as this checkout), and "changed" otherwise. Rows that `table_ages.py` counts as outdated are a
sample of their own. Files of times are left out (`TIMES`), because times differ in every run,
and so are runs of old revisions that other experiments start from (`OF_OLD_REVISIONS`).
The counts are written to tables/sampled-rerun.csv.
"""

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from checkout import FOLDER, TABLES, make_parser, read_registry
from table_ages import History, is_outdated

ROOT = FOLDER.parents[1]
EXPERIMENT = """
import json, sys
try:
    from benchmarks.experiments import EXPERIMENTS
except ImportError:  # older revisions
    from skbo_silbo.benchmarks.experiments import EXPERIMENTS
cell = json.loads(sys.argv[1])
measure = EXPERIMENTS[cell["experiment"]].measure
print(json.dumps(measure(cell["problem"], cell["method"], cell["repeat"])))
"""
SCRIPT = """
import importlib, pathlib, sys, warnings
module, name, call, path = sys.argv[1:]
warnings.simplefilter("ignore")
module = importlib.import_module(module)
setattr(module, name, pathlib.Path(path))
exec(call, vars(module))
"""
LITTLE = ["silbo", "optuna-gp", "optuna-tpe"]
SETTINGS = [f"{name}-0" for name in ("folds", "stopped", "holdout")]
DESIGNS = [
    ("native", 40, 40, (2, 8, 14, 20)),
    ("planted", 100, 40, (2, 10, 18)),
    ("rotated", 100, 5, (4, 12, 20)),
]
# File of results: script, the variable with its path, and the call that makes missing runs
SCRIPTS = {
    "breadth": (
        *("breadth", "FILE", "run(2, METHODS[:4], [''], 100)\n"),
        f"run(1, {LITTLE}, ['mixint, 20', 'noisy', 'nevergrad'], 50)",
    ),
    "centre_first": ("centre_first", "FILE", f"for place in {DESIGNS}: run(*place)"),
    "covariate_shift": ("covariate_shift", "LINES", "run()"),
    "ensembles": ("ensembles", "FILE", "run(600)"),
    "gradient_directions": ("gradient_directions", "LINES", "run(12)"),
    "kept": ("kept", "OUT", "run('waiting', 0, 20); run('goals', 0, 10)"),
    "lasso_bench": ("lasso_bench", "FILE", "for name in SIZES: run(name, 10, 100, None)"),
    "noise_by_evidence": (
        *("noise_by_evidence", "FILE"),
        "run('functions', 5, 6, METHODS); run('tuning', 5, 6, ('default', 'late'))",
    ),
    "noisy_functions": (
        *("noisy_functions", "FILE"),
        "for method in ('silbo', 'random', 'optuna-tpe'): run(method, 10)",
    ),
    "only_categories": (
        "only_categories",
        "FILE",
        "run(range(5), [m for m in METHODS if m != 'optuna-gp'])",
    ),
    "optuna_conditions": (
        *("optuna_conditions", "PATH"),
        "for method in ('silbo', 'random', 'optuna-tpe'): run(method, 10, None, None)",
    ),
    "pipeline_choices": (
        *("pipeline_choices", "PATH"),
        "for m in ('silbo', 'random', 'optuna-tpe'): run(m, 0, 5, PATH, m)",
    ),
    "predictors": ("predictors", "LINES", "run(2, N_LABELS, None)"),
    "recommended-intervals": ("recommended_intervals", "DATA", "main()"),
    "sdr-levels": ("sdr_levels", "DATA", "run(2000, read())"),
    "sdr_few_labels": ("sdr_few_labels", "LINES", "run(3)"),
    "sdr_level_grid": (
        "sdr_level_grid",
        "DATA",
        "run(300, ['level', 'power', 'linear']); run(100, ['curved', 'needed'])",
    ),
    "selection_noise": ("selection_noise", "FILE", f"run({SETTINGS}, None)"),
    "svm_ranges": ("svm_ranges", "FILE", "run()"),
    "untuned_start": ("untuned_start", "FILE", "run()"),
}
TIMES = (
    *("graphs", "growth", "learners", "randomized", "sdr", "search_workers", "seconds"),
    *("seconds_variants", "solvers", "workers"),
)
OF_OLD_REVISIONS = ("sdr_level_grid-before", "state-runs")  # inputs of other experiments
CELL = ("experiment", "problem", "method", "repeat")
KINDS = ("experiment", "method", "family", "class", "model", "measure", "kind", "draw")
NO_VALUES = re.compile(  # times, and what belongs to the problem
    "second|_mib$|^(environment|load|status|overhead|proposals|warnings|optimum|scale|chance)$"
)
OTHER_CODE = re.compile("[0-9a-f]{8}")  # methods that are other revisions of this library
EQUAL, ON_THIS_MACHINE, CHANGED = "equal", "equal up to the processor", "changed"
NO_RUN = "different, and its revision does not run here"
HEADER = ["results", "rows", "runs", EQUAL, ON_THIS_MACHINE, CHANGED, NO_RUN, "compared with"]


def sample(file, n_cells, seconds, *, outdated):
    """Return some short runs of a file, of as many methods as possible."""
    content, history = read_registry(), History(FOLDER)
    results = list(map(json.loads, (FOLDER / file).read_text(encoding="utf-8").splitlines()))
    results = [
        r
        for r in results
        if seconds_of(r) <= seconds
        and not OTHER_CODE.fullmatch(r.get("method", ""))
        and is_outdated(r, file, content, history) == outdated
    ]
    seen, order = Counter(), []
    for result in random.Random(0).sample(results, len(results)):
        kind = tuple(result.get(name) for name in KINDS)
        order.append((seen[kind], len(order), result))
        seen[kind] += 1
    return [result for *_, result in sorted(order, key=lambda own: own[:2])[:n_cells]]


def seconds_of(result):
    """Return how long a run took, 0 if that is unknown."""
    seconds = result.get("cell_seconds", result.get("seconds"))
    return seconds if isinstance(seconds, int | float) else 0.0


def values_of(result):
    """Return what a seed determines of a result."""
    values = {name: value for name, value in result.items() if not NO_VALUES.search(name)}
    if isinstance(values.get("values"), str):  # how a method depends on the scale of the values
        del values["values"]
    for name in {"before", "now"} & values.keys():  # of svm_ranges: two scores, then seconds
        values[name] = values[name][:2]
    return values


def are_equal(stored, new):
    """Return whether a run found the stored values, as far as it returns them."""
    stored, new = values_of(stored), values_of(new)
    both = stored.keys() & new.keys()
    return bool(both) and all(stored[name] == new[name] for name in both)


def call(root, code, *arguments, seconds=None):
    """Run code with a checkout and return its output, None if it fails."""
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    folders = (root, root / "doc", root / "doc/benchmarks/scripts")
    environment = os.environ | variables | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", code, *arguments]
    options = {"cwd": root, "capture_output": True, "text": True, "check": False}
    try:
        done = subprocess.run(command, env=environment, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else print(done.stderr[-600:])


@contextmanager
def checkout_of(revision):
    """Provide a temporary folder with the files of a revision."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "checkout"
        subprocess.run([*git, "add", "-q", "--detach", str(root), revision], check=True)
        try:
            yield root
        finally:
            subprocess.run([*git, "remove", "--force", str(root)], check=True)


def run_cell(result, root):
    """Return the result of the same run of an experiment with another checkout, or None."""
    cell = json.dumps({name: result[name] for name in CELL})
    printed = call(root, EXPERIMENT, cell)
    return json.loads(printed.splitlines()[-1]) if printed else None


def run_cells(file, results, root, seconds):
    """Return the results of the same runs of a script, None where there is no result."""
    script, variable, *code = SCRIPTS[Path(file).stem]
    rows = list(map(json.loads, (FOLDER / file).read_text(encoding="utf-8").splitlines()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(file).name
        kept = [json.dumps(row) + "\n" for row in rows if row not in results]
        path.write_text("".join(kept), encoding="utf-8")
        call(root, SCRIPT, script, variable, "".join(code), str(path), seconds=seconds)
        lines = path.read_text(encoding="utf-8").splitlines()[len(kept) :]
    new = list(map(json.loads, lines))
    return [next((r for r in new if is_same_cell(r, old)), None) for old in results]


def is_same_cell(one, other):
    """Return whether two results of a script are of the same run."""
    names = ("set", "data", "function", "problem", "task", "cell", "labels", "seed", "n", "d")
    names += (
        *KINDS,
        "title",
        "evaluations",
        "inputs",
        "design",
        "variant",
        "size",
        "noise",
        "mixed",
    )
    return all(one.get(name) == other.get(name) for name in names)


def verdicts(file, results, seconds):
    """Return how the results of a file compare with runs of this checkout."""
    if "experiment" in results[0]:

        def run(chosen, root):
            return [run_cell(result, root) for result in chosen]
    else:

        def run(chosen, root):
            return run_cells(file, chosen, root, seconds)

    for result, new in zip(results, run(results, ROOT), strict=True):
        if new is None:
            continue  # the time was over
        if are_equal(result, new):
            yield result, EQUAL
        else:
            old, revision = None, revision_of(file, result)
            if revision:
                with checkout_of(revision) as root:
                    (old,) = run([result], root)
            same = old and are_equal(old, new)
            yield result, NO_RUN if old is None else ON_THIS_MACHINE if same else CHANGED


def revision_of(file, result):
    """Return the revision that made a result, or None if it is unknown."""
    if "environment" in result:
        return result["environment"]["revision"].rstrip("+")
    return next((t["revision"] for t in read_registry()["tables"] if t["file"] == file), None)


def write(file, rows, count):
    """Replace the counts of a sample in the table."""
    path, git = TABLES / "sampled-rerun.csv", ["git", "-C", str(ROOT), "describe", "--always"]
    told = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    stored = list(csv.reader(path.open(encoding="utf-8")))[1:] if path.exists() else []
    table = {(row[0], row[1]): row for row in stored}
    cells = [count[name] for name in HEADER[3:-1]]
    table[file, rows] = [file, rows, sum(cells), *cells, told.strip()]
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows([HEADER, *table.values()])


def main():
    """Run the command."""
    parser = make_parser(__doc__)
    parser.add_argument("files", nargs="+", help="files of results, relative to doc/benchmarks")
    parser.add_argument("--cells", type=int, default=5, help="runs of each file")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest run to repeat")
    parser.add_argument("--outdated", action="store_true", help="repeat outdated runs")
    options = parser.parse_args()
    for file in options.files:
        if Path(file).stem in TIMES:
            parser.error(f"{file} holds times, which differ in every run.")
        if Path(file).stem in OF_OLD_REVISIONS:
            parser.error(f"{file} holds runs of an old revision that other experiments start from.")
        chosen = sample(file, options.cells, options.seconds, outdated=options.outdated)
        count = Counter()
        if not chosen:
            continue
        for result, found in verdicts(file, chosen, 20 * options.seconds):
            count[found] += 1
            about = {k: v for k, v in result.items() if isinstance(v, str | int | dict)}
            about = {k: v for k, v in values_of(about).items() if k != "scores"}
            print(file, str(about)[:200], found, sep=": ", flush=True)
            write(file, "outdated" if options.outdated else "current", count)


if __name__ == "__main__":
    main()
