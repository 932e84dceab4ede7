"""Choose and judge the known candidates of every family of models.

::

    python doc/benchmarks/scripts/known_families.py run LightGBM XGBoost ...  # resumes
    python doc/benchmarks/scripts/known_families.py run-first MLP ...         # 20 of the 39 tasks
    python doc/benchmarks/scripts/known_families.py report
    python doc/benchmarks/scripts/known_families.py write

``write`` puts the candidates of the families that pass, and those of ``known_portfolio.py``, at
the end of ``skbo_silbo/space/defaults.toml``. A family passes if its nine candidates, chosen
without the data set that judges them, are ahead of nine random ones by two standard errors and not
behind 24 random ones by two standard errors. It is judged on small and large tasks separately.
Classes with known candidates from ``known_portfolio.py``, which measures many small data sets, keep
them for small tables.
"""

import json
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from math import comb

import known_portfolio
import numpy as np
from checkout import RESULTS, make_parser
from known_tasks import FIRST, LARGE, NAMES, SMALL, load
from scipy.stats import rankdata
from sklearn.model_selection import ParameterSampler
from sklearn.utils import all_estimators

from skbo_silbo.space._step_data import StepData
from skbo_silbo.space.default_ranges import default_space, parameter_names
from skbo_silbo.space.first_candidates import find_range, read_value

FILE = RESULTS / "known_families.jsonl"
EXTRAS = json.loads((RESULTS / "known_published.json").read_text())
N_DRAWS, N_KNOWN = 24, 9  # random candidates of a family, known candidates
FEWEST_TASKS = 8
MOST_TREES = 3000  # of a boosted model: 500 iterations for six classes
ITERATIONS = ("n_estimators", "max_iter")


@dataclass(frozen=True)
class Family:
    """Models that share their known candidates.

    Attributes
    ----------
    classifier, regressor : str
        Names of the classes, such as "sklearn.SVC"; "" if there is none.
    fixed : dict
        Parameters that are set but not searched.
    most_classes : int
        Tasks with more classes are not measured because they take too long.
    """

    classifier: str
    regressor: str
    fixed: dict = field(default_factory=dict)
    most_classes: int = 30

    def key(self, *, is_classification=True):
        return self.classifier if is_classification else self.regressor

    def estimator(self, **options):
        package, name = self.key(**options).split(".")
        if package == "sklearn":
            return dict(all_estimators())[name](**self.fixed)
        return getattr(import_module(package), name)(**self.fixed)


_QUIET = {"verbose": -1, "n_jobs": 1, "random_state": 0}
FAMILIES = {
    "LightGBM": Family("lightgbm.LGBMClassifier", "lightgbm.LGBMRegressor", _QUIET, 10),
    "XGBoost": Family(
        "xgboost.XGBClassifier", "xgboost.XGBRegressor", {"n_jobs": 1, "random_state": 0}, 10
    ),
    "HistGradientBoosting": Family(
        "sklearn.HistGradientBoostingClassifier",
        "sklearn.HistGradientBoostingRegressor",
        {"random_state": 0},
        4,
    ),
    "RandomForest": Family(
        "sklearn.RandomForestClassifier",
        "sklearn.RandomForestRegressor",
        {"n_estimators": 30, "random_state": 0},
    ),
    "ExtraTrees": Family(
        "sklearn.ExtraTreesClassifier",
        "sklearn.ExtraTreesRegressor",
        {"n_estimators": 30, "random_state": 0},
    ),
    "SVC": Family("sklearn.SVC", "", {"cache_size": 500, "max_iter": 20_000}),
    "SVR": Family("", "sklearn.SVR", {"cache_size": 500, "max_iter": 20_000}),
    "LogisticRegression": Family("sklearn.LogisticRegression", ""),
    "LinearSVC": Family("sklearn.LinearSVC", ""),
    "Ridge": Family("", "sklearn.Ridge"),
    "Lasso": Family("", "sklearn.Lasso"),
    "ElasticNet": Family("", "sklearn.ElasticNet"),
    "MLP": Family(
        "sklearn.MLPClassifier", "sklearn.MLPRegressor", {"max_iter": 60, "random_state": 0}, 11
    ),
    "GradientBoosting": Family(
        "sklearn.GradientBoostingClassifier",
        "sklearn.GradientBoostingRegressor",
        {"random_state": 0},
        3,
    ),
    "AdaBoost": Family(
        "sklearn.AdaBoostClassifier", "sklearn.AdaBoostRegressor", {"random_state": 0}, 7
    ),
    "CatBoost": Family(
        "catboost.CatBoostClassifier",
        "catboost.CatBoostRegressor",
        {"iterations": 150, "verbose": 0, "thread_count": 1, "random_seed": 0},
        3,
    ),
    "KNeighbors": Family("sklearn.KNeighborsClassifier", "sklearn.KNeighborsRegressor"),
    "DecisionTree": Family(
        "sklearn.DecisionTreeClassifier", "sklearn.DecisionTreeRegressor", {"random_state": 0}
    ),
    "KernelRidge": Family("", "sklearn.KernelRidge"),
    "GaussianNB": Family("sklearn.GaussianNB", ""),
    "SGDClassifier": Family("sklearn.SGDClassifier", "", {"random_state": 0}),
}


