"""The portfolio of known candidates: measure, judge with every data set left out, write.

``python doc/benchmarks/known_portfolio.py run`` goes on where it was stopped; ``report`` prints the
table of the page; ``write`` puts the portfolios at the end of ``skbo_silbo/space/known.toml``.
"""

import json
import sys
import time
import warnings
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
from known_data import SETS, load
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from skbo_silbo.space._known_data import StepData
from skbo_silbo.space._known_space import default_space
from skbo_silbo.space._known_table import entry_of, key_of, read_value

RESULTS = Path(__file__).with_suffix(".jsonl")
TABLE = Path(__file__).parents[2] / "skbo_silbo" / "space" / "known.toml"
MARK = "# --- known candidates"
SEED, SIZE = 0, 9  # of the draws, of a portfolio
FEWEST_SETS = 10  # for a portfolio of our own
FAST, FEW, FORESTS, SLOW = 50, 25, 16, 12  # configurations of a class
CLASSES = {  # what is set to measure, and is no part of the space
    "classification": {
        "LogisticRegression": (FEW, {"max_iter": 200}),
        "SVC": (FAST, {"cache_size": 500, "max_iter": 20_000}),
        "KNeighborsClassifier": (FAST, {}),
        "DecisionTreeClassifier": (FAST, {"random_state": 0}),
        "RandomForestClassifier": (FORESTS, {"n_estimators": 25, "random_state": 0}),
        "ExtraTreesClassifier": (FORESTS, {"n_estimators": 25, "random_state": 0}),
        "HistGradientBoostingClassifier": (SLOW, {"random_state": 0}),
        "MLPClassifier": (SLOW, {"max_iter": 100, "random_state": 0}),
        "GaussianNB": (FEW, {}),
        "SGDClassifier": (FAST, {"random_state": 0}),
    },
    "regression": {
        "Ridge": (FEW, {}),
        "ElasticNet": (FAST, {}),
        "SVR": (FAST, {"cache_size": 500, "max_iter": 20_000}),
        "KernelRidge": (FAST, {}),
        "KNeighborsRegressor": (FAST, {}),
        "DecisionTreeRegressor": (FAST, {"random_state": 0}),
        "RandomForestRegressor": (FORESTS, {"n_estimators": 25, "random_state": 0}),
        "ExtraTreesRegressor": (FORESTS, {"n_estimators": 25, "random_state": 0}),
        "HistGradientBoostingRegressor": (SLOW, {"random_state": 0}),
        "MLPRegressor": (SLOW, {"max_iter": 100, "random_state": 0}),
    },
}
AS_THEY_ARE = {"PCA": [{"n_components": 0.999, "whiten": False}]}  # None is not of the space
MOST_CLASSES = 4  # for the slow ones, of which boosting grows a tree for each in every iteration


_all_estimators = cache(all_estimators)


def estimator_of(name):
    kind = next(kind for kind, classes in CLASSES.items() if name in classes)
    return dict(_all_estimators())[name](**CLASSES[kind][name][1]), CLASSES[kind][name][0]


def configurations(name):
    """Return the default, {}, and draws of a class's space, in the units of the table."""
    plain = type(estimator_of(name)[0])()
    n = estimator_of(name)[1]
    draws = ParameterSampler(default_space(plain), n, random_state=SEED)
    return [{}, *({p: _in_units(plain, p, v, draw) for p, v in draw.items()} for draw in draws)]


def _in_units(estimator, name, value, params):
    unit = entry_of(key_of(estimator), name, params).get("unit")
    value = value / StepData().unit(unit) if unit else value
    value = value.item() if isinstance(value, np.generic) else value
    return float(f"{value:.3g}") if isinstance(value, float) else value


def for_data(estimator, params, X, y):
    """Return a configuration in the units of the data."""
    data = StepData.of(X, y)
    key = key_of(estimator)
    return {n: read_value(entry_of(key, n, params), v, data) for n, v in params.items()}


def measure(kind, dataset, name):
    """Return accuracy and minus log loss, or R2, over three folds of every configuration."""
    X, y = load(kind, dataset)
    X = StandardScaler().fit_transform(X)
    splitter = StratifiedKFold(3) if kind == "classification" else KFold(3)
    folds = list(splitter.split(X, y))
    scores, has_chances = [], hasattr(estimator_of(name)[0], "predict_proba")
    for params in configurations(name):
        estimator, _ = estimator_of(name)
        estimator.set_params(**for_data(estimator, params, X, y))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scored = [_scores(estimator, X, y, *fold, has_chances) for fold in folds]
        means = np.mean(scored, axis=0)
        scores.append([float(f"{m:.4g}") if np.isfinite(m) else None for m in means])
    return scores


def _scores(estimator, X, y, train, test, has_chances):
    try:
        estimator.fit(X[train], y[train])
        if has_chances:
            chances = estimator.predict_proba(X[test])
            own = np.clip(chances[np.arange(len(test)), y[test]], 1e-15, 1.0)
            return [np.mean(chances.argmax(axis=1) == y[test]), np.mean(np.log(own))]
        predicted = estimator.predict(X[test])
    except ValueError:  # a fit that overflows, as scikit-learn says
        return [np.nan] * (1 + has_chances)
    if np.issubdtype(y.dtype, np.integer):
        return [np.mean(predicted == y[test])]
    return [1.0 - np.mean((predicted - y[test]) ** 2) / np.var(y[test])]


