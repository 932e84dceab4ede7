"""What more climbs of BoTorch's acquisition find, from the same values.

Our search makes 50 points on five functions of bbob in ten inputs, two instances each. The peer
``botorch-gp`` is fitted to their values once. It then proposes by two climbs from 128 raw samples,
as on the pages of the suites, and by 20 from 1024, as Ax does. Whole runs are the experiment
``public-climbs``. The table::

    PYTHONPATH=.:doc python doc/benchmarks/experiments/botorch_climbs.py > doc/benchmarks/climbs.csv
"""

import csv
import sys
import time
import warnings

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import SingleTaskGP

from benchmarks.experiments._public_suites import FIRST_INSTANCE, SUBSET, native
from benchmarks.search.problem_data import make_problem
from benchmarks.search.torch_peers import (
    CLIMBS_OF_AX,
    FEW_CLIMBS,
    as_tensors,
    best_improvement,
    fitted,
)
from skbo_silbo import minimize
from skbo_silbo.benchmarks._peers import yeo_johnson

HEADER = ["function", "instance", "log EI, 2 climbs", "log EI, 20 climbs", "gain"]
HEADER += ["CPU s, 2 climbs", "CPU s, 20 climbs", "lower value"]


def row_of(data, instance):
    """Return a row of the table: what both find from the same values, and what they take."""
    problem = make_problem(data, instance)
    lower, upper = problem.bounds.T
    run = minimize(problem, problem.bounds, n_calls=data["n"], random_state=instance)
    U, t = as_tensors((run.x_iters - lower) / (upper - lower), yeo_johnson(run.func_vals))
    model = fitted(SingleTaskGP(U, t))
    improvement = LogExpectedImprovement(model, best_f=t.max())
    found, seconds, values = [], [], []
    for climbs in (FEW_CLIMBS, CLIMBS_OF_AX):
        torch.manual_seed(instance)
        start = time.process_time()
        point = best_improvement(model, t, *climbs)
        seconds.append(time.process_time() - start)
        found.append(float(improvement(point[None])))
        values.append(problem(lower + point.numpy() * (upper - lower)))
    lowest = ("same", "20", "2")[int(np.sign(values[0] - values[1]))]
    return [data["function"], instance, *found, found[1] - found[0], *seconds, lowest]


def main():
    """Print a row a state, and the means."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(HEADER)
    rows = []
    for data in native(SUBSET, 10, 50):
        for instance in (FIRST_INSTANCE, FIRST_INSTANCE + 1):
            rows.append(row_of(data, instance))
            table.writerow([f"{v:.2f}" if isinstance(v, float) else v for v in rows[-1]])
            sys.stdout.flush()
    numbers = np.array([row[2:7] for row in rows])
    means = [f"{mean:.2f}" for mean in numbers.mean(axis=0)]
    means[2] += f" ± {numbers[:, 2].std(ddof=1) / np.sqrt(len(rows)):.2f}"
    lower = [row[7] for row in rows]
    counts = ", ".join(f"{way}: {lower.count(way)}" for way in ("2", "20", "same"))
    table.writerow(["mean", "", *means, counts])


if __name__ == "__main__":
    main()
