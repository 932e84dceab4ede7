"""Rows of results are outdated if a default that they depend on changed after their revision."""

import json
from pathlib import Path

import pytest
import table_ages

pytestmark = pytest.mark.bench


@pytest.fixture(scope="module")
def history():
    try:
        return table_ages.History(table_ages.FOLDER)
    except LookupError as error:
        pytest.skip(str(error))


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
