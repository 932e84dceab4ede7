"""Figures and panels shared by all displays.

Colours are from the palette of Okabe and Ito, which is safe for colour-blind readers. Information
is never conveyed by colour alone.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skbo_silbo.sensitivity._input_model import outlier_limits

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "<", ">")
FAINT = "#BBBBBB"
EXTENDS = ("neither", "min", "max", "both")
CURVE_NOTE = "\n(orange: the model, all else averaged; 90 %)"
LEGEND_MAX = 12  # categories in a legend
MARGIN = 0.06  # proportion of the range, on either side
DECADES = 1e3  # ratio of largest to smallest value from which the axis is logarithmic
DECADES_SHOWN = 30.0  # minimum ratio of the limits of a logarithmic axis, for round tick labels
AT_EDGE = {"s": 24, "alpha": 0.9, "clip_on": False, "label": None}  # style of outliers
SIGNS = {"^": "▲", "v": "▼", ">": "►", "<": "◄"}
if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:  # matplotlib is optional
    Axes = Any

AxesLike: TypeAlias = Axes | Sequence[Axes] | NDArray[np.object_]


def draw_response(axes, scores, response, unlabelled, name, dependence=None):
    """Plot the response against the scores of one direction.

    Unlabelled rows are drawn as ticks along the bottom and outliers as triangles at the edge. If a
    `dependence` is given, it is drawn as a curve with its interval.
    """
    fit_axis(axes, "x", scores)
    if response.categories:
        beyond = _draw_strips(axes, scores, response)
    else:
        fit_axis(axes, "y", response.values)
        cloud = _cloud(len(scores))
        _, beyond = scatter_clipped(axes, scores, response.values, color=COLOURS[0], **cloud)
    annotate_outliers(axes, beyond)
    axes.set_ylabel(response.name)
    if dependence is not None:
        draw_curve(axes, dependence.x, dependence)
    axes.set_xlabel(name + _draw_ticks(axes, unlabelled) + (dependence is not None) * CURVE_NOTE)
    hide_frame(axes)


def draw_plane(axes, scores, response, unlabelled, names):
    """Plot the scores of the first two directions, coloured by the response.

    Outliers are drawn as triangles at the edge.
    """
    for which, column in zip("xy", scores.T, strict=True):
        fit_axis(axes, which, column)
    beyond = Counter()
    if len(unlabelled):
        cloud = {**_cloud(len(unlabelled)), "alpha": 0.5, "s": 8, "zorder": 0.5, "color": FAINT}
        beyond += scatter_clipped(axes, *unlabelled.T, **cloud, label="unlabelled")[1]
    cloud = _cloud(len(scores))
    if response.categories:
        is_named = len(response.categories) <= LEGEND_MAX
        for code, category in enumerate(response.categories):
            rows = response.values == code
            style = {**cloud, **_category_style(code), "label": category if is_named else None}
            beyond += scatter_clipped(axes, *scores[rows].T, **style)[1]
    else:
        beyond += _draw_shaded(axes, scores, response, cloud)
    _draw_legend_above(axes, beyond)
    axes.set(xlabel=names[0], ylabel=names[1])
    hide_frame(axes)


def draw_spectrum(axes, eigenvalues, n_chosen, n_shown, name="eigenvalue"):
    """Plot the leading eigenvalues, with filled markers for the selected directions."""
    shown = eigenvalues[:n_shown]
    order = np.arange(1, len(shown) + 1)
    axes.plot(order, shown, color=FAINT, zorder=1)
    left_out, style = order[n_chosen:], {"markerfacecolor": "white", "color": "0.5"}
    axes.plot(left_out, shown[n_chosen:], "o", **style)
    axes.plot(order[:n_chosen], shown[:n_chosen], "o", color=COLOURS[0])
    if len(left_out):
        axes.axvline(n_chosen + 0.5, color="0.4", ls=":", lw=1)
    # eigenvalues of squared gradients often span many decades
    if shown.min() > 0 and shown[0] > 1e3 * np.median(shown):
        axes.set_yscale("log")
    else:
        highest = shown.max() if shown.max() > 0.0 else 1.0
        axes.set_ylim(-0.03 * highest, 1.06 * highest)
    count = f" (first {len(shown)} of {len(eigenvalues)})" if len(shown) < len(eigenvalues) else ""
    axes.set(
        xlabel=f"direction{count}",
        ylabel=name,
        xlim=(0.6, max(len(shown), 2) + 0.6),
        title=f"n_components = {n_chosen}",
    )
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    hide_frame(axes)


def draw_bars(axes, values, intervals, names):
    """Plot horizontal bars from top to bottom, with optional intervals."""
    positions = np.arange(len(values))
    axes.barh(positions, values, height=0.62, color=COLOURS[4])
    if intervals is not None:
        axes.hlines(positions, *intervals, color="black", lw=1.4)
    axes.set_yticks(positions, names)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    hide_frame(axes)


def draw_text(axes, text):
    """Write a sentence in the middle of an empty panel."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, textwrap.fill(text, 38), ha="center", va="center", transform=axes.transAxes)


