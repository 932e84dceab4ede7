"""Levels of the tests of dimension reduction off the normal.

``python doc/benchmarks/experiments/sdr_levels.py [sets]`` prints, for every cell, the share of sets
in which a true hypothesis is rejected at level .05, with its 99.9 % interval; the tables are in
doc/benchmarks/sdr_levels.rst.
"""

import sys
import warnings

import numpy as np
from scipy import stats

from skbo_silbo import (
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skbo_silbo.inspection import coordinate_test

LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "t5": lambda rng, shape: rng.standard_t(5, size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
    "Poisson": lambda rng, shape: rng.poisson(1.0, size=shape).astype(float),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
}
CONTINUOUS = ("normal", "exponential", "t5", "lognormal", "t3")


def linear(law, seed, n, d, uneven):
    """Rows and a response linear in the first; `uneven` lets its noise grow with it."""
    rng = np.random.default_rng(seed)
    X, noise = LAWS[law](rng, (n, d)), rng.normal(size=n)
    return X, X[:, 0] + noise * np.exp(0.5 * np.clip(X[:, 0], -3, 3) * uneven)


def hessian(law, seed, n, d, uneven):
    """P-values that no direction bends, of which there is none."""
    phd = PrincipalHessianDirections().fit(*linear(law, seed, n, d, uneven))
    tests = phd.dimension_tests_
    return {
        "wild bootstrap": phd.bootstrap_tests_["p_value"][0],
        "general": tests["p_value"][0],
        "normal": tests["p_value_normal"][0],
    }


def variances(law, seed, n, d, n_slices):
    """P-values that y does not move the variance of X, where it is noise."""
    rng = np.random.default_rng(seed)
    X, y = LAWS[law](rng, (n, d)), rng.normal(size=n)
    save = SlicedAverageVarianceEstimation(n_slices=n_slices).fit(X, y)
    return {
        "permutation": save.permutation_tests_["p_value"][0],
        "general": save.dimension_tests_["p_value"][0],
        "normal": save.dimension_tests_["p_value_normal"][0],
    }


def coordinates(law, seed, n, d):
    """P-values that the last feature is needed, which it is not."""
    X, y = linear(law, seed, n, d, 0)
    return {kind: coordinate_test(X, y, [d - 1], variance=kind).p_value
            for kind in ("general", "constant")}  # fmt: skip


def linearity(law, seed, n, d):
    """Whether more than the one direction is found (p 0), and whether that is without a word."""
    rng = np.random.default_rng(seed)
    X = LAWS[law](rng, (n, d))
    y = X @ np.r_[1, -0.7, 0.5, 0.3, np.zeros(d - 4)]
    y += 0.1 * y.std() * rng.normal(size=n)
    found = {}
    for name, reweight in (("plain", None), ("reweighted", "elliptical")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sir = SlicedInverseRegression(ridge=0, reweight=reweight).fit(X, y)
        warned = any("linearity condition" in str(warning.message) for warning in caught)
        found[f"{name}: more than one"] = float(sir.n_components_ <= 1)
        found[f"{name}: and no warning"] = float(sir.n_components_ <= 1 or warned)
    return found


CELLS = [
    *((coordinates, law, (100, 8)) for law in CONTINUOUS),
    *((linearity, law, (150, 8)) for law in LAWS),
    *((hessian, law, (100, 5, uneven)) for uneven in (0, 1) for law in CONTINUOUS),
    *((variances, law, (100, 5, 4)) for law in CONTINUOUS),
]


def main(n_sets):
    """Print a line a cell and test."""
    warnings.simplefilter("ignore")
    for measure, law, cell in CELLS:
        p_values = [measure(law, seed, *cell) for seed in range(n_sets)]
        for name in p_values[0]:
            rejected = sum(row[name] <= 0.05 for row in p_values)
            low, high = stats.binomtest(rejected, n_sets).proportion_ci(0.999)
            shape = " x ".join(map(str, cell))
            print(f"{measure.__name__:12}{shape:14}{law:12}{name:26}"
                  f"{rejected / n_sets:.3f} [{low:.3f}, {high:.3f}]", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
