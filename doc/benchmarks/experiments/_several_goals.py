"""Experiment `goals`: what goals dominate after few evaluations, beside random search."""

import numpy as np

from benchmarks.engine import Experiment, Grid, Table, by_method, spread
from skbo_silbo.model_selection._goals import ParEGO

N_PLACES = 50_000  # that count what is dominated


def branin_currin(x):
    """Two goals of two inputs (Belakaria, Deshwal and Doppa 2019)."""
    a, b = 15.0 * x[0] - 5.0, 15.0 * x[1]
    branin = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    branin += 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    above = 2300 * x[0] ** 3 + 1900 * x[0] ** 2 + 2092 * x[0] + 60
    below = 100 * x[0] ** 3 + 500 * x[0] ** 2 + 4 * x[0] + 20
    return branin, (1.0 - np.exp(-0.5 / max(x[1], 1e-9))) * above / below


def zdt1(x):
    """Two goals, one of the first input alone (Zitzler, Deb and Thiele 2000)."""
    g = 1.0 + 9.0 * np.mean(x[1:])
    return x[0], g * (1.0 - np.sqrt(x[0] / g))


def vlmop2(x):
    """Two bells with other centres (Van Veldhuizen and Lamont 1999)."""
    z, centre = 4.0 * np.asarray(x) - 2.0, 1.0 / np.sqrt(len(x))
    return tuple(1.0 - np.exp(-np.sum((z - side) ** 2)) for side in (centre, -centre))


def dtlz2(x, m):
    """Goals on a part of a sphere (Deb, Thiele, Laumanns and Zitzler 2005)."""
    angles = 0.5 * np.pi * np.asarray(x[: m - 1])
    radius = 1.0 + np.sum((np.asarray(x[m - 1 :]) - 0.5) ** 2)
    cosines = np.append(1.0, np.cumprod(np.cos(angles)))[::-1]
    return tuple(radius * cosines * np.append(1.0, np.sin(angles[::-1])))


# name -> goals of a point of the unit cube, inputs, the least and the reference of every goal
PROBLEMS = {
    "branin-currin": (branin_currin, 2, (0.0, 0.0), (18.0, 6.0)),
    "zdt1": (zdt1, 5, (0.0, 0.0), (1.1, 5.0)),
    "vlmop2": (vlmop2, 4, (0.0, 0.0), (1.1, 1.1)),
    "dtlz2 of 2": (lambda x: dtlz2(x, 2), 6, (0.0, 0.0), (1.5, 1.5)),
    "dtlz2 of 3": (lambda x: dtlz2(x, 3), 6, (0.0, 0.0, 0.0), (1.5, 1.5, 1.5)),
}


KINDS = {"search": ParEGO}


def measure_run(problem, method, repeat):
    """Share of the box from the least values to the reference that is dominated in the end."""
    goals, d, least, reference = PROBLEMS[problem["goals"]]
    n = problem["n"]
    if method == "random":
        Y = np.array([goals(x) for x in np.random.default_rng(repeat).random((n, d))])
    else:
        optimizer, Y = KINDS[method]([(0.0, 1.0)] * d, random_state=repeat), []
        for _ in range(n):
            x = optimizer.ask()
            Y.append(goals(x))
            optimizer.tell(x, Y[-1][0], goals=Y[-1])
    places = np.random.default_rng(0).uniform(least, reference, (N_PLACES, len(least)))
    dominated = np.zeros(N_PLACES, dtype=bool)
    for y in np.array(Y):
        dominated |= np.all(y <= places, axis=1)
    return {"dominated": float(dominated.mean())}


def report(results):
    """Shares, a row for each problem and method."""
    rows = []
    for problem, methods in by_method(results).items():
        for method, own in methods.items():
            shares = [r["dominated"] for r in own]
            mean = f"{np.mean(shares):.3f}"
            rows.append((dict(problem)["goals"], method, mean, spread(shares, 3)))
    note = (
        "Share of a box of values that is dominated in the end: mean, and median (least to most) "
        "over seeds. The box reaches from the least values to a fixed reference, and what is "
        "dominated is counted at random places."
    )
    return [Table("Several goals", ("goals", "method", "mean", "dominated"), rows, note)]


GOALS = Experiment(
    name="goals",
    about="what two or three goals dominate after few evaluations",
    methods=dict.fromkeys([*KINDS, "random"], ""),
    grids={
        "full": Grid(tuple({"goals": name, "n": 30} for name in PROBLEMS), 10),
        "tiny": Grid(({"goals": "dtlz2 of 3", "n": 10},), 1),
    },
    measure=measure_run,
    report=report,
    cap_seconds=600,
)
