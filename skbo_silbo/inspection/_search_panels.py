"""One function a panel of a search: each draws prepared arrays and imports no matplotlib."""

import textwrap
from collections import Counter
from itertools import cycle

import numpy as np
from scipy.special import gammaln

from ._panels import (
    COLOURS,
    CURVE_NOTE,
    draw_bars,
    draw_curve,
    draw_words,
    fit_axis,
    limits_of,
    note_beyond,
    robust_limits,
    scatter_within,
    tidy,
)
from ._value_axis import short, short_and_distinct

BEST_SHARE = 0.1  # of the candidates, drawn in colour
SHARE_SHOWN = 0.01  # least share that is written as other than 0
EDGE = 0.06  # free on either side of an axis from 0 to 1
TITLE_WIDTH = 50  # characters of a title in a panel of the usual width
MOST_LABELS = 14  # on an axis of a category
LONGEST_AXIS_NAME = 32  # characters, below a panel
HOLLOW_NOTE = "\n(hollow: before the first model)"
LINES = (("-", COLOURS[0]), ("--", COLOURS[1]), ("-.", COLOURS[2]), (":", COLOURS[3]))
BAND = (0.1, 0.9)  # quantiles of the best


def draw_convergence(axes, curves, n_initial, random_values, value_name, sign):
    """Draw the best value so far of every search, and what random search is expected to reach.

    Parameters
    ----------
    axes : matplotlib Axes
    curves : dict of str to ndarray
        Values in order; NaN where an evaluation failed.
    n_initial : int
        Where the first model of the first curve came.
    random_values : ndarray or None
        Drawn at random.
    value_name : str
    sign : {1, -1}
        1 if greater is better.
    """
    shown = []
    if random_values is not None and np.isfinite(random_values).any():
        mean, band = expected_best(sign * random_values)
        count = np.arange(1, len(mean) + 1)
        axes.fill_between(count, *(sign * band), color="0.88", lw=0)
        label = f"random search, expected\n(from {len(mean)} random points)"
        axes.plot(count, sign * mean, color="0.35", ls="--", label=label)
        shown.append(sign * mean)
    for (name, values), (style, colour) in zip(curves.items(), cycle(LINES), strict=False):
        best = sign * np.fmax.accumulate(sign * values)
        count = np.arange(1, len(values) + 1)
        axes.step(count, best, where="post", color=colour, ls=style, label=short(name, 28))
        shown.append(best)
    first = next(iter(curves.values()))
    if 0 < n_initial < len(first):
        axes.axvline(n_initial + 0.5, color="0.5", ls=":", lw=1.2, label="first model")
    evaluations = np.concatenate(list(curves.values()))
    _show_curves(axes, evaluations, np.concatenate(shown), sign)
    word = "highest" if sign > 0 else "lowest"
    axes.set(xlabel="evaluations", ylabel=f"{word} {value_name} so far".replace(" (", "\n("))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(fontsize="small", loc="best", framealpha=0.85, edgecolor="none")
    tidy(axes)


def draw_values(axes, place, values, n_initial, value_name, dependence=None, label=None):
    """Draw the values along one axis, the initial ones hollow, and the model's dependence on it.

    Failures are crosses along the bottom. What is hollow and what is orange is said below.

    Parameters
    ----------
    axes : matplotlib Axes
    place : ValueAxis
    values : ndarray of shape (n,)
    n_initial : int
    value_name : str
    dependence : Dependence, default=None
    label : str, default=None
        Of the axis; None: its name, shortened.
    """
    if dependence is not None:
        _draw_dependence(axes, place, dependence)
    x = place.spread(np.random.default_rng(0).permutation(len(values)))
    fit_axis(axes, "y", values)
    if place.labels:
        ends = np.append(x, place.ticks)
        axes.set_xlim(ends.min() - EDGE, ends.max() + EDGE)
    else:
        fit_axis(axes, "x", x)
    first = np.arange(len(values)) < n_initial
    style = {"s": 22, "edgecolors": COLOURS[0], "linewidths": 1.0, "zorder": 2.5}
    beyond = Counter()
    for rows, face in ((first, "white"), (~first, COLOURS[0])):
        beyond += scatter_within(axes, x[rows], values[rows], facecolors=face, **style)[1]
    failed = np.isnan(values)
    if failed.any():
        base = axes.get_xaxis_transform()
        bottom = np.full(failed.sum(), 0.02)
        axes.scatter(x[failed], bottom, marker="x", color=COLOURS[1], s=22, transform=base)
    note_beyond(axes, beyond, f"x {failed.sum()} infeasible or failed" if failed.any() else "")
    notes = _hollow_note(n_initial, len(values)), CURVE_NOTE if dependence is not None else ""
    _label_axis(axes, place, label or short(place.name, LONGEST_AXIS_NAME), "".join(notes))
    axes.set_ylabel(value_name)
    tidy(axes)


