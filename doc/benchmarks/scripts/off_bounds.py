"""Measure what moving irrelevant inputs off their bounds gains, on planted and rotated functions.

``python doc/benchmarks/scripts/off_bounds.py FILE`` runs the search with and
without the step on the odd functions of bbob (five of 100 inputs or directions, 100 evaluations,
instances 1 to 5), appends a JSON line per run to FILE, and prints the mean difference of the shares
of the gap after 50 and 100 evaluations with its standard error over pairs.
"""

import json
from collections import defaultdict
from pathlib import Path
from unittest.mock import patch

import numpy as np
from checkout import make_parser

from benchmarks.search.gap_closed import gap_runs
from benchmarks.search.search_run import measure_gap
from skbo_silbo.acquisition import searches

VARIANTS = ("with", "without")
CELLS = [
    (seed, kind, function)
    for seed in (1, 2, 3, 4, 5)
    for function in range(1, 24, 2)
    for kind in ("rotated", "planted")
]


def keep(surface, x, ranked, space):
    """Return the point as it is."""
    return x


def run(results):
    """Yield the results of runs that are missing."""
    done = {
        (r["problem"]["kind"], r["problem"]["function"], r["repeat"], r["method"]) for r in results
    }
    for seed, kind, function in CELLS:
        problem = {"suite": "bbob", "function": function, "kind": kind}
        problem |= {"d": 100, "inputs": 5, "n": 100}
        for variant in VARIANTS:
            if (kind, function, seed, variant) in done:
                continue
            step = searches.moved_off_bounds if variant == "with" else keep
            with patch.object(searches, "moved_off_bounds", step):
                measured = measure_gap(problem, "silbo", seed)
            result = {"problem": problem, "method": variant, "repeat": seed, "status": "ok"}
            yield {**measured, **result}


def report(results):
    """Print the mean differences."""
    pairs = defaultdict(dict)
    for run in gap_runs(results):
        pairs[run.place][run.method] = run
    for kind in ("planted", "rotated"):
        for n in (50, 100):
            gains = [
                both["with"].share(n) - both["without"].share(n)
                for both in pairs.values()
                if len(both) == len(VARIANTS) and both["with"].problem["kind"] == kind
            ]
            error = np.std(gains, ddof=1) / np.sqrt(len(gains))
            print(f"{kind}, after {n}: {np.mean(gains):.3f} ± {error:.3f} ({len(gains)} pairs)")


def main(path):
    """Run the command."""
    results = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for result in run(results):
        with path.open("a") as file:
            file.write(json.dumps(result) + "\n")
        results.append(result)
    report(results)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("file", type=Path, help="results, appended to")
    main(parser.parse_args().file)
