"""Paragraphs and tables, as plain text and as reStructuredText."""

from dataclasses import dataclass


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
