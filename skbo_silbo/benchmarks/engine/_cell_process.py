"""Measure one cell in this process, under the memory cap of its experiment."""

import json
import resource
import traceback
import warnings

from ._experiment import Cell


def measure_cell(experiment, cell):
    """Outcome of one cell: "ok" with what was measured, or "failed" with the reason."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            measured = experiment.measure(cell.problem, cell.method, cell.repeat)
        except Exception as error:  # every failure of a cell is a result, and named
            traceback.print_exc()
            return {"status": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}
    said = sorted({f"{w.category.__name__}: {w.message}"[:200] for w in caught})
    return {"status": "ok", **measured} | ({"warnings": said} if said else {})


def measure_one(experiments, told):
    """Return the outcome of the cell that a JSON string tells."""
    cell = Cell(**json.loads(told))
    experiment = experiments[cell.experiment]
    limit = experiment.cap_mib * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return measure_cell(experiment, cell)
