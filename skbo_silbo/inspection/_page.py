"""Elements of an HTML page that needs no other files: tables and pictures."""

import io
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import numpy as np

from skbo_silbo.inspection._value_axis import middle_spread, significant_digits

LONGEST_CELL = 200  # characters
NAMESPACES_AND_IDS = re.compile(r' (?:xmlns(?::xlink)?="[^"]*"|id="[A-Za-z2.]+_\d+")')


def paragraph(text: str) -> str:
    """Format a text as an HTML paragraph."""
    return f"<p>{escape(text)}</p>"


def table(columns: Mapping[str, Any]) -> str:
    """Format columns as an HTML table, or return "" if there are no rows."""
    columns = {name: list(column) for name, column in columns.items()}
    rows = list(zip(*columns.values(), strict=True))
    if not rows:
        return ""
    heads = zip(columns, rows[0], strict=True)
    head = "".join(f'<th scope="col"{_kind(v)}>{escape(str(name))}</th>' for name, v in heads)
    head = f"<thead><tr>{head}</tr></thead>" if any(str(name).strip() for name in columns) else ""
    spreads = [middle_spread(filter(_is_float, column)) for column in columns.values()]
    body = "".join("<tr>" + "".join(map(_cell, row, spreads)) + "</tr>" for row in rows)
    return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>'


def folded(content: str, title: str = "Table") -> str:
    """Wrap HTML content so that it is hidden until the reader opens it."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def picture(draw: Callable[..., object], n_panels: int = 1) -> str:
    """Return the plot made by `draw(ax=...)` as SVG, or "" without matplotlib."""
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    written = {"svg.fonttype": "none", "svg.hashsalt": "report"}
    with style.context(["default", written]), io.StringIO() as stream:
        figure = Figure((4.2 * n_panels, 3.4), layout="constrained")
        draw(ax=figure.subplots(1, n_panels))
        no_metadata = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        figure.savefig(stream, format="svg", transparent=True, metadata=no_metadata)
        svg = stream.getvalue()
    return NAMESPACES_AND_IDS.sub("", svg[svg.index("<svg") :])


def _is_float(value):
    return isinstance(value, float | np.floating)


def _cell(value, spread):
    if _is_float(value):
        shown = f"{value:.{significant_digits(value, spread / 10.0, 5)}g}"
        key, text = ("", "") if np.isnan(value) else (repr(float(value)), shown)
        return f'<td class="number" data-key="{key}">{text}</td>'
    text = "" if value is None else str(value)
    text = text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…"
    return f"<td{_kind(value)}>{escape(text)}</td>"


def _kind(value):
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return ' class="number"' if is_number else ""
