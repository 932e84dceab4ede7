"""CPU seconds and memory of one fit to 100,000 and 1,000,000 samples of 50 features.

``python doc/benchmarks/scripts/large_fits.py`` prints a line per model and size, each from a
process of its own on one thread. Memory is the growth of the peak resident size during the fit.
"""

import os
import resource
import subprocess
import sys
import time

import numpy as np
from checkout import make_parser
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skbo_silbo import (
    RecursiveFeatureMachine,
    SDRClassifier,
    SDRRegressor,
    SlicedInverseRegression,
)

MODELS = {
    "SlicedInverseRegression": SlicedInverseRegression(),
    "shrinkage LDA": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "RecursiveFeatureMachine": RecursiveFeatureMachine(),
    "SDRRegressor": SDRRegressor(),
    "SDRClassifier": SDRClassifier(),
}
RUNS = [(name, 100_000) for name in MODELS] + [(name, 1_000_000) for name in list(MODELS)[:2]]


def fit(name, n):
    """Fit a model to simulated data, and print seconds and memory."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = np.sin(X[:, 0] + X[:, 1]) + X[:, 2] * X[:, 3] + 0.2 * rng.normal(size=n)
    if name in ("shrinkage LDA", "SDRClassifier"):
        y = np.digitize(y, [-1, 0, 1])
    before, start = peak(), time.process_time()
    MODELS[name].fit(X, y)
    print(f"{name}, {n} x 50: {time.process_time() - start:.2f} s, {peak() - before:.0f} MiB")


def peak():
    """Return the peak resident size of this process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("model", nargs="?", choices=MODELS, help="fit this model only")
    parser.add_argument("samples", nargs="?", type=int, default=100_000)
    args = parser.parse_args()
    if args.model:
        fit(args.model, args.samples)
    else:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        for name, n in RUNS:
            command = [sys.executable, __file__, name, str(n)]
            subprocess.run(command, env=os.environ | threads, check=True)
