"""Methods of dimension reduction beside those of R and of statsmodels, on the same rows.

``python doc/benchmarks/scripts/sdr_peers.py`` prints, for every truth and program, the mean
squared trace correlation with the true directions over 20 sets, its standard error, and the median
CPU time of a fit in milliseconds. R's ``dr`` and ``MAVE`` are left out where Rscript does not find
them; their library is given as an argument. The figures are on doc/sdr_in_python.rst.
"""

import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from checkout import make_parser
from statsmodels.regression.dimred import PrincipalHessianDirections as PeerHessian
from statsmodels.regression.dimred import SlicedAverageVarianceEstimation as PeerSAVE
from statsmodels.regression.dimred import SlicedInverseReg

from skbo_silbo import (
    MAVE,
    OuterProductGradients,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)

N_SETS, N_ROWS, N_FEATURES = 20, 400, 8
R_CODE = """
for (p in .libPaths()) if (file.exists("LIBRARY")) .libPaths(c("LIBRARY", p))
d <- read.csv("FOLDER/rows.csv")
ours <- function(expr) {t <- system.time(for (k in 1:3) b <- expr())[["user.self"]] / 3
  write.table(t(cbind(t, t(b))), sep=",", row.names=FALSE, col.names=FALSE)}
ours(function() METHOD)
"""
SIR_R = 'dr::dr(y ~ ., data=d, method="sir", nslices=10)$evectors[, 1]'
SAVE_R = 'dr::dr(y ~ ., data=d, method="save", nslices=4)$evectors[, 1]'
PHD_R = 'dr::dr(y ~ ., data=d, method="phdres")$evectors[, 1]'
MAVE_R = 'MAVE::mave(y ~ ., data=d, method="meanmave", max.dim=1)$dir[[1]]'
OPG_R = 'MAVE::mave(y ~ ., data=d, method="meanopg", max.dim=1)$dir[[1]]'
TRUTHS = {
    "exp(z)": (
        np.exp,
        {
            "SIR here": lambda X, y: SlicedInverseRegression(1, ridge=0).fit(X, y).components_[0],
            "SIR statsmodels": lambda X, y: SlicedInverseReg(y, X).fit(slice_n=40).params[:, 0],
            "SIR dr": SIR_R,
        },
    ),
    "z^2": (
        np.square,
        {
            "SAVE here": lambda X, y: SlicedAverageVarianceEstimation(1).fit(X, y).components_[0],
            "SAVE statsmodels": lambda X, y: PeerSAVE(y, X).fit(slice_n=100).params[:, 0],
            "SAVE dr": SAVE_R,
            "pHd here": lambda X, y: PrincipalHessianDirections(1).fit(X, y).components_[0],
            "pHd statsmodels": lambda X, y: PeerHessian(y, X).fit(resid=True).params[:, 0],
            "pHd dr": PHD_R,
        },
    ),
    "sin(2 z)": (
        lambda z: np.sin(2 * z),
        {
            "MAVE here": lambda X, y: MAVE(1).fit(X, y).components_[0],
            "MAVE MAVE": MAVE_R,
            "OPG here": lambda X, y: OuterProductGradients(1).fit(X, y).components_[0],
            "OPG MAVE": OPG_R,
        },
    ),
}


def draw(response, seed):
    """Rows with correlated columns, a response along two of them with noise, the direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, 1] += 0.5 * X[:, 0]
    b = np.zeros(N_FEATURES)
    b[:2] = 1 / (X[:, 0] + X[:, 1]).std(), 1 / (X[:, 0] + X[:, 1]).std()
    y = response(X @ b)
    return X, y + 0.2 * y.std() * rng.normal(size=N_ROWS), b


def by_r(method, X, y, library):
    """Direction and seconds of a method of R; None where R does not know it."""
    with tempfile.TemporaryDirectory() as folder:
        head = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
        np.savetxt(Path(folder, "rows.csv"), np.column_stack([X, y]), "%.17g", ",", header=head,
                   comments="")  # fmt: skip
        code = R_CODE.replace("LIBRARY", library).replace("FOLDER", folder)
        code = code.replace("METHOD", method)
        command = ["Rscript", "-e", code]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return None
    seconds, *direction = map(float, run.stdout.replace(",", "\n").split())
    return np.array(direction), seconds


def timed(method, X, y):
    """Direction and CPU seconds."""
    start = time.process_time()
    direction = method(X, y)
    return direction, time.process_time() - start


def main(library):
    """Print a line a truth and program."""
    warnings.simplefilter("ignore")
    for truth, (response, programs) in TRUTHS.items():
        for name, method in programs.items():
            shares, seconds = [], []
            for seed in range(N_SETS):
                X, y, b = draw(response, seed)
                found = (
                    by_r(method, X, y, library) if isinstance(method, str) else timed(method, X, y)
                )
                if found is None:
                    break
                Z = (X - X.mean(axis=0)) @ np.column_stack([found[0], b])
                shares.append(np.corrcoef(Z.T)[0, 1] ** 2)
                seconds.append(found[1])
            if shares:
                error = np.std(shares, ddof=1) / np.sqrt(len(shares))
                print(f"{truth:10}{name:18}{np.mean(shares):.4f} ({error:.4f})"
                      f"{1e3 * np.median(seconds):9.1f} ms", flush=True)  # fmt: skip


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("library", nargs="?", default="", help="folder of R packages")
    main(parser.parse_args().library)
