"""Compare ways to choose the final candidate of a search, on rows that no search saw.

Every task is a model and a data set of which 200 rows are used to tune the model and up to 2,000
others to judge the choice. Three questions are answered from the same runs of ``SILBOSearchCV``:

- ``choice``: the candidate with the highest mean score, or the one with the best posterior mean?
- ``reshuffled``: the same splits for all candidates, or new splits for each (arXiv 2405.15393)?
  With five folds, and with a single holdout of 20 %.
- ``stopped``: all ten folds of a candidate, or none after the mean of its folds falls below that of
  the best candidate in the same folds (arXiv 2405.03389)? Both get the same number of fits.

Runs are appended to selection_noise.jsonl, and interrupted runs are resumed. ``report`` prints mean
gains in points (0.01 of accuracy, area under the curve or R2), standard errors clustered by data
set::

    python doc/benchmarks/scripts/selection_noise.py run
    python doc/benchmarks/scripts/selection_noise.py report
"""

import argparse
import json
import time
import warnings
from collections import defaultdict

import numpy as np
from checkout import RESULTS
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skbo_silbo import SILBOSearchCV

FILE = RESULTS / "selection_noise.jsonl"
N_TRAIN, MOST_TESTED, N_ITER = 200, 2000, 25
MODELS = {  # by kind: metric and model
    "classification": {
        "SVC": ("accuracy", SVC(max_iter=20_000)),
        "tree": ("roc_auc_ovr", DecisionTreeClassifier(random_state=0)),
        "logistic": ("roc_auc_ovr", LogisticRegression(max_iter=300)),
        "neighbours": ("accuracy", KNeighborsClassifier()),
        "forest": ("accuracy", ExtraTreesClassifier(20, random_state=0)),
    },
    "regression": {
        "SVR": ("r2", SVR(max_iter=20_000)),
        "tree": ("r2", DecisionTreeRegressor(random_state=0)),
        "net": ("r2", ElasticNet()),
        "neighbours": ("r2", KNeighborsRegressor()),
        "forest": ("r2", ExtraTreesRegressor(20, random_state=0)),
    },
}
KEEL = (
    "australian banana chess contraceptive crx german magic mammographic mushroom phoneme pima "
    "ring segment spambase splice tic-tac-toe twonorm vehicle wisconsin"
)
R_DATA = {  # package/item: response and columns that give it away or only number the rows
    "AER/HMDA": ("deny", ""),
    "AER/SwissLabor": ("participation", ""),
    "ISLR/OJ": ("Purchase", ""),
    "mlmRev/Contraception": ("use", "woman"),
    "stevedata/voteincome": ("vote", ""),
    "ISLR/College": ("Apps", "Accept"),
    "ISLR/Wage": ("wage", "logwage"),
    "Ecdat/Computers": ("price", ""),
    "Ecdat/Griliches": ("lw", "lw80"),
    "Stat2Data/Hawks": ("Weight", "BandNumber"),
    "Stat2Data/Pines": ("Hgt97", "Diam97 Spread.97"),
    "crch/RainIbk": ("rain", ""),
    "geepack/dietox": ("Weight", "Pig"),
    "mosaicData/SaratogaHouses": ("price", ""),
    "openintro/births14": ("weight", "lowbirthweight"),
    "plm/RiceFarms": ("goutput", "id noutput"),
    "survival/flchain": ("age", ""),
    "wooldridge/attend": ("final", "stndfnl"),
    "wooldridge/gpa2": ("colgpa", "hsizesq"),
    "wooldridge/wage2": ("wage", "lwage"),
}
DATA = [*KEEL.split(), *R_DATA]


