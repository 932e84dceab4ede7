"""Figures, and one function a panel, which draws prepared arrays on given axes.

Colours are those of Okabe and Ito, which any colour vision can separate; every colour comes with
a marker or a position of its own.
"""

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skbo_silbo.sensitivity._input_model import fences

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "<", ">")
FAINT = "#BBBBBB"
EXTENDS = ("neither", "min", "max", "both")
CURVE_NOTE = "\n(orange: the model, all else averaged; 90 %)"
LEGEND_MAX = 12  # most categories that a legend names; the strips beside it name them all
MARGIN = 0.06  # of the range, on either side
DECADES = 1e3  # highest by lowest value from which the axis is logarithmic
AT_EDGE = {"s": 24, "alpha": 0.9, "clip_on": False, "label": None}  # seen however faint the rest
SIGNS = {"^": "▲", "v": "▼", ">": "►", "<": "◄"}
DECADES_SHOWN = 30.0  # the same of its ends: else there is no round number between them
if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # exported
else:  # hints can be read without matplotlib
    Axes = Any

AxesLike: TypeAlias = Axes | Sequence[Axes] | NDArray[np.object_]


def draw_response(axes, scores, response, unlabelled, name, dependence=None):
    """Draw the response against one direction: a cloud, or a strip for every category.

    Rows without a response are ticks along the bottom; what lies far beyond all others is a
    triangle at the edge. A `Dependence` is drawn as a curve with its interval.
    """
    fit_axis(axes, "x", scores)
    if response.categories:
        beyond = _draw_strips(axes, scores, response)
    else:
        fit_axis(axes, "y", response.values)
        cloud = _cloud(len(scores))
        _, beyond = scatter_within(axes, scores, response.values, color=COLOURS[0], **cloud)
    note_beyond(axes, beyond)
    axes.set_ylabel(response.name)
    if dependence is not None:
        draw_curve(axes, dependence.places, dependence)
    axes.set_xlabel(name + _draw_ticks(axes, unlabelled) + (dependence is not None) * CURVE_NOTE)
    tidy(axes)


def draw_plane(axes, scores, response, unlabelled, names):
    """Draw the first two directions against each other, coloured by the response.

    What lies far beyond all others is a triangle at the edge, here too.
    """
    for which, column in zip("xy", scores.T, strict=True):
        fit_axis(axes, which, column)
    beyond = Counter()
    if len(unlabelled):
        cloud = {**_cloud(len(unlabelled)), "alpha": 0.5, "s": 8, "zorder": 0.5, "color": FAINT}
        beyond += scatter_within(axes, *unlabelled.T, **cloud, label="unlabelled")[1]
    cloud = _cloud(len(scores))
    if response.categories:
        for code, category in enumerate(response.categories):
            rows = response.values == code
            style = {**cloud, **_category_style(code), "label": category}
            beyond += scatter_within(axes, *scores[rows].T, **style)[1]
    else:
        beyond += _draw_shaded(axes, scores, response, cloud)
    _draw_legend(axes, response, beyond)
    axes.set(xlabel=names[0], ylabel=names[1])
    tidy(axes)


def draw_spectrum(axes, eigenvalues, n_chosen, n_shown, name="eigenvalue"):
    """Draw the leading eigenvalues; those of the chosen directions are filled."""
    shown = eigenvalues[:n_shown]
    order = np.arange(1, len(shown) + 1)
    axes.plot(order, shown, color=FAINT, zorder=1)
    left_out, style = order[n_chosen:], {"markerfacecolor": "white", "color": "0.5"}
    axes.plot(left_out, shown[n_chosen:], "o", **style)
    axes.plot(order[:n_chosen], shown[:n_chosen], "o", color=COLOURS[0])
    if len(left_out):
        axes.axvline(n_chosen + 0.5, color="0.4", ls=":", lw=1)
    # the first dwarfs the median, as squared gradients do and SIR's shares do not
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
    tidy(axes)


def draw_bars(axes, values, intervals, names):
    """Draw values (p,) as bars from zero, the first on top, and their intervals (2, p) if any."""
    places = np.arange(len(values))
    axes.barh(places, values, height=0.62, color=COLOURS[4])
    if intervals is not None:
        axes.hlines(places, *intervals, color="black", lw=1.4)
    axes.set_yticks(places, names)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    tidy(axes)


def draw_words(axes, words):
    """Write a sentence in the middle of an empty panel."""
    axes.set_axis_off()
    text = textwrap.fill(words, 38)
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes)


def draw_curve(axes, x, dependence):
    """Draw the mean of a model along an axis, and its interval."""
    axes.fill_between(x, dependence.low, dependence.high, color=COLOURS[5], alpha=0.25, lw=0)
    axes.plot(x, dependence.mean, color=COLOURS[5], lw=1.8)


def note_beyond(axes, beyond, *others):
    """Say in the corner how many points are triangles at the edge, and what else there is.

    Those at the foot are told of beside it.
    """
    above = Counter(beyond)
    n_below = above.pop("▼", 0)
    notes = [_beyond(above)] * bool(above) + [note for note in others if note]
    if notes:
        axes.set_title(", ".join(notes), fontsize="small", loc="right", color="0.3")
    if n_below:
        style = {"fontsize": "small", "color": "0.3", "rotation": 90, "va": "bottom"}
        axes.text(1.01, 0.0, _beyond({"▼": n_below}), transform=axes.transAxes, **style)


