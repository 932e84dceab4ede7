"""Make the outdated results again, and every table, page and picture that is drawn from them.

To list the outdated results with the hours that they took, make all of them again, or make some::

    python doc/benchmarks/rerun.py
    python doc/benchmarks/rerun.py --run
    python doc/benchmarks/rerun.py --run public-silbo.jsonl tuning_public.jsonl

All of them together take several hours on two cores. After an interruption, the same command goes
on. Results of other people's methods are kept if their revision is in the repository.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from table_ages import History, remove_outdated, table_ages

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
RUN = "doc/benchmarks run"
COMMAND = re.compile(r"^ +python (doc/benchmarks (?:run|report) .*)$", re.M)
LAST = (  # tables made from several files, and the picture of the README
    "doc/benchmarks/who_wins.py --write",
    "doc/benchmarks/write_findings.py --write",
    "doc/benchmarks/table_ages.py --write",
    "examples/tune/plot_tune_pipeline.py",
)


def page_commands(page: str, file: str) -> list[str]:
    """Return the commands of a page that run the results of a file, then those that report."""
    commands = COMMAND.findall((FOLDER / f"{page}.rst").read_text(encoding="utf-8"))
    runs = [c for c in commands if c.startswith(RUN) and f"/{file}" in c]
    return [*runs, *(c for c in commands if not c.startswith(RUN))]


def call(command: str) -> None:
    """Run a Python command in the checkout; a report of incomplete results exits with 1."""
    print(f"python {command}", flush=True)
    path = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'doc'}"}
    arguments = [sys.executable, *shlex.split(command)]
    is_report = command.startswith("doc/benchmarks report")
    subprocess.run(arguments, cwd=ROOT, env=os.environ | path, check=not is_report)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", nargs="*", metavar="FILE", help="results to make again")
    chosen = parser.parse_args().run
    history = History(FOLDER)
    outdated = {age.table["file"]: age for age in table_ages(history) if age.n_outdated}
    for file, age in outdated.items():
        print(f"{file}: {age.n_outdated} of {age.n_rows} rows, {age.hours:.1f} hours")
    if chosen is None:
        return
    for file in chosen or outdated:
        remove_outdated(file, history)
        pages = [
            page for page in outdated[file].table["pages"] if (FOLDER / f"{page}.rst").exists()
        ]
        for command in dict.fromkeys(c for page in pages for c in page_commands(page, file)):
            call(command)
    for command in LAST:
        call(command)


if __name__ == "__main__":
    main()
