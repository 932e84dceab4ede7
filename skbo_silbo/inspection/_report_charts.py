"""Tables and pictures of a report, as HTML and SVG text. All text is escaped."""

from html import escape
from typing import NamedTuple

import numpy as np

from skbo_silbo.inspection._value_axis import format_number, shorten

WIDTH, HEIGHT = 480, 220  # of a picture, in pixels; it shrinks with the page
LEFT, BOTTOM, EDGE = 62, 40, 10
LONGEST = 200  # characters of a cell


class Markup(str):
    """Text that is HTML already."""


class _Scale(NamedTuple):
    """Maps numbers between two ends to pixels."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, values):
        share = (np.asarray(values) - self.low) / ((self.high - self.low) or 1.0)
        return self.start + (self.stop - self.start) * np.clip(share, 0.0, 1.0)


def grid(columns, *, is_sortable=False):
    """Return a table of columns, with headings unless they are blank; "" if it has no rows."""
    columns = {name: list(column) for name, column in columns.items()}
    rows = list(zip(*columns.values(), strict=True))
    if not rows:
        return ""
    head = "".join(
        f'<th scope="col"{_kind(column[0])}>{escape(str(name))}</th>'
        for name, column in columns.items()
    )
    head = f"<thead><tr>{head}</tr></thead>" if any(str(name).strip() for name in columns) else ""
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    kind = ' class="sortable"' if is_sortable else ""
    return f'<div class="wide"><table{kind}>{head}<tbody>{body}</tbody></table></div>'


def _cell(value):
    if isinstance(value, Markup):
        return f"<td>{value}</td>"
    if isinstance(value, float | np.floating):
        key = "" if np.isnan(value) else f"{float(value)!r}"
        return f'<td class="number" data-key="{key}">{format_cell(value)}</td>'
    text = "" if value is None else str(value)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"<td{_kind(value)}>{escape(text)}</td>"


def _kind(value):
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return ' class="number"' if is_number else ""


def format_cell(value):
    """Return a number as it is shown: five digits, nothing for NaN.

    Examples
    --------
    >>> from skbo_silbo.inspection._report_charts import format_cell
    >>> format_cell(0.123456789), format_cell(float("nan"))
    ('0.12346', '')
    """
    return "" if np.isnan(value) else f"{value:.5g}"


def bar(share, low, high):
    """Return a bar of a share between 0 and 1, with its interval as a line."""
    a, b, c = (f"{100 * min(max(v, 0.0), 1.0):.1f}" for v in (share, low, high))
    return Markup(
        f'<svg class="bar" viewBox="0 0 100 10" role="img"><title>{share:.2f}</title>'
        f'<rect width="{a}" height="10" class="fill"/>'
        f'<line x1="{b}" x2="{c}" y1="5" y2="5" class="interval"/></svg> {100 * share:.0f} %'
    )


def chart(x=(), y=(), *, labels, line=None, band=None, marked=(), is_step=False, is_log=False):
    """Return a picture of points and a line, or "" if nothing is finite.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Points.
    labels : tuple of (str, str)
        Of both axes.
    line : tuple of (ndarray, ndarray), default=None
    band : tuple of (ndarray, ndarray), default=None
        Lower and upper end of an interval around the line.
    marked : list of int, default=()
        Points to highlight.
    is_step : bool, default=False
        Whether the line is a step function.
    is_log : bool, default=False
        Whether the horizontal axis is logarithmic.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    along, values = line if line is not None else (x[:0], y[:0])
    heights = np.concatenate([y, values, *(band or ())])
    heights, widths = heights[np.isfinite(heights)], np.concatenate([x, along])
    widths = widths[np.isfinite(widths)]
    if not heights.size or not widths.size:
        return ""
    warp = np.log10 if is_log else np.asarray
    across = _Scale(*warp([widths.min(), widths.max()]), LEFT, WIDTH - EDGE)
    up = _Scale(heights.min(), heights.max(), HEIGHT - BOTTOM, EDGE)
    parts = [_axes(labels, widths, heights)]
    if band is not None:
        outline = np.concatenate([along, along[::-1]]), np.concatenate([band[0], band[1][::-1]])
        parts.append(
            f'<polygon class="band" points="{_path(across(warp(outline[0])), up(outline[1]))}"/>'
        )
    for i in np.flatnonzero(np.isfinite(x) & np.isfinite(y)):
        kind = "marked" if i in marked else "point"
        parts.append(
            f'<circle class="{kind}" r="3" cx="{across(warp(x[i])):.1f}" cy="{up(y[i]):.1f}"/>'
        )
    known = np.isfinite(values)
    px, py = across(warp(along[known])), up(values[known])
    if is_step:
        px, py = np.repeat(px, 2)[1:], np.repeat(py, 2)[:-1]
    parts.append(f'<polyline class="line" points="{_path(px, py)}"/>')
    title = f"{labels[1]} against {labels[0]}"
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _path(x, y):
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _axes(labels, widths, heights):
    """Return both axes with their ends and names."""
    base, middle = HEIGHT - BOTTOM, (LEFT + WIDTH - EDGE) / 2
    texts = [
        (LEFT, base + 14, "start", format_number(widths.min())),
        (WIDTH - EDGE, base + 14, "end", format_number(widths.max())),
        (middle, base + 30, "middle", labels[0]),
        (LEFT - 6, base, "end", format_number(heights.min())),
        (LEFT - 6, EDGE + 8, "end", format_number(heights.max())),
    ]
    lines = f'<path class="axis" d="M{LEFT},{EDGE}V{base}H{WIDTH - EDGE}"/>'
    side = (
        f'<text transform="translate(14 {base / 2 + EDGE / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(shorten(labels[1]))}</text>'
    )
    written = (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
        for x, y, anchor, text in texts
    )
    return lines + side + "".join(written)