def draw_shares(axes, shares, names):
    """Draw the share of every input as a bar with its interval, the greatest on top.

    Where the values say nothing, the words that say so.

    Parameters
    ----------
    axes : matplotlib Axes
    shares : InputShares
    names : list of str
        Which to draw, in this order.
    """
    if not shares.is_informative:
        draw_words(axes, shares.verdict)
        return
    rows = [shares.names.index(name) for name in names]
    share, low, high = shares.intervals[rows].T
    draw_bars(axes, share, (low, high), short_and_distinct(names))
    for bar, unsure in zip(axes.patches, low < 0.5 * SHARE_SHOWN, strict=True):
        bar.set_facecolor("0.8" if unsure else bar.get_facecolor())
    axes.set_xlim(0.0, max(1.05 * high.max(), 0.1))
    axes.set_xlabel("share of the variance\n(line: 90 % interval)\n(grey: it touches 0)")
    trust = f"On values held out the model explains {shares.held_out_r2:.0%}."
    title = "\n".join(textwrap.fill(text, TITLE_WIDTH) for text in (shares.verdict, trust))
    axes.set_title(title, fontsize="small", loc="right", multialignment="left")


def draw_parallel(axes, places, values, sign):
    """Draw a line for every candidate across the axes of its values, the best in colour.

    Lines that meet at one value are fanned out in the order of their values.

    Parameters
    ----------
    axes : matplotlib Axes
    places : list of ValueAxis
        The last is that of the value.
    values : ndarray of shape (n,)
    sign : {1, -1}
        1 if greater is better.
    """
    order = np.argsort(np.where(np.isfinite(values), sign * values, -np.inf), kind="stable")
    rank = np.argsort(order)
    n_best = max(1, round(BEST_SHARE * len(order)))
    lines = np.array([place.spread(rank) for place in places])[:, order]  # the best drawn last
    across = np.arange(len(places))
    alpha = float(np.clip(25.0 / len(order), 0.25, 0.8))
    axes.plot(across, lines[:, :-n_best], color="0.6", lw=0.7, alpha=alpha)
    axes.plot(across, lines[:, -n_best:-1], color=COLOURS[0], lw=1.2, alpha=0.9)
    axes.plot(across, lines[:, -1], color=COLOURS[1], lw=2.2)
    for i, place in enumerate(places):
        axes.axvline(i, color="0.4", lw=0.8, zorder=0.5)
        _write_ticks(axes, i, place)
    names = short_and_distinct([place.name for place in places])
    labels = [name + place.scale_note for name, place in zip(names, places, strict=True)]
    _label_ticks(axes, across, labels, most=60)
    axes.set(yticks=[], xlim=(-0.3, len(places) - 0.5))
    title = f"blue: best {n_best} of {len(order)}; orange: the best, by {places[-1].name}"
    axes.set_title(title, fontsize="small")
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    axes.tick_params(axis="x", length=0, pad=12)  # below the ends of the scales


def _show_curves(axes, evaluations, best, sign):
    """Set the limits for the best values so far, (k,): bad ones of the start can lie outside.

    What lies among the bulk of the values observed, (n,), does not, nor what is better.
    """
    worst, _ = robust_limits(sign * evaluations)
    within = best[np.isfinite(best) & (sign * best >= worst)]
    if within.size:
        fit_axis(axes, "y", within, limits_of)