class Splits:
    """Splitters of a search: one for all candidates, or a new one for each."""

    def __init__(self, kind, is_class, seed, *, reshuffled):
        self.kind, self.is_class, self.seed, self.reshuffled = kind, is_class, seed, reshuffled

    def split(self, candidate, X, y):
        """Return the splits of the candidate with this number."""
        seed = 1000 * self.seed + (candidate if self.reshuffled else 0)
        if self.kind == "holdout":
            cut = StratifiedShuffleSplit if self.is_class else ShuffleSplit
            return list(cut(1, test_size=0.2, random_state=seed).split(X, y))
        cut = StratifiedKFold if self.is_class else KFold
        return list(cut(self.kind, shuffle=True, random_state=seed).split(X, y))


class Judge:
    """A scorer that evaluates a candidate on its splits, and on rows that the search never sees.

    The search passes models that are fitted to all its rows, as a refit would.
    """

    def __init__(self, metric, splits, X_others, y_others, *, stops=False):
        self.score, self.splits, self.stops = get_scorer(metric), splits, stops
        self.others = X_others, y_others
        self.means, self.held_out, self.n_fits, self.seconds, self.best = [], [], 0, 0.0, None

    def __call__(self, fitted, X, y):
        start, scores = time.process_time(), []
        for train, test in self.splits.split(len(self.means), X, y):
            model = clone(fitted).fit(X[train], y[train])
            scores.append(self.score(model, X[test], y[test]))
            if self.stops and self.best and np.mean(scores) < np.mean(self.best[: len(scores)]):
                break
        self.seconds += time.process_time() - start
        self.n_fits += len(scores)
        is_complete = self.best is None or len(scores) == len(self.best)
        if is_complete and (self.best is None or np.mean(scores) > np.mean(self.best)):
            self.best = scores
        self.means.append(float(np.mean(scores)) if is_complete else -np.inf)
        self.held_out.append(float(self.score(fitted, *self.others)))
        return float(np.mean(scores))


def load(name, seed):
    """Return training and other rows of a data set, with standardised columns."""
    from known_data import keel, r_data

    X, y = r_data(name, *R_DATA[name]) if "/" in name else keel(name)
    y_split = y if y.dtype.kind == "i" else None
    X, X_others, y, y_others = train_test_split(
        X, y, train_size=N_TRAIN, random_state=seed, stratify=y_split
    )
    scaler = StandardScaler().fit(X)
    others = slice(MOST_TESTED)
    return scaler.transform(X), y, scaler.transform(X_others[others]), y_others[others]


def measure(data, model, seed, kind, variant):
    """Return the results of one search."""
    X, y, *others = load(data, seed)
    is_class = y.dtype.kind == "i"
    metric, estimator = MODELS["classification" if is_class else "regression"][model]
    if metric == "roc_auc_ovr" and len(np.unique(y)) == 2:
        metric = "roc_auc"
    splits = Splits(kind, is_class, seed, reshuffled=variant == "reshuffled")
    judge = Judge(metric, splits, *others, stops=variant == "stopped")
    n_fits = N_ITER * (1 if kind == "holdout" else kind)
    every = np.arange(len(y))
    start = time.process_time()
    search = SILBOSearchCV(
        estimator,
        n_iter=3 * N_ITER if variant == "stopped" else N_ITER,
        scoring=judge,
        cv=[(every, every)],
        refit=False,
        random_state=seed,
        error_score="raise",
        callback=lambda _: judge.n_fits >= n_fits,
    ).fit(X, y)
    seconds = time.process_time() - start
    mean, std, _ = search.predict_score(search.cv_results_["params"])
    return {
        "means": [float(f"{v:.6g}") for v in judge.means],
        "held_out": [float(f"{v:.6g}") for v in judge.held_out],
        "posterior": [float(f"{v:.6g}") for v in mean],
        "outside": np.flatnonzero(std == 0).tolist(),
        "fits": judge.n_fits,
        "fit_seconds": round(judge.seconds, 2),
        "cell_seconds": round(seconds, 2),
    }


