"""What more climbs of BoTorch's acquisition find, from the same values.

Our search makes 50 points on five functions of bbob: in ten inputs, two instances each, and hidden
in 100 inputs. The peer ``botorch-gp`` is fitted to their values once. It then proposes by two
climbs from 128 raw samples, as on the pages of the suites, and by 20 from 1024, as Ax does. Whole
runs are the experiment ``public-climbs``. The table::

    python doc/benchmarks/scripts/botorch_climbs.py > doc/benchmarks/tables/climbs.csv
"""

import csv
import sys
import time
import warnings

import numpy as np
from checkout import make_parser

from benchmarks.experiments._public_suites import FIRST_INSTANCE, SUBSET, hidden, native
from benchmarks.search.problem_data import make_problem
from benchmarks.search.process_peers import yeo_johnson
from skbo_silbo import minimize

STATES = [
    (data, i) for data in native(SUBSET, 10, 50) for i in (FIRST_INSTANCE, FIRST_INSTANCE + 1)
]
STATES += [(data, FIRST_INSTANCE) for data in hidden(SUBSET, 50)]
HEADER = ["functions", "states", "log EI, 2 climbs", "log EI, 20 climbs", "gain"]
HEADER += ["CPU s, 2 climbs", "CPU s, 20 climbs"]


def found_from(data, instance):
    """Return what both find from the same values, the difference, and the seconds they take."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.models import SingleTaskGP

    from benchmarks.search.torch_peers import (
        CLIMBS_OF_AX,
        FEW_CLIMBS,
        as_tensors,
        best_improvement,
        fitted,
    )

    torch.set_num_threads(1)
    problem = make_problem(data, instance)
    lower, upper = problem.bounds.T
    run = minimize(problem, problem.bounds, n_calls=data["n"], random_state=instance)
    U, t = as_tensors((run.x_iters - lower) / (upper - lower), yeo_johnson(run.func_vals))
    model = fitted(SingleTaskGP(U, t))
    improvement = LogExpectedImprovement(model, best_f=t.max())
    found, seconds = [], []
    for climbs in (FEW_CLIMBS, CLIMBS_OF_AX):
        torch.manual_seed(instance)
        start = time.process_time()
        point = best_improvement(model, t, *climbs)
        seconds.append(time.process_time() - start)
        found.append(float(improvement(point[None])))
    print(data, instance, found, seconds, file=sys.stderr, flush=True)
    return [*found, found[1] - found[0], *seconds]


def row_of_kind(kind):
    """Return a row of the table: the means over the states of a kind."""
    found = np.array([found_from(*state) for state in STATES if state[0]["kind"] == kind])
    means = [f"{mean:.2f}" for mean in found.mean(axis=0)]
    means[2] += f" ± {found[:, 2].std(ddof=1) / np.sqrt(len(found)):.2f}"
    return [kind, len(found), *means]


def main(kinds):
    """Print a row for each kind of function."""
    warnings.simplefilter("ignore")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(HEADER)
    for kind in kinds:
        table.writerow(row_of_kind(kind))
        sys.stdout.flush()


if __name__ == "__main__":
    parser = make_parser(__doc__)
    kinds = ("native", "rotated", "planted")
    parser.add_argument("kinds", nargs="*", choices=kinds, default=kinds, help="of the functions")
    main(parser.parse_args().kinds)