def candidates(name):
    """Return the pool of a family in the units of defaults.toml: default, draws, published ones."""
    family = FAMILIES[name]
    is_classification = bool(family.classifier)
    key = family.key(is_classification=is_classification)
    plain = type(family.estimator(is_classification=is_classification))()
    space = default_space(plain)
    with warnings.catch_warnings():  # of fewer points than draws
        warnings.simplefilter("ignore")
        draws = list(ParameterSampler(space, N_DRAWS, random_state=26))
    drawn = ({n: _in_units(key, n, v, p) for n, v in p.items()} for p in draws)
    return [{}, *drawn, *EXTRAS.get(name, [])]


def _in_units(key, name, value, params):
    unit = find_range(key, name, params).get("unit")
    value = value / StepData().unit(unit) if unit else value
    value = value.item() if isinstance(value, np.generic) else value
    return float(f"{value:.3g}") if isinstance(value, float) else value


def measure(name, task):
    """Return the scores of every candidate on the rows that choose and on other rows, and seconds.

    The scores are accuracy, area under the curve and negative log loss, or R2.
    """
    family, rows = FAMILIES[name], []
    is_classification = task.is_classification
    key = family.key(is_classification=is_classification)
    data = StepData.from_arrays(task.X, task.y)
    n_classes = len(np.unique(task.y)) if is_classification else 2
    for params in candidates(name):
        model = family.estimator(is_classification=is_classification)
        own = {n: read_value(find_range(key, n, params), v, data) for n, v in params.items()}
        own = _of_class(key, own)
        if n_classes > 2 and family.most_classes <= 10:
            own |= {n: min(own[n], MOST_TREES // n_classes) for n in ITERATIONS if n in own}
        start = time.process_time()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scored = [_scores(model.set_params(**own), task, *split) for split in task.splits]
        seconds = time.process_time() - start
        rows.append([*np.mean(scored, axis=0).tolist(), [seconds]])
    return [[[float(f"{v:.4g}") for v in part] for part in row] for row in rows]


def _scores(model, task, train, test):
    X, y = task.X, task.y
    model.fit(X[train], y[train])
    return [_score(model, X[test], y[test]), _score(model, task.X_others, task.y_others)]


def _score(model, X, y):
    if y.dtype.kind == "f":
        return [max(1.0 - np.mean((model.predict(X) - y) ** 2) / np.var(y), -9.0)]
    values = (
        model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)
    )
    values = values if values.ndim > 1 else np.c_[-values, values]
    scores = [np.mean(model.classes_[values.argmax(axis=1)] == y), _area(model, values, y)]
    if hasattr(model, "predict_proba"):
        own = values[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        scores.append(np.mean(np.log(np.clip(own, 1e-6, 1.0))))
    return scores


def _area(model, values, y):
    """Return the area under the curve; of several classes the mean of each against the rest."""
    areas = []
    for c, ranked in zip(model.classes_, rankdata(values, axis=0).T, strict=True):
        n, m = (y == c).sum(), (y != c).sum()
        if n and m:
            areas.append((ranked[y == c].sum() - n * (n + 1) / 2) / (n * m))
    return np.mean(areas)


def run(names, parts=(True, False)):
    """Measure what is missing: the first tasks of all families, then the others."""
    tasks = {(size, data): load(size, data) for size in NAMES for data in NAMES[size]}
    for is_first in parts:
        for name in names:
            for (size, data), task in tasks.items():
                if (data in FIRST) == is_first and _is_missing(name, size, data, task):
                    row = {"family": name, "size": size, "data": data}
                    row["scores"] = measure(name, task)
                    with FILE.open("a") as file:
                        file.write(json.dumps(row, separators=(",", ":")) + "\n")


def _is_missing(name, size, data, task):
    family, n_classes = FAMILIES[name], len(np.unique(task.y)) if task.is_classification else 2
    done = {(r["family"], r["size"], r["data"]) for r in read()}
    is_possible = family.key(is_classification=task.is_classification)
    return is_possible and n_classes <= family.most_classes and (name, size, data) not in done


def read():
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


# --- portfolios ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shares:
    """Scores of a family as shares of the gap from the median random candidate to the best one.

    Attributes
    ----------
    sizes, data : list of str
        Of the tasks.
    chosen, others : list of ndarray of shape (n_candidates, n_scores)
        On the rows that choose candidates and on other rows; at least -1.
    """

    sizes: list[str]
    data: list[str]
    chosen: list[np.ndarray]
    others: list[np.ndarray]

    @classmethod
    def read(cls, name):
        rows = [r for r in read() if r["family"] == name]
        parts = [[_shares([c[i] for c in r["scores"]]) for r in rows] for i in range(2)]
        return cls([r["size"] for r in rows], [r["data"] for r in rows], *parts)

    def table(self):
        """Return the mean share of the scores, (n_tasks, n_candidates)."""
        return np.array([scores.mean(axis=1) for scores in self.chosen])


def _shares(scores):
    n_scores = min(map(len, scores))  # SGDClassifier has a log loss for some losses only
    scores = np.array([own[:n_scores] for own in scores])
    low, high = np.median(scores[1 : N_DRAWS + 1], axis=0), scores.max(axis=0)
    return np.clip((scores - low) / np.where(high > low, high - low, 1.0), -1.0, 1.0)


def greedy(table):
    """Return nine candidates, each the one that adds most to those before and the default."""
    chosen = [0]
    while len(chosen) <= N_KNOWN:
        best = table[:, chosen].max(axis=1, keepdims=True)
        gains = np.maximum(table, best).mean(axis=0)
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
    return chosen[1:]


def judge(shares, size):
    """Return a row per task of this size, judged with its data set left out of the choice.

    The shares of the default, of nine known candidates after it, and of 9 and 24 random ones after
    it, on the rows that choose; then the same on other rows.
    """
    table, rows = shares.table(), []
    for i, data in enumerate(shares.data):
        if shares.sizes[i] == size:
            known = greedy(table[np.array(shares.data) != data])
            pair = shares.chosen[i], shares.others[i]
            found = [_found(*scores, known) for scores in zip(*(p.T for p in pair), strict=True)]
            rows.append(np.mean(found, axis=0))
    return np.array(rows)


def _found(chosen, others, known):
    draws = slice(1, N_DRAWS + 1)
    of_known = _best_of(chosen[known], others[known], N_KNOWN, chosen[0], others[0])
    of_random = [
        _best_of(chosen[draws], others[draws], m, chosen[0], others[0]) for m in (N_KNOWN, N_DRAWS)
    ]
    return np.array([(chosen[0], others[0]), of_known, *of_random]).T.ravel()


def _best_of(chosen, others, m, *first):
    """Return the mean of both scores of the best of a first candidate and m drawn ones."""
    order, n = np.argsort(chosen, kind="stable"), len(chosen)
    chances = np.array([comb(k, m - 1) / comb(n, m) for k in range(n)])  # that the k-th is the best
    is_better = chosen[order] > first[0]
    pairs = [np.where(is_better, v[order], f) for v, f in zip((chosen, others), first, strict=True)]
    return [float(chances @ v) for v in pairs]


def passed(name):
    """Return the sizes on which the known candidates of a family reach the aim."""
    shares = Shares.read(name)
    return [size for size in NAMES if _is_ahead(shares, size)]


def _is_ahead(shares, size):
    rows = judge(shares, size)
    ahead, level = (_mean_and_error(rows[:, 1] - rows[:, i]) for i in (2, 3))
    return bool(ahead[0] > 2 * ahead[1] and level[0] > -2 * level[1])


def report():
    """Print a row per family and size."""
    print(
        "family,samples,data sets,default,known,random 10,random 25,known - random 10,"
        "known - random 25,other rows: known - random 10,known - random 25,passes"
    )
    for name in measured():
        shares = Shares.read(name)
        for size, n_rows in (("small", SMALL), ("large", LARGE)):
            rows = judge(shares, size)
            cells = [f"{v:.3f}" for v in rows[:, :4].mean(axis=0)]
            for first, second in ((1, 2), (1, 3), (5, 6), (5, 7)):
                mean, error = _mean_and_error(rows[:, first] - rows[:, second])
                cells.append(f"{mean:+.3f} ({error:.3f})")
            cells.append("yes" if _is_ahead(shares, size) else "no")
            print(name, n_rows, len(rows), *cells, sep=",")


def _mean_and_error(differences):
    return differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))


