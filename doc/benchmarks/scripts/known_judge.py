"""What known candidates are worth on data sets that chose none: real fits, and rows held out.

``python doc/benchmarks/scripts/known_judge.py run SECONDS`` goes on where it stopped, and so does
``search SECONDS``, which lets searches go on after the known candidates, on every third task
of those rows; ``report`` prints the tables of the page. A task is a data set and a Pipeline; it
is searched in its `default_space`.
"""

import json
import time
import warnings
from itertools import chain

import numpy as np
from checkout import RESULTS, make_parser
from known_data import SETS, judged_sets
from known_portfolio import area_under_curve, chances_of_largest, estimator_of
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, ParameterSampler, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skbo_silbo import SILBOSearchCV, default_space
from skbo_silbo.space._parameters import Categories
from skbo_silbo.space.any_space import as_space, branches_of
from skbo_silbo.space.default_ranges import list_steps
from skbo_silbo.space.first_candidates import known_candidates

FILE = RESULTS / "known_judge.jsonl"
SEARCHES = FILE.with_name("known_search.jsonl")
EVERY = 3  # of the rows is a task that is searched
N_SEARCHED = 50  # candidates
POOL = 40  # random candidates, of which every number of them is the mean over all draws
MORE = 60  # of those tasks
SIZES = (20, 50)  # after which their searches are compared
MODELS = [  # in this order
    {"classification": "DecisionTreeClassifier", "regression": "DecisionTreeRegressor"},
    {"classification": "KNeighborsClassifier", "regression": "KNeighborsRegressor"},
    {"classification": "SVC", "regression": "SVR"},
    {"classification": "LogisticRegression", "regression": "ElasticNet"},
    {"classification": "HistGradientBoostingClassifier"},
]
HAND_WRITTEN = {  # by scikit-learn's examples and user guide; see known.rst
    "DecisionTree": {"min_samples_split": range(2, 403, 20)},
    "KNeighbors": {"n_neighbors": range(1, 10)},
    "SVC": [
        {"C": [1, 10, 100, 1000], "kernel": ["linear"]},
        {"C": [1, 10, 100, 1000], "gamma": [0.001, 0.0001], "kernel": ["rbf"]},
    ],
    "SVR": {"C": [1, 10, 100, 1000], "gamma": np.logspace(-2, 2, 5)},
    "LogisticRegression": {"C": np.logspace(-4, 4, 4)},
    "ElasticNet": {
        "alpha": np.logspace(-4, -0.5, 30),
        "l1_ratio": [0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1],
    },
}


def run(seconds):
    """Write what is missing until so many seconds of CPU are used."""
    pairs = zip(*([(kind, *of_set) for of_set in judged_sets(kind)] for kind in SETS), strict=True)
    sets = list(chain(*pairs))  # the kinds in turn
    tasks = [
        (name, of_set) for model in MODELS for of_set in sets if (name := model.get(of_set[0]))
    ]
    _write(tasks, seconds, FILE, measure)


def search(seconds):
    """Write the searches that are missing; rows in turn are of classes and of numbers."""
    sets = {data: (kind, data, *rest) for kind in SETS for data, *rest in judged_sets(kind)}
    tasks = [(row["class"], sets[row["data"]]) for row in read()][::EVERY]
    _write([*tasks[1::4], *tasks[::2], *tasks[3::4]], seconds, SEARCHES, searches)


def _write(tasks, seconds, results, measured):
    end = time.process_time() + seconds
    done = {(r["data"], r["class"]) for r in read(results)}
    for name, (kind, data, *arrays) in tasks:
        if (data, name) not in done and time.process_time() < end:
            row = {"data": data, "class": name, **measured(name, kind, *arrays)}
            with results.open("a") as file:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")


def measure(name, kind, X, y, X_others, y_others):
    """Return scores, cross-validated and on other rows, of the candidates of both searches.

    The first ten of a search of one model are the estimator as it is and the known ones.
    """
    model = estimator_of(name)[0]
    _, space, own = task_of(model, X, y)
    candidates = {"known": [{}, *own], "random": ParameterSampler(space, POOL, random_state=0)}
    _, parts = parts_of(kind, X, y, X_others, y_others)
    return {
        s: [scores_of(model, p, parts) for p in of_search] for s, of_search in candidates.items()
    }


