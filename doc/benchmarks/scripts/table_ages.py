"""Find the tables that are older than a change of a default that affects them.

`registry.toml` lists the changes and the tables. A row is outdated if it was made before
the last change in one of the scopes of its table, or if its revision is not in the repository.
If all runs of a sample of the outdated rows were equal (`sampled_rerun.py`), the rows stay, and the
table says so. To list the outdated tables with the hours that their rows took, write
``table-ages.csv``, or remove the outdated rows of a file so that ``run`` makes them again::

    python doc/benchmarks/scripts/table_ages.py
    python doc/benchmarks/scripts/table_ages.py --write
    python doc/benchmarks/scripts/table_ages.py --remove results/public-silbo.jsonl
"""

import argparse
import csv
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from checkout import FOLDER, TABLES, pages_with, read_registry

AGES, SAMPLES = TABLES / "table-ages.csv", TABLES / "sampled-rerun.csv"
HEADER = [
    "results",
    "pages",
    "depends on",
    "rows",
    "outdated",
    "hours",
    "made by",
    "outdated since",
    "sample of outdated rows",
]


class History:
    """Commits of a repository.

    Parameters
    ----------
    folder : Path
        A folder of the repository.

    Raises
    ------
    LookupError
        If the folder has no git history, or only a part of it.
    """

    def __init__(self, folder: Path):
        self._git = ["git", "-C", str(folder)]
        shallow = self._run("rev-parse", "--is-shallow-repository")
        tracked = self._run("ls-files", "--", str(folder))
        if shallow != ["false"] or not tracked:
            raise LookupError(f"{folder} is not part of a complete git repository.")
        self._commits = self._run("rev-list", "HEAD")
        self._after: dict[str, set[str]] = {}

    def _run(self, *arguments: str) -> list[str]:
        done = subprocess.run([*self._git, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.split("\n")[:-1]

    def find(self, revision: str) -> str | None:
        """Return the full name of a commit that HEAD is based on, or None if there is none."""
        short = revision.rstrip("+")
        return next((commit for commit in self._commits if commit.startswith(short)), None)

    def contains(self, revision: str, change: str) -> bool:
        """Return whether a revision is known and based on the commit of a change."""
        if change not in self._after:
            whole = self.find(change)
            later = self._run("rev-list", "--ancestry-path", f"{whole}..HEAD") if whole else []
            self._after[change] = {*later, whole}
        commit = self.find(revision)
        return commit is not None and commit in self._after[change]


@dataclass(frozen=True)
class TableAge:
    """Rows of one table that depend on the defaults.

    Attributes
    ----------
    table : dict
        Entry of `registry.toml`.
    pages : list of str
        Pages that show the table or read the results.
    revisions : list of str
        Revisions of the rows that depend on the changes.
    n_rows : int
        Number of rows.
    outdated : dict
        Revisions of outdated rows, each with the first change that it lacks, or with "" if it
        is not in the repository.
    n_outdated : int
        Number of outdated rows.
    hours : float
        CPU hours that the outdated rows took.
    sample : dict
        Row of `sampled-rerun.csv` about outdated rows of the file, empty if there is none.
    """

    table: dict
    pages: list[str]
    revisions: list[str]
    n_rows: int
    outdated: dict
    n_outdated: int
    hours: float
    sample: dict

    @property
    def words_of_hours(self) -> str:
        """Return the hours as words, empty without outdated rows."""
        if not self.n_outdated:
            return ""
        return f"{self.hours:.1f}" if self.hours else "unknown"

    @property
    def is_equal_in_sample(self) -> bool:
        """Return whether all runs of a sample of the outdated rows were equal."""
        return bool(self.sample) and n_equal(self.sample) == self.sample["runs"]


def n_equal(sample: dict) -> str:
    """Return the number of runs that found the stored values, or do so on the same processor."""
    return str(int(sample["equal"]) + int(sample["equal up to the processor"]))


def read_samples() -> dict:
    """Return the rows about samples of outdated runs, a dict by file."""
    with SAMPLES.open(newline="", encoding="utf-8") as file:
        return {r["results"]: r for r in csv.DictReader(file) if r["rows"] == "outdated"}


def read_rows(table: dict) -> list[dict]:
    """Return method, problem, revision and seconds of the rows of a table."""
    path = FOLDER / table["file"]
    lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [""]
    if "revision" in table:  # of all rows, which do not state their times
        row = {"method": "", "problem": "", "revision": table["revision"], "seconds": 0.0}
        return [row] * len(lines)
    return [as_row(json.loads(line)) for line in lines]


def as_row(result: dict) -> dict:
    """Return method, problem, revision and seconds of one result."""
    return {
        "method": result["method"],
        "problem": json.dumps(result.get("problem", "")),
        "revision": result["environment"]["revision"],
        "seconds": result.get("cell_seconds", 0.0),
    }


def is_affected(row: dict, entry: dict) -> bool:
    """Return whether an entry of `registry.toml` is about the method and problem of a row."""
    of_method = not row["method"] or re.fullmatch(entry.get("methods", ".*"), row["method"])
    return bool(of_method and re.search(entry.get("problems", ""), row["problem"]))


def missed_change(row: dict, table: dict, changes: list[dict], history: History) -> str | None:
    """Return the first change that a row was made without, or None if the row is up to date.

    The change is an empty string if the revision of the row is not in the repository.
    """
    if history.find(row["revision"]) is None:
        return ""
    for change in changes if is_affected(row, table) else []:
        in_scope = set(change["scopes"]) & set(table["scopes"])
        affected = in_scope and is_affected(row, change)
        if affected and not history.contains(row["revision"], change["revision"]):
            return change["revision"]
    return None


def is_outdated(result: dict, file: str, content: dict, history: History) -> bool:
    """Return whether one result of a file is outdated; `content` is that of `registry.toml`."""
    for table in (table for table in content["tables"] if table["file"] == file):
        row = {"method": result.get("method", ""), "problem": json.dumps(result.get("problem", ""))}
        row["revision"] = table.get("revision") or result["environment"]["revision"]
        if missed_change(row, table, content["changes"], history) is not None:
            return True
    return False


def table_ages(history: History) -> list[TableAge]:
    """Return the age of every table."""
    content, samples = read_registry(FOLDER / "registry.toml"), read_samples()
    ages = []
    for table in content["tables"]:
        rows = read_rows(table)
        missed = [missed_change(row, table, content["changes"], history) for row in rows]
        old = [(row, c) for row, c in zip(rows, missed, strict=True) if c is not None]
        revisions = dict.fromkeys(row["revision"] for row in rows if is_affected(row, table))
        seconds = sum(row["seconds"] for row, _ in old)
        first = {row["revision"]: change for row, change in old}
        pages = pages_with(table["file"], content)
        found = samples.get(table["file"], {}) if old else {}
        ages.append(
            TableAge(table, pages, [*revisions], len(rows), first, len(old), seconds / 3600, found)
        )
    return ages


def csv_rows(ages: list[TableAge], changes: list[dict]) -> list[list[str]]:
    """Return the rows of `table-ages.csv`, one for each table that depends on defaults."""
    dates = {change["revision"]: str(change["date"]) for change in changes} | {"": "not in history"}
    return [
        [
            age.table["file"],
            ", ".join(age.pages),
            ", ".join(age.table["scopes"]),
            f"{age.n_rows}",
            f"{age.n_outdated}",
            age.words_of_hours,
            ", ".join(age.revisions),
            ", ".join(sorted({dates[change] for change in age.outdated.values()})),
            words_of(age.sample),
        ]
        for age in ages
        if age.table["scopes"] or age.outdated
    ]


def words_of(sample: dict) -> str:
    """Return how many runs of a sample are equal at which revision."""
    if not sample:
        return ""
    return f"{n_equal(sample)} of {sample['runs']} equal at {sample['compared with']}"


def remove_outdated(file: str, history: History) -> int:
    """Remove the outdated rows of a file of results and return their number."""
    content = read_registry(FOLDER / "registry.toml")
    tables = [table for table in content["tables"] if table["file"] == file]
    kept, path = [], FOLDER / file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for line in lines:
        row = as_row(json.loads(line))
        if all(missed_change(row, t, content["changes"], history) is None for t in tables):
            kept.append(line)
    path.write_text("".join(kept), encoding="utf-8")
    return len(lines) - len(kept)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {AGES.name}")
    parser.add_argument("--remove", metavar="FILE", help="remove the outdated rows of a file")
    options = parser.parse_args()
    history = History(FOLDER)
    if options.remove:
        print(f"{remove_outdated(options.remove, history)} rows removed from {options.remove}.")
        return
    rows = csv_rows(table_ages(history), read_registry()["changes"])
    if options.write:
        with AGES.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    for row in rows:
        if row[4] != "0":
            print(f"{row[0]} ({row[1]}): {row[4]} of {row[3]} rows, {row[5]} h, since {row[7]}")


if __name__ == "__main__":
    main()