def tidy(axes):
    """Take the frame away, but for the axes."""
    axes.spines[["top", "right"]].set_visible(False)


def _beyond(counts):
    return ", ".join(f"{sign} {n}" for sign, n in counts.items()) + " beyond"


def _draw_shaded(axes, scores, response, cloud):
    """Draw points in the colours of their values, and the bar; return what lies beyond."""
    y, shades = response.values, {"cmap": "viridis", "alpha": max(cloud["alpha"], 0.8)}
    low, high = robust_limits(y, margin=0.0)
    style = {**cloud, **shades, "vmin": low, "vmax": high}
    points, beyond = scatter_within(axes, *scores.T, colours=y, **style)
    extend = EXTENDS[int(y.min() < low) + 2 * int(y.max() > high)]
    axes.figure.colorbar(points, ax=axes, label=response.name, extend=extend)
    return beyond


def _draw_ticks(axes, unlabelled):
    """Draw unlabelled rows along the bottom; return what is to be said of them below."""
    if not len(unlabelled):
        return ""
    left, right = axes.get_xlim()
    style = {"transform": axes.get_xaxis_transform(), "color": "0.55", "lw": 0.7, "alpha": 0.5}
    axes.vlines(unlabelled, 0.0, 0.035, **style)
    n_beyond = int(np.sum((unlabelled < left) | (unlabelled > right)))
    return f" (ticks: unlabelled{f', {n_beyond} beyond' if n_beyond else ''})"


def _draw_strips(axes, scores, response):
    """Draw a strip for every category; return what lies beyond."""
    codes, beyond = response.values, Counter()
    jitter = _spread(scores, codes)
    axes.set_yticks(np.arange(len(response.categories)), response.categories)
    axes.set_ylim(-0.6, len(response.categories) - 0.4)
    for code in range(len(response.categories)):
        rows = codes == code
        style = {**_cloud(len(scores)), **_category_style(code)}
        beyond += scatter_within(axes, scores[rows], code + jitter[rows], **style)[1]
    return beyond


def _spread(scores, codes):
    """Offsets in [-.3, .3] that keep neighbours in score apart: golden-ratio steps by rank."""
    rank = np.empty(len(scores))
    rank[np.lexsort((scores, codes))] = np.arange(len(scores))
    return 0.6 * (rank * (np.sqrt(5) - 1) / 2 % 1) - 0.3


def _draw_legend(axes, response, beyond):
    """Above the axes, in as many columns as fit; beyond `LEGEND_MAX` the strips must do.

    How many points lie beyond stands there too.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(response.categories) > LEGEND_MAX:
        handles, labels = handles[: -len(response.categories)], labels[: -len(response.categories)]
    if not handles:
        note_beyond(axes, beyond)
    else:
        style = {"frameon": False, "fontsize": "small", "handletextpad": 0.1, "columnspacing": 1.0}
        if beyond:
            style |= {"title": _beyond(beyond), "title_fontsize": "small"}
        fitting = max(1, 36 // (max(map(len, labels)) + 3))
        columns = -(-len(labels) // -(-len(labels) // fitting))
        legend = axes.legend(
            handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, **style
        )
        for handle in legend.legend_handles:
            handle.set(alpha=1, sizes=[25])


def _category_style(code):
    return {"color": COLOURS[code % len(COLOURS)], "marker": MARKERS[code % len(MARKERS)]}


def _cloud(n):
    """Smaller and fainter points the more there are; pixels instead of paths beyond thousands."""
    return {
        "s": float(np.clip(8000 / n, 5, 28)),
        "alpha": float(np.clip(700 / n, 0.3, 0.8)),
        "linewidths": 0,
        "rasterized": n > 5000,
    }


def is_logarithmic(values):
    """Return whether values, (n,), are positive and range over three decades or more."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and finite.min() > 0.0 and finite.max() >= DECADES * finite.min())


def robust_limits(values, *, logarithmic=False, margin=MARGIN):
    """Return the ends of an axis that shows the bulk of values, (n,): far outliers lie outside.

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
    low, high = fences(scaled)
    inside = (scaled >= low) & (scaled <= high)
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


def new_figure(display: str, *size: float) -> Any:
    """Return a figure; matplotlib is imported for no other reason than to make one.

    Parameters
    ----------
    display : str
        Who needs it.
    *size : float
        Width and height in inches; matplotlib's own if not given.

    Raises
    ------
    ImportError
        When matplotlib is missing.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{display} requires matplotlib. Install it with: pip install 'skbo_silbo[plot]'"
        ) from error
    return plt.figure(figsize=size or None, layout="constrained")


class PanelDisplay:
    """Panels, each a function that draws on the axes it is given."""

    axes_: NDArray[np.object_]
    figure_: Any

    def _draw(self, panels, ax, make_axes):
        """Draw on the axes given, one for each panel, or on those that `make_axes` makes.

        Raises
        ------
        ValueError
            When there are more axes, or fewer, than panels.
        """
        n = len(panels)
        self.axes_ = np.asarray(make_axes(n) if ax is None else ax, dtype=object).ravel()
        if len(self.axes_) != n:
            raise ValueError(
                f"ax must hold one Axes for each of the {n} panels: got {len(self.axes_)}. Pass as "
                "many, or ax=None."
            )
        self.figure_ = self.axes_[0].figure
        for draw, axes in zip(panels, self.axes_, strict=True):
            draw(axes)
        return self