def searches(name, kind, X, y, X_others, y_others):
    """Return the same scores of searches, of this library and Optuna's TPE, with and without known
    candidates, after the estimator as it is; of more random candidates; of a space by hand.

    And the CPU seconds of our searches after every candidate, and of a random candidate.
    """
    model = estimator_of(name)[0]
    pipeline, space, own = task_of(model, X, y)
    folds, parts = parts_of(kind, X, y, X_others, y_others)
    options = {"cv": folds, "scoring": "roc_auc" if kind == "classification" else "r2"}
    options |= {"random_state": 0, "refit": False}
    found, seconds = {}, {}
    for first in ("known", "current"):
        how, ends = {"initial_params": first, "n_iter": N_SEARCHED}, []
        clock = {"callback": lambda _, ends=ends: ends.append(time.process_time())}
        start = time.process_time()
        params = _fit(SILBOSearchCV(pipeline, **options, **how, **clock), X, y)
        seconds[first] = [float(f"{end - start:.3g}") for end in ends]
        found[f"ours, {first}"] = [scores_of(model, p, parts) for p in params]
    has = {n: v for n, v in pipeline.get_params().items() if "__" in n}
    for first, params in (("known", own), ("current", [])):
        found[f"TPE, {first}"] = _tpe(space, [has, *params], lambda p: scores_of(model, p, parts))
    start = time.process_time()
    _fit(RandomizedSearchCV(pipeline, space, n_iter=20, **options), X, y)
    seconds["random candidate"] = float(f"{(time.process_time() - start) / 20:.3g}")
    by_hand = next(grid for start, grid in HAND_WRITTEN.items() if name.startswith(start))
    drawn = _draws(space, POOL, 0)
    more = [params for params in _draws(space, MORE, 1) if params not in drawn]
    by_hand = [{f"__{p}": v for p, v in params.items()} for params in _draws(by_hand, N_SEARCHED)]
    for which, params in (("more", more), ("by hand", by_hand)):
        found[which] = [scores_of(model, p, parts) for p in params]
    return found | {"seconds": seconds}


def _fit(search, X, y):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return search.fit(X, y).cv_results_["params"]


def _draws(space, n, seed=0):
    with warnings.catch_warnings():  # of fewer points than draws
        warnings.simplefilter("ignore")
        return list(ParameterSampler(space, n, random_state=seed))


def _tpe(space, first, score):
    """Return the scores of an Optuna study that begins with some candidates.

    Numbers are floats of the cube, where they are as in the search: by the logarithm, or ordered.
    """
    import optuna
    from optuna.samplers import TPESampler

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


def task_of(model, X, y):
    """Return a Pipeline, its space, and its known candidates."""
    pipeline = make_pipeline(StandardScaler(), model)
    space = default_space(pipeline, X, y)
    branches = branches_of(as_space(space))
    own = known_candidates(list_steps(pipeline, X, y), pipeline.get_params(), branches)
    return pipeline, space, own


def parts_of(kind, X, y, X_others, y_others):
    splitter = StratifiedKFold(3) if kind == "classification" else KFold(3)
    folds = list(splitter.split(X, y))
    parts = [(X[a], y[a], X[b], y[b]) for a, b in folds]
    return folds, [scaled(*part) for part in [*parts, (X, y, X_others, y_others)]]


def scaled(X, y, X_test, y_test):
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def scores_of(model, params, parts):
    """Return the mean area under the curve, or R2, of the folds, and that of the last part."""
    model = clone(model).set_params(**{n.partition("__")[2]: v for n, v in params.items()})
    fast = config_context(assume_finite=True, skip_parameter_validation=True)
    with fast, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = [score_of(model.fit(*part[:2]), *part[2:]) for part in parts]
    return [float(f"{v:.4g}") for v in (np.mean(found[:-1]), found[-1])]


