"""Command line: ``python -m skbo_silbo.benchmarks run|report|list``."""

import sys

from .engine import run_command_line
from .experiments import EXPERIMENTS


def main(arguments=None):
    """Exit code: 0, 1 with every failure named on stderr, 130 after Ctrl-C."""
    return run_command_line(EXPERIMENTS, arguments)


if __name__ == "__main__":
    sys.exit(main())
