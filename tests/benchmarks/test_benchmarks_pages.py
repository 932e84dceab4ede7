"""Every committed page is what its results say, by the command that the page names."""

import re
import shlex
from pathlib import Path

import pytest

from benchmarks.__main__ import main

ROOT = Path(__file__).parents[2]
FOLDER = Path("doc/benchmarks")
COMMAND = re.compile(r"doc/benchmarks (report .* --rst (doc/benchmarks/\S+\.rst))$", re.M)
PAGES = sorted(
    path.name for path in (ROOT / FOLDER).glob("*.rst") if COMMAND.search(path.read_text())
)


def test_every_file_of_results_has_its_page():
    named = {
        word
        for page in PAGES
        for word in COMMAND.search((ROOT / FOLDER / page).read_text())[1].split()
    }
    files = {
        str(FOLDER / path.name)
        for path in (ROOT / FOLDER).glob("*.jsonl")
        if '"experiment": ' in path.read_text().partition("\n")[0]  # else a script's own
    }
    assert files
    assert files <= named


def touch(figure, path, **options):
    Path(path).touch()


SHORT = "search_workers.rst"
MOST = [page if page == SHORT else pytest.param(page, marks=pytest.mark.bench) for page in PAGES]


@pytest.mark.parametrize("page", MOST)
def test_a_page_is_rebuilt_by_the_command_that_it_names(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", touch)  # other tests draw
    published = (FOLDER / page).read_text()
    command, goal = COMMAND.search(published).groups()
    assert goal == f"{FOLDER}/{page}"
    words = [str(tmp_path / page) if word == goal else word for word in shlex.split(command)]
    assert main(words) == ("Not measured yet" in published)
    assert (tmp_path / page).read_text().replace(str(tmp_path), str(FOLDER)) == published
    tables = re.findall(r":file: (\S+\.csv)", published)
    assert sorted(tables) == sorted(path.name for path in tmp_path.glob("*.csv"))
    for table in tables:
        assert (tmp_path / table).read_text() == (FOLDER / table).read_text(), table
