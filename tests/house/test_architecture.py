"""The architecture page names the existing layers, packages and functions."""

import configparser
import re
import sys
from pathlib import Path

import call_chains
import numpy as np
import pytest

from skbo_silbo import SemiSlicedInverseRegression

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
    terms = re.findall(r"^(``.+``)\n   \S", section("Packages"), re.M)
    described = re.findall(r"``(\w+)``", " ".join(terms))
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert rooms | files <= set(described)
    assert len(described) == len(set(described))


def test_fit_enters_functions_on_page():
    line = r"^ +(?:\w+\.)?(\w+) {2,}((?:\w+/)+\w+\.py)"
    named = set(re.findall(line, section("One fit"), re.M))
    entered = set()

    def note(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            entered.add((frame.f_code.co_name, path.relative_to(PACKAGE).as_posix()))

    X = np.random.default_rng(0).normal(size=(60, 3))
    sys.setprofile(note)
    try:
        SemiSlicedInverseRegression().fit(X, np.r_[X[:40, 0], np.full(20, np.nan)])
    finally:
        sys.setprofile(None)
    assert len(named) > 10
    assert named <= entered


@pytest.mark.parametrize("file", ["evaluation.txt", "candidate.txt", "resumed.txt"])
def test_call_chains_are_those_of_default_path(file):
    step, *shown = call_chains.SHOWN[file]
    now = call_chains.chain(step(), *shown)
    written = (call_chains.CHAINS / file).read_text()
    assert now == written, "run: python doc/benchmarks/scripts/call_chains.py --write"
