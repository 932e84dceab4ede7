"""Compare the default search with TPE and random search on functions of five to eight categories.

One category, two, or a pair of categories matter besides three numbers, and the last argument says
whether seven initial candidates share a bad level of every category. Print the distance from the
minimum after 50 evaluations, for each seed and as a mean::

    python doc/benchmarks/scripts/category_pairs.py pair silbo 8
    python doc/benchmarks/scripts/category_pairs.py pair optuna-tpe 8 --known
"""

import numpy as np
from checkout import make_parser
from scipy.stats import uniform

from skbo_silbo import Space, minimize

N_CALLS, N_NUMBERS = 50, 3


class Categories:
    """Sum of a table of one or two categories, small effects of all, and a bowl of the numbers.

    Parameters
    ----------
    kind : {"one", "two", "pair"}
    seed : int
    """

    def __init__(self, kind, seed):
        rng = np.random.default_rng([sum(map(ord, kind)), seed])
        sizes = rng.integers(2, 6, int(rng.integers(5, 9)))
        sizes[:2] = rng.integers(3, 6, 2)
        self.place = rng.uniform(0.1, 0.9, N_NUMBERS)
        best = [int(rng.integers(size)) for size in sizes]
        tables = [rng.uniform(0.3, 1.0, size) for size in sizes]
        for table, level in zip(tables, best, strict=True):
            table[level] = 0.0
        pair = rng.uniform(0.4, 1.0, sizes[:2])
        pair[best[0], best[1]] = 0.0
        rows, columns = tables[0][:, None], tables[1]
        zeros = np.zeros(sizes[:2])
        self.table = {"one": rows + zeros, "two": 0.7 * (rows + columns), "pair": pair}[kind]
        self.names = [f"c{i}" for i in rng.permutation(sizes.size)]
        self.small = [0.05 * rng.uniform(0, 1, size) for size in sizes]
        levels = {n: [f"l{v}" for v in range(s)] for n, s in zip(self.names, sizes, strict=True)}
        self.levels = dict(sorted(levels.items()))
        both = self.table + self.small[0][:, None] + self.small[1]
        self.minimum = both.min() + sum(effects.min() for effects in self.small[2:])
        wrong = zip(self.names, best, sizes, strict=True)
        wrong = {name: f"l{(level + 1) % size}" for name, level, size in wrong}
        rows = np.random.default_rng([5, seed]).uniform(0.1, 0.9, (7, N_NUMBERS))
        self.known = [{f"x{i}": float(v) for i, v in enumerate(row)} | wrong for row in rows]

    def __call__(self, point):
        """Return the value of a point, a dict."""
        levels = [int(point[name][1:]) for name in self.names]
        x = np.array([point[f"x{i}"] for i in range(N_NUMBERS)])
        effects = sum(s[level] for s, level in zip(self.small, levels, strict=True))
        return float(0.7 * np.sum((x - self.place) ** 2) + self.table[tuple(levels[:2])] + effects)


def lowest_value(func, method, known, seed):
    """Return the lowest value that a method finds."""
    numbers = [f"x{i}" for i in range(N_NUMBERS)]
    if method == "optuna-tpe":
        import optuna

        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        for point in known:
            study.enqueue_trial(point)
        study.optimize(
            lambda t: func(
                {name: t.suggest_float(name, 0, 1) for name in numbers}
                | {name: t.suggest_categorical(name, of) for name, of in func.levels.items()}
            ),
            N_CALLS,
        )
        return study.best_value
    space = Space({name: uniform(0, 1) for name in numbers} | func.levels)
    options = {"x0": known} if known else {}
    run = minimize(func, space, method=method, n_calls=N_CALLS, random_state=seed, **options)
    return run.fun


def main(kind, method, n_seeds, known):
    """Print the distances from the minimum."""
    gaps = []
    for seed in range(n_seeds):
        func = Categories(kind, seed)
        gaps.append(lowest_value(func, method, func.known if known else [], seed) - func.minimum)
        print(f"{gaps[-1]:.3f}", flush=True)
    print(f"{np.mean(gaps):.3f} ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.3f}")


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("kind", choices=["one", "two", "pair"])
    parser.add_argument("method", choices=["silbo", "random", "optuna-tpe"])
    parser.add_argument("n_seeds", type=int)
    parser.add_argument("--known", action="store_true")
    main(**vars(parser.parse_args()))