def draw_curve(axes, x, dependence):
    """Plot the mean of a partial dependence and its interval."""
    axes.fill_between(x, dependence.low, dependence.high, color=COLOURS[5], alpha=0.25, lw=0)
    axes.plot(x, dependence.mean, color=COLOURS[5], lw=1.8)


def annotate_outliers(axes, beyond, other=None):
    """Write the number of points beyond each edge into the corner of a plot.

    Points below the panel are counted next to its bottom right corner.
    """
    above = Counter(beyond)
    n_below = above.pop("▼", 0)
    notes = filter(None, [above and _format_outliers(above), other])
    axes.set_title(", ".join(notes), fontsize="small", loc="right", color="0.3")
    if n_below:
        style = {"fontsize": "small", "color": "0.3", "rotation": 90, "va": "bottom"}
        axes.text(1.01, 0.0, _format_outliers({"▼": n_below}), transform=axes.transAxes, **style)


def hide_frame(axes):
    """Hide the top and right spines of the axes."""
    axes.spines[["top", "right"]].set_visible(False)


def draw_legend(axes):
    """Draw a legend with a light background at the place where it hides least."""
    axes.legend(fontsize="small", loc="best", framealpha=0.85, edgecolor="none")


def _format_outliers(counts):
    return ", ".join(f"{sign} {n}" for sign, n in counts.items()) + " beyond"


def _draw_shaded(axes, scores, response, cloud):
    """Plot points with a colour bar, and return the number of points beyond each edge."""
    y, shades = response.values, {"cmap": "viridis", "alpha": max(cloud["alpha"], 0.8)}
    low, high = robust_limits(y, margin=0.0)
    style = {**cloud, **shades, "vmin": low, "vmax": high}
    points, beyond = scatter_clipped(axes, *scores.T, colours=y, **style)
    extend = EXTENDS[int(y.min() < low) + 2 * int(y.max() > high)]
    axes.figure.colorbar(points, ax=axes, label=response.name, extend=extend)
    return beyond


def _draw_ticks(axes, unlabelled):
    """Mark the scores of unlabelled samples by ticks along the bottom of a plot."""
    if not len(unlabelled):
        return ""
    left, right = axes.get_xlim()
    style = {"transform": axes.get_xaxis_transform(), "color": "0.55", "lw": 0.7, "alpha": 0.5}
    axes.vlines(unlabelled, 0.0, 0.035, **style)
    n_beyond = int(np.sum((unlabelled < left) | (unlabelled > right)))
    return f" (ticks: unlabelled{f', {n_beyond} beyond' if n_beyond else ''})"


def _draw_strips(axes, scores, response):
    """Plot one strip of points per category, and return the number beyond each edge."""
    codes, beyond = response.values, Counter()
    jitter = _jitter(scores, codes)
    axes.set_yticks(np.arange(len(response.categories)), response.categories)
    axes.set_ylim(-0.6, len(response.categories) - 0.4)
    for code in range(len(response.categories)):
        rows = codes == code
        style = {**_cloud(len(scores)), **_category_style(code)}
        beyond += scatter_clipped(axes, scores[rows], code + jitter[rows], **style)[1]
    return beyond


def _jitter(scores, codes):
    """Return vertical offsets that separate points with similar scores.

    The offsets are multiples of the golden ratio by rank, so they have no trend.
    """
    rank = np.empty(len(scores))
    rank[np.lexsort((scores, codes))] = np.arange(len(scores))
    return 0.6 * (rank * (np.sqrt(5) - 1) / 2 % 1) - 0.3


def spread_ties(positions, others):
    """Spread points with equal positions, without a trend by their other coordinate."""
    levels, codes, counts = np.unique(positions, return_inverse=True, return_counts=True)
    if not 1 < len(levels) <= len(positions) / 2:
        return positions
    widths = np.minimum(0.5 * np.diff(levels).min(), 0.012 * counts)[codes]
    return positions + widths / 0.6 * _jitter(others, codes)


