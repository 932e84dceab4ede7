"""The searches that are compared, on the same splits, each for so many candidates.

Every one gets scipy.stats distributions and lists, as RandomizedSearchCV reads them; what another
library cannot read is translated here without changing what can be drawn: uniform, log-uniform,
whole numbers, categories.
"""

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import RandomizedSearchCV, cross_validate

from ._table_tasks import TABLES
from ._tuning_tasks import N_FOLDS, TASKS


class StampedScorer:
    """A scorer that writes down when it ended.

    Parameters
    ----------
    scoring : str

    Attributes
    ----------
    stamps : list of float
        Seconds of a clock that never goes back, one for every fit.
    """

    def __init__(self, scoring):
        self.scorer = get_scorer(scoring)
        self.stamps = []

    def __call__(self, estimator, X, y):
        """Return the score, a float."""
        score = self.scorer(estimator, X, y)
        self.stamps.append(time.perf_counter())
        return score


def range_of(distribution):
    """Return (kind, low, high) of a frozen distribution, kind in uniform, log, integer.

    Raises
    ------
    ValueError
        When it is of another family.
    """
    low, high = distribution.support()
    kinds = {"uniform": "uniform", "loguniform": "log", "reciprocal": "log", "randint": "integer"}
    kind = kinds.get(distribution.dist.name)
    if kind is None:
        raise ValueError(
            f"distribution must be one of {', '.join(kinds)}: got {distribution.dist.name}. "
            "Add its translation for every peer."
        )
    number = int if kind == "integer" else float
    return kind, number(low), number(high)


def sklearn_search(make):
    """Return a function that runs the search `make` gives for (model, space, n, seed, **rest)."""

    def run(task, n, seed, scorer):
        model, space = task.make()
        rest = {"cv": task.splits(seed), "scoring": scorer, "refit": False}
        start = time.perf_counter()
        table = make(model, space, n, random_state=seed, **rest).fit(*task.rows()).cv_results_
        fits = N_FOLDS * (table["mean_fit_time"] + table["mean_score_time"])
        return start, table["mean_test_score"], fits

    return run


def _random(model, space, n, **rest):
    return RandomizedSearchCV(model, space, n_iter=n, **rest)


def _silbo(model, space, n, **rest):
    from skbo_silbo import SILBOSearchCV

    return SILBOSearchCV(model, space, n_iter=n, **rest)


def _bayes(model, space, n, **rest):
    """Return a BayesSearchCV; branches share its budget in equal parts, as it has no other way."""
    from skopt import BayesSearchCV

    if isinstance(space, dict):
        return BayesSearchCV(model, _skopt_space(space), n_iter=n, **rest)
    sizes = [len(part) for part in np.array_split(np.arange(n), len(space))]
    spaces = [(_skopt_space(b), size) for b, size in zip(space, sizes, strict=True)]
    return BayesSearchCV(model, spaces, **rest)


def _skopt_space(space):
    return {name: _skopt_dimension(values) for name, values in space.items()}


def _skopt_dimension(values):
    from skopt.space import Categorical, Integer, Real

    if isinstance(values, list):
        return Categorical(values)
    kind, low, high = range_of(values)
    if kind == "integer":
        return Integer(low, high)
    return Real(low, high, prior="log-uniform" if kind == "log" else "uniform")


def optuna_search(make_sampler):
    """Return a function that asks and tells an Optuna study with the sampler for a seed."""

    def run(task, n, seed, scorer):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        model, space = task.make()
        X, y = task.rows()
        splits = task.splits(seed)
        start = time.perf_counter()
        study = optuna.create_study(direction="maximize", sampler=make_sampler(seed))
        means, fits = [], []
        for _ in range(n):
            trial = study.ask()
            candidate = clone(model).set_params(**suggest(trial, space))
            got = cross_validate(candidate, X, y, cv=splits, scoring=scorer)
            means.append(got["test_score"].mean())
            fits.append(got["fit_time"].sum() + got["score_time"].sum())
            study.tell(trial, means[-1])
        return start, np.array(means), np.array(fits)

    return run


def suggest(trial, space):
    """Return the parameters that a trial of Optuna proposes for a space of scikit-learn.

    Branches are a category, and the parameters of the one chosen are asked for after it.
    """
    if isinstance(space, dict):
        return {name: _suggest_one(trial, name, values) for name, values in space.items()}
    i = trial.suggest_categorical("branch", range(len(space)))
    return {name: _suggest_one(trial, f"{i}/{name}", v) for name, v in space[i].items()}


def _suggest_one(trial, name, values):
    if isinstance(values, list):  # of estimators too: Optuna stores numbers and strings only
        return clone(values[trial.suggest_categorical(name, range(len(values)))], safe=False)
    kind, low, high = range_of(values)
    if kind == "integer":
        return trial.suggest_int(name, low, high)
    return trial.suggest_float(name, low, high, log=kind == "log")


def _tpe(seed):
    from optuna.samplers import TPESampler

    return TPESampler(seed=seed)


def _gaussian_process(seed):
    from optuna.samplers import GPSampler

    return GPSampler(seed=seed)


SEARCHES = {
    "random": sklearn_search(_random),
    "silbo": sklearn_search(_silbo),
    "optuna-tpe": optuna_search(_tpe),
    "optuna-gp": optuna_search(_gaussian_process),
    "bayes-search-cv": sklearn_search(_bayes),
}

PACKAGES = {
    "random": "",
    "silbo": "",
    "optuna-tpe": "optuna",
    "optuna-gp": "torch",
    "bayes-search-cv": "scikit-optimize",
}


def measure_tuning(problem, method, repeat, searches=None):
    """Score of every candidate, and wall seconds between its fits and those before.

    `searches` are functions by name, `SEARCHES` if not given.

    Raises
    ------
    RuntimeError
        When another number of fits was made than asked for.
    """
    task, n = {**TASKS, **TABLES}[problem["task"]], problem["n"]
    scorer = StampedScorer(task.scoring)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the models say that they have not converged
        start, means, fits = (searches or SEARCHES)[method](task, n, repeat, scorer)
    if len(means) != n or len(scorer.stamps) != n * N_FOLDS:
        raise RuntimeError(
            f"{method} must make {n} candidates and {n * N_FOLDS} fits: got {len(means)} and "
            f"{len(scorer.stamps)}. Choose a task on which no candidate fails."
        )
    ends = np.array([start, *scorer.stamps[N_FOLDS - 1 :: N_FOLDS]])
    return {
        "scores": [float(f"{value:.6g}") for value in means],
        "overhead": [round(float(value), 4) for value in np.diff(ends) - fits],
    }
