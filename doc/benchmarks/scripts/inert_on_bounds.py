"""How many of the inputs that do not matter stand on a bound in the best point, ours and Optuna's.

``python doc/benchmarks/scripts/inert_on_bounds.py`` writes
``tables/inert.csv`` (``".[bench-torch]"``). The problems are README's example and the noisy
quadratic of `noisy_recommended` in 60 inputs; the point is the one with the lowest value.
"""

import csv
from functools import partial

import numpy as np
from checkout import TABLES, make_parser
from noisy_recommended import ACTIVE, quadratic, with_noise

from benchmarks.search.peers import import_quiet_optuna, new_study
from skbo_silbo import minimize

SEEDS = range(3)
NEAR = 1e-6  # of a bound, in units of the box [-1, 1]


def example(x):
    """README's."""
    return (x[0] - 0.3) ** 2 + (x[2] + 0.2) ** 2


PROBLEMS = {  # function, inputs, those that matter, deviation of the noise, evaluations
    "README's example, 28 of 30 inert": (example, 30, [0, 2], 0.0, 40),
    "noisy quadratic, 55 of 60 inert": (quadratic, 60, ACTIVE, 0.3, 60),
}


def ours(function, d, n, seed):
    """Return the best point of `minimize`."""
    return minimize(function, [(-1, 1)] * d, n_calls=n, random_state=seed).x


def optuna_gp(function, d, n, seed):
    """Return the best point of Optuna's GPSampler."""
    study = new_study(import_quiet_optuna().samplers.GPSampler(seed=seed))
    names = [f"x{j}" for j in range(d)]
    study.optimize(lambda t: function([t.suggest_float(name, -1, 1) for name in names]), n)
    return np.array([study.best_params[name] for name in names])


def main(*, only_ours):
    """Print and write a row for every problem and method."""
    path = TABLES / "inert.csv"
    stored = {tuple(row[:2]): row for row in csv.reader(path.open())} if only_ours else {}
    rows = [("problem", "method", "inert inputs on a bound, seeds 0 to 2", "value without noise")]
    for title, (function, d, active, sd, n) in PROBLEMS.items():
        for method, search in (("ours", ours), ("Optuna's GPSampler", optuna_gp)):
            if only_ours and search is not ours:
                rows.append(stored[title, method])
                continue
            counts, truths = [], []
            for seed in SEEDS:
                noisy = partial(with_noise, function, sd, np.random.default_rng(seed))
                x = search(noisy, d, n, seed)
                inert = np.delete(np.abs(x), active)
                counts.append(str(int((inert >= 1 - NEAR).sum())))
                truths.append(f"{function(x):.2g}")
            rows.append((title, method, ", ".join(counts), ", ".join(truths)))
            print(*rows[-1], flush=True)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--ours", action="store_true", help="keep the stored rows of Optuna")
    main(only_ours=parser.parse_args().ours)