def measured():
    """Return the families with enough tasks of either size."""
    counts = Counter((r["family"], r["size"]) for r in read())
    return [n for n in FAMILIES if min(counts[n, size] for size in NAMES) >= FEWEST_TASKS]


def portfolio_of(name):
    """Return the known candidates of a family, chosen on all tasks."""
    pool = candidates(name)
    return [pool[i] for i in greedy(Shares.read(name).table())]


def write():
    """Write the known candidates for small and large tables."""
    known = {"small": known_portfolio.kept(), "large": {}}
    for name in measured():
        for size in passed(name):
            for key in filter(None, (FAMILIES[name].classifier, FAMILIES[name].regressor)):
                own = [_of_class(key, params) for params in portfolio_of(name)]
                known[size].setdefault(key.removeprefix("sklearn."), own)
    known_portfolio.write({size: own | known_portfolio.AS_THEY_ARE for size, own in known.items()})


def _of_class(key, params):
    """Return a candidate without parameters that are not searched for the class."""
    return {n: params[n] for n in sorted(params) if n in parameter_names(key)}


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "run-first", "report", "write"])
    parser.add_argument("names", nargs="*", help="of the families, for run and run-first")
    options = parser.parse_args()
    if options.command in ("run", "run-first"):
        run(options.names, (True, False) if options.command == "run" else (True,))
    else:
        report() if options.command == "report" else write()
