"""Paragraphs and tables, as plain text and as reStructuredText."""

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

MOST_ROWS = 30  # of a table on a page; a longer one is a file beside it


@dataclass(frozen=True)
class Table:
    """A titled table.

    Attributes
    ----------
    title : str
    header : tuple of str
    rows : list of tuple
        Strings.
    note : str
        Printed below.
    """

    title: str
    header: tuple
    rows: list
    note: str = ""


def render_text(blocks):
    """Blocks (str or `Table`) as aligned plain text."""
    return "\n\n".join(_text_table(b) if isinstance(b, Table) else b for b in blocks) + "\n"


def render_rst(title, blocks):
    """Blocks as a page of reStructuredText."""
    parts = [f"{title}\n{'=' * len(title)}"]
    parts += [_rst_table(b) if isinstance(b, Table) else b for b in blocks]
    return "\n\n".join(parts) + "\n"


def write_rst(path, title, blocks):
    """Write blocks as a page.

    Where a table has more than 30 rows, all stand a row a line, and that one in a CSV file beside
    the page, which shows it.
    """
    path = Path(path)
    tables = [b for b in blocks if isinstance(b, Table)]
    if any(len(t.rows) > MOST_ROWS for t in tables):
        blocks = [_compact(b, path) if isinstance(b, Table) else b for b in blocks]
    path.write_text(render_rst(title, blocks))


def _compact(table, page):
    if len(table.rows) <= MOST_ROWS:
        return csv_block(table)
    name = f"{page.stem}-{'-'.join(re.findall('[a-z0-9]+', table.title.lower()))}.csv"
    (page.parent / name).write_text(csv_lines(table))
    return csv_block(table, name)


def csv_block(table, file=None):
    """Return a table as a csv-table, a row a line, or as one that shows a file of the folder."""
    directive = ".. csv-table::\n   :header-rows: 1"
    if file:
        body = f"{directive}\n   :file: {file}"
    else:
        body = f"{directive}\n\n" + "".join(f"   {row}\n" for row in csv_lines(table).splitlines())
    title = f"{table.title}\n{'-' * len(table.title)}"
    return "\n\n".join([title, body.rstrip("\n"), *_note(table)])


def csv_lines(table):
    """Return header and rows as the text of a CSV file."""
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([table.header, *table.rows])
    return lines.getvalue()


def _text_table(table):
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    aligned = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
    aligned.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, *(line.rstrip() for line in aligned), *_note(table)])


def _rst_table(table):
    lines = [f"{table.title}\n{'-' * len(table.title)}", ".. list-table::\n   :header-rows: 1"]
    rows = []
    for row in (table.header, *table.rows):
        rows += [f"   {'* -' if i == 0 else '  -'} {value}" for i, value in enumerate(row)]
    return "\n\n".join([*lines, "\n".join(rows), *_note(table)])


def _note(table):
    return [table.note] if table.note else []
