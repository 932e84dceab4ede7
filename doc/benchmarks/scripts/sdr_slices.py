"""How many slices SAVE and directional regression want.

``python doc/benchmarks/scripts/sdr_slices.py [sets]`` prints, for every cell, the mean squared
trace correlation with the truth on new rows, with 3, 4, 5 and 10 slices; the table is in
doc/benchmarks/sdr_levels.rst. Models I to IV are those of Li and Wang (JASA 102, 2007, section 6).
"""

import numpy as np
from checkout import make_parser

from skbo_silbo import DirectionalRegression, SlicedAverageVarianceEstimation
from skbo_silbo.inspection import compare_subspaces

B1, B2 = np.array([[1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 1, 3]])  # of Li and Wang
RESPONSES = {  # response of scores and of noise of variance 1, and the directions
    "x0^2": (lambda u, e: u**2 + 0.3 * e, np.eye(6)[:1]),
    "x0^2 + x1": (lambda u, v, e: u**2 + v + 0.3 * e, np.eye(6)[:2]),
    "cos(2 x0)": (lambda u, e: np.cos(2 * u) + 0.3 * e, np.eye(6)[:1]),
    "x0 (x0 + x1)": (lambda u, v, e: u * (u + v) + 0.3 * e, np.eye(6)[:2]),
    "model I": (lambda u, v, e: 0.4 * u**2 + 3 * np.sin(v / 4) + 0.2 * e, (B1, B2)),
    "model II": (lambda u, v, e: 3 * np.sin(u / 4) + 3 * np.sin(v / 4) + 0.2 * e, (B1, B2)),
    "model III": (lambda u, v, e: 0.4 * u**2 + np.sqrt(np.abs(v)) + 0.2 * e, (B1, B2)),
    "model IV": (lambda u, v, e: 3 * np.sin(v / 4) + (1 + u**2) * 0.2 * e, (B1, B2)),
}
SHAPES = ((200, 6), (400, 10))
SLICES = (3, 4, 5, 10)


def main(n_sets):
    """Print a line a cell and method."""
    for n, d in SHAPES:
        for name, (response, directions) in RESPONSES.items():
            B = np.pad(directions, ((0, 0), (0, d - 6)))
            for method in (SlicedAverageVarianceEstimation, DirectionalRegression):
                found = np.zeros(len(SLICES))
                for seed in range(n_sets):
                    rng = np.random.default_rng(seed)
                    X, fresh = rng.normal(size=(n, d)), rng.normal(size=(2000, d))
                    y = response(*(X @ B.T).T, rng.normal(size=n))
                    found += [
                        compare_subspaces(
                            B, method(len(B), n_slices=h).fit(X, y).components_, fresh
                        ).trace_correlation
                        for h in SLICES
                    ]
                shown = " ".join(f"{value:.3f}" for value in found / n_sets)
                print(f"{n} x {d:<4}{name:14}{method.__name__:34}{shown}", flush=True)


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=40, help="data sets per cell")
    main(parser.parse_args().sets)
