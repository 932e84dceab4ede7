"""Paragraphs and tables, as plain text."""

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


def _text_table(table):
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    aligned = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
    aligned.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([table.title, *(line.rstrip() for line in aligned), *_note(table)])


def _note(table):
    return [table.note] if table.note else []
