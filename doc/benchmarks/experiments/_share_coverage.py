"""Experiment `shares`: how often the interval of an input's share holds the true one.

A planted function is a sum of products of functions of one input, each of mean 0 and variance 1
where the input is uniform on [-1, 1]: ``f = sum_u c_u prod_{j in u} phi_j(x_j)``. Its terms are
uncorrelated, so that the total Sobol index of input j is ``sum_{u: j in u} c_u^2 / sum_u c_u^2``.

The width of the intervals was set on repeats 0 to 3 of the uniform problems; those reported come
after.
"""

from collections import defaultdict
from itertools import combinations

import numpy as np
from scipy.stats import sobol_indices, uniform

from benchmarks.engine import Experiment, Grid, Table
from skbo_silbo.optimizers import SILBO
from skbo_silbo.sensitivity import InputModel
from skbo_silbo.space import Box
from skbo_silbo.surrogate.warps import IdentityWarp

SHAPES = (
    lambda x: np.sqrt(3.0) * x,
    lambda x: np.sqrt(5.0) * (3.0 * x**2 - 1.0) / 2.0,
    lambda x: np.sqrt(2.0) * np.cos(np.pi * x),
    lambda x: np.sqrt(2.0) * np.sin(np.pi * x),
)
PAIR_SHARE = 0.3  # of the pairs of active inputs that have a term
CLAIMED = 0.9
N_TRUTH = 4096
REPORTED_FROM = 4  # repeat: the width of the intervals was set on those before


class PlantedSum:
    """A function of k of d inputs whose total indices are known.

    Parameters
    ----------
    d, k : int
    rng : numpy.random.Generator

    Attributes
    ----------
    total_indices : ndarray of shape (d,)
    """

    def __init__(self, d, k, rng):
        self._active = rng.permutation(d)[:k]
        self._shapes = rng.integers(len(SHAPES), size=k)
        pairs = [pair for pair in combinations(range(k), 2) if rng.random() < PAIR_SHARE]
        self._terms = [(j,) for j in range(k)] + pairs
        self._c = rng.uniform(0.2, 1.0, len(self._terms)) * rng.choice([-1, 1], len(self._terms))
        self._c[k:] *= 0.5
        self.total_indices = np.zeros(d)
        for c, term in zip(self._c, self._terms, strict=True):
            self.total_indices[self._active[list(term)]] += c**2 / np.sum(self._c**2)

    def __call__(self, X):
        """Return the values at the rows of X, (n, d)."""
        pairs = zip(self._active, self._shapes, strict=True)
        columns = [SHAPES[shape](X[:, j]) for j, shape in pairs]
        terms = [np.prod([columns[j] for j in term], axis=0) for term in self._terms]
        return self._c @ np.array(terms)

    @property
    def deviation(self):
        """Standard deviation over the cube."""
        return float(np.sqrt(np.sum(self._c**2)))


def measure_shares(problem, method, repeat):
    """Return truth, share and interval of every input, of a model of told values."""
    rng = np.random.default_rng([repeat, problem["d"], problem["n"]])
    planted = PlantedSum(problem["d"], problem["k"], rng)

    def evaluate(X):
        noise = problem["noise"] * planted.deviation * rng.standard_normal(len(X))
        return planted(X) + noise

    X, y = POINTS[method](evaluate, problem, rng)
    model = InputModel.fit(Box([(-1.0, 1.0)] * problem["d"]), X, y)
    shares = model.shares
    rows = np.column_stack([true_shares(planted, model), np.nan_to_num(shares.intervals, nan=-1.0)])
    return {
        "silent": not shares.is_informative,
        "held_out_r2": round(shares.held_out_r2, 3),
        "scale": shares.scale,
        "verdict": shares.verdict,
        "inputs": rows.round(4).tolist(),
    }


def true_shares(planted, model):
    """Return the total indices, (d,), on the scale that the model has chosen: exact if it is none.

    On another scale they are those of the planted function seen through the curve from the values
    told to the scaled ones.
    """
    if isinstance(model.warp, IdentityWarp):
        return planted.total_indices
    y, first = np.unique(model.y, return_index=True)
    scaled = model.warp(model.y)[first]
    found = sobol_indices(
        func=lambda x: np.interp(planted(x.T), y, scaled),
        n=N_TRUTH,
        dists=[uniform(-1.0, 2.0)] * planted.total_indices.size,
        random_state=np.random.default_rng(0),
    )
    return np.where(planted.total_indices > 0.0, found.total_order, 0.0)


