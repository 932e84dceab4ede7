"""The README is short, its links lead somewhere, and its table is what the results say."""

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from skbo_silbo.benchmarks.search import gap_runs

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
APART = re.compile(r"<!--.*?-->|!\[.*?\]\(.*?\)|^\|.*?$|(?<=\])\(.*?\)", re.M | re.S)


def prose(text):
    """Return the text without code blocks, comments, pictures, tables and addresses."""
    return APART.sub("", CODE.sub("", text))


def words(text):
    return re.findall(r"\S*\w\S*", prose(text))


def numbers(text):
    return re.findall(r"\d+(?:\.\d+)*", prose(text))


def test_prose_is_counted_without_what_stands_apart():
    apart = "<!-- 1 -->\n![a\npicture](b/2.png)\n| 3 | 4 |\n```sh\n5 six\n```\n"
    text = f"Two `words`.\n{apart}[7](8.rst)\n"
    assert words(text) == ["Two", "`words`.", "[7]"]
    assert numbers(text) == ["7"]


def test_the_readme_is_short():
    assert 200 < len(words(README)) <= 450
    assert len(numbers(README)) <= 20


def test_every_block_of_python_shows_a_result():
    blocks = [body for language, body in CODE.findall(README) if language == "python"]
    assert len(blocks) >= 3
    assert all(re.search(r"^[^>.\s]", body, re.M) for body in blocks)
    assert README.index("```python") < README.index("## ")  # before the first heading


def test_links_lead_to_files_of_the_repository():
    links = re.findall(r"\]\((?!https://)(.+?)\)", README)
    assert len(links) > 8
    assert not [link for link in links if not (ROOT / link).exists()]


def read(*names):
    paths = [ROOT / "doc" / "benchmarks" / f"{name}.jsonl" for name in names]
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def as_minimised(results):
    """Return the scores of tuning as `gap_runs` reads values; chance is random search's mean."""
    results = [r for r in results if r["status"] == "ok"]
    lowest = [-np.fmax.accumulate(np.array(r["scores"], float)) for r in results]
    chance = defaultdict(list)
    for r, values in zip(results, lowest, strict=True):
        if r["method"] == "random":
            chance[r["problem"]["task"]].append(values[49])
    return [
        r
        | {"steps": list(enumerate(values.tolist(), 1))}
        | {"chance": {"50": np.mean(chance[r["problem"]["task"]])}}
        for r, values in zip(results, lowest, strict=True)
    ]


def problem_name(run):
    return run.problem.get("function", run.problem.get("task"))


def row(runs, n):
    """Return the mean shares of ours and of TPE after n evaluations, and how many runs of each."""
    shares = defaultdict(list)
    for run in runs:
        shares[run.method].append(run.share(n))
    ours, theirs = shares["silbo"], shares["optuna-tpe"]
    assert len(ours) == len(theirs)
    return [f"{np.mean(ours):.2f}", f"{np.mean(theirs):.2f}", str(len(ours))]


def standard_errors(runs, n):
    """Return by how many standard errors ours leads TPE, with one difference a function."""
    shares = defaultdict(lambda: defaultdict(list))
    for run in runs:
        shares[problem_name(run)][run.method].append(run.share(n))
    leads = [np.mean(s["silbo"]) - np.mean(s["optuna-tpe"]) for s in shares.values()]
    return np.mean(leads) / (np.std(leads, ddof=1) / len(leads) ** 0.5)


@pytest.fixture(scope="module")
def rows():
    """Return (runs, evaluations) of each row of the table."""
    bbob = gap_runs(read("public-silbo", "public-peers"))
    kinds = [
        [run for run in bbob if run.problem["kind"] == kind]
        for kind in ("native", "rotated", "planted")
    ]
    small = [run for run in gap_runs(read("bocode")) if run.problem["kind"] == "small"]
    tuning = gap_runs(as_minimised(read("tuning_public")))
    return [(tuning, 50), *((runs, 100) for runs in kinds), (small, 100)]


def test_the_table_is_what_the_results_say(rows):
    lines = re.findall(r"^\| (.+) \|$", README, re.M)
    table = [line.split(" | ") for line in lines[1:]]
    assert all(len(cells) == 4 for cells in table)
    assert [cells[1:] for cells in table] == [row(*entry) for entry in rows]


def test_which_differences_are_within_two_standard_errors(rows):
    assert "third and fourth differences are within two standard errors" in README
    assert [standard_errors(*entry) < 2 for entry in rows] == [False, False, True, True, False]
