"""The README's links lead to files and its table matches the benchmark results."""

import csv
import re
from pathlib import Path

import pytest
import who_wins

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def test_python_blocks_show_results():
    blocks = [body for language, body in CODE.findall(README) if language == "python"]
    assert len(blocks) >= 3
    assert all(re.search(r"^[^>.\s]", body, re.M) for body in blocks)
    assert README.index("```python") < README.index("## ")  # before the first heading


@pytest.mark.parametrize("page", sorted(path.name for path in ROOT.glob("*.md")))
def test_links_and_scripts_exist(page):
    text = (ROOT / page).read_text()
    named = re.findall(r"\]\((?!https://)(.+?)\)", text) + re.findall(r"`(\.ci/\w+)`", text)
    assert not [path for path in named if not (ROOT / path).exists()]


def test_table_matches_benchmark():
    with who_wins.TABLE.open(newline="", encoding="utf-8") as file:
        won = {f"{row['problems']}, {row['evaluations']}": row for row in csv.DictReader(file)}
    lines = re.findall(r"^\| (.+) \|$", README, re.M)
    table = [line.split(" | ") for line in lines[1:]]
    assert len(table) == 4
    for name, *cells in table:
        assert cells == [won[name][column] for column in ("ours", "best other", "runs")]


def test_benchmark_tables_match_results():
    tables = {
        who_wins.TABLE: [who_wins.HEADER, *who_wins.rows()],
        who_wins.PROCESSES: [who_wins.HEADER_PROCESSES, *who_wins.process_rows()],
        who_wins.ACTIVE: [who_wins.HEADER_ACTIVE, *who_wins.active_rows()],
        who_wins.SECONDS: [who_wins.HEADER_SECONDS, *who_wins.seconds_rows()],
    }
    for path, table in tables.items():
        with path.open(newline="", encoding="utf-8") as file:
            assert list(csv.reader(file)) == [[str(cell) for cell in row] for row in table]


def test_commands_for_ci_are_marked():
    assert README.count("<!-- test -->") == README.count("<!-- main job -->") == 1
    assert "README.md" in (ROOT / ".ci" / "run").read_text()


def test_first_screen_states_result_of_table():
    with who_wins.TABLE.open(newline="", encoding="utf-8") as file:
        rows = {(row["problems"], row["evaluations"]): row for row in csv.DictReader(file)}
    row = rows["bbob, 10 and 20 inputs", "100"]
    shares = [100 * float(row[column].split()[0]) for column in ("ours", "best other")]
    start = README.split("```")[0]
    assert re.findall(r"(\d+) %", start) == [f"{share:.0f}" for share in shares]


def test_text_has_at_most_750_words():
    assert len(re.sub(r"<!--.*?-->", "", CODE.sub("", README)).split()) <= 750