def score_of(model, X_test, y_test):
    """Return the area under the curve, or R2, of a fitted model."""
    if np.issubdtype(y_test.dtype, np.floating):
        return 1.0 - np.mean((model.predict(X_test) - y_test) ** 2) / np.var(y_test)
    return area_under_curve(model, X_test, y_test)


def read(results=FILE):
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
    """Return the same of searches of 20 and 50 candidates, and beside them what else there is.

    Random search has as many candidates, or as many as it fits in the CPU seconds of our search,
    at most all there are.
    """
    known, drawn = (np.array(row[search]) for search in ("known", "random"))
    pool, by_hand = np.vstack([drawn, found["more"]]), np.array(found["by hand"])
    found = {name: np.array(v) if isinstance(v, list) else v for name, v in found.items()}
    first = {"known": "after the known ones", "current": "after as it is"}
    at, seconds = {"as it is": known[0], "10, known": chance_of(pool, known, 0)}, found["seconds"]
    for m in SIZES:
        for key, words in first.items():
            for how in ("ours", "TPE"):
                at[f"{m}, {how} {words}"] = chance_of(pool, found[f"{how}, {key}"][:m], 0)
            before = known if key == "known" else known[:1]
            at[f"{m}, random {words}"] = chance_of(pool, before, m - len(before))
            n = int(seconds["known"][m - 1] / seconds["random candidate"]) - len(before)
            at[f"{m}, as many seconds of random {words}"] = chance_of(pool, before, max(n, 0))
        at[f"{m}, a space by hand after as it is"] = chance_of(by_hand, known[:1], m - 1)
    every = [v for v in found.values() if isinstance(v, np.ndarray)]
    return _shares(at, drawn, known, *every)


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
    pool, n = pool[np.argsort(pool[:, 0], kind="stable")], min(n, len(pool))
    best = np.where(pool[:, :1] > first[0], pool, first)
    return chances_of_largest(n, len(pool)) @ best


def report():
    judged = {(r["data"], r["class"]): r for r in read()}
    found = {k: g for k, r in judged.items() if (g := gains(r)) is not None}
    _print(found, "10, known", "10, random after as it is")
    pairs = {k: (judged[k], r) for r in read(SEARCHES) if (k := (r["data"], r["class"])) in judged}
    found = {k: g for k, pair in pairs.items() if (g := gains_of_searches(*pair))}
    for m in SIZES if found else ():
        own = {k: {n: v for n, v in g.items() if _is_of(m, n)} for k, g in found.items()}
        _print(own, f"{m}, ours after the known ones", f"{m}, random after the known ones")
    _print_seconds([r for _, r in pairs.values()])
    print(f"too good,as it is,best of 10 known,best of {POOL} random")
    for kind, score in (("classification", "area under the curve"), ("regression", "R²")):
        own = {k: r for k, r in judged.items() if k[1] in {model.get(kind) for model in MODELS}}
        print(score, *_too_good(own), sep=",")


def _is_of(m, name):
    return not name[0].isdigit() or name.startswith(("10,", f"{m},"))


def _print_seconds(rows):
    """Print CPU seconds of a candidate and of a proposal, and our search in random candidates."""
    if rows:
        random = np.array([r["seconds"]["random candidate"] for r in rows])
        print(f"# seconds of a random candidate,median {np.median(random):.3f}")
        for m in SIZES:
            ours = np.array([r["seconds"]["known"][m - 1] for r in rows])
            n, most = ours / random, np.array([POOL + len(r["more"]) for r in rows])
            asked = (ours - m * random) / (m - 10)
            print(
                f"# {m},{np.median(asked):.3f} a proposal,{np.median(n):.0f} random candidates",
                end=",",
            )
            print(f"{(n > most).sum()} of {len(rows)} tasks have fewer")


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
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "search", "report"])
    parser.add_argument("seconds", type=float, nargs="?", default=0, help="for run and search")
    options = parser.parse_args()
    if options.command == "report":
        report()
    else:
        {"run": run, "search": search}[options.command](options.seconds)
