"""Published simulations of sliced inverse regression and of MAVE, made again.

``python doc/benchmarks/scripts/sdr_published.py [sets]`` writes the table of
doc/benchmarks/sdr_published.rst: means over the sets with their standard errors, beside the printed
values that were read. X is normal with ten independent columns.
"""

import csv
import warnings

import numpy as np
from checkout import TABLES, make_parser

from skbo_silbo import (
    MAVE,
    OuterProductGradients,
    PrincipalHessianDirections,
    SlicedInverseRegression,
)

TABLE = TABLES / "sdr_published.csv"
COLUMNS = ("model", "rows", "method", "measure", "direction", "ours", "error", "printed")
N_FEATURES = 10

# Li, JASA 86 (1991), section 6: the first two features, noise of deviation .5
LI = {
    "Li, rational": lambda u, v, e: u / (0.5 + (v + 1.5) ** 2) + 0.5 * e,
    "Li, quadratic": lambda u, v, e: u * (u + v + 1) + 0.5 * e,
}
SLICES = (5, 10, 20)

# tutorial on MAVE (Xia, Tong, Li and Zhu, JRSS B 64, 2002): b1 (b2)^2 + b3 b4 + .5 e
XIA = np.array(
    [
        [1, 2, 3, 4, 0, 0, 0, 0, 0, 0],
        [-2, 1, -4, 3, 1, 2, 0, 0, 0, 0],
        [0, 0, 0, 0, 2, -1, 2, 1, 2, 1],
        [0, 0, 0, 0, 0, 0, -1, -1, 1, 1],
    ]
)
# mean squared distance of each estimated direction from the span of the true ones, 200 sets:
# read in section 3.6 of the XploRe tutorial of sfb649.wiwi.hu-berlin.de/fedc_homepage/xplore
PRINTED = {
    ("pHd", 100): (0.2769, 0.2992, 0.4544, 0.5818),
    ("OPG", 100): (0.1524, 0.2438, 0.3444, 0.4886),
    ("rMAVE", 100): (0.1137, 0.1397, 0.1848, 0.3356),
    ("pHd", 200): (0.1684, 0.1892, 0.3917, 0.6006),
    ("OPG", 200): (0.0713, 0.1013, 0.1349, 0.2604),
    ("rMAVE", 200): (0.0469, 0.0464, 0.0437, 0.0609),
    ("pHd", 400): (0.0961, 0.1151, 0.3559, 0.6020),
    ("OPG", 400): (0.0286, 0.0388, 0.0448, 0.0565),
    ("rMAVE", 400): (0.0170, 0.0119, 0.0116, 0.0115),
}
OURS = {"pHd": PrincipalHessianDirections, "OPG": OuterProductGradients, "rMAVE": MAVE}


def within(components, B):
    """Share (r,) of the squared length of each component that is in the span of the rows of B."""
    units = components / np.linalg.norm(components, axis=1, keepdims=True)
    return np.sum((units @ np.linalg.qr(B.T)[0]) ** 2, axis=1)


def of_li(name, n_slices, seed):
    """R^2 of both directions: the squared correlation with the nearest true score."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, N_FEATURES))
    y = LI[name](X[:, 0], X[:, 1], rng.normal(size=400))
    sir = SlicedInverseRegression(2, n_slices=n_slices, ridge=0).fit(X, y)
    return within(sir.components_, np.eye(N_FEATURES)[:2])


def of_xia(method, n, seed):
    """Squared distance of the four directions from the true space."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    one, two, three, four = (X @ (XIA.T / np.linalg.norm(XIA, axis=1))).T
    y = one * two**2 + three * four + 0.5 * rng.normal(size=n)
    return 1 - within(OURS[method](4).fit(X, y).components_, XIA)


def cells():
    """Yield what leads a row, a function of the seed, and the printed values."""
    for name in LI:
        for n_slices in SLICES:
            lead = name, 400, f"SIR, {n_slices} slices", "R^2"
            yield lead, lambda seed, cell=(name, n_slices): of_li(*cell, seed), None
    for (method, n), printed in PRINTED.items():
        lead = "MAVE tutorial", n, method, "distance"
        yield lead, lambda seed, cell=(method, n): of_xia(*cell, seed), printed


def main(n_sets):
    """Write the table."""
    warnings.simplefilter("ignore")
    with TABLE.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        for lead, draw, printed in cells():
            values = np.array([draw(seed) for seed in range(n_sets)])
            errors = values.std(axis=0, ddof=1) / np.sqrt(n_sets)
            for k, (mean, error) in enumerate(zip(values.mean(axis=0), errors, strict=True)):
                shown = "" if printed is None else f"{printed[k]:.4f}"
                lines.writerow([*lead, k + 1, f"{mean:.4f}", f"{error:.4f}", shown])
            file.flush()


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("sets", type=int, nargs="?", default=400, help="data sets per cell")
    main(parser.parse_args().sets)
