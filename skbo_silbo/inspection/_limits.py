"""Limits of an axis that one value cannot flatten, and values drawn within them."""

from collections import Counter

import numpy as np

FENCES = 3.0  # interquartile ranges beyond the quartiles that are still shown (Tukey 1977)
OUTER = 0.05  # of the values, on either side, that may lie outside
MARGIN = 0.06  # of the range, on either side
DECADES = 1e3  # highest by lowest value from which the axis is logarithmic
AT_EDGE = {"s": 24, "alpha": 0.9, "clip_on": False, "label": None}  # seen however faint the rest
SIGNS = {"^": "▲", "v": "▼", ">": "►", "<": "◄"}
DECADES_SHOWN = 30.0  # the same of its ends: else there is no round number between them


def is_logarithmic(values):
    """Return whether values, (n,), are positive and range over three decades or more."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0.0 and finite.max() >= DECADES * finite.min())


def robust_limits(values, *, logarithmic=False, margin=MARGIN):
    """Return the ends of an axis that shows the bulk of values, (n,): far outliers lie outside.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection._limits import robust_limits
    >>> low, high = robust_limits(np.array([1.0, 2.0, 3.0, 4.0, 1e9]))
    >>> bool(low < 1.0), bool(4.0 < high < 5.0)
    (True, True)
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    scaled = np.log(finite) if logarithmic else finite
    least, lower, upper, most = np.quantile(scaled, [OUTER, 0.25, 0.75, 1.0 - OUTER])
    reach = FENCES * (upper - lower)
    inside = (scaled >= min(least, lower - reach)) & (scaled <= max(most, upper + reach))
    return limits_of(finite[inside], logarithmic=logarithmic, margin=margin)


def limits_of(values, *, logarithmic=False, margin=MARGIN):
    """Return the ends of an axis that shows all of some finite values, (n,)."""
    scaled = np.log(values) if logarithmic else values
    room = margin * np.ptp(scaled) or margin * max(abs(scaled[0]), 1e-12)
    ends = scaled.min() - room, scaled.max() + room
    return tuple(np.exp(ends)) if logarithmic else ends


def fit_axis(axes, which, values, limits_of_values=robust_limits):
    """Set scale and limits of the "x" or "y" axis for values, (n,): their bulk, or all."""
    limits = limits_of_values(values)
    if which == "y" and is_logarithmic(values):
        in_logarithms = limits_of_values(values, logarithmic=True)
        if in_logarithms[1] > DECADES_SHOWN * in_logarithms[0]:
            axes.set_yscale("log")
            limits = in_logarithms
    axes.set(**{f"{which}lim": limits})


def scatter_within(axes, x, y, *, colours=None, **style):
    """Draw points; those beyond the limits of the axes as triangles that point there.

    Parameters
    ----------
    axes : matplotlib Axes
    x, y : ndarray of shape (n,)
    colours : ndarray of shape (n,), default=None
        Values that a colour map in the style shows.
    **style
        As of ``Axes.scatter``.

    Returns
    -------
    points : matplotlib PathCollection
        Those within.
    beyond : Counter of str
        How many there are of each triangle: "▲" above, "▼" below, "►" and "◄" beside.
    """

    def draw(x, y, rows, **other):
        shades = {} if colours is None else {"c": colours[rows]}
        return axes.scatter(x[rows], y[rows], **{**style, **shades, **other})

    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    shown = np.isfinite(x) & np.isfinite(y)
    within = shown & (x >= left) & (x <= right) & (y >= low) & (y <= high)
    points = draw(x, y, within)
    edges = {"^": y > high, "v": y < low, ">": x > right, "<": x < left}
    left_over, counts = shown & ~within, Counter()
    x_in, y_in = np.clip(x, left, right), np.clip(y, low, high)
    for marker, beyond in edges.items():
        rows = left_over & beyond
        left_over &= ~beyond
        if rows.any():
            draw(x_in, y_in, rows, marker=marker, **AT_EDGE)
            counts[SIGNS[marker]] += int(rows.sum())
    return points, counts
