"""What known candidates are worth on data sets that chose none: real fits, and rows held out.

``python doc/benchmarks/known_judge.py run SECONDS`` goes on where it stopped;
``report`` prints the table of the page. A task is a data set and a Pipeline; it is searched in
its `default_space`.
"""

import json
import sys
import time
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
from known_data import judged_sets
from known_portfolio import chances_of_largest, estimator_of
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import default_space
from skbo_silbo.space._known_candidates import known_candidates
from skbo_silbo.space._known_space import steps_of
from skbo_silbo.space._read import as_space
from skbo_silbo.space._union import branches_of

RESULTS = Path(__file__).with_suffix(".jsonl")
POOL = 40  # random candidates, of which every number of them is the mean over all draws
MODELS = [  # in this order
    {"classification": "DecisionTreeClassifier", "regression": "DecisionTreeRegressor"},
    {"classification": "KNeighborsClassifier", "regression": "KNeighborsRegressor"},
    {"classification": "SVC", "regression": "SVR"},
    {"classification": "LogisticRegression", "regression": "ElasticNet"},
]


def run(seconds):
    end = time.process_time() + seconds
    done = {(r["data"], r["class"]) for r in read()}
    kinds = ("classification", "regression")
    pairs = zip(*([(kind, *of_set) for of_set in judged_sets(kind)] for kind in kinds), strict=True)
    sets = list(chain(*pairs))  # the kinds in turn
    for model in MODELS:
        for kind, data, *arrays in sets:
            if (data, model[kind]) not in done and time.process_time() < end:
                row = {"data": data, "class": model[kind], **measure(model[kind], kind, *arrays)}
                with RESULTS.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")


def measure(name, kind, X, y, X_others, y_others):
    """Return scores, cross-validated and on other rows, of the candidates of both searches.

    The first ten of a search of one model are the estimator as it is and the known ones.
    """
    pipeline = make_pipeline(StandardScaler(), estimator_of(name)[0])
    space = default_space(pipeline, X, y)
    branches = branches_of(as_space(space))
    own = known_candidates(steps_of(pipeline, X, y), pipeline.get_params(), branches)
    candidates = {"known": [{}, *own], "random": ParameterSampler(space, POOL, random_state=0)}
    folds = StratifiedKFold(3) if kind == "classification" else KFold(3)
    parts = [(X[a], y[a], X[b], y[b]) for a, b in folds.split(X, y)]
    parts = [_scaled(*part) for part in [*parts, (X, y, X_others, y_others)]]
    return {s: [_scores(name, p, parts) for p in of_search] for s, of_search in candidates.items()}


def _scaled(X, y, X_test, y_test):
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def _scores(name, params, parts):
    """Return the mean area under the curve, or R2, of the folds, and that of the last part."""
    model = estimator_of(name)[0].set_params(**{n.partition("__")[2]: v for n, v in params.items()})
    fast = config_context(assume_finite=True, skip_parameter_validation=True)
    with fast, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        scores = [_score(model, *part) for part in parts]
    return [float(f"{v:.4g}") for v in (np.mean(scores[:-1]), scores[-1])]


def _score(model, X, y, X_test, y_test):
    model.fit(X, y)
    if np.issubdtype(y.dtype, np.floating):
        return 1.0 - np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test)
    has_chances = hasattr(model, "predict_proba")
    of_class = model.predict_proba(X_test)[:, 1] if has_chances else model.decision_function(X_test)
    n = np.sum(y_test == 1)  # the area under the curve, by ranks
    ranks = np.sum(rankdata(of_class)[y_test == 1])
    return (ranks - n * (n + 1) / 2) / (n * (len(y_test) - n))


def read():
    return [json.loads(line) for line in RESULTS.open()] if RESULTS.exists() else []


# --- report --------------------------------------------------------------------------------------


def gains(row):
    """Return shares by search and candidates, cross-validated and on other rows.

    0 is the median random candidate, 1 the best score seen. On other rows it is the candidate that
    was best cross-validated that counts.
    """
    known, pool = (np.array(row[search]) for search in ("known", "random"))
    low, high = np.median(pool, axis=0), np.vstack([known, pool]).max(axis=0)
    if not (high > low).all():
        return None
    at = {"as it is": known[0], "10, random after as it is": chance_of(pool, known[:1], 9)}
    at |= {f"{m}, known": chance_of(pool, known[:m], 0) for m in (5, 10)}
    at |= {f"10, random after {m} known": chance_of(pool, known[: m + 1], 9 - m) for m in (4, 6)}
    at |= {f"{m}, random after as it is": chance_of(pool, known[:1], m - 1) for m in (5, 15, 25)}
    return {n: np.maximum((v - low) / (high - low), -1.0) for n, v in at.items()}


def chance_of(pool, first, n):
    """Return the mean, over draws of n random candidates, of the best of them and first ones."""
    first = first[np.argmax(first[:, 0])]
    if not n:
        return first
    pool = pool[np.argsort(pool[:, 0], kind="stable")]
    best = np.where(pool[:, :1] > first[0], pool, first)
    return chances_of_largest(n, len(pool)) @ best


def report():
    rows = [(r["data"], r["class"], g) for r in read() if (g := gains(r)) is not None]
    print(f"{len(rows)} tasks, {len({data for data, *_ in rows})} data sets")
    print("candidates,share,10 known less it,won,lost,other rows: share,10 known less it")
    for search in rows[0][2]:
        pairs = np.array([(g[search], g["10, known"] - g[search]) for *_, g in rows])  # (n, 2, 2)
        cells = [_cells([data for data, *_ in rows], *pairs[:, :, i].T) for i in range(2)]
        print(f'"{search}"', *cells[0], *cells[1][:2], sep=",")
    for name in sorted({name for _, name, _ in rows}):
        own = [g["10, known"] - g["10, random after as it is"] for _, n, g in rows if n == name]
        means, errors = np.mean(own, axis=0), np.std(own, axis=0, ddof=1) / np.sqrt(len(own))
        cells = [f"{m:+.3f} ({e:.3f})" for m, e in zip(means, errors, strict=True)]
        print("#", name, len(own), *cells, sep=",")


def _cells(sets, shares, differences):
    """Return the mean, the mean difference with its error clustered by data set, won and lost."""
    off = differences - differences.mean()
    of_set = {data: sum(o for o, d in zip(off, sets, strict=True) if d == data) for data in sets}
    k = len(of_set)
    error = np.sqrt(k / (k - 1) * sum(d**2 for d in of_set.values())) / len(sets)
    won, lost = (differences > 1e-9).sum(), (differences < -1e-9).sum()
    return f"{shares.mean():.3f}", f"{differences.mean():+.3f} ({error:.3f})", won, lost


if __name__ == "__main__":
    run(float(sys.argv[2])) if sys.argv[1] == "run" else report()
