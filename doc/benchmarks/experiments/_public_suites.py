"""Experiment `public`: problems that nobody here wrote (issue 12), functions of the suite bbob.

Even-numbered functions are reported and never tuned on, one instance a seed from 4 on; whoever
tunes takes the odd-numbered ones, instances 1 to 3 (profile ``tune``). Peers' results are kept in a
file of their own, so that only ours is run again. Experiment `public-long`: 250 evaluations of the
reported functions and 1000 of five planted ones, without the expensive peers. Experiment
`public-active`: the planted functions in their five active inputs, which is what a search could
reach that is given these.
"""

from dataclasses import replace
from functools import partial

from benchmarks.engine import Experiment, Grid, nothing
from benchmarks.search.contestants import packages, variant_options, with_variants
from benchmarks.search.gap_report import gap_figures, gap_report
from benchmarks.search.search_run import measure_gap

from ._public_aims import gap_aims

CHEAP = ("silbo", "optuna-tpe", "cma", "sobol", "random")
IN_ANY_SPACE = ("optuna-gp", "scikit-optimize", "turbo", "botorch-gp")
EXPENSIVE = (*IN_ANY_SPACE, "saasbo")
# The default search begins at the middle of the box: what TPE gains if it begins there too.
FROM_MIDDLE = "optuna-tpe-from-middle"
ON_SUBSET = (*EXPENSIVE, FROM_MIDDLE)
TUNED, REPORTED = range(1, 25, 2), range(2, 25, 2)
SUBSET = (4, 8, 12, 18, 22)  # of the reported, one of each of the five kinds that bbob has
OTHERS = tuple(f for f in REPORTED if f not in SUBSET)
# The peers of the greatest means where SUBSET decided nothing; on hidden functions TuRBO is behind.
ON_ALL_NATIVE, ON_ALL_HIDDEN = ("turbo", "botorch-gp"), ("botorch-gp",)
ACTIVE, MANY = 5, 100
FIRST_INSTANCE = 4
ORDER = {"native": "native, d = 10 and 20", "planted": "planted, 5 of 100 inputs active"}
ORDER["rotated"] = "rotated, 5 of 100 directions active"


def group_of(problem):
    """Return the title of the group that a problem is reported in."""
    if problem["d"] == ACTIVE:
        return "bbob, the five active inputs of the planted functions"
    return f"bbob, {ORDER[problem['kind']]}"


def native(functions, d, n):
    """Return the functions as they are, in d inputs."""
    return tuple(_problem(f, "native", d, d, n) for f in functions)


def hidden(functions, n, kinds=("planted", "rotated")):
    """Return the functions of 5 inputs among, or along directions of, 100."""
    return tuple(_problem(f, kind, MANY, ACTIVE, n) for f in functions for kind in kinds)


def _problem(function, kind, d, inputs, n):
    return {"suite": "bbob", "function": function, "kind": kind, "d": d, "inputs": inputs, "n": n}


def _all_kinds(functions, n):
    return (*native(functions, 10, n), *native(functions, 20, n), *hidden(functions, n))


REPORT = (
    Grid(_all_kinds(REPORTED, 100), 5, FIRST_INSTANCE, methods=CHEAP),
    Grid(native(SUBSET, 10, 100), 2, FIRST_INSTANCE, methods=IN_ANY_SPACE),
    Grid(hidden(SUBSET, 100), 2, FIRST_INSTANCE, methods=EXPENSIVE),
    Grid(_all_kinds(REPORTED, 100), 2, FIRST_INSTANCE, methods=(FROM_MIDDLE,)),
    Grid(native(OTHERS, 10, 100), 1, FIRST_INSTANCE, methods=ON_ALL_NATIVE),
    Grid(hidden(OTHERS, 100), 1, FIRST_INSTANCE, methods=ON_ALL_HIDDEN),
)
TINY = (*native((2,), 2, 50), _problem(8, "planted", 6, 2, 50))

PUBLIC = Experiment(
    name="public",
    methods={m: p or "coco-experiment" for m, p in packages((*CHEAP, *ON_SUBSET)).items()},
    grids={
        "report": REPORT,
        "full": REPORT,
        "tune": Grid(_all_kinds(TUNED, 100), 3, 1, methods=CHEAP),
        "tiny": Grid(TINY, 1, FIRST_INSTANCE, methods=("sobol", "random")),
    },
    measure=measure_gap,
    report=partial(gap_report, group_of=group_of, expensive=ON_SUBSET),
    figures=partial(gap_figures, group_of, ON_SUBSET),
    aims=partial(gap_aims, group_of),
    configure=with_variants,
    command_options=variant_options,
    cap_seconds=7200,
    about="bbob: the report split (report, full), the tuning split (tune)",
)

N_LONG, N_LONGEST = 250, 1000
PUBLIC_LONG = replace(
    PUBLIC,
    name="public-long",
    methods={m: PUBLIC.methods[m] for m in CHEAP},
    grids={
        "full": Grid(_all_kinds(REPORTED, N_LONG), 2, FIRST_INSTANCE, methods=CHEAP),
        "thousand": Grid(hidden(SUBSET, N_LONGEST, ("planted",)), 1, FIRST_INSTANCE, methods=CHEAP),
        "tiny": Grid(TINY, 1, FIRST_INSTANCE, methods=("sobol", "random")),
    },
    figures=partial(PUBLIC.figures, n=N_LONG),
    aims=partial(PUBLIC.aims, n=N_LONG),
    about="bbob: 250 evaluations (full), and 1000 of the planted ones (thousand)",
)

PUBLIC_ACTIVE = replace(
    PUBLIC,
    name="public-active",
    methods={m: PUBLIC.methods[m] for m in CHEAP},
    grids={
        "full": Grid(native(REPORTED, ACTIVE, 100), 5, FIRST_INSTANCE, methods=CHEAP),
        "tiny": Grid(TINY, 1, FIRST_INSTANCE, methods=("sobol", "random")),
    },
    aims=nothing,
    about="bbob: the planted functions in their active inputs alone",
)

CLIMBS = ("botorch-gp", "botorch-gp-longer")  # apart in how long the acquisition is searched
PUBLIC_CLIMBS = replace(
    PUBLIC,
    name="public-climbs",
    methods=packages(CLIMBS),
    grids={
        "full": Grid(native(SUBSET, 10, 50), 2, FIRST_INSTANCE, methods=CLIMBS),
        "tiny": Grid(native((2,), 2, 12), 1, FIRST_INSTANCE, methods=CLIMBS),
    },
    report=partial(PUBLIC.report, expensive=()),
    figures=nothing,
    aims=nothing,
    about="bbob: BoTorch's process with few climbs of its acquisition, and with Ax's",
)
