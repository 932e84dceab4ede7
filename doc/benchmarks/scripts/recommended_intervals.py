"""Do the intervals of recommended points and of predictions hold the truth, with and without noise?

``python doc/benchmarks/scripts/recommended_intervals.py`` runs searches with default settings
on planted problems, appends their lines to ``recommended-intervals.jsonl``, beside this file, and
prints a table. Runs in the file are not repeated. None of these functions was looked at when the
method was chosen: that was done on a quadratic, a Gaussian valley and the functions of Branin,
Levy, Ackley, Rosenbrock and Friedman, and on one of two oblique directions.

Every function takes four active inputs and has unit deviation over random points. A "mixed" space
has named inputs: two of the active ones are integers, and a category shifts a third and the value.
"""

import json
from collections import Counter
from itertools import product

import numpy as np
from checkout import RESULTS, make_parser

from skbo_silbo import Space, minimize
from skbo_silbo.optimizers.predictions import in_units_of_values
from skbo_silbo.problems import hartmann6

DATA = RESULTS / "recommended-intervals.jsonl"
DIMENSIONS, NOISE, SEED = (4, 10, 30, 60), (0.0, 0.05, 0.2, 0.5), 1
N_CALLS, SHARES = [45, 60, 100, 150], [0.35, 0.35, 0.2, 0.1]  # and the shares of the runs
FIRST = 30  # evaluations after which a run is looked at the first time
N_POINTS = 200  # drawn over the space, to predict at
KEPT = ("mode_error", "mode_std", "error", "std", "within_3")
BEST = np.array([0.3, -0.4, 0.2, -0.1])
SHIFTS = {"a": 0.0, "b": 0.4, "c": -0.3}  # by level of the category


def styblinski(u):
    """Sixteen valleys."""
    v = 5 * u
    return (v**4 - 16 * v**2 + 5 * v).sum(-1) / 2


def griewank(u):
    """Ripples on a bowl."""
    v = 4 * (u - BEST)
    return (v**2).sum(-1) / 20 - np.cos(v / np.sqrt(np.arange(1, 5))).prod(-1)


def park(u):
    """Steep at a bound (Cox, Park and Singer 2001)."""
    a, b, c, d = np.moveaxis(0.505 + 0.495 * u, -1, 0)
    return a / 2 * (np.sqrt(1 + (b + c**2) * d / a**2) - 1) + (a + 3 * d) * np.exp(1 + np.sin(c))


def currin(u):
    """Of two inputs, steep in a corner (Currin et al. 1991)."""
    a, b = (u[..., 0] + 1) / 2, (u[..., 1] + 1) / 2
    ratio = (2300 * a**3 + 1900 * a**2 + 2092 * a + 60) / (100 * a**3 + 500 * a**2 + 4 * a + 20)
    return -(1 - np.exp(-0.5 / np.maximum(b, 1e-3))) * ratio


def hartmann4(u):
    """Four local optima: Hartmann's function of six inputs with two of them at the optimum."""
    fixed = np.broadcast_to([0.311652, 0.6573], (*u.shape[:-1], 2))
    x = np.concatenate([(u + 1) / 2, fixed], axis=-1)
    return HARTMANN.function(x.reshape(-1, 6)).reshape(u.shape[:-1])


HARTMANN = hartmann6()
FUNCTIONS = (styblinski, griewank, park, currin, hartmann4)


class Planted:
    """A function of four inputs among d, in a box or in a mixed space."""

    def __init__(self, function, d, *, mixed):
        rng = np.random.default_rng([SEED, d, mixed, FUNCTIONS.index(function)])
        self.function, self.mixed, n_floats = function, mixed, d - 3 if mixed else d
        several = n_floats > 1
        self.active = rng.choice(n_floats, 2 if mixed else 4, replace=False) if several else [0, 0]
        self.signs = rng.choice([-1, 1], 4)
        floats = {f"x{i}": (-1.0, 1.0) for i in range(n_floats)}
        others = {"i": (1, 8), "j": (0, 20), "kind": list(SHIFTS)}
        self.space = Space(floats | others) if mixed else [(-1.0, 1.0)] * d
        U = rng.uniform(-1, 1, (20000, 4))
        if mixed:
            U[:, 2] = rng.integers(1, 9, 20000) * 2 / 7 - 9 / 7
            U[:, 3] = rng.integers(0, 21, 20000) / 10 - 1
        values = function(U * self.signs)
        self.centre, self.scale = values.mean(), values.std()

    def __call__(self, x):
        """Return the value without noise."""
        if not self.mixed:
            return self._scaled(np.asarray(x)[self.active])
        floats = [x[f"x{k}"] for k in self.active]
        u = np.array([*floats, x["i"] * 2 / 7 - 9 / 7, x["j"] / 10 - 1])
        shift = SHIFTS[x["kind"]]
        u[0] = np.clip(u[0] + shift / 2, -1, 1)
        return self._scaled(u) + shift

    def _scaled(self, u):
        return float((self.function(u * self.signs) - self.centre) / self.scale)


