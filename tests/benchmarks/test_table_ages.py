"""Benchmark tables are not older than the defaults that they describe."""

import csv
import json
from pathlib import Path

import pytest

from benchmarks import table_ages

FOLDER = table_ages.FOLDER
CONTENT = table_ages.read_changes()
TABLES = CONTENT["tables"]


@pytest.fixture(scope="module")
def history():
    try:
        return table_ages.History(FOLDER)
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def ages(history):
    return table_ages.table_ages(history)


def test_changes_are_in_history_and_in_order(history):
    changes = CONTENT["changes"]
    assert all(history.find(change["revision"]) for change in changes)
    assert changes == sorted(changes, key=lambda change: change["date"])
    scopes = {scope for part in (changes, TABLES) for entry in part for scope in entry["scopes"]}
    assert scopes == set(CONTENT["scopes"])


def test_outdated_tables_are_marked(ages):
    assert [age.table for age in ages if age.outdated and "outdated" not in age.table] == []
    assert [age.table for age in ages if not age.outdated and "outdated" in age.table] == []


def test_readme_uses_only_known_revisions(ages):
    for age in ages:
        if "README" in age.table["pages"]:
            assert "" not in age.outdated.values(), age.table["file"]


def test_ages_table_matches_results(ages):
    with table_ages.AGES.open(newline="", encoding="utf-8") as file:
        stored = list(csv.reader(file))
    assert stored == [table_ages.HEADER, *table_ages.csv_rows(ages, CONTENT["changes"])]


def test_every_table_is_listed():
    files = {table["file"] for table in TABLES} | set(CONTENT["unaffected"])
    pages = {page for table in TABLES for page in table["pages"]}
    assert all((FOLDER / file).exists() for file in files)
    for path in [*FOLDER.glob("**/*.jsonl"), *FOLDER.glob("**/*.csv")]:
        name = str(path.relative_to(FOLDER))
        assert name in files or any(name.startswith((f"{p}-", f"{p}.")) for p in pages), name


@pytest.fixture
def one_table(tmp_path, monkeypatch):
    """Return a function that writes results and a change of the default."""

    def write(revision, change, methods=".*"):
        result = {"environment": {"revision": revision}, "cell_seconds": 1800}
        lines = [json.dumps({"method": method, **result}) for method in ("silbo", "random")]
        (tmp_path / "own.jsonl").write_text("\n".join(lines) + "\n")
        (tmp_path / "default_changes.toml").write_text(
            f'[[changes]]\ndate = 2026-11-26\nrevision = "{change}"\nscopes = ["tuning"]\n'
            f'[[tables]]\nfile = "own.jsonl"\npages = []\nscopes = ["tuning"]\n'
            f'methods = "{methods}"\n'
        )
        monkeypatch.setattr(table_ages, "FOLDER", tmp_path)

    return write


def test_rows_before_a_change_are_outdated(history, one_table):
    one_table("bb7b451", "9bb4a76c", methods="silbo")
    (age,) = table_ages.table_ages(history)
    assert (age.n_outdated, age.hours, age.outdated) == (1, 0.5, {"bb7b451": "9bb4a76c"})


def test_rows_at_or_after_a_change_are_kept(history, one_table):
    for revision in ("9bb4a76", "662124b5+"):
        one_table(revision, "9bb4a76c")
        assert not table_ages.table_ages(history)[0].outdated


def test_rows_of_unknown_revisions_are_outdated(history, one_table):
    one_table("473ac3c", "9bb4a76c")
    assert table_ages.table_ages(history)[0].outdated == {"473ac3c": ""}


def test_outdated_rows_are_removed(history, one_table, tmp_path):
    one_table("bb7b451", "9bb4a76c", methods="silbo")
    assert table_ages.remove_outdated("own.jsonl", history) == 1
    assert '"random"' in (tmp_path / "own.jsonl").read_text()


def test_folder_without_git_history_is_rejected(tmp_path):
    with pytest.raises(LookupError, match="complete git repository"):
        table_ages.History(Path(tmp_path))
