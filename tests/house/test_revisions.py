"""Benchmark pages name the revisions that produced our rows."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "doc" / "benchmarks"
PAGES = sorted(FOLDER.glob("*.rst"))


def results_of(page):
    """Return the files that a page is written from; none where no command writes it."""
    lines = [line for line in page.read_text().splitlines() if line.endswith(f"/{page.name}")]
    return re.findall(r"doc/benchmarks/(\S+\.jsonl)", " ".join(lines))


def our_revisions(files):
    """Return the revisions of the rows of `silbo` in these files of results."""
    lines = [line for name in files for line in (FOLDER / name).read_text().splitlines()]
    results = [json.loads(line) for line in lines]
    return {r["environment"]["revision"] for r in results if r.get("method") == "silbo"}


@pytest.mark.parametrize("page", list(filter(results_of, PAGES)), ids=lambda page: page.stem)
def test_a_page_names_the_revisions_of_our_rows(page):
    told = page.read_text()
    assert all(revision in told for revision in our_revisions(results_of(page)))


def test_the_first_page_says_which_search_each_revision_ran():
    index = (FOLDER / "index.rst").read_text()
    named = set(re.findall(r"\b[0-9a-f]{7}\b", index))
    assert our_revisions(path.name for path in FOLDER.glob("*.jsonl")) <= named
