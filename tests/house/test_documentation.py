"""Examples of the documentation run, and the tests that pages name exist.

pytest itself collects the examples of the README and of the modules.
"""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOC = ROOT / "doc"


@pytest.mark.docs
@pytest.mark.parametrize("page", sorted(DOC.glob("*.rst")), ids=lambda page: page.name)
def test_examples_of_page_run(page):
    assert doctest.testfile(str(page), module_relative=False).failed == 0


def test_tests_on_faults_page_exist():
    page = (DOC / "faults.rst").read_text()
    files = list((ROOT / "tests").rglob("test_*.py"))
    defined = {file.stem for file in files}
    for file in files:
        defined.update(re.findall(r"def (test_\w+)", file.read_text()))
    named = set(re.findall(r"``(test_\w+)``", page))
    missing = [name for name in named if not any(d.startswith(name) for d in defined)]
    assert len(named) > 30
    assert not missing
