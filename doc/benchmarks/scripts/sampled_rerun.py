"""Run a sample of stored results again, and say whether they are equal.

For five runs of each file of results, or for more or longer ones::

    python doc/benchmarks/scripts/sampled_rerun.py results/public-silbo.jsonl results/paper.jsonl
    python doc/benchmarks/scripts/sampled_rerun.py results/paper.jsonl --cells 20 --seconds 600

Each run is "equal" if it finds the same values at the same evaluations, "equal up to the processor"
if only this machine differs (its own revision gives the same here as this checkout), and "changed"
otherwise. Files without seeded values, such as times, are skipped.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from checkout import FOLDER, make_parser

ROOT = FOLDER.parents[1]
RUN = """
import json, sys
try:
    from benchmarks.experiments import EXPERIMENTS
except ImportError:  # older revisions
    from skbo_silbo.benchmarks.experiments import EXPERIMENTS
cell = json.loads(sys.argv[1])
measure = EXPERIMENTS[cell["experiment"]].measure
print(json.dumps(measure(cell["problem"], cell["method"], cell["repeat"])["steps"]))
"""
CELL = ("experiment", "problem", "method", "repeat")


def sample(path, n_cells, seconds):
    """Return some of the finished results of a file that hold values and took little time."""
    results = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    short = [r for r in results if "steps" in r and r.get("cell_seconds", 0.0) <= seconds]
    return random.Random(0).sample(short, min(n_cells, len(short)))


def run_cell(result, root):
    """Return the steps of the run of a result with the code below a folder, or None."""
    cell = json.dumps({name: result[name] for name in CELL})
    variables = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = {"PYTHONPATH": f"{root}{os.pathsep}{root / 'doc'}"}
    command = [sys.executable, "-c", RUN, cell]
    options = {"cwd": root, "capture_output": True, "text": True, "check": False}
    done = subprocess.run(command, env=os.environ | variables | path, **options)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


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
    if new == result["steps"]:
        return "equal"
    with checkout_of(result["environment"]["revision"].rstrip("+")) as root:
        old = run_cell(result, root)
    if old is None:
        return "different, and its revision does not run here"
    return "equal up to the processor" if old == new else "changed"


def main():
    """Run the command."""
    parser = make_parser(__doc__)
    parser.add_argument("files", nargs="+", help="files of results, relative to doc/benchmarks")
    parser.add_argument("--cells", type=int, default=5, help="runs of each file")
    parser.add_argument("--seconds", type=float, default=60.0, help="longest run to repeat")
    options = parser.parse_args()
    for file in options.files:
        for result in sample(FOLDER / file, options.cells, options.seconds):
            cell = " ".join(str(result[name]) for name in CELL[1:])
            print(f"{file} {cell}: {verdict(result)}", flush=True)


if __name__ == "__main__":
    main()
