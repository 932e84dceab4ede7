"""What known candidates are worth on data sets that chose none: real fits, and rows held out.

``python doc/benchmarks/known_judge.py run SECONDS`` goes on where it stopped, and so does ``search
SECONDS``, which lets searches go on after the known candidates; ``report`` prints the tables of the
page. A task is a data set and a Pipeline; it is searched in its `default_space`.
"""

import json
import sys
import time
import warnings
from itertools import chain
from pathlib import Path

import numpy as np
import optuna
from known_data import judged_sets
from known_portfolio import area_under_curve, chances_of_largest, estimator_of
from optuna.samplers import TPESampler
from sklearn import config_context
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBOSearchCV, default_space
from skbo_silbo.space._known_candidates import known_candidates
from skbo_silbo.space._known_space import steps_of
from skbo_silbo.space._parameters import Categories
from skbo_silbo.space._read import as_space
from skbo_silbo.space._union import branches_of

RESULTS = Path(__file__).with_suffix(".jsonl")
SEARCHES = RESULTS.with_name("known_search.jsonl")
N_SEARCHED = 20  # candidates
POOL = 40  # random candidates, of which every number of them is the mean over all draws
MODELS = [  # in this order
    {"classification": "DecisionTreeClassifier", "regression": "DecisionTreeRegressor"},
    {"classification": "KNeighborsClassifier", "regression": "KNeighborsRegressor"},
    {"classification": "SVC", "regression": "SVR"},
    {"classification": "LogisticRegression", "regression": "ElasticNet"},
    {"classification": "HistGradientBoostingClassifier"},
]


def run(seconds, results=RESULTS, of=None):
    """Write what is missing until so many seconds of CPU are used."""
    end = time.process_time() + seconds
    done = {(r["data"], r["class"]) for r in read(results)}
    kinds = ("classification", "regression")
    pairs = zip(*([(kind, *of_set) for of_set in judged_sets(kind)] for kind in kinds), strict=True)
    sets = list(chain(*pairs))  # the kinds in turn
    for model in MODELS:
        for kind, data, *arrays in sets:
            name = model.get(kind)
            if name and (data, name) not in done and time.process_time() < end:
                row = {"data": data, "class": name, **(of or measure)(name, kind, *arrays)}
                with results.open("a") as file:
                    file.write(json.dumps(row, separators=(",", ":")) + "\n")


def measure(name, kind, X, y, X_others, y_others):
    """Return scores, cross-validated and on other rows, of the candidates of both searches.

    The first ten of a search of one model are the estimator as it is and the known ones.
    """
    _, space, own = _task(name, X, y)
    candidates = {"known": [{}, *own], "random": ParameterSampler(space, POOL, random_state=0)}
    _, parts = _parts(kind, X, y, X_others, y_others)
    return {s: [_scores(name, p, parts) for p in of_search] for s, of_search in candidates.items()}


def searches(name, kind, X, y, X_others, y_others):
    """Return the same scores of searches, of this library and Optuna's TPE, with and without known
    candidates, after the estimator as it is."""
    pipeline, space, own = _task(name, X, y)
    folds, parts = _parts(kind, X, y, X_others, y_others)
    scoring = "roc_auc" if kind == "classification" else "r2"
    options = {"n_iter": N_SEARCHED, "cv": folds, "scoring": scoring, "random_state": 0}
    found = {}
    for first, how in (("known", {}), ("current", {"initial_params": "current"})):
        search = SILBOSearchCV(pipeline, refit=False, **options, **how)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            params = search.fit(X, y).cv_results_["params"]
        found[f"ours, {first}"] = [_scores(name, p, parts) for p in params]
    has = {n: v for n, v in pipeline.get_params().items() if "__" in n}
    for first, params in (("known", own), ("current", [])):
        found[f"TPE, {first}"] = _tpe(space, [has, *params], lambda p: _scores(name, p, parts))
    return found


