"""What searches of noisy functions say of their recommended point and of the inputs.

``python doc/benchmarks/scripts/noisy_recommended.py`` prints, for each of three functions, in
how many of 20 runs the truth is over five deviations from what is said, in how many the values say
which inputs matter, and the mean true value at the recommended point (doc/search_log.rst).
"""

from functools import partial

import numpy as np
from checkout import make_parser

from skbo_silbo import minimize
from skbo_silbo.problems import hartmann6, planted

SEEDS = range(40, 60)
ACTIVE, WEIGHTS = [3, 11, 17, 22, 35], np.array([2.0, 1.6, 1.2, 1.0, 0.8])
BEST = np.array([0.3, -0.4, 0.2, -0.1, 0.5])


def two_squares(x):
    """Of 5 inputs."""
    return (x[0] - 0.3) ** 2 + (x[2] + 0.2) ** 2


def quadratic(x):
    """Of 5 among 40 inputs."""
    return float(WEIGHTS @ (np.asarray(x)[ACTIVE] - BEST) ** 2)


def with_noise(function, sd, rng, x):
    """Return a value with noise."""
    return function(x) + sd * rng.standard_normal()


def main():
    """Print a line a function."""
    for name, d, sd, n_calls in (("two squares", 5, 0.1, 40), ("quadratic", 40, 0.3, 60),
                                 ("hartmann6", 20, 0.2, 60)):  # fmt: skip
        off, says, truths = 0, 0, []
        for seed in SEEDS:
            function, bounds = {"two squares": two_squares}.get(name, quadratic), [(-1, 1)] * d
            if name == "hartmann6":
                problem = planted(hartmann6(), d, random_state=seed)
                function, bounds = problem.truth, problem.bounds
            noisy = partial(with_noise, function, sd, np.random.default_rng(seed))
            optimizer = minimize(noisy, bounds, n_calls=n_calls, random_state=seed).optimizer
            point, mean, std = optimizer.recommended_
            truths.append(function(point))
            off += abs(truths[-1] - mean) > 5 * std
            says += optimizer.subspace_.shares.is_informative
        print(f"{name:12} off {off:2}, says {says:2}, truth {np.mean(truths):.3f}", flush=True)


if __name__ == "__main__":
    make_parser(__doc__).parse_args()
    main()
