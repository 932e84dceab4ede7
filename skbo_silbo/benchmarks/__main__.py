"""Command line: ``python -m skbo_silbo.benchmarks run|report|list``."""

import sys

from .engine import run_command_line
from .experiments import EXPERIMENTS, OWN_MEASUREMENTS

LACKING = (
    "The project's own measurements (speed, memory, tuning, ...) are not installed: they are in "
    "doc/benchmarks/experiments of the repository. Run this command from a checkout of it."
)


def main(arguments=None):
    """Exit code: 0, 1 with every failure named on stderr, 130 after Ctrl-C."""
    note = "" if OWN_MEASUREMENTS.is_dir() else LACKING
    return run_command_line(EXPERIMENTS, arguments, note)


if __name__ == "__main__":
    sys.exit(main())
