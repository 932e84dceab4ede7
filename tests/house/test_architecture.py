"""The architecture page names the existing layers, packages and functions."""

import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "skbo_silbo"
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


def test_layers_match_import_contract():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    contract = layers_of(config["importlinter:contract:direction"]["layers"])
    on_page = layers_of(section("Layers").split("text\n", 1)[1])
    today = [{room for room in layer if exists(room)} for layer in on_page]
    assert [layer for layer in today if layer] == contract


def test_every_package_is_described():
    described = re.findall(r"^``(\w+)``\n   \S", section("Rooms"), re.M)
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    files = {path.stem for path in PACKAGE.glob("_*.py")} - {"__init__"}
    assert rooms | files <= set(described)
    assert len(described) == len(set(described))


def test_functions_of_proposal_are_where_page_says():
    lines = re.findall(r"^ +(?:\w+\.)?(\w+) {2,}(\w+/\w+\.py)", section("One proposal"), re.M)
    assert len(lines) > 8
    for function, file in lines:
        assert f"def {function}(" in (PACKAGE / file).read_text(), (function, file)
