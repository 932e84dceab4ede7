"""Folders of the benchmarks and their registry, `registry.toml`.

The registry lists, for each page of the documentation that shows measurements, the commands that
make them, the results that the commands write, the tables and the pictures. It also lists the
changes of defaults, with which `scripts/table_ages.py` finds outdated results.
"""

import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"
TABLES = FOLDER / "tables"
PICTURES = "pictures"  # folder next to the pages, filled when the documentation is built


def read_registry(path=FOLDER / "registry.toml"):
    """Return the content of the registry, a dict."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def pages_with(file, registry):
    """Return the pages with a file, which is relative to the folder of the benchmarks."""
    kind, name = file.split("/", 1)
    return [page for page, entry in registry["pages"].items() if name in entry.get(kind, ())]