def _hollow_note(n_initial, n):
    """Return what is to be said of hollow points, those that came before the first model."""
    if not n_initial:
        return ""
    return HOLLOW_NOTE if n_initial < n else "\n(all before the first model)"


def _draw_dependence(axes, place, dependence):
    """Draw a curve with a band, or at categories a point with a bar."""
    x = place.place(dependence.places)
    inside = np.isfinite(x) & (x >= 0.0) & (x <= 1.0) if place.labels else np.isfinite(x)
    order = np.flatnonzero(inside)[np.argsort(x[inside], kind="stable")]
    x, curve = x[order], dependence.rows(order)
    if place.is_numeric:
        draw_curve(axes, x, curve)
    else:
        axes.vlines(x, curve.low, curve.high, color=COLOURS[5], lw=2.0)
        axes.plot(x, curve.mean, "_", color=COLOURS[5], ms=14, mew=2.0)


def _label_axis(axes, place, label, note):
    axes.set_xlabel(label + place.scale_note + note)
    if not place.labels:
        return
    few = _thinned(len(place.ticks))
    _label_ticks(axes, place.ticks[few], [place.labels[i] for i in few], most=24)


def _label_ticks(axes, ticks, labels, most):
    """Write labels below an axis that has room for so many characters, slanted where it is short.

    It is also if two labels next to each other would touch.
    """
    slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    order = np.argsort(ticks)
    lengths, gaps = np.array([len(label) for label in labels])[order], np.diff(ticks[order])
    touching = (lengths[1:] + lengths[:-1]) / 2 > most * gaps / max(gaps.sum(), 1e-9)
    style = slanted if lengths.sum() > most or touching.any() else {}
    axes.set_xticks(ticks, labels, fontsize="small", **style)


def _write_ticks(axes, i, place):
    """Write the ends of a scale beyond them, and what is between and other values beside it."""
    for t in _thinned(len(place.ticks)):
        y, label = place.ticks[t], place.labels[t]
        beside = y == 0.0 and min(place.ticks) < 0.0  # else over what has no value, below
        if place.is_numeric and y in (0.0, 1.0) and not beside:
            _write(axes, i, y, label, (0, 9 if y else -9), "center")
        else:
            _write(axes, i, y, label, (4, 0), "left")


def _write(axes, x, y, text, offset, ha):
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.6}
    style = {"textcoords": "offset points", "va": "center", "fontsize": 7.5, "bbox": box}
    axes.annotate(text, (x, y), offset, ha=ha, zorder=4, **style)


def _thinned(n):
    """Return which of n ticks to label: all, or every k-th."""
    return np.arange(0, n, -(-n // MOST_LABELS))


def expected_best(scores):
    """Return mean and quantiles of the best of k scores drawn without replacement, k = 1, ..., n.

    Exact, by order statistics: the k-th drawn set has the i-th smallest score as its best with
    probability ``C(i - 1, k - 1) / C(n, k)``.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        At least one of them finite. Failures count as the worst score.

    Returns
    -------
    mean : ndarray of shape (n,)
    band : ndarray of shape (2, n)
        10 % and 90 % quantiles.

    Examples
    --------
    >>> expected_best(np.array([0.0, 1.0]))[0]
    array([0.5, 1. ])
    """
    finite = np.isfinite(scores)
    ordered = np.sort(np.where(finite, scores, scores[finite].min()))
    n = ordered.size
    i, k = np.arange(1, n + 1), np.arange(1, n + 1)[:, None]
    with np.errstate(divide="ignore"):  # log 0 where i < k
        log_chance = np.where(i >= k, log_binomial(i - 1, k - 1) - log_binomial(n, k), -np.inf)
    chance = np.exp(log_chance)  # (k, i)
    at_most = np.cumsum(chance, axis=1)
    band = [ordered[np.minimum((at_most < q - 1e-9).sum(axis=1), n - 1)] for q in BAND]
    return chance @ ordered, np.array(band)


def log_binomial(n, k):
    """Return the logarithms of binomial coefficients, k taken for n where it is more."""
    n, k = np.broadcast_arrays(n, np.minimum(k, n))
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
