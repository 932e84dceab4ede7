"""What every report of this package says in the same way."""

import shlex
from collections import Counter, defaultdict

from ._tables import Table
from ._words import shape, spread

PROMPT = "    python -m skbo_silbo.benchmarks"


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


def circumstances(files, experiments, options):
    """Paragraphs: the commands, the machine, the versions, the threads.

    Parameters
    ----------
    files : dict
        Path to its results.
    experiments : dict
        Name to `Experiment`.
    options : Namespace
        Of the command ``report``: ``profile``, ``title``, ``rst``.
    """
    chosen = "" if options.profile == "full" else f" --profile {options.profile}"
    runs = [
        f"{PROMPT} run {' '.join(names)} --out {path}{chosen}{further}"
        for path, results in files.items()
        for names, further in _runs(results, experiments, options.profile)
    ]
    named = {"--title": options.title, "--rst": options.rst}
    further = "".join(f" {k} {shlex.quote(v)}" for k, v in named.items() if v)
    return [
        "Measured, and reported, by::",
        "\n".join([*runs, f"{PROMPT} report {' '.join(files)}{chosen}{further}"]),
        "A cell is one method on one problem, once, in a process of its own.",
        *_surroundings([r for results in files.values() for r in results]),
        *(_load(path, results) for path, results in files.items()),
    ]


def _runs(results, experiments, profile):
    """Yield the names of experiments that one command has measured, and its further options."""
    by_options = defaultdict(list)
    for name in dict.fromkeys(r["experiment"] for r in results):
        own = [r for r in results if r["experiment"] == name]
        named = experiments[name].command_options(own)
        by_options[named + _only(experiments[name], profile, own)].append(name)
    return [(names, options) for options, names in by_options.items()]


def _only(experiment, profile, results):
    """Return the option that leaves out the methods of the profile that were not run."""
    wanted = dict.fromkeys(cell.method for cell in experiment.cells(profile))
    seen = {r["method"] for r in results}
    kept = [shlex.quote(method) for method in wanted if method in seen]
    return f" --only {' '.join(kept)}" if len(kept) < len(wanted) else ""


def _load(path, results):
    """Say how busy the machine was: what shares its memory bandwidth slows a cell."""
    loads = [r["load"] for r in results if "load" in r]
    range_ = spread(loads, 1) if loads else "not recorded"
    return f"Load average of the machine before the cells of {path}: {range_}."


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


def made_by(results):
    """Say which revisions made the rows of our search and its variants; [] where there are none."""
    revisions = defaultdict(Counter)
    for r in results:
        if r["method"].partition(":")[0] == "silbo":
            revisions[r["method"]][r["environment"]["revision"]] += 1
    rows = defaultdict(list)
    for method, counts in revisions.items():
        words = ", ".join(f"{revision} ({n} runs)" for revision, n in sorted(counts.items()))
        rows[words].append(f"``{method}``")
    return [f"Rows of {', '.join(m)} were made by revision {words}." for words, m in rows.items()]


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


def aims_table(aims):
    """`Table` of (aim, measured, holds), what failed first; [] when there are none."""
    rows = [("yes" if holds else "**no**", aim, got) for aim, got, holds in aims]
    rows.sort(key=lambda row: row[0])
    return [Table("Aims, what failed first", ("holds", "aim", "measured"), rows)] if rows else []
