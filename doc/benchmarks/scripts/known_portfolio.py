"""The portfolio of known candidates: measure, judge with every data set left out, write.

``python doc/benchmarks/scripts/known_portfolio.py run`` goes on where it was stopped;
``report`` prints the table of the page. ``known_families.py write`` writes the portfolios.
"""

import json
import time
import warnings
from functools import cache
from math import comb

import numpy as np
from checkout import FOLDER, RESULTS, make_parser
from known_data import SETS, load
from scipy.stats import rankdata
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

from skbo_silbo.space._step_data import StepData
from skbo_silbo.space.default_ranges import class_key, default_space
from skbo_silbo.space.first_candidates import find_range, read_value

FILE = RESULTS / "known_portfolio.jsonl"
TABLE = FOLDER.parents[1] / "skbo_silbo" / "space" / "defaults.toml"
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
        "HistGradientBoostingClassifier": (FORESTS, {"random_state": 0}),
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
# The others were measured before the area was.
BY_ACCURACY = ("SVC",)  # the area was measured on some data sets only
ONE_KERNEL = ("SVC",)  # with more candidates of other kernels it does not beat random ones
BY_AREA = ("SVC", "DecisionTreeClassifier", "HistGradientBoostingClassifier")
SLOW_ONES = ("RandomForest", "ExtraTrees", "HistGradientBoosting", "MLP")
MOST_CLASSES = 4  # for these, of which boosting grows a tree for each in every iteration


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
    unit = find_range(class_key(estimator), name, params).get("unit")
    value = value / StepData().unit(unit) if unit else value
    value = value.item() if isinstance(value, np.generic) else value
    return float(f"{value:.3g}") if isinstance(value, float) else value


def for_data(estimator, params, X, y):
    """Return a configuration in the units of the data."""
    data = StepData.from_arrays(X, y)
    key = class_key(estimator)
    return {n: read_value(find_range(key, n, params), v, data) for n, v in params.items()}


def measure(kind, dataset, name):
    """Return the means of three folds of every score of every configuration.

    R2; or accuracy, the area under the curve of those of `BY_AREA`, where it is known, and minus
    log loss, where there are chances.
    """
    X, y = load(kind, dataset)
    X = StandardScaler().fit_transform(X)
    splitter = StratifiedKFold(3) if kind == "classification" else KFold(3)
    folds = list(splitter.split(X, y))
    scores, has_chances = [], hasattr(estimator_of(name)[0], "predict_proba")
    has_area = name in BY_AREA and (has_chances or len(np.unique(y)) == 2)
    for params in configurations(name):
        estimator, _ = estimator_of(name)
        estimator.set_params(**for_data(estimator, params, X, y))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scored = [_scores(estimator, X, y, *fold, has_area, has_chances) for fold in folds]
        means = np.mean(scored, axis=0)
        scores.append([float(f"{m:.4g}") if np.isfinite(m) else None for m in means])
    return scores


def _scores(estimator, X, y, train, test, has_area, has_chances):
    try:
        estimator.fit(X[train], y[train])
        predicted = estimator.predict(X[test])
    except ValueError:  # a fit that overflows, as scikit-learn says
        return [np.nan] * (1 + has_area + has_chances)
    if np.issubdtype(y.dtype, np.floating):
        return [1.0 - np.mean((predicted - y[test]) ** 2) / np.var(y[test])]
    scores = [np.mean(predicted == y[test])]
    if has_area:
        scores.append(area_under_curve(estimator, X[test], y[test]))
    if has_chances:
        column = np.searchsorted(estimator.classes_, y[test])
        own = estimator.predict_proba(X[test])[np.arange(len(test)), column]
        scores.append(np.mean(np.log(np.clip(own, 1e-15, 1.0))))
    return scores


def area_under_curve(model, X, y):
    """Return the area under the curve, of several classes the mean of each against the rest."""
    has_values = hasattr(model, "decision_function")
    of_class = model.decision_function(X) if has_values else model.predict_proba(X)
    of_class = of_class if of_class.ndim > 1 else np.c_[-of_class, of_class]
    areas = []
    for c, values in zip(model.classes_, of_class.T, strict=True):
        own = y == c
        n, m = own.sum(), (~own).sum()
        if n and m:
            areas.append((rankdata(values)[own].sum() - n * (n + 1) / 2) / (n * m))
    return np.mean(areas)


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
        with FILE.open("a") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


def runs():
    """Return kind, data set and class of every run, in order."""
    found = [
        (_is_slow(name), i, kind, dataset, name)
        for kind, sets in SETS.items()
        for i, dataset in enumerate(sets)
        for name in CLASSES[kind]
        if not _is_slow(name) or kind == "regression" or _n_classes(dataset) <= MOST_CLASSES
    ]
    return [run[2:] for run in sorted(found, key=lambda run: run[:2])]


def _is_slow(name):
    return name.startswith(SLOW_ONES)


def _n_classes(dataset):
    return len(np.unique(load("classification", dataset)[1]))


def read():
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


# --- portfolios ----------------------------------------------------------------------------------


