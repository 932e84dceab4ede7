"""Run the cells of an experiment that a store does not hold yet, each in a fresh process."""

import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict

from ._cell_process import measure_apart
from ._environment import THREAD_VARIABLES, environment
from ._experiment import Cell

FINISHED = ("ok", "cannot", "capped")
"""What is not measured again; a cell that failed without excuse is."""


class MissingPeerError(RuntimeError):
    """A method of the experiment is not installed."""


def run_experiment(experiment, store, *, profile="full", jobs=1, only=(), without=(), echo=print):
    """Measure what is missing.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    profile : str, default="full"
    jobs : int, default=1
        Cells measured at the same time. Use 1 where times matter.
    only, without : collection of str, default=()
        Methods to run, all where `only` is empty; methods left out, said explicitly.
    echo : callable
        Gets a line of progress a cell.

    Returns
    -------
    list of str
        Each cell that failed without excuse, with its reason.

    Raises
    ------
    MissingPeerError
        Before anything is measured, when the package of a method that is still to be measured is
        not installed.
    ValueError
        When `only` or `without` names a method that the experiment does not have.
    """
    methods = _chosen_methods(experiment, only, without)
    done = finished_keys(store.read())
    cells = [cell for cell in experiment.cells(profile) if cell.method in methods]
    waiting = [cell for cell in cells if cell.key not in done]
    _require_peers(experiment, {cell.method for cell in waiting})
    echo(f"{experiment.name}: {len(cells) - len(waiting)} of {len(cells)} cells already done")
    surroundings = environment() | {"threads": dict.fromkeys(THREAD_VARIABLES, "1")}  # of a cell
    failures = []
    for number, (cell, outcome) in enumerate(_outcomes(experiment, waiting, jobs), 1):
        store.append({**asdict(cell), **outcome, "environment": surroundings})
        echo(f"[{number}/{len(waiting)}] {cell}: {_format_outcome(outcome)}")
        if outcome["status"] not in FINISHED:
            failures.append(f"{cell}: {outcome['reason']}")
    return failures


def _chosen_methods(experiment, only, without):
    """Return the methods to run; refuse a name that the experiment does not have."""
    for option, names in {"only": only, "without": without}.items():
        unknown = sorted(set(names) - set(experiment.methods))
        if unknown:
            raise ValueError(
                f"{option} must name methods of {experiment.name!r}, "
                f"{', '.join(experiment.methods)}: got {', '.join(unknown)}. Correct the name."
            )
    return set(only or experiment.methods) - set(without)


def _require_peers(experiment, methods):
    """Refuse a method that is not installed."""
    missing = experiment.missing_packages()
    names = ", ".join(f"{m} (package {missing[m]})" for m in missing if m in methods)
    if names:
        raise MissingPeerError(
            f"Experiment {experiment.name!r} needs every peer: {names} not installed. "
            'Install the extra "bench", "bench-torch" or "bench-public", or say --without for each.'
        )


def _outcomes(experiment, cells, jobs):
    """Yield cells with their outcomes as they end, at most `jobs` at a time."""
    if jobs == 1:  # in this thread, so that Ctrl-C ends the cell
        yield from ((cell, _loaded_run(experiment, cell)) for cell in cells)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_loaded_run, experiment, cell): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _loaded_run(experiment, cell):
    load = round(os.getloadavg()[0], 1)
    return {**run_cell(experiment, cell), "load": load}


def finished_keys(results):
    """Keys of the cells that need not be measured again."""
    return {cell_of(result).key for result in results if result["status"] in FINISHED}


def cell_of(result):
    """`Cell` that a stored result belongs to."""
    return Cell(*(result[name] for name in ("experiment", "problem", "method", "repeat")))


def run_cell(experiment, cell):
    """Outcome of a cell, measured in a fresh process with one thread and under the caps."""
    start = time.perf_counter()
    outcome = measure_apart(experiment, cell)
    excuse = experiment.excuse(cell.problem, cell.method)
    if outcome["status"] == "failed" and excuse is not None:
        outcome = {"status": "cannot", "reason": f"{excuse} ({outcome['reason']})"}
    if outcome["status"] == "capped":
        return outcome
    return outcome | {"cell_seconds": round(time.perf_counter() - start, 2)}


def _format_outcome(outcome):
    if outcome["status"] != "ok":
        return f"{outcome['status']}: {outcome['reason']}"
    return f"ok in {outcome['cell_seconds']:.1f} s"