def _draw_legend_above(axes, beyond):
    """Draw the legend above a plot, with the number of points beyond each edge as its title."""
    _, labels = axes.get_legend_handles_labels()
    if not labels:
        annotate_outliers(axes, beyond)
        return
    style = {"frameon": False, "fontsize": "small", "handletextpad": 0.1, "columnspacing": 1.0}
    if beyond:
        style |= {"title": _format_outliers(beyond), "title_fontsize": "small"}
    fitting = max(1, 36 // (max(map(len, labels)) + 3))
    columns = -(-len(labels) // -(-len(labels) // fitting))
    legend = axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, **style)
    for handle in legend.legend_handles:
        handle.set(alpha=1, sizes=[25])


def _category_style(code):
    return {"color": COLOURS[code % len(COLOURS)], "marker": MARKERS[code % len(MARKERS)]}


def _cloud(n):
    """Return a marker style that suits the number of points."""
    return {
        "s": float(np.clip(8000 / n, 5, 28)),
        "alpha": float(np.clip(700 / n, 0.3, 0.8)),
        "linewidths": 0,
        "rasterized": n > 5000,
    }


def spans_decades(values):
    """Return whether all finite values are positive and span at least three decades."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0.0 and finite.max() >= DECADES * finite.min())


def robust_limits(values, *, logarithmic=False, margin=MARGIN):
    """Return axis limits that show most of the values and exclude outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection._panels import robust_limits
    >>> low, high = robust_limits(np.array([1.0, 2.0, 3.0, 4.0, 1e9]))
    >>> bool(low < 1.0), bool(4.0 < high < 5.0)
    (True, True)
    """
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    scaled = np.log(finite) if logarithmic else finite
    low, high = outlier_limits(scaled)
    inside = (scaled >= low) & (scaled <= high)
    return full_limits(finite[inside], logarithmic=logarithmic, margin=margin)


def full_limits(values, *, logarithmic=False, margin=MARGIN):
    """Return axis limits that show all of the given finite values."""
    scaled = np.log(values) if logarithmic else values
    room = margin * np.ptp(scaled) or margin * max(abs(scaled[0]), 1e-12)
    ends = scaled.min() - room, scaled.max() + room
    return tuple(np.exp(ends)) if logarithmic else ends


def fit_axis(axes, which, values, compute_limits=robust_limits):
    """Set the limits and the scale of an axis to suit the values.

    Parameters
    ----------
    axes : matplotlib Axes
    which : {"x", "y"}
        Axis to change. Only "y" can become logarithmic.
    values : ndarray of shape (n,)
        Values that the axis should show.
    compute_limits : callable, default=robust_limits
        Function that computes the limits from the values: `robust_limits` or `full_limits`.
    """
    limits = compute_limits(values)
    if which == "y" and spans_decades(values):
        log_limits = compute_limits(values, logarithmic=True)
        if log_limits[1] > DECADES_SHOWN * log_limits[0]:
            axes.set_yscale("log")
            limits = log_limits
    axes.set(**{f"{which}lim": limits})


def scatter_clipped(axes, x, y, *, colours=None, **style):
    """Draw a scatter plot in which points outside the axes become triangles at the edge.

    Parameters
    ----------
    axes : matplotlib Axes
    x, y : ndarray of shape (n,)
        Coordinates of the points.
    colours : ndarray of shape (n,), default=None
        Values mapped to colours.
    **style
        Further arguments of ``Axes.scatter``.

    Returns
    -------
    points : matplotlib PathCollection
        The drawn points within the limits.
    beyond : Counter of str
        Number of points beyond each edge of the panel, by marker: "▲" above, "▼" below, "►" to the
        right, "◄" to the left.
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


class PanelDisplay:
    """Base class of displays that consist of one or more plots."""

    axes_: NDArray[np.object_]
    figure_: Any

    def _draw(self, panels, ax, width, height, make_axes=None):
        """Draw each plot on its axes.

        If `ax` is None, they are created by ``make_axes(figure)``, by default in a row.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the number of axes differs from the number of panels.
        """
        n = len(panels)
        if ax is None:
            figure = self._new_figure(width, height)
            ax = figure.subplots(1, n) if make_axes is None else make_axes(figure)
        self.axes_ = np.asarray(ax, dtype=object).ravel()
        if len(self.axes_) != n:
            raise ValueError(
                f"ax must hold one Axes for each of the {n} panels, got {len(self.axes_)}. Pass "
                f"{n} Axes or ax=None."
            )
        self.figure_ = self.axes_[0].figure
        for draw, axes in zip(panels, self.axes_, strict=True):
            draw(axes)
        return self

    def _new_figure(self, *size):
        """Create a matplotlib figure, importing matplotlib on first use."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__} requires matplotlib. Install it with: "
                "pip install 'skbo_silbo[plot]'"
            ) from error
        return plt.figure(figsize=size, layout="constrained")
