"""Experiments `cited` and `unlabelled-process`: what Chen et al. (2020) cite, and leave to do.

`cited`: Binois et al. (2017) and the kernel extension of Zhang et al. (2019), each next to the
method that it extends, on the same seeds. `unlabelled-process`: the paper's future work, unlabelled
points for the hyperparameters of the process. These are chosen so that the process is certain at
the unlabelled points too (Jean, Xie and Ermon 2018, NeurIPS, with a weight of 1): n times the mean
variance there is added to minus the log posterior.
"""

import numpy as np
from scipy.optimize import approx_fprime
from scipy.stats import ttest_1samp

from benchmarks.engine import Experiment, Grid, Table, by_method
from benchmarks.experiments._all_methods import problems
from benchmarks.search.contestants import packages
from benchmarks.search.gap_report import error_of_mean
from benchmarks.search.problem_data import make_problem, problem_in_words
from benchmarks.search.search_report import incumbent_values
from benchmarks.search.search_run import measure_search
from skbo_silbo.decomposition import SemiSlicedInverseRegression
from skbo_silbo.surrogate import GaussianProcessSurrogate

from ._learnt_report import FEWEST_RUNS

PAIRS = {"rembo-zonotope": "rembo", "ksir-bo": "sir-bo"}
MEASURES = {"log density": 1.0, "root mean square": -1.0}
N_POINTS, N_HELD_OUT = 50, 500  # labelled, and as many unlabelled
SURE = 0.05  # level of a verdict, after Bonferroni's correction over the table
HEADER = ("problem", "method", "beside", "mean", "mean beside", "gain", "pairs", "verdict")
NOTE = (
    "*Gain*: mean difference over seeds ± one standard error; positive if the extension is "
    "better. *Verdict*: Student's t test at 5 %, with Bonferroni's correction over the table."
)

ABOUT_FEW = f"rows with fewer than {FEWEST_RUNS} runs are grey and support no claim."


def paired_table(title, comparisons, note, few=()):
    """Return the table of comparisons: (problem, method, other, values, others, sign) each.

    Those of the methods `few` are grey, without a verdict.
    """
    n_decided = sum(method not in few for _, method, *_ in comparisons)
    rows = []
    for problem, method, other, values, others, sign in comparisons:
        gains = sign * (np.array(values) - others)
        row = (
            *(problem, method, other, f"{np.mean(values):.4g}", f"{np.mean(others):.4g}"),
            f"{gains.mean():+.3g} ± {error_of_mean(gains):.2g}",
            str(gains.size),
        )
        if method in few:
            rows.append((*(f":grey:`{cell}`" for cell in row), ""))
            continue
        differ = float(ttest_1samp(gains, 0.0).pvalue) * n_decided < SURE
        rows.append((*row, ("better" if gains.mean() > 0 else "worse") if differ else "undecided"))
    return Table(title, HEADER, rows, note)


def cited_report(results):
    """Return each cited method beside its parent."""
    comparisons, runs = [], dict.fromkeys(PAIRS, 0)
    for key, methods in by_method(results).items():
        for method, other in PAIRS.items():
            ends = [_ends(methods.get(name, [])) for name in (method, other)]
            seeds = sorted(ends[0].keys() & ends[1].keys())
            runs[method] += 2 * len(seeds)
            if len(seeds) > 1:
                words = f"{problem_in_words(dict(key))}, {dict(key)['n']} evaluations"
                values = ([side[seed] for seed in seeds] for side in ends)
                comparisons.append((words, method, other, *values, -1.0))
    few = [method for method, count in runs.items() if count < FEWEST_RUNS]
    words = ", ".join(f"{count} of {method} and {PAIRS[method]}" for method, count in runs.items())
    note = f"Lower is better. {NOTE} Runs: {words}; {ABOUT_FEW}"
    title = "Extensions of baselines"
    return [".. role:: grey", paired_table(title, comparisons, note, few)]


def _ends(results):
    """Return {seed: lowest value at the end}."""
    return {r["repeat"]: float(incumbent_values([r])[0, -1]) for r in results}


