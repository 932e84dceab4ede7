"""Compare initial designs that start at the centre of the bounds with a plain Sobol sequence.

Functions of bbob with an odd number are moved so that their optimum is uniformly distributed in the
bounds (native), or hidden among many inputs or directions. Print by how much the designs differ in
the share of the gap between random search and the optimum that they close, in pairs of runs::

    python doc/benchmarks/scripts/centre_first.py native 5 5 50 4
    python doc/benchmarks/scripts/centre_first.py planted 100 40 100 1

The arguments are the kind, the inputs, the active inputs, the evaluations and the seeds.
"""

import numpy as np
from checkout import make_parser

from skbo_silbo import minimize, problems

N_CHANCE, REACH = 4000, 5.0


def make_function(kind, d, inputs, function, seed):
    """Return a function, its bounds and its minimum."""
    from benchmarks.search.bbob import bbob_problem

    made = bbob_problem(function, inputs, seed + 1)
    if kind != "native":
        made = getattr(problems, kind)(made, d, random_state=1000 * function + seed + 1)
        return made, made.bounds, made.optimum
    place = np.random.default_rng([function, d, seed]).uniform(-REACH, REACH, d)
    shift = made.optimisers[0] - place
    return lambda x: float(made.function(np.atleast_2d(x + shift))[0]), made.bounds, made.optimum


def share_closed(func, bounds, optimum, n, seed, design):
    """Return the share of the gap that n evaluations close."""
    X = np.random.default_rng(99).uniform(*bounds.T, (N_CHANCE, len(bounds)))
    chance = np.mean([min(map(func, X[i : i + n])) for i in range(0, N_CHANCE - n + 1, n)])
    found = minimize(func, bounds, n_calls=n, random_state=seed, design=design).fun
    return max(1.0 - (found - optimum) / (chance - optimum), -1.0)


def main(kind, d, inputs, n, n_seeds):
    """Print the difference of each pair, and their mean with an error over functions."""
    means = []
    for function in range(1, 25, 2):
        pairs = []
        for seed in range(n_seeds):
            made = make_function(kind, d, inputs, function, seed)
            with_centre, plain = (share_closed(*made, n, seed, x) for x in ("auto", "sobol"))
            pairs.append(with_centre - plain)
        print(f"f{function}:", *(f"{pair:.3f}" for pair in pairs), flush=True)
        means.append(np.mean(pairs))
    print(f"{np.mean(means):.3f} ± {np.std(means, ddof=1) / np.sqrt(len(means)):.3f}")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("kind", choices=["native", "planted", "rotated"])
    for name in ("d", "inputs", "n", "n_seeds"):
        parser.add_argument(name, type=int)
    main(**vars(parser.parse_args()))