def shares(name, by=None):
    """Return data sets and their scores: 0 the median drawn configuration, 1 the best; clipped.

    The mean over the scores `by`, places in `SCORES`; by default over those by which the portfolio
    is chosen.
    """
    by = ((0,) if name in BY_ACCURACY else None) if by is None else by
    rows = [r for r in read() if r["class"] == name]
    known = [r for r in rows if by is None or max(by) < len(r["scores"][0])]
    scores = [r["scores"] if by is None else np.array(r["scores"])[:, by] for r in known]
    return [r["data"] for r in known], np.array([_shares(of_set) for of_set in scores])


def _shares(scores):
    scores = np.array(scores, dtype=float)
    worst = np.nanmin(scores, axis=0)
    scores = np.where(np.isnan(scores), worst, scores)
    low, high = np.median(scores[1:], axis=0), scores.max(axis=0)
    gap = np.where(high > low, high - low, 1.0)
    return np.clip((scores - low) / gap, -1.0, 1.0).mean(axis=1)


def choose(name, table):
    """Return nine configurations. For SVC the fourth is the only one with another kernel."""
    if name not in ONE_KERNEL:
        return greedy(table)
    own = _of_kernel(name)
    chosen = greedy(table, SIZE - 1, own)
    *_, other = greedy(table, SIZE, set(range(table.shape[1])) - set(own), chosen)
    return [*chosen[:3], other, *chosen[3:]]


def greedy(table, size=SIZE, among=None, first=()):
    """Return configurations, each the best in addition to those before it and the default."""
    chosen = [0, *first]
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
    chosen = choose(name, table) + greedy(table, among=_of_kernel(name))
    return [every[i] for i in dict.fromkeys(chosen)]


def _of_kernel(name):
    """Return the configurations with the default kernel, which are all if there is no kernel."""
    default = estimator_of(name)[0].get_params().get("kernel")
    every = enumerate(configurations(name))
    return [i for i, params in every if params.get("kernel", default) == default]


def left_out(name):
    """Return a row per data set, judged by the portfolio of the others.

    The shares of the default, then after it of four and nine known and nine and 24 random ones.
    """
    _, table = shares(name)
    rows = []
    for i, own in enumerate(table):
        chosen = choose(name, np.delete(table, i, axis=0))
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


def compare(name):
    """Return the differences on every data set: nine known less nine and less 24 random ones."""
    rows = left_out(name)
    return rows[:, 2] - rows[:, 3], rows[:, 2] - rows[:, 4]


def mean_and_error(differences):
    return differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))


def report():
    print(
        "class,sets,default,4 known,9 known,9 random,24 random,9 known - 9 random,"
        "9 known - 24 random,won,lost,kept"
    )
    for name in measured():
        means = left_out(name).mean(axis=0)
        differences = compare(name)
        pairs = [mean_and_error(d) for d in differences]
        won, lost = (differences[0] > 1e-9).sum(), (differences[0] < -1e-9).sum()
        means = [f"{v:.3f}" if np.isfinite(v) else "--" for v in means]
        pairs = [f"{m:+.3f} ({e:.3f})" if np.isfinite(m) else "--" for m, e in pairs]
        kept = "yes" if is_ahead(name) else "no"
        print(name, len(differences[0]), *means, *pairs, won, lost, kept, sep=",")


def is_ahead(name):
    """Return whether nine known are ahead of nine random ones by two standard errors."""
    mean, error = mean_and_error(compare(name)[0])
    return mean > 2 * error


def measured():
    every = [name for classes in CLASSES.values() for name in classes]
    return [name for name in every if len(shares(name)[0]) >= FEWEST_SETS]


def kept():
    """Return the portfolios of the classes that are ahead of random search on small data sets."""
    return {name: portfolio_of(name) for name in measured() if is_ahead(name)}


def write(known):
    """Write the known candidates by size of the table and by class."""
    text = TABLE.read_text().partition(MARK)[0]
    lines = [f"{MARK} {'-' * 75}", "#"]
    lines += [
        "# For tables of at most 1,000 rows and for larger ones, in the units of the ranges.",
        "# Written by `python doc/benchmarks/scripts/known_families.py write`.",
    ]
    for size, classes in known.items():
        lines += ["", f"[known.{size}]"]
        for candidates in {json.dumps(c): c for c in classes.values()}.values():
            names = " ".join(name for name, own in classes.items() if own == candidates)
            rows = [", ".join(f"{n} = {_toml(v)}" for n, v in p.items()) for p in candidates]
            lines += [f"{_key(names)} = [", *(f"  {{{row}}}," for row in rows), "]", ""]
    TABLE.write_text("\n".join([text.rstrip("\n"), "", *lines]).rstrip("\n") + "\n")


def _key(names):
    return names if names.isalnum() else f'"{names}"'


def _toml(value):
    return json.dumps("None" if value is None else value)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seconds", type=float, nargs="?", default=4000, help="of CPU time, for run")
    options = parser.parse_args()
    run(options.seconds) if options.command == "run" else report()