def _uniform(evaluate, problem, rng):
    X = rng.uniform(-1.0, 1.0, (problem["n"], problem["d"]))
    return X, evaluate(X)


def _searched(evaluate, problem, rng):
    optimizer = SILBO([(-1.0, 1.0)] * problem["d"], random_state=int(rng.integers(2**31)))
    for _ in range(problem["n"]):
        x = optimizer.ask()
        optimizer.tell(x, evaluate(x[None])[0])
    return optimizer.x_iters_, optimizer.func_vals_


POINTS = {"uniform": _uniform, "search": _searched}


def report(results):
    """One table: how often the intervals hold the truth, by kind of problem."""
    done = [r for r in results if r["status"] == "ok"]
    groups = defaultdict(list)
    for r in done:
        groups[" ".join(f"{k}={v}" for k, v in r["problem"].items()), r["method"]].append(r)
    rows = [_row(problem, method, group) for (problem, method), group in groups.items()]
    rows.append(_row("all", "", done))
    return [
        Table(
            "Intervals of the inputs' shares",
            ("problem", "points", "runs", "silent", "active held", "idle held", "error", "width"),
            rows,
            "Held: how many true total Sobol indices lie in their 90 % interval, of the inputs "
            "that matter and of those that do not, where the model says anything. Error: mean "
            "distance of the share from the truth; width: mean length of the interval; both of "
            "the inputs that matter.",
        )
    ]


def _row(problem, method, results):
    speaking = [np.array(r["inputs"]) for r in results if not r["silent"]]
    rows = np.concatenate([np.empty((0, 4)), *speaking])
    active, idle = rows[rows[:, 0] > 0.0], rows[rows[:, 0] == 0.0]
    silent = len(results) - len(speaking)
    error = np.abs(active[:, 1] - active[:, 0])
    numbers = [f"{v.mean():.3f}" if len(v) else "" for v in (error, active[:, 3] - active[:, 2])]
    return (problem, method, str(len(results)), str(silent), _held(active), _held(idle), *numbers)


def _held(rows):
    held = (rows[:, 2] <= rows[:, 0]) & (rows[:, 0] <= rows[:, 3])
    return f"{held.sum()}/{len(rows)} ({held.mean():.2f})" if len(rows) else ""


def aims(results):
    """Return whether nine tenths of the true shares of inputs that matter are held."""
    speaking = [np.array(r["inputs"]) for r in results if r["status"] == "ok" and not r["silent"]]
    if not speaking:
        return []
    rows = np.concatenate(speaking)
    active = rows[rows[:, 0] > 0.0]
    held = np.mean((active[:, 2] <= active[:, 0]) & (active[:, 0] <= active[:, 3]))
    aim = "90 % intervals hold the true share of inputs that matter in 90 %"
    return [(aim, f"{held:.3f} of {len(active)}", bool(held >= CLAIMED))]


SHARES = Experiment(
    name="shares",
    methods={"uniform": "", "search": ""},
    grids={
        "full": (
            Grid(
                (
                    {"d": 6, "k": 2, "n": 40, "noise": 0.1},
                    {"d": 12, "k": 3, "n": 60, "noise": 0.3},
                    {"d": 12, "k": 5, "n": 120, "noise": 0.1},
                    {"d": 30, "k": 4, "n": 100, "noise": 0.1},
                ),
                n_repeats=4,
                first=REPORTED_FROM,
                methods=("uniform",),
            ),
            Grid(
                ({"d": 12, "k": 3, "n": 60, "noise": 0.0},),
                n_repeats=4,
                first=REPORTED_FROM,
                methods=("search",),
            ),
        ),
        "tiny": Grid(({"d": 4, "k": 2, "n": 30, "noise": 0.1},), n_repeats=1, methods=("uniform",)),
    },
    measure=measure_shares,
    report=report,
    aims=aims,
    cap_seconds=600,
    about="intervals of the shares that inputs have in the response: do they hold?",
)
