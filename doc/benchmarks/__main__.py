"""Command line: ``python doc/benchmarks run|report|list``, from a checkout."""

import sys
from pathlib import Path

# The checkout is measured, not what is installed: its revision is what the results name.
sys.path[:0] = map(str, Path(__file__).resolve().parents[1:3])

from benchmarks.engine import run_command_line  # noqa: E402
from benchmarks.experiments import EXPERIMENTS  # noqa: E402


def main(arguments=None):
    """Exit code: 0, 1 with every failure named on stderr, 130 after Ctrl-C."""
    return run_command_line(EXPERIMENTS, arguments)


if __name__ == "__main__":
    sys.exit(main())
