"""Run the default search on LassoBench, and compare it with the curves that LassoBench publishes.

LassoBench (Sehic et al. 2022) tunes the penalties of a weighted lasso, one per feature. Append runs
to the results, then write the tables with the files ``experiments/res_*.pkl`` of the repository
ksehic/LassoBench in a folder. The problems need celer::

    python doc/benchmarks/scripts/lasso_bench.py --run medium 10
    python doc/benchmarks/scripts/lasso_bench.py --run medium 2 --evaluations 1000
    python doc/benchmarks/scripts/lasso_bench.py --table FOLDER

The problems dna, breast_cancer and diabetes need pyreadr and the data of R's package mlbench, not R
itself. Unpack the package of Debian, and pass the folder of its data::

    apt-get download r-cran-mlbench && dpkg -x r-cran-mlbench*.deb mlbench
    python doc/benchmarks/scripts/lasso_bench.py --run dna 10 --data FOLDER
"""

import json
import pickle
import subprocess
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from checkout import FOLDER, RESULTS, TABLES, make_parser
from sklearn.linear_model import lasso_path
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import minmax_scale

from skbo_silbo import minimize

SIZES = {"simple": (60, 30, 3), "medium": (100, 50, 5), "high": (300, 150, 15)}
SIZES["hard"] = (1000, 500, 50)  # features, samples, features with a signal
# Data set of mlbench, the values of its classes in LIBSVM, its rows there, and its features
REAL = {
    "dna": ("DNA", {"ei": 1.0, "ie": 2.0, "n": 3.0}, 2000, 180),
    "breast_cancer": ("BreastCancer", {"benign": 2.0, "malignant": 4.0}, None, 10),
    "diabetes": ("PimaIndiansDiabetes", {"neg": -1.0, "pos": 1.0}, None, 8),
}
FILE = RESULTS / "lasso_bench.jsonl"
TIMED = (50, 100, 250, 500, 1000)  # evaluations at which the time of ten proposals is averaged
ENDS = ("_iter", "")  # of the names of the published files
# Methods of the published files, in their order.
PUBLISHED = ("random search", "Sparse-HO", "ALEBO", "HeSBO", "Hyperband", "TuRBO", "CMA-ES")


