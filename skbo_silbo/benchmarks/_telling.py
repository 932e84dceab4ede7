"""What every report of this package says in the same way."""

from collections import Counter, defaultdict

import numpy as np

from ._report import Table
from ._runner import finished_keys


def missing_cells(experiment, profile, results):
    """Cells of the profile that the results do not hold."""
    done = finished_keys(results)
    return [cell for cell in experiment.cells(profile) if cell.key not in done]


def missing_table(cells):
    """`Table` of the cells that a profile has and the results lack; [] when there are none."""
    runs = defaultdict(Counter)
    for cell in cells:
        runs[cell.experiment, shape(cell.problem)][cell.method] += 1
    rows = [
        (experiment, problem, ", ".join(f"{method} ({count})" for method, count in counts.items()))
        for (experiment, problem), counts in runs.items()
    ]
    header = ("experiment", "problem", "methods (runs that lack)")
    return [Table("Not measured yet", header, rows)] if rows else []


def latest(results):
    """One result a cell: the last."""
    return list({_place(result): result for result in results}.values())


def _place(result):
    return tuple(str(result[name]) for name in ("experiment", "problem", "method", "repeat"))


def by_method(results):
    """{problem as tuple of items: {method: [ok results by repeat]}} in the order of the file."""
    grouped = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result["status"] == "ok":
            grouped[tuple(result["problem"].items())][result["method"]].append(result)
    return grouped


def circumstances(files, page, *, profile="full", published=None):
    """Paragraphs: the commands, the machine, the versions, the threads.

    Parameters
    ----------
    files : dict
        Path to its results.
    page : str or None
        Where the report goes.
    profile : str, default="full"
    published : str, optional
        Path of a table of published results.
    """
    prompt = "    python -m skbo_silbo.benchmarks"
    chosen = "" if profile == "full" else f" --profile {profile}"
    commands = []
    for path, results in files.items():
        names = dict.fromkeys(r["experiment"] for r in results)
        commands.append(f"{prompt} run {' '.join(names)} --out {path}{chosen}")
    report = f"{prompt} report {' '.join(files)}{chosen}"
    further = {"--published": published, "--rst": page}
    commands.append(report + "".join(f" {k} {v}" for k, v in further.items() if v))
    return [
        "Measured, and told, by::",
        "\n".join(commands),
        "A cell is one method on one problem, once, in a process of its own.",
        *_surroundings([r for results in files.values() for r in results]),
        *(_load(path, results) for path, results in files.items()),
    ]


def _load(path, results):
    """Say how busy the machine was: what shares its memory bandwidth slows a cell."""
    loads = [r["load"] for r in results if "load" in r]
    told = spread(loads, 1) if loads else "not recorded"
    return f"Load average of the machine before the cells of {path}: {told}."


def _surroundings(results):
    """Write a paragraph for each environment, with the revisions measured in it."""
    revisions = defaultdict(dict)
    for r in results:
        e = r["environment"]
        versions = ", ".join(f"{name} {number}" for name, number in e["versions"].items())
        threads = ", ".join(f"{name}={number}" for name, number in e["threads"].items())
        words = (
            f"{e['cpu']}, {e['cores']} cores, {e['system']}, Python {e['python']}, {versions}; "
            f"{threads}"
        )
        revisions[words][str(e["revision"])] = None
    return [f"{words}; revision {', '.join(seen)}." for words, seen in revisions.items()]


def could_not(results):
    """`Table` of the cells without a result, with reasons; [] when there are none."""
    reasons = defaultdict(int)
    for r in results:
        if r["status"] != "ok":
            reasons[(shape(r["problem"]), r["method"], r["status"], r["reason"])] += 1
    if not reasons:
        return []
    rows = [(p, m, s, f"{why} [{count} cells]") for (p, m, s, why), count in reasons.items()]
    return [Table("What could not be measured", ("problem", "method", "outcome", "why"), rows)]


def shape(problem):
    """Problem as words: sizes first as n x d."""
    problem = dict(problem)
    rest = " ".join(f"{k}={v}" for k, v in problem.items() if k not in ("n", "d"))
    return f"{problem['n']} x {problem['d']} {rest}".strip()


def spread(values, digits=2):
    """``median (least to most)``."""
    values = np.asarray(values, dtype=float)
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    middle = f"{np.median(values):.{digits}f}"
    return f"{middle} ({low} to {high})" if len(values) > 1 else middle


def milliseconds(values):
    """Median of seconds, as milliseconds."""
    return f"{1e3 * np.median(values):.3g}"


def aims_table(aims):
    """`Table` of (aim, measured, holds), what failed first; [] when there are none."""
    rows = [("yes" if holds else "**no**", aim, got) for aim, got, holds in aims]
    rows.sort(key=lambda row: row[0])
    return [Table("Aims, what failed first", ("holds", "aim", "measured"), rows)] if rows else []
