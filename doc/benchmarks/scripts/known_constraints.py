"""Regret where the optimum is on a known constraint: 2 and 6 inputs, a row a seed.

python doc/benchmarks/scripts/known_constraints.py 10
"""

import numpy as np
from checkout import make_parser
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skbo_silbo import minimize


def disc_regret(seed):
    """The nearest point to the origin of a disc round (1, 1), 30 evaluations."""
    disc = NonlinearConstraint(lambda x: np.sum((x - 1) ** 2), -np.inf, 0.3)
    bounds = [(0, 1)] * 2
    result = minimize(
        lambda x: np.sum(x**2), bounds, constraints=disc, n_calls=30, random_state=seed
    )
    return result.fun - 2 * (1 - np.sqrt(0.15)) ** 2


def plane_regret(seed):
    """The nearest point to (.8, ..., .8) below a plane in six inputs, 40 evaluations."""
    plane = LinearConstraint(np.ones((1, 6)), -np.inf, 1.0)
    bounds = [(-1, 1)] * 6
    result = minimize(
        lambda x: np.sum((x - 0.8) ** 2), bounds, constraints=plane, n_calls=40, random_state=seed
    )
    return result.fun - 6 * (0.8 - 1 / 6) ** 2


def main(n_seeds):
    """Print regrets, and means and standard errors of their decimal logarithms."""
    rows = [(disc_regret(seed), plane_regret(seed)) for seed in range(n_seeds)]
    for row in rows:
        print("{:.2e} {:.2e}".format(*row))
    logs = np.log10(rows)
    error = logs.std(axis=0, ddof=1) / np.sqrt(len(rows))
    print("log10, disc and plane:", logs.mean(axis=0).round(2), "+-", error.round(2))


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("seeds", type=int, nargs="?", default=10)
    main(parser.parse_args().seeds)
