"""Tables of a report, and their text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Table with a title and an optional note.

    Attributes
    ----------
    title : str
        Title, printed above the table.
    header : tuple of str
        Column names.
    rows : list of tuple of str
        Cells of each row.
    note : str
        Note, printed below the table.
    """

    title: str
    header: tuple
    rows: list
    note: str = ""


def render_text(blocks):
    """Render strings and tables as aligned plain text."""
    return "\n\n".join(_text_table(b) if isinstance(b, Table) else b for b in blocks) + "\n"


def _text_table(table):
    lines = [table.header, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.header))]
    aligned = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines]
    aligned.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(
        [table.title, *(line.rstrip() for line in aligned), *filter(None, [table.note])]
    )
