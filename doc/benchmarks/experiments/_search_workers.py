"""Experiment `search-workers`: how long four workers of SILBOSearchCV stand idle."""

import tempfile
import time
from itertools import product
from pathlib import Path

import joblib
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, RandomizedSearchCV

from benchmarks.engine import Experiment, Grid, Table, by_method, spread

from ._sleeping import LONGEST, N_WORKERS, SHORTEST, idle_aims, occupation, sleep_noted

N_FOLDS, D = 3, 12
ENGINES = ("loky", "threading")
SCALES = (1, 8)  # of the sleeps
AUTO, BATCHES, RANDOM = "auto", "batches", "random"
HOW = (
    f"{N_WORKERS} workers, fits that sleep {SHORTEST} to {LONGEST} s, {N_FOLDS} folds, {D} "
    "parameters. *Idle*: share of the workers' time without a fit, from the first start to the "
    'last end. "auto" is ``SILBOSearchCV(n_jobs=4)``, "batches" is ``batch_size=4``, "random" '
    "is ``RandomizedSearchCV``. Sleeping times are multiplied by 8 for a busy machine. A "
    "proposal takes about 0.15 s of CPU time."
)


class SleepingModel(BaseEstimator):
    """A model whose fit takes a time that depends on its parameters and rows, noted in a file."""

    def __init__(self, path="", seed=0, scale=1.0, **places):
        self.path, self.seed, self.scale, self.places = path, seed, scale, places

    def get_params(self, deep=True):
        """Return the file, the seed of the function, the scale and all places."""
        return {"path": self.path, "seed": self.seed, "scale": self.scale, **self.places}

    def set_params(self, **params):
        """Change the place of the parameters."""
        self.places = {**self.places, **params}
        return self

    def fit(self, X, y=None):
        """Sleep; append when that began and ended to the file, as JSON."""
        sleep_noted(sum(self.places.values()) + float(X[0, 0]), self.path, self.scale)
        return self

    def score(self, X, y=None):
        """Return a planted function with the sign changed."""
        from skbo_silbo import problems

        func = problems.planted(problems.hartmann6(), D, random_state=self.seed)
        low, high = np.asarray(func.bounds, dtype=float).T
        place = np.array([self.places[f"x{i}"] for i in range(D)])
        return -float(func(low + (high - low) * place))


def measure_search(problem, method, repeat):
    """Idle share of the workers and the best score of one search."""
    from skbo_silbo import SILBOSearchCV

    make = RandomizedSearchCV if method == RANDOM else SILBOSearchCV
    options = {"batch_size": N_WORKERS} if method == BATCHES else {}
    space = {f"x{i}": uniform() for i in range(D)}
    rows = np.arange(12.0)[:, None]
    with tempfile.TemporaryDirectory() as folder, joblib.parallel_config(problem["engine"]):
        joblib.Parallel(N_WORKERS)(joblib.delayed(time.sleep)(1.0) for _ in range(N_WORKERS))
        path = Path(folder) / "calls.jsonl"
        model = SleepingModel(str(path), repeat, problem["scale"], **dict.fromkeys(space, 0.0))
        options.update(n_iter=problem["n"], cv=KFold(N_FOLDS), refit=False, random_state=repeat)
        search = make(model, space, n_jobs=N_WORKERS, **options).fit(rows)
        occupied, n_fits = occupation(path)
    score = float(search.cv_results_["mean_test_score"].max())
    return {**occupied, "n_fits": n_fits, "score": score}


def report(results):
    """Return idle shares by engine and method."""
    rows = [
        (
            *(dict(problem)["engine"], str(dict(problem)["scale"]), method),
            spread([r["idle"] for r in own]),
            *(spread([r["seconds"] for r in own], 1), spread([r["score"] for r in own], 3)),
        )
        for problem, methods in by_method(results).items()
        for method, own in methods.items()
    ]
    header = ("engine", "sleeps times", "method", "idle", "seconds", "best score")
    return [Table("Idle workers of a search", header, rows, HOW)]


def aims(results):
    """Return the aim of issue 14: idle at most .15."""
    names = {
        f"{engine}, sleeps times {scale}": {"engine": engine, "scale": scale}
        for engine, scale in product(ENGINES, SCALES)
    }
    return idle_aims(results, AUTO, names)


def _problems(n, scales=SCALES):
    return tuple(
        {"n": n, "d": D, "engine": engine, "scale": scale} for scale in scales for engine in ENGINES
    )


SEARCH_WORKERS = Experiment(
    name="search-workers",
    methods={AUTO: "", BATCHES: "", RANDOM: ""},
    grids={
        "full": (
            Grid(_problems(40), 1, methods=(AUTO,)),
            Grid(_problems(40, SCALES[:1]), 1, methods=(BATCHES, RANDOM)),
        ),
        "tiny": Grid(_problems(2, (0.1,)), 1),
    },
    measure=measure_search,
    report=report,
    aims=aims,
    cap_seconds=600,
    cap_mib=65536,
    about="SILBOSearchCV with four workers whose fits sleep",
)
