"""Benchmark tables are not older than the defaults that they describe."""

import csv
import json
import re
from pathlib import Path

import pytest
import table_ages

from benchmarks.registry import read_registry

FOLDER = table_ages.FOLDER
CONTENT = read_registry()
TABLES, PAGES = CONTENT["tables"], CONTENT["pages"]


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


def test_every_scope_has_changes():
    """Results of a scope without changes could never become outdated."""
    changed = {scope for change in CONTENT["changes"] for scope in change["scopes"]}
    assert changed == set(CONTENT["scopes"])


def test_outdated_tables_are_marked(ages):
    assert [age.table for age in ages if age.outdated and "outdated" not in age.table] == []
    assert [age.table for age in ages if not age.outdated and "outdated" in age.table] == []


def test_readme_uses_only_known_revisions(ages):
    for age in ages:
        if "README" in age.pages:
            assert "" not in age.outdated.values(), age.table["file"]


def test_ages_table_matches_results(ages):
    with table_ages.AGES.open(newline="", encoding="utf-8") as file:
        stored = list(csv.reader(file))
    assert stored == [table_ages.HEADER, *table_ages.csv_rows(ages, CONTENT["changes"])]


def files_in(*folders):
    """Return the files below folders of the benchmarks, relative to the benchmarks."""
    paths = [path for folder in folders for path in (FOLDER / folder).rglob("*.*")]
    return {str(path.relative_to(FOLDER)) for path in paths}


def listed(*kinds, having=()):
    """Return the files of these kinds that pages of the registry list."""
    entries = [entry for entry in PAGES.values() if set(having) <= set(entry)]
    return {f"{kind}/{name}" for entry in entries for kind in kinds for name in entry.get(kind, ())}


def test_every_source_of_a_table_has_scopes():
    stated = {table["file"] for table in TABLES} | set(CONTENT["unaffected"])
    data = {name for name in files_in("results", "tables") if name.endswith((".jsonl", ".csv"))}
    data |= {f"images/{path.name}" for path in (FOLDER.parent / "images").iterdir()}
    assert stated <= data
    assert data - listed("tables", having=["results"]) <= stated


def test_registry_lists_every_file_of_results_and_tables():
    assert listed("results", "tables") == files_in("results", "tables")


@pytest.mark.parametrize("page", PAGES)
def test_registry_lists_what_page_shows(page):
    root = FOLDER.parents[1]
    paths = [FOLDER / f"{page}.rst", root / "doc" / f"{page}.rst", root / f"{page}.md"]
    text = next(path for path in paths if path.exists()).read_text()
    shown = re.findall(r"(?::file:|literalinclude::) (?:benchmarks/)?tables/(\S+)", text)
    reports = re.findall(r"^ +python (doc/\S+ report .* --rst doc/\S+)$", text, re.M)
    commands = PAGES[page].get("commands", ())
    assert set(shown) <= set(PAGES[page].get("tables", ()))
    assert set(reports) <= set(commands)
    assert all((root / command.split()[0]).exists() for command in commands)


@pytest.fixture
def one_table(tmp_path, monkeypatch):
    """Return a function that writes results and a change of the default."""

    def write(revision, change, methods=".*", problems=""):
        result = {"environment": {"revision": revision}, "cell_seconds": 1800}
        result["problem"] = {"function": "branin"}
        lines = [json.dumps({"method": method, **result}) for method in ("silbo", "random")]
        (tmp_path / "results").mkdir(exist_ok=True)
        (tmp_path / "results" / "own.jsonl").write_text("\n".join(lines) + "\n")
        (tmp_path / "registry.toml").write_text(
            f'[[changes]]\ndate = 2026-11-26\nrevision = "{change}"\nscopes = ["tuning"]\n'
            f'problems = "{problems}"\n'
            f'[[tables]]\nfile = "results/own.jsonl"\nscopes = ["tuning"]\n'
            f'methods = "{methods}"\n[pages]\n'
        )
        monkeypatch.setattr(table_ages, "FOLDER", tmp_path)

    return write


def test_rows_before_a_change_are_outdated(history, one_table):
    one_table("bb7b451", "9bb4a76c", methods="silbo")
    (age,) = table_ages.table_ages(history)
    assert (age.n_outdated, age.hours, age.outdated) == (1, 0.5, {"bb7b451": "9bb4a76c"})


def test_change_affects_only_its_problems(history, one_table):
    one_table("bb7b451", "9bb4a76c", problems="conditional")
    assert not table_ages.table_ages(history)[0].outdated
    one_table("bb7b451", "9bb4a76c", problems="bra.in")
    assert table_ages.table_ages(history)[0].n_outdated == 2


def test_rows_at_or_after_a_change_are_kept(history, one_table):
    for revision in ("9bb4a76", "662124b5+"):
        one_table(revision, "9bb4a76c")
        assert not table_ages.table_ages(history)[0].outdated


def test_rows_of_unknown_revisions_are_outdated(history, one_table):
    one_table("473ac3c", "9bb4a76c")
    assert table_ages.table_ages(history)[0].outdated == {"473ac3c": ""}


def test_outdated_rows_are_removed(history, one_table, tmp_path):
    one_table("bb7b451", "9bb4a76c", methods="silbo")
    assert table_ages.remove_outdated("results/own.jsonl", history) == 1
    assert '"random"' in (tmp_path / "results" / "own.jsonl").read_text()


def test_folder_without_git_history_is_rejected(tmp_path):
    with pytest.raises(LookupError, match="complete git repository"):
        table_ages.History(Path(tmp_path))
