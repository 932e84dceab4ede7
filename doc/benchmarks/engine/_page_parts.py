"""What every report of this package says in the same way."""

import shlex
from collections import Counter, defaultdict

from ._tables import Table
from ._words import shape, spread

PROMPT = "    python doc/benchmarks"
SHOWN = {"numpy", "scipy", "scikit-learn", "optuna", "botorch"}  # versions on a page


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
    """Paragraphs: the commands, and the machines, versions, threads, revisions and loads.

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
        "These commands run the experiments and write this page::",
        "\n".join([*runs, f"{PROMPT} report {' '.join(files)}{chosen}{further}"]),
        _surroundings([r for results in files.values() for r in results]),
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


def _surroundings(results):
    """Say on which machines, with which versions and at which revisions; each row has its own."""
    found = defaultdict(dict)
    for r in results:
        e = r["environment"]
        found["machine"][f"{e['cpu']}, {e['cores']} cores, {e['system']}"] = None
        found["Python"][e["python"]] = None
        found["threads"]["/".join(dict.fromkeys(map(str, e["threads"].values())))] = None
        found["revision"][str(e["revision"])] = None
        for name in sorted(SHOWN & e["versions"].keys()):
            found[name][e["versions"][name]] = None
    loads = [r["load"] for r in results if "load" in r]
    found["load average"] = {spread(loads, 1) if loads else "not recorded": None}
    return "; ".join(f"{name} {', '.join(values)}" for name, values in found.items()) + "."


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
    return [f"Revisions of {', '.join(m)}: {words}." for words, m in rows.items()]


def could_not(results):
    """`Table` of the cells without a result, with reasons; [] when there are none."""
    reasons = defaultdict(int)
    for r in results:
        if r["status"] != "ok":
            reasons[(shape(r["problem"]), r["method"], r["status"], r["reason"])] += 1
    if not reasons:
        return []
    rows = [(p, m, s, f"{why} [{count} cells]") for (p, m, s, why), count in reasons.items()]
    return [Table("Failed measurements", ("problem", "method", "outcome", "why"), rows)]


def aims_table(aims):
    """`Table` of (aim, measured, holds), what failed first; [] when there are none."""
    rows = [("yes" if holds else "**no**", aim, got) for aim, got, holds in aims]
    rows.sort(key=lambda row: row[0])
    return [Table("Aims", ("holds", "aim", "measured"), rows)] if rows else []