CITED = Experiment(
    name="cited",
    methods=packages(dict.fromkeys(name for pair in PAIRS.items() for name in pair)),
    grids={
        "full": Grid(problems(100, 250), n_repeats=10),
        "tiny": Grid(
            ({"function": "branin", "kind": "embedded", "d": 5, "n": 60, "r": 2},),
            n_repeats=1,
            methods=("rembo-zonotope", "rembo"),
        ),
    },
    measure=measure_search,
    report=cited_report,
    cap_seconds=1800,
    about="methods that the SILBO paper cites, each beside what it is to improve",
)


class SureOfUnlabelled(GaussianProcessSurrogate):
    """The process whose hyperparameters make it sure of unlabelled points too.

    Parameters
    ----------
    Z_unlabeled : ndarray of shape (m, r)
    """

    def __init__(self, Z_unlabeled):
        super().__init__()
        self.Z_unlabeled = Z_unlabeled

    def _most_probable(self):
        labelled, self.observations_ = self.observations_, _Sure(self)
        theta = super()._most_probable()
        self.observations_ = labelled
        return theta


class _Sure:
    """Observations whose likelihood falls with the variance at unlabelled points."""

    def __init__(self, surrogate):
        self.labelled, self.Z_unlabeled = surrogate.observations_, surrogate.Z_unlabeled

    def spread(self, most):
        return self

    def log_likelihood(self, theta):
        value, gradient = self.labelled.log_likelihood(theta)
        n = len(self.labelled.y)
        by_theta = approx_fprime(theta, self._variance)
        return value - n * self._variance(theta), gradient - n * by_theta

    def _variance(self, theta):
        return float(self.labelled.condition(theta).predict(self.Z_unlabeled)[1].mean())


def measure_process(problem, method, repeat):
    """Learn an embedding and a process from 50 values; return how well it predicts others."""
    func, rng = make_problem(problem, repeat), np.random.default_rng(repeat)
    X, X_unlabeled = rng.uniform(-1.0, 1.0, (2, N_POINTS, problem["d"]))
    X_new = rng.uniform(-1.0, 1.0, (N_HELD_OUT, problem["d"]))
    y, y_new = func.evaluate_truth(X), func.evaluate_truth(X_new)
    mean, scale = y.mean(), y.std()
    learner = SemiSlicedInverseRegression(problem["r"], alpha=1.0, random_state=repeat)
    Z = learner.fit(X, y, X_unlabeled=X_unlabeled).transform(X)
    unit = np.abs(Z).max(axis=0)  # so that coordinates have the range that the prior expects
    Z, Z_unlabeled, Z_new = (learner.transform(A) / unit for A in (X, X_unlabeled, X_new))
    process = GaussianProcessSurrogate() if method == "labelled" else SureOfUnlabelled(Z_unlabeled)
    process.fit(Z, (y - mean) / scale)
    targets = (y_new - mean) / scale
    errors = process.predict(Z_new)[0] - targets
    return {
        "log density": float(process.log_predictive_density(Z_new, targets).mean()),
        "root mean square": float(np.sqrt(np.mean(errors**2))),
    }


def process_report(results):
    """Return what unlabelled points gain, by both measures."""
    comparisons = []
    for key, methods in by_method(results).items():
        sides = [{r["repeat"]: r for r in methods.get(m, [])} for m in PROCESSES]
        seeds = sorted(sides[0].keys() & sides[1].keys())
        for measure, sign in MEASURES.items() if len(seeds) > 1 else ():
            values = ([side[seed][measure] for seed in seeds] for side in sides)
            words = f"{problem_in_words(dict(key))}: {measure}"
            comparisons.append((words, *PROCESSES, *values, sign))
    note = (
        f"Predictions of {N_HELD_OUT} standardised held-out values by a Gaussian process on the "
        f"coordinates that semi-supervised sliced inverse regression learnt from {N_POINTS} "
        f"labelled and as many unlabelled points. {NOTE}"
    )
    return [paired_table("Unlabelled points for the hyperparameters", comparisons, note)]


PROCESSES = ("unlabelled", "labelled")
UNLABELLED_PROCESS = Experiment(
    name="unlabelled-process",
    methods=dict.fromkeys(PROCESSES, ""),
    grids={
        "full": Grid(problems(100, N_POINTS), n_repeats=20),
        "tiny": Grid(problems(8, N_POINTS)[:1], n_repeats=2),
    },
    measure=measure_process,
    report=process_report,
    about="the SILBO paper's future work: unlabelled points for the process's hyperparameters",
)
