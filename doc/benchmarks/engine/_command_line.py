"""The command line: ``python doc/benchmarks run|report|list``.

Every function gets the experiments by name, so that the engine knows none of them.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.registry import PICTURES

from ._page_parts import aims_table, circumstances, could_not, made_by, missing_table
from ._pages import write_rst
from ._results import latest, missing_cells
from ._runner import MissingPeerError, run_experiment
from ._store import Store
from ._tables import render_text

PROGRAM = "python doc/benchmarks"
ABOUT = (
    "Speed, memory and search quality, side by side with peers: run measures and appends to a "
    "file, report tells what a file holds."
)
NAMED = 20  # failures, on stderr; a page names every cell that lacks
STOPPED = 130  # exit code of a command ended by Ctrl-C, as shells have it


def run_command_line(experiments, arguments=None):
    """Do what the arguments say.

    Parameters
    ----------
    experiments : dict
        Name to `Experiment`.
    arguments : list of str, optional
        Those of the process if not given.

    Returns
    -------
    code : int
        0, or 1 with failures on stderr (`NAMED` of them, and how many more), or 130 after Ctrl-C.
    """
    options = make_parser(experiments).parse_args(arguments)
    try:
        failures = options.do(experiments, options)
    except (MissingPeerError, ValueError) as error:
        failures = [str(error)]
    except OSError as error:
        failures = [f"{error.filename}: {error.strerror}" if error.filename else str(error)]
    except KeyboardInterrupt:
        sys.stderr.write(
            "STOPPED by Ctrl-C; what was measured is kept, and the same command goes on from it.\n"
        )
        return STOPPED
    for failure in failures[:NAMED]:
        sys.stderr.write(f"FAILED {failure}\n")
    if len(failures) > NAMED:
        sys.stderr.write(f"FAILED {len(failures) - NAMED} more of the same kind, {NAMED} named\n")
    return 1 if failures else 0


def make_parser(experiments):
    """Return the `ArgumentParser`."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=ABOUT)
    commands = parser.add_subparsers(required=True, metavar="run|report|list")
    listed = _list_experiments(experiments)
    _add_run(commands, experiments, listed)
    _add_report(commands)
    listing = commands.add_parser("list", help="experiments, their profiles and numbers of cells")
    listing.set_defaults(do=lambda *_: _print_at_once(listed) or [])
    return parser


def _add_run(commands, experiments, listed):
    run = commands.add_parser(
        "run",
        help="measure the cells that FILE does not hold yet",
        epilog=f"experiments and their profiles (number of cells):\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("names", nargs="+", choices=sorted(experiments), metavar="NAME")
    run.add_argument("--out", required=True, metavar="FILE", help="JSON lines, appended to")
    run.add_argument("--profile", default="full", help="which grid of the experiment; see below")
    run.add_argument("--jobs", type=int, default=1, help="cells at the same time")
    run.add_argument("--only", nargs="+", default=[], metavar="METHOD", help="these methods")
    run.add_argument("--without", action="append", default=[], metavar="METHOD")
    run.add_argument(
        "--variant",
        nargs="+",
        default=[],
        metavar="METHOD:OPTION=VALUE,...",
        help="variants of our methods to run too, where the experiment takes them",
    )
    run.set_defaults(do=_run)


def _add_report(commands):
    report = commands.add_parser("report", help="tables from results")
    report.add_argument("files", nargs="+", metavar="FILE")
    report.add_argument("--profile", default="full", help="cells that must be there")
    report.add_argument("--rst", metavar="PAGE", help="write a page instead of printing")
    report.add_argument("--title", help="of the page; the names of the experiments if not given")
    report.set_defaults(do=_report)


def _run(experiments, options):
    """Measure; return what must make the command fail."""
    variants = tuple(options.variant)
    named = [experiments[name] for name in options.names]
    configured = [experiment.configure(experiment, variants) for experiment in named]
    failures = []
    for experiment in configured:
        failures += run_experiment(
            experiment,
            Store(options.out),
            profile=options.profile,
            jobs=options.jobs,
            only=[*options.only, *variants] if options.only else (),
            without=options.without,
            echo=_print_at_once,
        )
    return failures


def _report(experiments, options):
    """Tell; return the cells that are missing."""
    files = {path: _read(path, experiments) for path in options.files}
    results = latest([r for read in files.values() for r in read])
    names = list(dict.fromkeys(r["experiment"] for r in results))
    headlines, blocks, aims, missing = [], [], [], []
    for name in names:
        experiment, own = experiments[name], [r for r in results if r["experiment"] == name]
        headlines += experiment.headline(own)
        blocks += [*_pictures(experiment, own, options), *experiment.report(own)]
        aims += experiment.aims(own)
        missing += missing_cells(experiment, options.profile, own)
    last = [*could_not(results), *aims_table(aims), *circumstances(files, experiments, options)]
    blocks = [*headlines, *blocks, *made_by(results), *last, *missing_table(missing)]
    if options.rst:
        write_rst(options.rst, options.title or ", ".join(names), blocks)
    else:
        sys.stdout.write(render_text(blocks))
    return [f"no result for {cell}" for cell in missing]


def _pictures(experiment, results, options):
    """Draw next to the page; return the paragraphs that show the pictures."""
    if not options.rst:
        return []
    folder = Path(options.rst).parent / PICTURES
    folder.mkdir(exist_ok=True)
    drawn = experiment.figures(results, folder)
    return [
        f".. figure:: {PICTURES}/{name}\n   :alt: {caption.split('. ')[0]}\n\n   {caption}"
        for name, caption in drawn
    ]


def _read(path, experiments):
    results = Store(path).read()
    if not results:
        raise ValueError(f"FILE must hold results: {path} holds none. Run an experiment first.")
    unknown = sorted({str(r.get("experiment")) for r in results} - set(experiments))
    if unknown:
        raise ValueError(
            f"FILE must hold results of {', '.join(experiments)}: {path} holds some of "
            f"{', '.join(unknown)}. Delete those lines, or use the version that wrote them."
        )
    return results


def _list_experiments(experiments):
    lines = [
        f"{e.name}  ({', '.join(f'{p}: {len(e.cells(p))}' for p in e.grids)} cells)"
        + (f"  {e.about}" if e.about else "")
        for e in experiments.values()
    ]
    return "\n".join(lines)


def _print_at_once(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
