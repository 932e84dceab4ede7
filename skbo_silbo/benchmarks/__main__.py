"""Compare optimisers on your own objective.

Results are appended to FILE, one line per run, and runs that FILE already contains are skipped.
After an interruption, the same command therefore continues. If you change the objective, use
another FILE.
"""

import argparse
import sys
from functools import partial

from skbo_silbo.benchmarks._compare import METHODS, check_installed, load_problem, run_missing
from skbo_silbo.benchmarks._results import Store, comparison_table, render_text

INTERRUPTED = 130  # conventional exit code after Ctrl-C
WITHOUT_EXTRAS = ["silbo", "random", "sobol", "cma"]


def main(arguments=None):
    """Run the command line and return the exit code.

    The exit code is 0 on success, 1 if any run failed, with the reasons on stderr, and 130 after
    Ctrl-C.
    """
    options = make_parser().parse_args(arguments)
    try:
        failures = run(options)
    except ValueError as error:
        failures = [str(error)]
    except OSError as error:
        failures = [f"{error.filename}: {error.strerror}" if error.filename else str(error)]
    except KeyboardInterrupt:
        sys.stderr.write("INTERRUPTED. Finished runs are kept: rerun the command to continue.\n")
        return INTERRUPTED
    sys.stderr.writelines(f"FAILED {failure}\n" for failure in failures)
    return 1 if failures else 0


def make_parser():
    """Create the argument parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m skbo_silbo.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("objective", help="MODULE:FUNCTION of an array (d,), or MODULE:PROBLEM")
    parser.add_argument(
        "--bounds", help="pairs in JSON, such as '[[0, 1], [-5, 5]]', or MODULE:NAME of an array"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="file to append results to")
    parser.add_argument("--calls", type=int, default=100, help="evaluations per run; default 100")
    parser.add_argument("--repeats", type=int, default=3, help="runs per method; default 3")
    parser.add_argument("--jobs", type=int, default=1, help="parallel runs; default 1")
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=METHODS,
        default=WITHOUT_EXTRAS,
        help=f"default {' '.join(WITHOUT_EXTRAS)}",
    )
    return parser


def run(options):
    """Run the missing benchmark runs, print the results and return the failed runs."""
    for name in ("calls", "repeats", "jobs"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name} must be at least 1, got {getattr(options, name)}.")
    check_installed(options.methods)
    loaded = load_problem(options.objective, options.bounds)
    problem = {"objective": options.objective, "n": options.calls}
    problem |= {} if options.bounds is None else {"bounds": options.bounds}
    store = Store(options.out)
    runs = store, problem, options.methods, options.repeats, options.jobs
    results, failures = run_missing(*runs, partial(print, flush=True))
    if results:
        title = f"{options.objective}, {loaded.n_dims} inputs, {options.calls} evaluations"
        title += "" if loaded.optimum is None else f", optimum {loaded.optimum:.4g}"
        sys.stdout.write("\n" + render_text([comparison_table(results, title)]))
    return failures


if __name__ == "__main__":
    sys.exit(main())
