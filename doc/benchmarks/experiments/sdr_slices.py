"""How many slices SAVE and directional regression want.

``python doc/benchmarks/experiments/sdr_slices.py [sets]`` prints, for every cell, the mean squared
trace correlation with the truth on new rows, with 3, 4, 5 and 10 slices; the table is in
doc/benchmarks/sdr_levels.rst.
"""

import sys

import numpy as np

from skbo_silbo import DirectionalRegression, SlicedAverageVarianceEstimation

RESPONSES = {
    "x0^2": (lambda X: X[:, 0] ** 2, 1),
    "x0^2 + x1": (lambda X: X[:, 0] ** 2 + X[:, 1], 2),
    "cos(2 x0)": (lambda X: np.cos(2 * X[:, 0]), 1),
    "x0 (x0 + x1)": (lambda X: X[:, 0] * (X[:, 0] + X[:, 1]), 2),
}
SHAPES = ((200, 6), (400, 10))
SLICES = (3, 4, 5, 10)


def trace_correlation(Z, W):
    """Mean squared canonical correlation of scores Z and W."""
    Q, R = (np.linalg.qr(scores - scores.mean(axis=0))[0] for scores in (Z, W))
    return np.sum((Q.T @ R) ** 2) / W.shape[1]


def main(n_sets):
    """Print a line a cell and method."""
    for n, d in SHAPES:
        for name, (response, r) in RESPONSES.items():
            for method in (SlicedAverageVarianceEstimation, DirectionalRegression):
                found = np.zeros(len(SLICES))
                for seed in range(n_sets):
                    rng = np.random.default_rng(seed)
                    X, fresh = rng.normal(size=(n, d)), rng.normal(size=(2000, d))
                    y = response(X) + 0.3 * rng.normal(size=n)
                    found += [
                        trace_correlation(
                            method(r, n_slices=h).fit(X, y).transform(fresh), fresh[:, :r]
                        )
                        for h in SLICES
                    ]
                shown = " ".join(f"{value:.3f}" for value in found / n_sets)
                print(f"{n} x {d:<4}{name:14}{method.__name__:34}{shown}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
