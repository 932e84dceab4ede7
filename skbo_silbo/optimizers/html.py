"""HTML summary of a search for notebooks."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from skbo_silbo._checks import brief
from skbo_silbo._typing import FloatArray

WIDTH, HEIGHT, EDGE = 480, 120, 6  # of the curve, in pixels
HEAD = 'style="text-align:left;vertical-align:top"'
MOST_WORK = 300_000  # largest labels^2 * inputs for which shares are computed: about 4 seconds
LATER = "Not computed yet, because it takes a while: see input_model_.shares of the optimiser."


def search_html(
    title: str, rows: Mapping[str, Any], optimizer: Any, values: FloatArray, rises: bool = False
) -> str:
    """Format an optimisation run as HTML with a table, input shares and convergence curve.

    Parameters
    ----------
    title : str
    rows : mapping of str to object
    optimizer : AskTellOptimizer
        The optimiser that has recorded the values.
    values : ndarray of shape (n,)
        Observed values in the order of evaluation, with NaN for failed or infeasible evaluations.
    rises : bool, default=False
        Whether higher values are better.
    """
    rows = {**rows, "What matters": _what_matters(optimizer)}
    cells = "".join(
        f"<tr><th {HEAD}>{escape(name)}</th><td {HEAD}>{escape(format_entry(said))}</td></tr>"
        for name, said in rows.items()
    )
    return f"<div><b>{escape(title)}</b><table>{cells}</table>{curve_svg(values, rises)}</div>"


def _what_matters(optimizer):
    """Return a sentence about the most important inputs, if it can be computed quickly."""
    is_cheap = len(optimizer.func_vals_) ** 2 * optimizer.space_.n_features_ <= MOST_WORK
    if not (is_cheap or optimizer.has_input_model):
        return LATER
    shares = optimizer.input_model_.shares
    return " ".join([shares.verdict, *shares.cautions])


def curve_svg(values: FloatArray, rises: bool = False) -> str:
    """Draw the best value so far as an SVG curve.

    Examples
    --------
    >>> from skbo_silbo.optimizers.html import curve_svg
    >>> curve_svg([3.0, float("nan"), 1.0]).count("<polyline"), curve_svg([float("nan")])
    (1, '')
    """
    extreme = np.fmax if rises else np.fmin
    best = extreme.accumulate(np.where(np.isfinite(values), values, np.nan))
    known = np.flatnonzero(np.isfinite(best))
    if not known.size:
        return ""
    best = best[known] / (np.abs(best[known]).max() or 1.0)  # avoids overflow
    height = (best - best.min()) / (np.ptp(best) or 1.0)
    x = EDGE + (WIDTH - 2 * EDGE) * known / max(len(values) - 1, 1)
    y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * height
    corners = zip(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], strict=True)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img"><title>Best value so far</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def format_entry(said: Any) -> str:
    """Format a table entry, with four digits for numbers and long arrays abbreviated."""
    if isinstance(said, np.ndarray):
        return np.array2string(said, precision=4, threshold=20)
    if isinstance(said, Mapping):
        return ", ".join(f"{name}={format_entry(value)}" for name, value in said.items())
    if isinstance(said, float):
        return f"{said:.4g}"
    return said if isinstance(said, str) else brief(said, 80)
