"""Command line: ``python -m skbo_silbo.benchmarks run|report|list``."""

import argparse
import sys
from pathlib import Path

from ._published import read_published
from ._registry import EXPERIMENTS
from ._report import render_rst, render_text
from ._runner import MissingPeerError, run_experiment
from ._store import Store
from ._telling import (
    aims_table,
    circumstances,
    could_not,
    latest,
    missing_cells,
    missing_table,
)


def parse(arguments):
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m skbo_silbo.benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure the cells that FILE does not hold yet")
    run.add_argument("names", nargs="+", choices=sorted(EXPERIMENTS), metavar="NAME")
    run.add_argument("--out", required=True, metavar="FILE")
    run.add_argument("--profile", default="full")
    run.add_argument("--jobs", type=int, default=1, help="cells at the same time")
    run.add_argument("--without", action="append", default=[], metavar="METHOD")
    report = commands.add_parser("report", help="tables from results")
    report.add_argument("files", nargs="+", metavar="FILE")
    report.add_argument("--profile", default="full", help="cells that must be there")
    report.add_argument("--rst", metavar="PAGE", help="write a page instead of printing")
    report.add_argument("--title", default="Speed and memory", help="of the page")
    report.add_argument("--published", metavar="TABLE", help="CSV file to set beside the results")
    commands.add_parser("list", help="names of experiments, their profiles and numbers of cells")
    return parser.parse_args(arguments)


def run(options):
    """Measure; return what must make the command fail."""
    failures = []
    for name in options.names:
        store = Store(options.out)
        echo = _print_at_once
        failures += run_experiment(
            EXPERIMENTS[name],
            store,
            profile=options.profile,
            jobs=options.jobs,
            without=options.without,
            echo=echo,
        )
    return failures


def report(options):
    """Tell; return the cells that are missing."""
    files = {path: _read(path) for path in options.files}
    results = latest([r for read in files.values() for r in read])
    names = list(dict.fromkeys(r["experiment"] for r in results))
    blocks, aims, missing = [], [], []
    for name in names:
        experiment, own = EXPERIMENTS[name], [r for r in results if r["experiment"] == name]
        blocks += [*_pictures(experiment, own, options.rst), *experiment.report(own)]
        if options.published:
            blocks += experiment.compare(own, read_published(options.published))
        aims += experiment.aims(own)
        missing += missing_cells(experiment, options.profile, own)
    failed = [*aims_table(aims), *could_not(results), *missing_table(missing)]
    told = circumstances(files, options.rst, profile=options.profile, published=options.published)
    blocks = [*failed, *blocks, *told]
    if options.rst:
        Path(options.rst).write_text(render_rst(options.title, blocks))
    else:
        sys.stdout.write(render_text(blocks))
    return [f"no result for {cell}" for cell in missing]


def _pictures(experiment, results, page):
    """Draw beside the page; return the paragraphs that show the pictures."""
    if not page:
        return []
    drawn = experiment.figures(results, Path(page).parent)
    return [f".. figure:: {name}\n\n   {caption}" for name, caption in drawn]


def _read(path):
    results = Store(path).read()
    if not results:
        raise ValueError(f"FILE must hold results: {path} holds none. Run an experiment first.")
    return results


def _list(options):
    for experiment in EXPERIMENTS.values():
        sizes = (f"{profile}: {len(experiment.cells(profile))}" for profile in experiment.grids)
        _print_at_once(f"{experiment.name}  ({', '.join(sizes)} cells)")
    return []


def _print_at_once(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(arguments=None):
    """Exit code: 0, or 1 with every failure named on stderr."""
    options = parse(arguments)
    try:
        failures = {"run": run, "report": report, "list": _list}[options.command](options)
    except (MissingPeerError, ValueError) as error:
        failures = [str(error)]
    for failure in failures:
        sys.stderr.write(f"FAILED {failure}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
