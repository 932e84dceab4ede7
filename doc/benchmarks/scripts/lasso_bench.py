"""Run the default search on LassoBench, and compare it with the curves that LassoBench publishes.

LassoBench (Sehic et al. 2022) tunes the penalties of a weighted lasso, one per feature. Append runs
to the results, then write the table with the files ``experiments/res_*.pkl`` of the repository
ksehic/LassoBench in a folder. The problems need celer::

    python doc/benchmarks/scripts/lasso_bench.py --run medium 10
    python doc/benchmarks/scripts/lasso_bench.py --table FOLDER
"""

import json
import pickle
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
from checkout import FOLDER, RESULTS, TABLES, make_parser
from sklearn.model_selection import KFold, train_test_split

from skbo_silbo import minimize

SIZES = {"simple": (60, 30, 3), "medium": (100, 50, 5), "high": (300, 150, 15)}
SIZES["hard"] = (1000, 500, 50)  # features, samples, features with a signal
N_CALLS = 100
FILE = RESULTS / "lasso_bench.jsonl"
# Methods of the published files, in their order.
PUBLISHED = (
    *("random search", "Sparse-HO", "ALEBO", "HeSBO", "Hyperband", "TuRBO", "CMA-ES"),
    *("LassoCV", "adaptive LassoCV"),
)


class LassoBench:
    """Cross-validated loss of a weighted lasso, relative to the loss of the true coefficients.

    Parameters
    ----------
    name : {"simple", "medium", "high", "hard"}
    """

    def __init__(self, name):
        from celer.datasets import make_correlated_data

        d, n, k = SIZES[name]
        signal = np.zeros(d)
        signal[:: d // k] = (-1.0) ** np.arange(k)
        X, y, signal = make_correlated_data(n, d, 0.6, snr=10, w_true=signal, random_state=42)
        self.X, _, self.y, _ = train_test_split(X, y, test_size=0.15, random_state=42)
        self.largest = np.abs(self.X.T @ self.y).max() / len(self.y)
        self.oracle = np.mean((self.X @ signal - self.y) ** 2)
        self.folds = list(KFold(5, shuffle=True, random_state=42).split(self.X))

    def __call__(self, x):
        """Return the loss at log penalties x, scaled to [-1, 1]."""
        from celer import Lasso

        weights = self.largest * 100.0 ** ((np.asarray(x) - 1.0) / 2.0)
        lasso = Lasso(1.0, max_iter=100, fit_intercept=False, weights=weights)
        losses = []
        for train, test in self.folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # LassoBench stops after 100 iterations as well
                lasso.fit(self.X[train], self.y[train])
            losses.append(np.mean((self.X[test] @ lasso.coef_ - self.y[test]) ** 2))
        return float(np.mean(losses) / self.oracle)


def run(name, n_seeds):
    """Append the runs of a problem that the results lack."""
    done = {(r["problem"], r["seed"]) for r in read_results()}
    command = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    revision = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    func = LassoBench(name)
    bounds = [(-1.0, 1.0)] * SIZES[name][0]
    for seed in range(n_seeds):
        if (name, seed) in done:
            continue
        start = time.process_time()
        values = minimize(func, bounds, n_calls=N_CALLS, random_state=seed).func_vals
        result = {
            "problem": name,
            "method": "silbo",
            "seed": seed,
            "best": [float(f"{y:.6g}") for y in np.minimum.accumulate(values)],
            "cell_seconds": round(time.process_time() - start, 1),
            "environment": {"revision": revision},
        }
        with FILE.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def read_results():
    """Return the stored results."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def published_losses(path, n):
    """Return the published loss of each method after n evaluations, without added noise.

    The files contain the mean loss of each evaluation over the repeats. As in the figures of
    LassoBench, the result is the least mean so far.
    """
    with path.open("rb") as file:
        lasso_cv, adaptive, means, _, counts, _ = pickle.load(file)
    curves = zip(means, counts, strict=True)
    least = [np.min(mean[0][np.asarray(count[0]) <= n]) for mean, count in curves]
    return dict(zip(PUBLISHED, [*least, lasso_cv[0], adaptive[0]], strict=True))


def write_table(folder):
    """Write the table of the losses after 50 and 100 evaluations."""
    import pandas as pd

    results = pd.DataFrame(read_results())
    rows = []
    for name in results["problem"].unique():
        own = results[results["problem"] == name]
        for n in (50, 100):
            best = own["best"].map(lambda curve, n=n: curve[n - 1])
            row = {"problem": name, "inputs": SIZES[name][0], "evaluations": n, "runs": len(own)}
            row["silbo"] = f"{best.median():.2f} ({best.min():.2f} to {best.max():.2f})"
            for end in ("", "_iter"):
                path = folder / f"res_{name}{end}.pkl"
                if path.exists() and path.stat().st_size:
                    row |= {m: f"{y:.2f}" for m, y in published_losses(path, n).items()}
            rows.append(row)
    pd.DataFrame(rows).to_csv(TABLES / "lasso_bench.csv", index=False)


def main():
    """Run the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--run", nargs=2, metavar=("PROBLEM", "SEEDS"))
    parser.add_argument("--table", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.run:
        run(options.run[0], int(options.run[1]))
    if options.table:
        write_table(options.table)


if __name__ == "__main__":
    main()
