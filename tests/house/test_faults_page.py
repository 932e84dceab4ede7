"""The page of faults names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_on_the_page_exists():
    page = (ROOT / "doc" / "faults.rst").read_text()
    files = list((ROOT / "tests").rglob("test_*.py"))
    defined = {file.stem for file in files}
    for file in files:
        defined.update(re.findall(r"def (test_\w+)", file.read_text()))
    named = set(re.findall(r"``(test_\w+)``", page))
    missing = [name for name in named if not any(d.startswith(name) for d in defined)]
    assert len(named) > 50
    assert not missing
