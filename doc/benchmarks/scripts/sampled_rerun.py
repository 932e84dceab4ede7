"""Run a sample of stored results again, and say whether they are equal.

For five runs of each file of results, or for more or longer ones::

    python doc/benchmarks/scripts/sampled_rerun.py results/public-silbo.jsonl results/paper.jsonl
    python doc/benchmarks/scripts/sampled_rerun.py results/paper.jsonl --cells 20 --seconds 600

Each run is "equal" if it finds the same values, "equal up to the processor" if only this machine
differs (its own revision gives the same here as this checkout), and "changed" otherwise. Rows that
`table_ages.py` counts as outdated, and files without seeded values, such as times, are left out.
The counts are written to tables/sampled-rerun.csv.
"""

import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from checkout import FOLDER, TABLES, make_parser, read_registry
from table_ages import History, as_row, missed_change

ROOT = FOLDER.parents[1]
RUN = """
import json, sys
try:
    from benchmarks.experiments import EXPERIMENTS
except ImportError:  # older revisions
    from skbo_silbo.benchmarks.experiments import EXPERIMENTS
cell = json.loads(sys.argv[1])
measure = EXPERIMENTS[cell["experiment"]].measure
print(json.dumps(measure(cell["problem"], cell["method"], cell["repeat"])))
"""
CELL = ("experiment", "problem", "method", "repeat")
VALUES = ("steps", "scores", "planes", "cosine", "points")  # what a seed determines
EQUAL, ON_THIS_MACHINE, CHANGED = "equal", "equal up to the processor", "changed"
NO_RUN = "different, and its revision does not run here"
HEADER = ["results", "runs", EQUAL, ON_THIS_MACHINE, CHANGED, NO_RUN, "compared with"]


def sample(file, n_cells, seconds):
    """Return some of the results of a file that hold values, took little time, and are current."""
    content, history = read_registry(), History(FOLDER)
    tables = [table for table in content["tables"] if table["file"] == file]
    results = map(json.loads, (FOLDER / file).read_text(encoding="utf-8").splitlines())
    short = [
        r
        for r in results
        if values_of(r)
        and r.get("cell_seconds", 0.0) <= seconds
        and all(missed_change(as_row(r), t, content["changes"], history) is None for t in tables)
    ]
    return random.Random(0).sample(short, min(n_cells, len(short)))


def values_of(result):
    """Return what a seed determines of a result."""
    return {name: result[name] for name in VALUES if name in result}


def run_cell(result, root):
    """Return the values of the run of a result with the code below a folder, or None."""
    cell = json.dumps({name: result[name] for name in CELL})
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = {"PYTHONPATH": f"{root}{os.pathsep}{root / 'doc'}"}
    command = [sys.executable, "-c", RUN, cell]
    options = {"cwd": root, "capture_output": True, "text": True, "check": False}
    done = subprocess.run(command, env=os.environ | variables | path, **options)
    return values_of(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else None


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


def verdict(result):
    """Return how a result compares with a run of this checkout."""
    new = run_cell(result, ROOT)
    if new == values_of(result):
        return EQUAL
    with checkout_of(result["environment"]["revision"].rstrip("+")) as root:
        old = run_cell(result, root)
    if old is None:
        return NO_RUN
    return ON_THIS_MACHINE if old == new else CHANGED


def write(counts):
    """Replace the rows of some files in the table."""
    path, git = TABLES / "sampled-rerun.csv", ["git", "-C", str(ROOT), "describe", "--always"]
    told = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    rows = list(csv.reader(path.open(encoding="utf-8")))[1:] if path.exists() else []
    table = {row[0]: row for row in rows}
    for file, count in counts.items():
        cells = [count[name] for name in HEADER[2:-1]]
        table[file] = [file, sum(cells), *cells, told.strip()]
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows([HEADER, *table.values()])


def main():
    """Run the command."""
    parser = make_parser(__doc__)
    parser.add_argument("files", nargs="+", help="files of results, relative to doc/benchmarks")
    parser.add_argument("--cells", type=int, default=5, help="runs of each file")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest run to repeat")
    options = parser.parse_args()
    for file in options.files:
        count = Counter()
        for result in sample(file, options.cells, options.seconds):
            cell, found = " ".join(str(result[name]) for name in CELL[1:]), verdict(result)
            count[found] += 1
            print(f"{file} {cell}: {found}", flush=True)
        write({file: count})


if __name__ == "__main__":
    main()
