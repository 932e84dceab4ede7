"""Which of the stored results a report is about."""

from collections import defaultdict

from ._runner import cell_of, finished_keys


def missing_cells(experiment, profile, results):
    """Cells of the profile that the results do not hold."""
    done = finished_keys(results)
    return [cell for cell in experiment.cells(profile) if cell.key not in done]


def latest(results):
    """One result a cell: the last."""
    return list({cell_of(result).key: result for result in results}.values())


def by_method(results):
    """{problem as tuple of items: {method: [ok results by repeat]}} in the order of the file."""
    grouped = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result["status"] == "ok":
            grouped[tuple(result["problem"].items())][result["method"]].append(result)
    return grouped
