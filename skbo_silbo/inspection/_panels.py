"""One function a panel: each draws prepared arrays on given axes and imports no matplotlib.

Colours are those of Okabe and Ito, told apart with any colour vision; every colour also comes with
a marker or a position of its own.
"""

import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FAINT = "#BBBBBB"
LEGEND_MAX = 12
"""Most categories that a legend names; the strips beside it name them all."""


def draw_response(axes, scores, response, unlabelled, name):
    """Draw the response against one direction: a cloud, or a strip for every category.

    Rows without a response are ticks along the bottom.
    """
    if response.is_categorical:
        _draw_strips(axes, scores, response)
    else:
        axes.scatter(scores, response.values, **_cloud(len(scores)), color=COLOURS[0])
        axes.set_ylabel(response.name)
    if len(unlabelled):
        low, high = axes.get_ylim()
        axes.set_ylim(low - 0.07 * (high - low), high)
        _draw_rug(axes, unlabelled)
    axes.set_xlabel(name)
    _tidy(axes)


def draw_plane(axes, scores, response, unlabelled, names):
    """Draw the first two directions against each other, coloured by the response."""
    if len(unlabelled):
        cloud = {**_cloud(len(unlabelled)), "alpha": 0.5, "s": 8}
        axes.scatter(*unlabelled.T, **cloud, color=FAINT, label="unlabelled", zorder=1)
    cloud = _cloud(len(scores))
    if response.is_categorical:
        for code, category in enumerate(response.categories):
            rows = response.values == code
            axes.scatter(*scores[rows].T, **cloud, **_category_style(code), label=category)
        _draw_legend(axes, response, len(unlabelled))
    else:
        cloud["alpha"] = max(cloud["alpha"], 0.8)
        points = axes.scatter(*scores.T, c=response.values, cmap="viridis", **cloud)
        axes.figure.colorbar(points, ax=axes, label=response.name)
    axes.set(xlabel=names[0], ylabel=names[1])
    _tidy(axes)


def draw_spectrum(axes, eigenvalues, n_chosen, n_shown):
    """Draw the leading eigenvalues; those of the chosen directions are filled."""
    shown = eigenvalues[:n_shown]
    order = np.arange(1, len(shown) + 1)
    axes.plot(order, shown, color=FAINT, zorder=1)
    axes.plot(
        order[n_chosen:], shown[n_chosen:], "o", markerfacecolor="white", color="0.5", clip_on=False
    )
    axes.plot(order[:n_chosen], shown[:n_chosen], "o", color=COLOURS[0], clip_on=False)
    _draw_border(axes, n_chosen)
    if _spans_orders(shown):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    count = f" (first {len(shown)} of {len(eigenvalues)})" if len(shown) < len(eigenvalues) else ""
    axes.set(xlabel=f"direction{count}", ylabel="eigenvalue", xlim=(0.6, max(len(shown), 2) + 0.4))
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    _tidy(axes)


def draw_loadings(axes, loadings, intervals, names, title):
    """Draw loadings (p,) as bars from zero, the first on top; `intervals` is (2, p) or None."""
    places = np.arange(len(loadings))
    axes.barh(places, loadings, height=0.62, color=COLOURS[0])
    if intervals is not None:
        axes.hlines(places, *intervals, color="black", lw=1.4)
    axes.axvline(0, color="0.4", lw=0.8)
    axes.set_yticks(places, names)
    axes.set_ylim(len(loadings) - 0.4, -0.6)
    axes.set(xlabel="loading per standard deviation", title=title)
    _tidy(axes)
    axes.tick_params(axis="y", length=0)


def _draw_strips(axes, scores, response):
    codes = response.values
    jitter = _spread(scores, codes)
    for code in range(len(response.categories)):
        rows = codes == code
        style = _category_style(code)
        axes.scatter(scores[rows], code + jitter[rows], **_cloud(len(scores)), **style)
    axes.set_yticks(np.arange(len(response.categories)), response.categories)
    axes.set_ylim(-0.6, len(response.categories) - 0.4)
    axes.set_ylabel(response.name)


def _spread(scores, codes):
    """Offsets in [-.3, .3] that keep neighbours in score apart: golden-ratio steps by rank."""
    rank = np.empty(len(scores))
    rank[np.lexsort((scores, codes))] = np.arange(len(scores))
    return 0.6 * (rank * (np.sqrt(5) - 1) / 2 % 1) - 0.3


def _draw_rug(axes, unlabelled):
    base = axes.get_xaxis_transform()
    axes.vlines(unlabelled, 0.0, 0.035, transform=base, color="0.55", lw=0.7, alpha=0.5)
    axes.annotate(
        "| unlabelled",
        (1, 0.045),
        xycoords="axes fraction",
        ha="right",
        va="bottom",
        color="0.45",
        size="small",
    )


def _draw_legend(axes, response, n_unlabelled):
    if len(response.categories) <= LEGEND_MAX or n_unlabelled:
        handles, labels = axes.get_legend_handles_labels()
        if len(response.categories) > LEGEND_MAX:
            handles, labels = handles[:1], labels[:1]
        axes.legend(
            handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, title=None
        )


def _draw_border(axes, n_chosen):
    axes.axvline(n_chosen + 0.5, color="0.4", ls=":", lw=1)
    axes.annotate(
        f"n_components = {n_chosen}",
        (n_chosen + 0.5, 1),
        xycoords=("data", "axes fraction"),
        xytext=(5, -3),
        textcoords="offset points",
        va="top",
        color="0.3",
        size="small",
    )


def _spans_orders(eigenvalues):
    """Whether the first dwarfs the median, as squared gradients do and SIR's shares do not."""
    return eigenvalues.min() > 0 and eigenvalues[0] > 1e3 * np.median(eigenvalues)


def _category_style(code):
    return {
        "color": COLOURS[code % len(COLOURS)],
        "marker": MARKERS[(code // len(COLOURS) + code) % len(MARKERS)],
    }


def _cloud(n):
    """Smaller and fainter points the more there are; pixels instead of paths beyond thousands."""
    return {
        "s": float(np.clip(4000 / n, 4, 28)),
        "alpha": float(np.clip(300 / n, 0.25, 0.8)),
        "linewidths": 0,
        "rasterized": n > 5000,
    }


def _tidy(axes):
    axes.spines[["top", "right"]].set_visible(False)
