"""Benchmark pages are reproduced by their command and name the revisions of their results."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest
import sdr_published

from benchmarks.__main__ import main
from benchmarks.registry import RESULTS, TABLES

ROOT = Path(__file__).parents[2]
FOLDER = Path("doc/benchmarks")
COMMAND = re.compile(r"doc/benchmarks (report .* --rst (doc/benchmarks/\S+\.rst))$", re.M)
PAGES = sorted(
    path.name for path in (ROOT / FOLDER).glob("*.rst") if COMMAND.search(path.read_text())
)


def touch(figure, path, **options):
    Path(path).touch()


SHORT = "search_workers.rst"
MOST = [page if page == SHORT else pytest.param(page, marks=pytest.mark.bench) for page in PAGES]


@pytest.mark.parametrize("page", MOST)
def test_page_is_rebuilt_by_its_command(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", touch)  # figures are tested elsewhere
    published = (FOLDER / page).read_text()
    command, goal = COMMAND.search(published).groups()
    assert goal == f"{FOLDER}/{page}"
    words = [str(tmp_path / page) if word == goal else word for word in shlex.split(command)]
    assert main(words) == ("Not measured yet" in published)
    assert (tmp_path / page).read_text().replace(str(tmp_path), str(FOLDER)) == published
    tables = re.findall(r":file: (\S+\.csv)", published)
    assert sorted(tables) == sorted(f"tables/{path.name}" for path in tmp_path.glob("tables/*.csv"))
    for table in tables:
        assert (tmp_path / table).read_text() == (FOLDER / table).read_text(), table


def test_published_simulations_are_reproduced(tmp_path, monkeypatch):
    monkeypatch.setattr(sdr_published, "TABLE", tmp_path / "table.csv")
    sdr_published.main(2)
    made, shown = (
        list(csv.DictReader(path.read_text().splitlines()))
        for path in (tmp_path / "table.csv", TABLES / "sdr_published.csv")
    )
    same = ("model", "rows", "method", "measure", "direction", "printed")
    assert [[row[c] for c in same] for row in made] == [[row[c] for c in same] for row in shown]
    for row in shown:
        ours, error = float(row["ours"]), float(row["error"])
        assert error < 0.013
        if row["printed"]:  # computed from half as many sets
            assert ours < float(row["printed"]) + 3 * 3**0.5 * error, row


def results_of(page):
    """Return the result files of a page, or an empty list if no command writes the page."""
    lines = [line for line in page.read_text().splitlines() if line.endswith(f"/{page.name}")]
    return re.findall(r"doc/benchmarks/results/(\S+\.jsonl)", " ".join(lines))


def our_revisions(files):
    """Return the revisions at which `silbo` was run in these result files."""
    lines = [line for name in files for line in (RESULTS / name).read_text().splitlines()]
    results = [json.loads(line) for line in lines]
    return {r["environment"]["revision"] for r in results if r.get("method") == "silbo"}


@pytest.mark.parametrize("page", PAGES)
def test_page_names_revisions_of_our_rows(page):
    path = ROOT / FOLDER / page
    text = path.read_text()
    assert all(revision in text for revision in our_revisions(results_of(path)))
