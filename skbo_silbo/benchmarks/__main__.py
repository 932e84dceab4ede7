"""Your own function beside other optimisers.

Runs what FILE does not hold yet, and tells what it holds. FILE keeps a line a run, so that a
command which was stopped goes on where it ended. After a change of the function name another FILE.
"""

import argparse
import sys
from functools import partial

from ._compare import METHODS, check_installed, own_problem, run_missing
from ._results import Store, comparison, render_text

STOPPED = 130  # exit code of a command ended by Ctrl-C, as shells have it
WITHOUT_EXTRAS = ["silbo", "random", "sobol", "cma"]


def main(arguments=None):
    """Exit code: 0, 1 with every failure named on stderr, 130 after Ctrl-C."""
    options = make_parser().parse_args(arguments)
    try:
        failures = compare(options)
    except ValueError as error:
        failures = [str(error)]
    except OSError as error:
        failures = [f"{error.filename}: {error.strerror}" if error.filename else str(error)]
    except KeyboardInterrupt:
        sys.stderr.write("STOPPED by Ctrl-C; finished runs are kept: the same command goes on.\n")
        return STOPPED
    sys.stderr.writelines(f"FAILED {failure}\n" for failure in failures)
    return 1 if failures else 0


def make_parser():
    """Return the `ArgumentParser`."""
    parser = argparse.ArgumentParser(
        prog="python -m skbo_silbo.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("objective", help="MODULE:FUNCTION of an array (d,), or MODULE:PROBLEM")
    parser.add_argument("--bounds", help="JSON pairs, '[[0, 1], [-5, 5]]', or MODULE:NAME of such")
    parser.add_argument("--out", required=True, metavar="FILE", help="JSON lines, appended to")
    parser.add_argument("--calls", type=int, default=100, help="evaluations of a run; default 100")
    parser.add_argument("--repeats", type=int, default=3, help="runs of a method; default 3")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time; default 1")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        default=WITHOUT_EXTRAS,
        help=f"default {' '.join(WITHOUT_EXTRAS)}",
    )
    return parser


def compare(options):
    """Run what lacks and print the table; return what failed."""
    for name in ("calls", "repeats", "jobs"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} must be at least 1: got {getattr(options, name)}.")
    check_installed(options.methods)
    made = own_problem(options.objective, options.bounds)
    problem = {"objective": options.objective, "n": options.calls}
    problem |= {} if options.bounds is None else {"bounds": options.bounds}
    store = Store(options.out)
    runs = store, problem, options.methods, options.repeats, options.jobs
    results, failures = run_missing(*runs, partial(print, flush=True))
    if results:
        words = f"{options.objective}, {made.n_dims} inputs, {options.calls} evaluations"
        words += "" if made.optimum is None else f", optimum {made.optimum:.4g}"
        sys.stdout.write("\n" + render_text([comparison(results, words)]))
    return failures


if __name__ == "__main__":
    sys.exit(main())
