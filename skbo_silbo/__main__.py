"""Write an HTML report of a search from its journal; the search may still be running."""

import argparse
import sys
import time
from pathlib import Path

from skbo_silbo.inspection import report


def main(arguments=None):
    """Run the command line and return the exit code: 0 on success, otherwise 1."""
    options = make_parser().parse_args(arguments)
    out = options.out or Path(options.journal).with_suffix(".html")
    try:
        while True:
            report(options.journal, out)
            print(out, flush=True)
            if options.every is None:
                return 0
            time.sleep(options.every)
    except KeyboardInterrupt:
        return 0
    except (OSError, ValueError) as error:
        sys.stderr.write(f"FAILED {error}\n")
        return 1


def make_parser():
    """Create the argument parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m skbo_silbo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("report", help=__doc__, description=__doc__)
    command.add_argument("journal", help="file passed as journal= of the search")
    command.add_argument("--out", metavar="FILE", help="file to write; default JOURNAL.html")
    command.add_argument(
        "--every",
        type=float,
        metavar="SECONDS",
        help="write the file again and again, until Ctrl-C",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
