"""Write stored runs in the data format of COCO, which the package cocopp reads and plots.

The results are those of an experiment with native functions of bbob, or of LassoBench::

    python doc/benchmarks/scripts/write_coco.py doc/benchmarks/results/public-silbo.jsonl FOLDER
    python -m cocopp FOLDER/silbo
    python doc/benchmarks/scripts/write_coco.py doc/benchmarks/results/lasso_bench.jsonl FOLDER

Each method has a folder. Runs of bbob can be compared with all data that COCO publishes. Their
values are stored with six digits. cocopp has no suite for LassoBench, so its problems are written
as functions 1 to 7 of an unnamed suite. ``cocopp.load`` reads them, but ``python -m cocopp`` fails,
because it has no reference algorithm for them. Their values are losses, not distances from the
unknown minimum.
"""

import json
from collections import defaultdict
from pathlib import Path

from checkout import make_parser

LASSO = ("simple", "medium", "high", "hard", "dna", "breast_cancer", "diabetes")
LASSO_INPUTS = (60, 100, 300, 1000, 180, 10, 8)
COLUMNS = (
    "% evaluations | number of constraints | best noise-free fitness - Fopt (0.0) | measured "
    "fitness | best measured fitness"
)


def read_runs(path):
    """Group stored runs by method and place: the suite, the function and the inputs.

    Returns
    -------
    runs : dict
        ``runs[method][suite, function, inputs][instance]`` is a curve, a list of (evaluations,
        best value less the optimum). LassoBench has the longest run of each seed.
    """
    runs = defaultdict(lambda: defaultdict(dict))
    results = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    for result in sorted(results, key=lambda r: len(r.get("best", ()))):
        problem = result["problem"]
        if problem in LASSO:
            place = "", LASSO.index(problem) + 1, LASSO_INPUTS[LASSO.index(problem)]
            curve = list(enumerate(result["best"], start=1))
            runs[result["method"]][place][result["seed"] + 1] = curve
        elif problem.get("kind") == "native" and result["status"] == "ok":
            place = problem["suite"], problem["function"], problem["d"]
            curve = [(n, y - result["optimum"]) for n, y in result["steps"]]
            curve.append((problem["n"], curve[-1][1]))
            runs[result["method"]][place][result["repeat"]] = curve
    return runs


def write_method(folder, method, places):
    """Write the runs of a method: an index for each function, and the values of its runs."""
    texts = defaultdict(str)
    for (suite, function, d), runs in sorted(places.items()):
        name = f"data_f{function}/bbobexp_f{function}_DIM{d}"
        lines, ends = [], []
        for instance, curve in sorted(runs.items()):
            lines.append(COLUMNS)
            best = float("inf")
            for n, y in curve:
                if y < best or n == curve[-1][0]:
                    best = min(best, y)
                    lines.append(f"{n} 0 {best:+.9e} {best:+.9e} {best:+.9e}")
            ends.append(f"{instance}:{curve[-1][0]}|{best:.1e}")
        for ending in ("dat", "tdat"):
            file = folder / f"{name}.{ending}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n")
        head = f"suite = '{suite}', " if suite else ""
        head += f"funcId = {function}, DIM = {d}, Precision = 1.000e-08, algId = '{method}', "
        head += "logger = 'bbob', data_format = 'bbob-new2', coco_version = '2.6'\n"
        texts[function] += f"{head}% {method}\n{name}.dat, {', '.join(ends)}\n"
    for function, text in texts.items():
        (folder / f"bbobexp_f{function}.info").write_text(text)


def main(results, folder):
    """Write a folder for each method."""
    for method, places in read_runs(results).items():
        write_method(folder / method, method, places)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    main(**vars(parser.parse_args()))
