"""Make the outdated results again, and every table, page and picture that is drawn from them.

To list the outdated results with the hours that they took, make all of them again, or make some::

    python doc/benchmarks/scripts/rerun.py
    python doc/benchmarks/scripts/rerun.py --run
    python doc/benchmarks/scripts/rerun.py --run results/public-silbo.jsonl results/workers.jsonl

All of them together take several hours on two cores. After an interruption, the same command goes
on. Results of others are kept if their revision is in the repository. If all runs of a sample were
equal, a file is made again only if it is named.
"""

import argparse
import os
import shlex
import subprocess
import sys

from checkout import FOLDER, read_registry
from table_ages import History, remove_outdated, table_ages, words_of

ROOT = FOLDER.parents[1]
RUN = "doc/benchmarks run"
REPORT = "doc/benchmarks report"
LAST = (  # tables made from several files, and the picture of the README
    "doc/benchmarks/scripts/who_wins.py --write",
    "doc/benchmarks/scripts/write_findings.py --write",
    "doc/benchmarks/scripts/table_ages.py --write",
    "examples/tune/plot_tune_pipeline.py",
)


def page_commands(page: str, file: str) -> list[str]:
    """Return the commands of a page that run the results of a file, then those that report."""
    commands = read_registry()["pages"][page].get("commands", [])
    runs = [c for c in commands if c.startswith(RUN) and f"/{file}" in c]
    return [*runs, *(c for c in commands if c.startswith(REPORT) and f"/{file}" in c)]


def call(command: str) -> None:
    """Run a Python command in the checkout; a report of incomplete results exits with 1."""
    print(f"python {command}", flush=True)
    path = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'doc'}"}
    arguments = [sys.executable, *shlex.split(command)]
    is_report = command.startswith(REPORT)
    subprocess.run(arguments, cwd=ROOT, env=os.environ | path, check=not is_report)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", nargs="*", metavar="FILE", help="results to make again")
    chosen = parser.parse_args().run
    history = History(FOLDER)
    outdated = {age.table["file"]: age for age in table_ages(history) if age.n_outdated}
    for file, age in outdated.items():
        sample = f"; sample: {words_of(age.sample)}" if age.sample else ""
        print(f"{file}: {age.n_outdated} of {age.n_rows} rows, {age.words_of_hours} hours{sample}")
    if chosen is None:
        return
    for file in chosen or [name for name, age in outdated.items() if not age.is_equal_in_sample]:
        remove_outdated(file, history)
        pages = outdated[file].pages
        for command in dict.fromkeys(c for page in pages for c in page_commands(page, file)):
            call(command)
    for command in LAST:
        call(command)


if __name__ == "__main__":
    main()
