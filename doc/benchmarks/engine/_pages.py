"""Paragraphs and tables as reStructuredText; a long table is a CSV file in the folder `tables`."""

import csv
import io
import re
from pathlib import Path
from textwrap import indent

from benchmarks.registry import TABLES

from ._tables import Table

MOST_ROWS = 5  # of a table on a page; a longer one is a file


def render_rst(title, blocks):
    """Blocks as a page of reStructuredText."""
    parts = [csv_block(b) if isinstance(b, Table) else b for b in blocks]
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *parts]) + "\n"


def write_rst(path, title, blocks):
    """Write blocks as a page; a longer table than `MOST_ROWS` is a file in `tables`."""
    path = Path(path)
    blocks = [_apart(b, path) if _is_long(b) else b for b in blocks]
    path.write_text(render_rst(title, blocks))


def _is_long(block):
    return isinstance(block, Table) and len(block.rows) > MOST_ROWS


def _apart(table, page):
    name = f"{page.stem}-{'-'.join(re.findall('[a-z0-9]+', table.title.lower()))}.csv"
    folder = page.parent / TABLES.name
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(csv_lines(table))
    return csv_block(table, f"{folder.name}/{name}")


def csv_block(table, file=None):
    """Return a table as a csv-table, a row a line, or as one that shows a file of the folder."""
    title = f"{table.title}\n{'-' * len(table.title)}"
    directive = ".. csv-table::\n   :header-rows: 1\n"
    body = f"   :file: {file}" if file else "\n" + indent(csv_lines(table).rstrip("\n"), "   ")
    return "\n\n".join([title, directive + body, *([table.note] if table.note else [])])


def csv_lines(table):
    """Return header and rows as the text of a CSV file."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([table.header, *table.rows])
    return lines.getvalue()
