"""Benchmark tables are not older than the defaults that they describe."""

import csv
import re

import pytest
import sampled_rerun
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


def test_outdated_tables_are_marked_unless_equal(ages):
    needed = [age.table for age in ages if age.outdated and not age.is_equal_in_sample]
    assert [table for table in needed if "outdated" not in table] == []
    marked = [age.table for age in ages if "outdated" in age.table]
    assert [table for table in marked if table not in needed] == []


def test_readme_uses_only_known_revisions(ages):
    for age in ages:
        if "README" in age.pages:
            assert "" not in age.outdated.values(), age.table["file"]


def test_ages_table_matches_results(ages):
    with table_ages.AGES.open(newline="", encoding="utf-8") as file:
        stored = list(csv.reader(file))
    assert stored == [table_ages.HEADER, *table_ages.csv_rows(ages, CONTENT["changes"])]


def test_every_file_of_results_was_sampled():
    with table_ages.SAMPLES.open(newline="", encoding="utf-8") as file:
        sampled = {row["results"] for row in csv.DictReader(file)}
    excused = {*sampled_rerun.TIMES, *sampled_rerun.OF_OLD_REVISIONS}
    results = {f"results/{path.name}" for path in (FOLDER / "results").iterdir()}
    assert results - sampled == {f"results/{name}.jsonl" for name in excused}


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