def tasks():
    """Return data sets and models: first every data set with one model, then with another."""
    kinds = {name: "regression" if name in list(R_DATA)[5:] else "classification" for name in DATA}
    models = [list(MODELS[kinds[name]]) for name in DATA]
    return [
        (name, own[(i + step) % len(own)])
        for step in (0, 2)
        for i, (name, own) in enumerate(zip(DATA, models, strict=True))
    ]


def read():
    """Return the results so far."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def run(settings, n_tasks):
    """Write the missing results."""
    keys = ("data", "model", "seed", "kind", "variant")
    done = {tuple(r[key] for key in keys) for r in read()}
    cells = {
        "folds": [(5, "fixed"), (5, "reshuffled")],
        "holdout": [("holdout", "fixed"), ("holdout", "reshuffled")],
        "stopped": [(10, "fixed"), (10, "stopped")],
    }
    for setting in settings:
        name, seed = setting.split("-")
        for data, model in tasks()[:n_tasks]:
            for kind, variant in cells[name]:
                cell = (data, model, int(seed), kind, variant)
                if cell in done:
                    continue
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    result = measure(*cell)
                with FILE.open("a") as file:
                    row = dict(zip(keys, cell, strict=True)) | result
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")
                print(*cell, result["cell_seconds"], flush=True)


def highest_mean(r):
    """Return the held-out score of the candidate with the highest mean."""
    return r["held_out"][int(np.argmax(r["means"]))]


def best_posterior(r):
    """Return the held-out score of the candidate with the best posterior mean."""
    return r["held_out"][int(np.argmax(r["posterior"]))]


def report():
    """Print the gains, of all tasks and of those with classes and with numbers."""
    pairs = defaultdict(dict)
    for r in read():
        pairs[r["data"], r["model"], r["seed"], r["kind"]][r["variant"]] = r
    comparisons = [
        (5, "posterior mean", "fixed", best_posterior),
        (5, "reshuffled", "reshuffled", highest_mean),
        (5, "reshuffled and posterior mean", "reshuffled", best_posterior),
        ("holdout", "posterior mean", "fixed", best_posterior),
        ("holdout", "reshuffled", "reshuffled", highest_mean),
        ("holdout", "reshuffled and posterior mean", "reshuffled", best_posterior),
        (10, "stopped", "stopped", highest_mean),
    ]
    numbers = set(list(R_DATA)[5:])
    kinds = {"all": set(DATA), "classes": set(DATA) - numbers, "numbers": numbers}
    print("splits,change,tasks,pairs,data sets,gain,won,lost,p,seconds of fits,before")
    for splits, title, variant, choose in comparisons:
        for kind, names in kinds.items():
            both = [
                (data, own[variant], own["fixed"])
                for (data, _, _, own_splits), own in pairs.items()
                if own_splits == splits and data in names and {variant, "fixed"} <= own.keys()
            ]
            if not both:
                continue
            gains = np.array([100 * (choose(new) - highest_mean(old)) for _, new, old in both])
            sets, at = np.unique([data for data, *_ in both], return_inverse=True)
            n, sums = len(sets), np.bincount(at, gains - gains.mean())
            error = np.sqrt(n / (n - 1) * (sums**2).sum()) / len(gains)
            p = wilcoxon(np.bincount(at, gains) / np.bincount(at)).pvalue
            seconds = [sum(runs[k]["fit_seconds"] for runs in both) for k in (1, 2)]
            cells = [splits, title, kind, len(gains), n, f"{gains.mean():+.2f} ({error:.2f})"]
            cells += [(gains > 1e-9).sum(), (gains < -1e-9).sum(), f"{p:.2g}"]
            print(*cells, *np.round(seconds, 1), sep=",")


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--settings", nargs="+", default=["folds-0", "stopped-0", "holdout-0"])
    parser.add_argument("--tasks", type=int, help="number of tasks; all by default")
    options = parser.parse_args()
    if options.command == "run":
        run(options.settings, options.tasks)
    else:
        report()


if __name__ == "__main__":
    main()
