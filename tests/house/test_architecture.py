"""The page on architecture names today's rooms, layers and functions, and its counts hold."""

import configparser
import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "skbo_silbo"
BENCHMARKS = ROOT / "doc" / "benchmarks"
PAGE = (ROOT / "doc" / "architecture.rst").read_text()


def section(title):
    after = re.split(rf"^{title}\n-+\n", PAGE, flags=re.M)[1]
    return re.split(r"^.+\n-{3,}\n", after, flags=re.M)[0]


def layers_of(text):
    """Return the rooms of every layer; those of one layer are in any order."""
    lines = [set(re.findall(r"\w+", line)) for line in text.strip().splitlines()]
    return [line for line in lines if line]


def exists(room):
    return (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").exists()


def test_layers_are_those_of_the_contract():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    contract = layers_of(config["importlinter:contract:direction"]["layers"])
    on_page = layers_of(section("Layers").split("text\n", 1)[1])
    today = [{room for room in layer if exists(room)} for layer in on_page]
    assert [layer for layer in today if layer] == contract


def test_every_room_has_its_sentence():
    described = re.findall(r"^``(\w+)``\n   \S", section("Rooms"), re.M)
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    files = {path.stem for path in PACKAGE.glob("_*.py")} - {"__init__"}
    assert rooms | files <= set(described)
    assert len(described) == len(set(described))


def test_functions_of_a_proposal_stand_where_the_page_says():
    lines = re.findall(r"^ +(?:\w+\.)?(\w+) {2,}(\w+/\w+\.py)", section("One proposal"), re.M)
    assert len(lines) > 8
    for function, file in lines:
        assert f"def {function}(" in (PACKAGE / file).read_text(), (function, file)


@pytest.mark.parametrize(
    ("name", "first"), [("ask.csv", "30 inputs, or two parameters"), ("house.csv", "count")]
)
def test_counts_are_numbers_of_two_named_revisions(name, first):
    """The scripts that the page names write them; they are not counted again by every change."""
    with (BENCHMARKS / name).open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0] == first
    revisions = list(dict.fromkeys(title.rpartition(" ")[2] for title in header[1:]))
    assert len(revisions) == 2
    assert all(re.fullmatch("[0-9a-f]{7}", revision) for revision in revisions)
    assert all(cell == "" or int(cell) > 0 for row in rows for cell in row[1:])
    assert all(len(row) == len(header) for row in rows)