def _tpe(space, first, score):
    """Return the scores of an Optuna study that begins with some candidates.

    Numbers are floats of the cube, where they are as in the search: by the logarithm, or ordered.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=TPESampler(seed=0))
    branches, scores = branches_of(as_space(space)), []
    for params in first:
        own = [{n: params.get(n) for n in branch.parameter_names} for branch in branches]
        inside = [i for i, branch in enumerate(branches) if branch.holds(own[i])]
        if not inside:  # no trial can have it; it counts
            scores.append(score(own[0]))
        for i in inside[:1]:
            places = {p.name: _place(p, own[i][p.name]) for p in branches[i].parameters}
            study.enqueue_trial({"branch": i} | {f"{i} {n}": v for n, v in places.items()})
    while len(scores) < N_SEARCHED:
        trial = study.ask()
        i = trial.suggest_categorical("branch", range(len(branches)))
        params = {p.name: _asked(trial, f"{i} {p.name}", p) for p in branches[i].parameters}
        scores.append(score(params))
        study.tell(trial, scores[-1][0])
    return scores


def _place(parameter, value):
    if isinstance(parameter, Categories):
        return parameter.values.index(value)
    return float(parameter.encode([value])[0, 0])


def _asked(trial, name, parameter):
    if isinstance(parameter, Categories):
        n = len(parameter.values)
        return parameter.values[trial.suggest_categorical(name, range(n))]
    return parameter.decode(np.array([[trial.suggest_float(name, -1.0, 1.0)]]))[0]


def _task(name, X, y):
    """Return a Pipeline, its space, and its known candidates."""
    pipeline = make_pipeline(StandardScaler(), estimator_of(name)[0])
    space = default_space(pipeline, X, y)
    branches = branches_of(as_space(space))
    own = known_candidates(steps_of(pipeline, X, y), pipeline.get_params(), branches)
    return pipeline, space, own


def _parts(kind, X, y, X_others, y_others):
    splitter = StratifiedKFold(3) if kind == "classification" else KFold(3)
    folds = list(splitter.split(X, y))
    parts = [(X[a], y[a], X[b], y[b]) for a, b in folds]
    return folds, [_scaled(*part) for part in [*parts, (X, y, X_others, y_others)]]


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
    return area_under_curve(model, X_test, y_test)


def read(results=RESULTS):
    return [json.loads(line) for line in results.open()] if results.exists() else []


# --- report --------------------------------------------------------------------------------------


def gains(row):
    """Return shares by search and candidates, cross-validated and on other rows.

    0 is the median random candidate, 1 the best score seen. On other rows it is the candidate that
    was best cross-validated that counts.
    """
    known, pool = (np.array(row[search]) for search in ("known", "random"))
    at = {"as it is": known[0], "10, random after as it is": chance_of(pool, known[:1], 9)}
    at |= {f"{m}, known": chance_of(pool, known[:m], 0) for m in (5, 10)}
    at |= {f"10, random after {m} known": chance_of(pool, known[: m + 1], 9 - m) for m in (4, 6)}
    at |= {f"{m}, random after as it is": chance_of(pool, known[:1], m - 1) for m in (5, 15, 25)}
    return _shares(at, pool, known)


def gains_of_searches(row, found):
    """Return the same of searches of 20 candidates, and of TPE's first ten."""
    known, pool = (np.array(row[search]) for search in ("known", "random"))
    found = {name: np.array(scores) for name, scores in found.items()}
    first = {"known": "after the known ones", "current": "after as it is"}
    at = {
        f"{m}, {how} {words}": chance_of(pool, found[f"{how}, {key}"][:m], 0)
        for m in (20, 10)
        for key, words in first.items()
        for how in ("ours", "TPE")
        if m == 20 or key == "current"
    }
    for m in (20, 10):
        at[f"{m}, random after as it is"] = chance_of(pool, known[:1], m - 1)
    at["20, random after the known ones"] = chance_of(pool, known, 20 - len(known))
    at |= {"10, known": chance_of(pool, known, 0), "as it is": known[0]}
    return _shares(at, pool, known, *found.values())


def _shares(at, pool, *others):
    low, high = np.median(pool, axis=0), np.vstack([pool, *others]).max(axis=0)
    if not (high > low).all():
        return None
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
    judged = {(r["data"], r["class"]): r for r in read()}
    found = {k: g for k, r in judged.items() if (g := gains(r)) is not None}
    _print(found, "10, known", "10, random after as it is")
    pairs = {k: (judged[k], r) for r in read(SEARCHES) if (k := (r["data"], r["class"])) in judged}
    found = {k: g for k, pair in pairs.items() if (g := gains_of_searches(*map(_scored, pair)))}
    if found:
        _print(found, "20, ours after the known ones", "20, random after as it is")
    print(f"too good,as it is,best of 10 known,best of {POOL} random")
    for kind, score in (("classification", "area under the curve"), ("regression", "R²")):
        own = {k: r for k, r in judged.items() if k[1] in {model.get(kind) for model in MODELS}}
        print(score, *_too_good(own), sep=",")


def _scored(row):
    return {name: scores for name, scores in row.items() if isinstance(scores, list)}


def _print(found, ours, other):
    """Print shares and what one of them is ahead of the others, then by class of one other."""
    sets = [data for data, _ in found]
    print(f"{len(found)} tasks, {len(set(sets))} data sets")
    print(f'candidates,share,"{ours} less it",won,lost,other rows: share,"{ours} less it"')
    for search in next(iter(found.values())):
        pairs = np.array([(g[search], g[ours] - g[search]) for g in found.values()])  # (n, 2, 2)
        cells = [_cells(sets, *pairs[:, :, i].T) for i in range(2)]
        print(f'"{search}"', *cells[0], *cells[1][:2], sep=",")
    for name in sorted({name for _, name in found}):
        own = [g[ours] - g[other] for (_, n), g in found.items() if n == name]
        means, errors = np.mean(own, axis=0), np.std(own, axis=0, ddof=1) / np.sqrt(len(own))
        cells = [f"{m:+.3f} ({e:.3f})" for m, e in zip(means, errors, strict=True)]
        print("#", name, len(own), *cells, sep=",")


def _too_good(rows):
    """Return by how much cross-validated scores are above those on other rows, with errors.

    Of the estimator as it is, the best of ten known candidates and the best of 40 random ones.
    """
    sets, cells = [data for data, _ in rows], []
    for search, n in (("known", 1), ("known", 10), ("random", POOL)):
        tried = [np.array(row[search][:n]) for row in rows.values()]
        best = np.array([scores[np.argmax(scores[:, 0])] for scores in tried])
        cells.append(_cells(sets, best[:, 0], best[:, 0] - best[:, 1])[1])
    return cells


def _cells(sets, shares, differences):
    """Return the mean, the mean difference with its error clustered by data set, won and lost."""
    off = differences - differences.mean()
    of_set = {data: sum(o for o, d in zip(off, sets, strict=True) if d == data) for data in sets}
    k = len(of_set)
    error = np.sqrt(k / (k - 1) * sum(d**2 for d in of_set.values())) / len(sets)
    won, lost = (differences > 1e-9).sum(), (differences < -1e-9).sum()
    return f"{shares.mean():.3f}", f"{differences.mean():+.3f} ({error:.3f})", won, lost


if __name__ == "__main__":
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0
    {
        "run": lambda: run(seconds),
        "search": lambda: run(seconds, SEARCHES, searches),
        "report": report,
    }[sys.argv[1]]()
