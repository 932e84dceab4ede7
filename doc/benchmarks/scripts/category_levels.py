"""Ways to keep trying the levels of categories, on planted mixed problems.

``python doc/benchmarks/scripts/category_levels.py FILE`` appends a JSON line
per problem and remedy to FILE, with the regret after 30 and 60 evaluations, and prints for each
remedy the mean gain over the first one, with its standard error over problems.

A problem hides one of six functions of few real inputs, in units of its standard deviation over the
box. Levels of a category move its minimum and add up to one deviation, add only, or do nothing, in
turns. The minimum is 0.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from checkout import make_parser
from scipy.linalg import solve_triangular
from scipy.stats import uniform

from skbo_silbo import SILBO, Space
from skbo_silbo._numerics.matern import DistancesTo, matern52
from skbo_silbo.acquisition import Climb, Found, ParzenTurns
from skbo_silbo.optimizers import _embedded
from skbo_silbo.space.categories import with_least_tried_levels
from skbo_silbo.surrogate import GaussianProcessSurrogate

N_CALLS = 60
# real inputs, those of them that matter, categories, levels of each
KINDS = {"20 reals, 3 categories": (20, 5, 3, 4), "3 reals, 6 categories": (3, 3, 6, 4)}
KINDS["60 reals, 1 category"] = (60, 5, 1, 3)


def sphere(U):
    return (U**2).sum(axis=1)


def ellipsoid(U):
    return (U**2 * 10.0 ** np.linspace(0.0, 2.0, U.shape[1])).sum(axis=1)


def rosenbrock(U):
    V = 1.0 + U
    return (30.0 * (V[:, 1:] - V[:, :-1] ** 2) ** 2 + (1.0 - V[:, :-1]) ** 2).sum(axis=1)


def levy(U):
    W = 1.0 + 2.5 * U
    first, last = np.sin(np.pi * W[:, 0]) ** 2, (W[:, -1] - 1.0) ** 2
    inner = (W[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * W[:, :-1] + 1.0) ** 2)
    return first + inner.sum(axis=1) + last * (1.0 + np.sin(2.0 * np.pi * W[:, -1]) ** 2)


def ackley(U):
    V = 5.0 * U
    wide = -20.0 * np.exp(-0.2 * np.sqrt((V**2).mean(axis=1)))
    return wide - np.exp(np.cos(2.0 * np.pi * V).mean(axis=1)) + 20.0 + np.e


def wells(U):
    return (4.0 * U**2 * (1.0 + 0.5 * np.sin(6.0 * U))).sum(axis=1) ** 0.7


FUNCTIONS = (sphere, ellipsoid, rosenbrock, levy, ackley, wells)


class Mixed:
    """One planted problem, to be called with a point."""

    def __init__(self, function, n_reals, n_active, n_categories, n_levels, instance):
        key = [instance, FUNCTIONS.index(function), n_reals, n_categories, 77]
        rng = np.random.default_rng(key)
        self.function = function
        self.active = rng.choice(n_reals, n_active, replace=False)
        self.centre = rng.uniform(-0.6, 0.6, n_active)
        self.deviation = function(rng.uniform(-1.4, 1.4, (2000, n_active))).std()
        self.moves = np.zeros((n_categories, n_levels, n_active))
        self.adds = np.zeros((n_categories, n_levels))
        for c in range(n_categories):
            if n_categories == 1 or c % 3 == 0:
                self.moves[c] = rng.normal(0.0, 0.25, (n_levels, n_active))
                self.adds[c] = rng.permutation(np.linspace(0.0, 0.6, n_levels))
            elif c % 3 == 1:
                adds = rng.permutation(np.linspace(0.0, 1.0, n_levels))
                self.adds[c] = adds * rng.uniform(0.5, 1.2)
        self.moves -= self.moves[np.arange(n_categories), self.adds.argmin(axis=1)][:, None]
        self.reals = [f"x{j:02d}" for j in range(n_reals)]
        self.categories = [f"c{j}" for j in range(n_categories)]
        levels = {c: [f"l{v}" for v in rng.permutation(n_levels)] for c in self.categories}
        self.space = Space({name: uniform(-1.0, 2.0) for name in self.reals} | levels)

    def __call__(self, point):
        levels = [int(point[name][1:]) for name in self.categories]
        rows = np.arange(len(levels)), levels
        u = np.array([point[name] for name in self.reals])[self.active] - self.centre
        value = self.function((u - self.moves[rows].sum(axis=0))[None])[0]
        return float(value / self.deviation + self.adds[rows].sum())


MOST_LOSS = 0.5  # of the acquisition in nats, for a level that was tried less often


@dataclass(frozen=True)
class LeastTried(Climb):
    """A climb whose best candidate takes the least-tried levels among near-ties."""

    def find(self, surface, ranked, space, rng):
        found = super().find(surface, ranked, space, rng)
        x = found.X[0]
        least = surface.values(x[None])[0] - MOST_LOSS
        for category in space.categories():
            X = category.at_every_level(x)
            values = surface.values(X)
            counts = np.where(values >= least, category.counts(ranked), np.inf)
            fewest = np.flatnonzero(counts == counts.min())
            x = X[fewest[values[fewest].argmax()]]
        return with_first(surface, x, found)


@dataclass(frozen=True)
class LevelsDrawn(Climb):
    """A climb whose best candidate takes the lowest level of a draw from the posterior."""

    def find(self, surface, ranked, space, rng):
        found = super().find(surface, ranked, space, rng)
        x, process = found.X[0], surface.surrogate.posterior_
        for category in space.categories():
            X = category.at_every_level(x)
            mean, _ = process.predict(X)
            prior, _ = matern52(DistancesTo(X, process.weights)(X), derivative=False)
            cross, _ = matern52(process.distances(X), derivative=False)
            half = solve_triangular(process.cholesky, cross.T, lower=True)
            spread, axes = np.linalg.eigh(process.signal_variance * (prior - half.T @ half))
            noise = np.sqrt(np.maximum(spread, 0.0)) * rng.standard_normal(len(spread))
            x = X[(mean + axes @ noise).argmin()]
        return with_first(surface, x, found)


def with_first(surface, x, found):
    X = np.vstack([x[None], found.X])
    return Found(surface.embedding.project(X), X)


OWN_LENGTHS = GaussianProcessSurrogate(prior="sparse")
# name -> whether the design covers the levels, and options of SILBO
REMEDIES: dict[str, tuple[bool, dict[str, Any]]] = {
    "none": (False, {"surrogate": OWN_LENGTHS}),
    "covering design": (True, {"surrogate": OWN_LENGTHS}),
    "and least-tried levels": (
        True,
        {"surrogate": OWN_LENGTHS, "search": ParzenTurns(LeastTried())},
    ),
    "and draws from the posterior": (
        True,
        {"surrogate": OWN_LENGTHS, "search": ParzenTurns(LevelsDrawn())},
    ),
    "and one length scale per category": (True, {}),
}


def run(problem, remedy, seed):
    """Return the lowest value after each evaluation, (N_CALLS,)."""
    covers, options = REMEDIES[remedy]
    cover = with_least_tried_levels if covers else lambda x, *_: x
    optimizer, values = SILBO(problem.space, random_state=seed, **options), []
    with patch.object(_embedded, "with_least_tried_levels", cover):
        for _ in range(N_CALLS):
            point = optimizer.ask()
            values.append(problem(point))
            optimizer.tell(point, values[-1])
    return np.minimum.accumulate(values)


def problems() -> Iterator[tuple[str, Mixed]]:
    """Yield names and problems."""
    for kind, sizes in KINDS.items():
        for function in FUNCTIONS:
            for instance in range(1 if kind == "60 reals, 1 category" else 2):
                name = f"{kind}: {function.__name__} {instance}"
                yield name, Mixed(function, *sizes, instance)


def main(path):
    """Run all remedies on all problems, and print what each gains."""
    gains: dict[str, list[tuple[float, float]]] = {}
    for name, problem in problems():
        found = {remedy: run(problem, remedy, 0)[[29, 59]] for remedy in REMEDIES}
        with open(path, "a", encoding="utf-8") as file:
            for remedy, best in found.items():
                row = {"problem": name, "remedy": remedy, "regret": best.tolist()}
                file.write(json.dumps(row) + "\n")
                gains.setdefault(remedy, []).append(tuple(found["none"] - best))
    for remedy, pairs in gains.items():
        mean, error = np.mean(pairs, axis=0), np.std(pairs, axis=0, ddof=1) / len(pairs) ** 0.5
        words = (f"{m:+.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True))
        print(f"{remedy:36}", *words)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("file", help="results, appended to")
    main(parser.parse_args().file)