def run(seconds):
    """Measure what is missing, the fast classes first, until so many seconds of CPU are used."""
    end = time.process_time() + seconds
    done = {(r["kind"], r["data"], r["class"]) for r in read()}
    missing = [run for run in runs() if run not in done]
    for kind, dataset, name in missing:
        if time.process_time() > end:
            return
        row = {"kind": kind, "data": dataset, "class": name}
        row["scores"] = measure(kind, dataset, name)
        with RESULTS.open("a") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def runs():
    """Return kind, data set and class of every run, in order."""
    found = [
        ((n <= FORESTS) + (n <= SLOW), i, kind, dataset, name)
        for kind, sets in SETS.items()
        for i, dataset in enumerate(sets)
        for name, (n, _) in CLASSES[kind].items()
        if n > FORESTS or kind == "regression" or _n_classes(dataset) <= MOST_CLASSES
    ]
    return [run[2:] for run in sorted(found, key=lambda run: run[:2])]


def _n_classes(dataset):
    return len(np.unique(load("classification", dataset)[1]))


def read():
    return [json.loads(line) for line in RESULTS.open()] if RESULTS.exists() else []


# --- portfolios ----------------------------------------------------------------------------------


def shares(name):
    """Return data sets and their scores: 0 the median drawn configuration, 1 the best; clipped.

    The mean over accuracy and log loss, where both are known.
    """
    rows = [r for r in read() if r["class"] == name]
    return [r["data"] for r in rows], np.array([_shares(r["scores"]) for r in rows])


def _shares(scores):
    scores = np.array(scores, dtype=float)
    worst = np.nanmin(scores, axis=0)
    scores = np.where(np.isnan(scores), worst, scores)
    low, high = np.median(scores[1:], axis=0), scores.max(axis=0)
    gap = np.where(high > low, high - low, 1.0)
    return np.clip((scores - low) / gap, -1.0, 1.0).mean(axis=1)


def greedy(table, size=SIZE, among=None):
    """Return configurations, each the best beside those before it and the default (the first)."""
    chosen = [0]
    while len(chosen) <= size:
        best = table[:, chosen].max(axis=1)
        gains = np.maximum(table, best[:, None]).mean(axis=0) - best.mean()
        gains[[i for i in range(len(gains)) if among and i not in among] + chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
    return chosen[1:]


def portfolio_of(name):
    """Return the portfolio of a class; of one with a kernel, then that of the default kernel."""
    _, table = shares(name)
    every = configurations(name)
    chosen = greedy(table)
    default = estimator_of(name)[0].get_params().get("kernel")
    of_kernel = [i for i, params in enumerate(every) if params.get("kernel", "") == default]
    chosen += greedy(table, among=of_kernel) if of_kernel else []
    return [every[i] for i in dict.fromkeys(chosen)]


def left_out(table):
    """Return for every data set, each with the default: the default alone, four and nine of the
    portfolio of the others, nine and 24 random ones."""
    rows = []
    for i, own in enumerate(table):
        chosen = greedy(np.delete(table, i, axis=0))
        known = [max(own[0], own[chosen[:m]].max()) for m in (4, SIZE)]
        rows.append([own[0], *known, *(expected_best(own[1:], own[0], m) for m in (SIZE, 24))])
    return np.array(rows)


def expected_best(values, first, m):
    """Return the mean of the best of a first value and m of others, drawn without replacement."""
    values = np.sort(np.maximum(values, first))
    return float(chances_of_largest(m, len(values)) @ values) if m <= len(values) else np.nan


def chances_of_largest(m, n):
    """Return the chance that the k-th smallest is the largest of m of n: C(k, m-1) / C(n, m)."""
    return np.array([comb(k, m - 1) / comb(n, m) for k in range(n)])


def report():
    print("class,sets,default,4 known,9 known,9 random,24 random,9 known - 9 random,won,lost")
    for classes in CLASSES.values():
        for name in classes:
            sets, table = shares(name)
            if len(sets) < 3:
                continue
            rows = left_out(table)
            difference = rows[:, 2] - rows[:, 3]
            error = difference.std(ddof=1) / np.sqrt(len(rows))
            won, lost = (difference > 1e-9).sum(), (difference < -1e-9).sum()
            means = [f"{v:.3f}" for v in rows.mean(axis=0)]
            gain = f"{difference.mean():+.3f} ({error:.3f})"
            print(name, len(sets), *means, gain, won, lost, sep=",")


def write():
    text = TABLE.read_text().partition(MARK)[0]
    command = "python doc/benchmarks/known_portfolio.py write"
    lines = [f"{MARK} {'-' * 75}", "#", f"# In the units of the table, written by `{command}`.", ""]
    lines += ["[known]"]
    for classes in CLASSES.values():
        for name in classes:
            sets, _ = shares(name)
            if len(sets) >= FEWEST_SETS:
                lines.append(f"{name} = [  # {len(sets)} data sets")
                lines += [f"  {_toml(params)}," for params in portfolio_of(name)]
                lines.append("]")
    lines += [f"{n} = [{', '.join(map(_toml, ps))}]" for n, ps in AS_THEY_ARE.items()]
    TABLE.write_text(text + "\n".join(lines) + "\n")


def _toml(params):
    words = {n: json.dumps("None" if v is None else v) for n, v in params.items()}
    return "{" + ", ".join(f"{n} = {w}" for n, w in words.items()) + "}"


if __name__ == "__main__":
    {"run": lambda: run(float(sys.argv[2])), "report": report, "write": write}[sys.argv[1]]()
