"""What a search has found, in HTML: for notebooks."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import FloatArray

WIDTH, HEIGHT, EDGE = 480, 120, 6  # of the curve, in pixels
HEAD = 'style="text-align:left;vertical-align:top"'
MOST_WORK = 300_000  # labels squared times inputs of which is said what matters: 4 seconds
LATER = "This takes a while to say: ask for input_model_.shares of the optimiser."


def search_html(
    title: str, rows: Mapping[str, Any], optimizer: Any, values: FloatArray, rises: bool = False
) -> str:
    """Return a table, what matters to the values, and the best value so far as a curve.

    Parameters
    ----------
    title : str
    rows : mapping of str to object
    optimizer : AskTellOptimizer
        Told the values.
    values : ndarray of shape (n,)
        In order; NaN where an evaluation failed or is not feasible.
    rises : bool, default=False
        Whether high values are better, as the curve then shows.
    """
    rows = {**rows, "What matters": _what_matters(optimizer)}
    cells = "".join(
        f"<tr><th {HEAD}>{escape(name)}</th><td {HEAD}>{escape(in_short(said))}</td></tr>"
        for name, said in rows.items()
    )
    return f"<div><b>{escape(title)}</b><table>{cells}</table>{curve_svg(values, rises)}</div>"


def _what_matters(optimizer):
    """Return the verdict where it is known or soon said: a notebook shows what ends a cell."""
    is_cheap = len(optimizer.func_vals_) ** 2 * optimizer.space_.n_features_ <= MOST_WORK
    is_said = is_cheap or optimizer.has_input_model
    if not is_said:
        return LATER
    shares = optimizer.input_model_.shares
    return " ".join([shares.verdict, *shares.cautions])


def curve_svg(values: FloatArray, rises: bool = False) -> str:
    """Return the best value so far, the lowest or the highest; "" where none is finite.

    Examples
    --------
    >>> from skbo_silbo.optimizers._html import curve_svg
    >>> curve_svg([3.0, float("nan"), 1.0]).count("<polyline"), curve_svg([float("nan")])
    (1, '')
    """
    extreme = np.fmax if rises else np.fmin
    best = extreme.accumulate(np.where(np.isfinite(values), values, np.nan))
    known = np.flatnonzero(np.isfinite(best))
    if not known.size:
        return ""
    best = best[known] / (np.abs(best[known]).max() or 1.0)  # differences of 1e308 are finite so
    height = (best - best.min()) / (np.ptp(best) or 1.0)
    x = EDGE + (WIDTH - 2 * EDGE) * known / max(len(values) - 1, 1)
    y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * height
    corners = zip(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], strict=True)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img"><title>Best value so far</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def in_short(said: Any) -> str:
    """Return an entry of the table: numbers of four digits, long arrays by their ends."""
    if isinstance(said, np.ndarray):
        return np.array2string(said, precision=4, threshold=20)
    if isinstance(said, Mapping):
        return ", ".join(f"{name}={in_short(value)}" for name, value in said.items())
    return (
        f"{said:.4g}"
        if isinstance(said, float)
        else said
        if isinstance(said, str)
        else brief(said, 80)
    )