def cells():
    """Return the runs in an order drawn once: function, d, mixed, noise, number of calls."""
    crossed = list(product(FUNCTIONS, DIMENSIONS, (False, True), NOISE))
    rng = np.random.default_rng(0)
    order, calls = rng.permutation(len(crossed)), rng.choice(N_CALLS, len(crossed), p=SHARES)
    return [(*crossed[k], int(calls[k])) for k in order]


def measured(optimizer, truth):
    """Return errors and deviations: reported, of the search's own model, and at other points."""
    point, mean, std = optimizer.recommended_
    old_mean, old_std = at_the_mode(optimizer)
    space, rng = optimizer.space_, np.random.default_rng(0)
    points = space.decode(space.round(rng.uniform(-1, 1, (N_POINTS, space.n_features_))))
    prediction = optimizer.predict(points)
    z = (prediction.mean - [truth(x) for x in points]) / prediction.std
    return {
        "error": mean - truth(point), "std": std,
        "mode_error": old_mean - truth(point), "mode_std": old_std,
        "within_3": np.mean(np.abs(z) < 3), "predicted_std": np.median(prediction.std),
    }  # fmt: skip


def at_the_mode(optimizer):
    """Return mean and deviation by the most probable hyperparameters, which the search uses."""
    model, y = optimizer._current_model("recommended_"), optimizer._labelled().y
    Z, _ = optimizer._coordinates(model.embedding, model.ranked, model.ranked)
    mean, std = model.surrogate.predict(Z)
    i = np.argmin(mean)
    return map(float, in_units_of_values(model, mean[i], std[i], y))


def run(function, d, mixed, noise, n_calls, look=measured):
    """Return a line for each number of evaluations at which a run is looked at."""
    truth, lines = Planted(function, d, mixed=mixed), []
    rng = np.random.default_rng([SEED, d, mixed, FUNCTIONS.index(function), int(100 * noise)])
    cell = {"function": function.__name__, "d": d, "mixed": mixed, "noise": noise}

    def callback(result):
        if result.n_evaluations in (FIRST, n_calls):
            lines.append(cell | {"n": result.n_evaluations} | look(result.optimizer, truth))

    minimize(lambda x: truth(x) + noise * rng.standard_normal(), truth.space, n_calls=n_calls,
             random_state=SEED, callback=callback)  # fmt: skip
    return lines


def show(lines):
    """Print, by noise and space, the share of |z| < 3, and the median width and error.

    Of the search's own model first, then as reported; and the share of |z| < 3 over the space.
    """
    print("noise mixed  n   |z|<3        median std     median error   over the space")
    for noise, mixed in product(NOISE, (False, True)):
        rows = [row for row in lines if (row["noise"], row["mixed"]) == (noise, mixed)]
        if not rows:
            continue
        a = {name: np.array([row[name] for row in rows], float) for name in KEPT}
        cells = []
        for error, std in (KEPT[:2], KEPT[2:4]):
            size = np.abs(a[error])
            held, width = np.mean(size < 3 * a[std]), np.median(a[std])
            cells.append((f"{held:.2f}", f"{width:.4f}", f"{np.median(size):.4f}"))
        pairs = ["  ".join(pair) for pair in zip(*cells, strict=True)]
        print(
            f"{noise:<5} {mixed!s:5} {len(rows):2}",
            *pairs,
            f"{a['within_3'].mean():.2f}",
            sep="   ",
        )


def main():
    """Run what is not in the file yet, and print the table."""
    lines = [json.loads(line) for line in DATA.open()] if DATA.exists() else []
    done = Counter(tuple(row[k] for k in ("function", "d", "mixed", "noise")) for row in lines)
    for function, *cell in cells():
        if done[function.__name__, *cell[:3]] < 2:  # a line for each of two sizes
            lines += (new := run(function, *cell))
            with DATA.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in new)
    show(lines)


if __name__ == "__main__":
    make_parser(__doc__).parse_args()
    main()