def read_data(name, folder):
    """Return the features, the target and the coefficients (None if unknown) of a problem."""
    if name in SIZES:
        from celer.datasets import make_correlated_data

        d, n, k = SIZES[name]
        signal = np.zeros(d)
        signal[:: d // k] = (-1.0) ** np.arange(k)
        return make_correlated_data(n, d, 0.6, snr=10, w_true=signal, random_state=42)
    import pyreadr

    key, values, n, _ = REAL[name]
    rows = pyreadr.read_r(str(folder / f"{key}.rda"))[key].dropna()[:n]
    X = rows.iloc[:, :-1].astype(str).astype(float).to_numpy()
    return minmax_scale(X, (0, 1) if name == "dna" else (-1, 1)), rows.iloc[:, -1].map(values), None


class LassoBench:
    """Cross-validated loss of a weighted lasso.

    With known coefficients, the loss is relative to that of these coefficients.

    Parameters
    ----------
    name : str
        Key of `SIZES` or `REAL`.
    folder : Path or None
        Folder of the data of mlbench, for a key of `REAL`.
    """

    def __init__(self, name, folder=None):
        X, y, signal = read_data(name, folder)
        self.X, _, self.y, _ = train_test_split(X, np.array(y), test_size=0.15, random_state=42)
        self.largest = np.abs(self.X.T @ self.y).max() / len(self.y)
        self.ratio = 1e5 if signal is None else 1e2  # of the largest and the smallest penalty
        self.oracle = 1.0 if signal is None else np.mean((self.X @ signal - self.y) ** 2)
        self.folds = list(KFold(5, shuffle=True, random_state=42).split(self.X))

    def __call__(self, x):
        """Return the loss at log penalties x, scaled to [-1, 1]."""
        from celer import Lasso

        weights = self.largest * self.ratio ** ((np.asarray(x) - 1.0) / 2.0)
        lasso = Lasso(1.0, max_iter=100, fit_intercept=False, weights=weights)
        losses = []
        for train, test in self.folds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # LassoBench stops after 100 iterations as well
                lasso.fit(self.X[train], self.y[train])
            losses.append(np.mean((self.X[test] @ lasso.coef_ - self.y[test]) ** 2))
        return float(np.mean(losses) / self.oracle)

    def best_common(self):
        """Return the least loss of 100 common penalties."""
        alphas = self.largest * np.geomspace(1.0, 1.0 / self.ratio, 100)
        losses = []
        for train, test in self.folds:
            B = lasso_path(self.X[train], self.y[train], alphas=alphas, max_iter=10**5)[1]
            losses.append(np.mean((self.X[test] @ B - self.y[test][:, None]) ** 2, axis=0))
        return float(np.mean(losses, axis=0).min() / self.oracle)


class Timed:
    """Function that records when its calls start and end, in seconds of this process."""

    def __init__(self, func):
        self.func, self.starts, self.ends = func, [], []

    def __call__(self, x):
        """Return the value at x."""
        self.starts.append(time.process_time())
        value = self.func(x)
        self.ends.append(time.process_time())
        return value

    def proposal_seconds(self, n):
        """Return the mean time of the last ten proposals up to n evaluations."""
        return round(float(np.mean(np.subtract(self.starts[1:n], self.ends[: n - 1])[-10:])), 4)


def run(name, n_seeds, n_calls, folder, *, again=False, journal=None):
    """Append the runs of a problem that the results lack."""
    done = {(r["problem"], r["seed"]) for r in read_results() if len(r["best"]) >= n_calls}
    command = ["git", "-C", str(FOLDER), "rev-parse", "--short=8", "HEAD"]
    revision = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    loss = LassoBench(name, folder)
    bounds = [(-1.0, 1.0)] * loss.X.shape[1]
    for seed in range(n_seeds):
        if (name, seed) in done and not again:
            continue
        func, start = Timed(loss), time.process_time()
        log = journal and journal / f"{name}-{seed}.jsonl"
        found = minimize(func, bounds, n_calls=n_calls, random_state=seed, journal=log)
        values, n_resumed = found.func_vals, sum(found.resumed)
        result = {
            "problem": name,
            "method": "silbo",
            "seed": seed,
            "best": [float(f"{y:.6g}") for y in np.minimum.accumulate(values)],
            "proposal_seconds": {
                n: func.proposal_seconds(n - n_resumed)
                for n in TIMED
                if n_resumed + 10 < n <= n_calls
            },
            # unknown for a run that was resumed
            "cell_seconds": None if n_resumed else round(time.process_time() - start, 1),
            "common": round(loss.best_common(), 5),
            "environment": {"revision": revision},
        }
        with FILE.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def read_results():
    """Return the stored results."""
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def read_published(name, folder):
    """Return the published curve of each method and the losses of LassoCV, without added noise.

    The files contain the mean loss of each evaluation over the repeats. As in the figures of
    LassoBench, a curve is the least mean so far.

    Returns
    -------
    curves : dict
        Evaluations and losses of each method. Empty if there is no file.
    losses : dict
        Losses that do not depend on the number of evaluations.
    """
    path = next((p for p in (folder / f"res_{name}{end}.pkl" for end in ENDS) if p.exists()), None)
    if path is None or not path.stat().st_size:
        return {}, {}
    with path.open("rb") as file:
        lasso_cv, adaptive, means, _, counts, _ = pickle.load(file)
    curves = [
        (np.asarray(count[0]), np.minimum.accumulate(mean[0]))
        for mean, count in zip(means, counts, strict=True)
    ]
    losses = {"LassoCV": lasso_cv[0], "adaptive LassoCV": adaptive[0]}
    return dict(zip(PUBLISHED, curves, strict=True)), losses


def select_runs(results, n):
    """Return the shortest run of at least n evaluations of each seed, for each problem."""
    chosen = defaultdict(dict)
    for r in sorted(results, key=lambda r: -len(r["best"])):
        if len(r["best"]) >= n:
            chosen[r["problem"]][r["seed"]] = r
    return {name: list(chosen[name].values()) for name in (*SIZES, *REAL) if name in chosen}


def losses_after(n, name, own, curves):
    """Return a row of losses after n evaluations; of a curve that ends before, there is none."""
    digits = 4 if name in REAL else 2
    best = [r["best"][n - 1] for r in own]
    d = SIZES[name][0] if name in SIZES else REAL[name][-1]
    row = {"problem": name, "inputs": d, "evaluations": n, "runs": len(best)}
    row["silbo"] = f"{np.median(best):.{digits}f}"
    if len(best) > 1:
        row["silbo"] += f" ({min(best):.{digits}f} to {max(best):.{digits}f})"
    at_n = {method: y[at <= n][-1] for method, (at, y) in curves.items() if at[-1] >= n}
    return row | {method: f"{y:.{digits}f}" for method, y in at_n.items()}


def seconds_after(n, runs):
    """Return the median time of a proposal after n evaluations, as text."""
    timed = [r.get("proposal_seconds", {}).get(str(n)) for r in runs]
    seconds = [t for t in timed if t is not None]
    return f"{np.median(seconds):.2f}" if seconds else ""


def write_tables(folder):
    """Write the losses after some numbers of evaluations, and when they pass those of LassoCV."""
    import pandas as pd

    results, rows, passes = read_results(), [], []
    for name, own in select_runs(results, 100).items():
        curves, losses = read_published(name, folder)
        digits = 4 if name in REAL else 2
        shown = {method: f"{y:.{digits}f}" for method, y in losses.items()}
        rows += [losses_after(n, name, own, curves) | shown for n in (50, 100)]
        common = [r["common"] for r in own if "common" in r]
        target = losses.get("LassoCV", common[0] if common else np.nan)
        row = {"problem": name, "LassoCV": f"{target:.{digits}f}"}
        at = [(np.arange(1, len(r["best"]) + 1), np.array(r["best"])) for r in own]
        first = [first_below(*curve, target) for curve in at]
        row["silbo"] = f"{np.median(first):.0f}" if np.isfinite(np.median(first)) else "-"
        row["runs that pass"] = f"{np.isfinite(first).sum()} of {len(first)}"
        for method, curve in curves.items():
            if method == "Hyperband":  # its file does not count evaluations
                continue
            n = first_below(*curve, target)
            row[method] = f"{n:.0f}" if np.isfinite(n) else f"not in {curve[0][-1]:.0f}"
        row |= {f"seconds at {n}": seconds_after(n, own) for n in (50, 100)}
        passes.append(row)
    long = [
        losses_after(n, name, own, read_published(name, folder)[0])
        | {"seconds": seconds_after(n, own)}
        for name in (*SIZES, *REAL)
        for n in (250, 500, 1000)
        if (own := select_runs(results, n).get(name))
    ]
    pd.DataFrame(rows).to_csv(TABLES / "lasso_bench.csv", index=False)
    pd.DataFrame(passes).to_csv(TABLES / "lasso_bench-passes.csv", index=False)
    if long:
        pd.DataFrame(long).to_csv(TABLES / "lasso_bench-1000.csv", index=False)


def first_below(evaluations, losses, target):
    """Return the first number of evaluations with a loss of at most the target, or infinity."""
    below = np.flatnonzero(losses <= target)
    return float(evaluations[below[0]]) if below.size else np.inf


def main():
    """Run the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--run", nargs=2, metavar=("PROBLEM", "SEEDS"))
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--again", action="store_true", help="repeat stored runs to time them")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--journal", type=Path, metavar="FOLDER", help="to resume stopped runs")
    parser.add_argument("--table", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.run:
        name, n_seeds = options.run
        n, data = options.evaluations, options.data
        run(name, int(n_seeds), n, data, again=options.again, journal=options.journal)
    if options.table:
        write_tables(options.table)


if __name__ == "__main__":
    main()
