"""Experiment `methods`: the methods of the literature on the functions of the paper."""

from benchmarks.engine import Experiment, Grid
from benchmarks.search.contestants import packages
from benchmarks.search.search_figures import search_figures
from benchmarks.search.search_run import measure_search

from ._paper_picture import report_beside_published

FUNCTIONS = {"branin": 2, "hartmann6": 6, "colville": 4}
CHEAP = (
    *("random", "sobol", "hesbo", "rembo", "rembo-kx", "rembo-kpsi"),
    *("sir-bo", "si-bo", "add-bo", "bock", "silbo-bu"),
)
METHODS = (*CHEAP, "silbo-td")
# si-bo needs more than r d differences, each an evaluation, before it searches at all
AT_1000 = tuple(name for name in METHODS if name != "si-bo")
TIMED = ("hesbo", "rembo", "rembo-kx", "rembo-kpsi", "sir-bo", "add-bo", "silbo-td")  # figure 12


def problems(d, n):
    """Return the functions as published: on the first inputs, nothing moved."""
    return tuple(
        {"function": name, "kind": "embedded", "d": d, "n": n, "r": r}
        for name, r in FUNCTIONS.items()
    )


METHODS_EXPERIMENT = Experiment(
    name="methods",
    about="the methods of the literature on the functions of the paper",
    methods=packages(METHODS),
    grids={
        "full": (
            Grid(problems(100, 250), n_repeats=5),
            Grid(problems(1000, 250), n_repeats=2, methods=AT_1000),
            Grid(problems(1000, 250)[:1], n_repeats=5, methods=TIMED),
            Grid(problems(1000, 1600)[:1], n_repeats=5, methods=("silbo-bu",)),
        ),
        "tiny": Grid(
            ({"function": "branin", "kind": "embedded", "d": 5, "n": 12, "r": 2},),
            n_repeats=2,
            methods=("random", "hesbo", "sobol"),
        ),
    },
    measure=measure_search,
    report=report_beside_published,
    figures=search_figures,
    cap_seconds=1800,
)
