"""Count the house: lines of code by package, and how much of it a search and a resumed fit enter.

Lines of code are those that hold neither a docstring nor a comment alone. Beside another revision,
and to write the table of doc/architecture.rst::

    python doc/benchmarks/scripts/count_house.py --against 1520527 --write
"""

import ast
import csv
import io
import json
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from pathlib import Path

from checkout import TABLES
from revisions import PROBE, arguments, columns_of, probed

TABLE = TABLES / "house.csv"
WITHOUT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_IMPORTED_BY_USERS = ("benchmarks", "journal", "workers")  # as in tests/house


def probe():
    """Print the files of the package that is imported which a search and a resumed fit enter."""
    from count_ask import CountedModel, entered_by, observed, tuned

    warnings.simplefilter("ignore")
    CountedModel.fitted = lambda: None
    with tempfile.TemporaryDirectory() as folder:
        journal = f"{folder}/search.jsonl"
        searched = entered_by(lambda: observed(40))
        tuned(15, journal=journal)
        resumed = entered_by(lambda: tuned(15, journal=journal))
    runs = (
        {file for file, name in run.functions if name != "<module>"} for run in (searched, resumed)
    )
    print(json.dumps(list(map(sorted, runs))))


def code_lines(path):
    """Return how many lines of a file hold code."""
    source = path.read_text(encoding="utf-8")
    lines, docs = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docs |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (*WITHOUT_CODE, tokenize.ENDMARKER):
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docs)


def lines_by_package(root):
    """Return {package, or "(top)": lines of code}, the largest first."""
    package, counts = root / "skbo_silbo", Counter()
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).parts
        counts[parts[0] if len(parts) > 1 else "(top)"] += code_lines(path)
    return dict(counts.most_common())


def public_names(root):
    """Return the distinct names that packages for users export."""
    names = set()
    for path in (root / "skbo_silbo").rglob("__init__.py"):
        rooms = path.relative_to(root / "skbo_silbo").parts[:-1]
        if any(room.startswith("_") or room in NOT_IMPORTED_BY_USERS for room in rooms):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names |= set(ast.literal_eval(node.value))
    return names


def entered_files(root):
    """Return the files entered by 40 proposals of a default search, and by a resumed fit."""
    return [list(map(Path, files)) for files in probed(__file__, root)]


def count(root):
    """Return every count of a checkout, by its name."""
    packages = lines_by_package(root)
    tests = sum(map(code_lines, (root / "tests").rglob("*.py")))
    folders = Counter(path.parent for path in (root / "skbo_silbo").rglob("*.py"))
    searched, resumed = entered_files(root)
    return {
        "lines of code, package": sum(packages.values()),
        "lines of code, tests": tests,
        "files that a default search enters": len(searched),
        "their lines of code": sum(map(code_lines, searched)),
        "files that a fit resumed from its journal enters": len(resumed),
        "public names": len(public_names(root)),
        "files in the largest folder": max(folders.values()),
        **{f"lines of code in ``{name}``": lines for name, lines in packages.items()},
    }


def main():
    """Print the counts, and write them if asked to."""
    options = arguments(__doc__, TABLE)
    columns = columns_of(options, count)
    names = dict.fromkeys(name for counts in reversed(columns.values()) for name in counts)
    rows = [["count", *columns]]
    rows += [[name, *(counts.get(name, "") for counts in columns.values())] for name in names]
    csv.writer(sys.stdout).writerows(rows)
    if options.write:
        with TABLE.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    probe() if PROBE in sys.argv else main()
