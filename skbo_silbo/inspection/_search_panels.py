"""Panels of the search displays. Each function draws prepared arrays on given axes."""

import textwrap
from collections import Counter
from itertools import cycle

import numpy as np

from skbo_silbo.inspection._panels import (
    COLOURS,
    CURVE_NOTE,
    annotate_outliers,
    draw_bars,
    draw_curve,
    draw_legend,
    draw_text,
    fit_axis,
    full_limits,
    hide_frame,
    robust_limits,
    scatter_clipped,
    spread_ties,
)
from skbo_silbo.inspection._value_axis import shorten, shorten_distinct

EDGE = 0.06  # margin on either side of an axis from 0 to 1
TITLE_WIDTH = 50  # characters
MOST_LABELS = 14  # labelled ticks of a categorical axis
WIDEST_LABELS = 24  # characters of all tick labels together, from which they are slanted
LONGEST_AXIS_NAME = 32  # characters
HOLLOW_NOTE = "\n(hollow: before the first model)"
ALL_HOLLOW_NOTE = "\n(all before the first model)"
LINES = (("-", COLOURS[0]), ("--", COLOURS[1]), ("-.", COLOURS[2]), (":", COLOURS[3]))
BAND = (0.1, 0.9)  # quantiles of the best random point


def draw_convergence(axes, curves, n_initial, random_values, value_name, sign):
    """Plot the best value so far of each search, and its expectation for random search.

    Parameters
    ----------
    axes : matplotlib Axes
    curves : dict of str to ndarray
        Observed values of each search in the order of evaluation. Failed evaluations are NaN.
    n_initial : int
        Number of evaluations of the first search before its first model was fitted.
    random_values : ndarray or None
        Values of randomly drawn points, from which the curve of random search is computed. If
        None, the plot has no such curve.
    value_name : str
        Name of the observed values, used as axis label.
    sign : {1, -1}
        Sign of the objective: 1 if greater values are better, and -1 otherwise.
    """
    shown, first = [], next(iter(curves.values()))
    if random_values is not None and np.isfinite(random_values).any():
        mean, band = expected_best(sign * random_values)
        count = np.arange(1, len(mean) + 1)
        axes.fill_between(count, *(sign * band), color="0.88", lw=0)
        is_initial = np.array_equal(random_values, first[:n_initial], equal_nan=True)
        name, kind = ("initial points", "initial") if is_initial else ("random search", "random")
        label = f"{name}, expected\n(from {len(mean)} {kind} points)"
        axes.plot(count, sign * mean, color="0.35", ls="--", label=label)
        shown.append(sign * mean)
    for (name, values), (style, colour) in zip(curves.items(), cycle(LINES), strict=False):
        best = sign * np.fmax.accumulate(sign * values)
        count = np.arange(1, len(values) + 1)
        axes.step(count, best, where="post", color=colour, ls=style, label=shorten(name, 28))
        shown.append(best)
    if 0 < n_initial < len(first):
        axes.axvline(n_initial + 0.5, color="0.5", ls=":", lw=1.2, label="first model")
    evaluations = np.concatenate(list(curves.values()))
    word = "highest" if sign > 0 else "lowest"
    label = f"{word} {value_name} so far".replace(" (", "\n(")
    _finish_curves(axes, evaluations, np.concatenate(shown), sign, label)
    axes.xaxis.get_major_locator().set_params(integer=True)


def draw_comparison(axes, best):
    """Plot the mean and the range of several runs of each method.

    Parameters
    ----------
    axes : matplotlib Axes
    best : dict of str to ndarray of shape (n_runs, n)
        Lowest value so far of each run.
    """
    means = []
    for (name, values), (style, colour) in zip(best.items(), cycle(LINES), strict=False):
        count = np.arange(1, values.shape[1] + 1)
        means.append(values.mean(axis=0))
        axes.fill_between(count, values.min(0), values.max(0), color=colour, alpha=0.15, lw=0)
        axes.plot(count, means[-1], color=colour, ls=style, label=shorten(name, 28))
    evaluations = np.concatenate(list(best.values())).ravel()
    label = "lowest value so far\n(mean and range of the runs)"
    _finish_curves(axes, evaluations, np.concatenate(means), -1, label)


def draw_values(axes, value_axis, values, n_initial, value_name, dependence=None, label=""):
    """Plot the observed values against one parameter, with the partial dependence.

    Initial points are hollow and failed evaluations are crosses at the bottom. The axis label
    explains these markers.

    Parameters
    ----------
    axes : matplotlib Axes
    value_axis : ValueAxis
        Positions of the candidates along the parameter.
    values : ndarray of shape (n,)
        Observed values of the candidates, NaN for failed evaluations.
    n_initial : int
        Number of evaluations before the first model.
    value_name : str
        Name of the observed values, used as axis label.
    dependence : Dependence, default=None
        Partial dependence of the model to draw. None means that none is drawn.
    label : str, default=""
        Axis label. If empty, the shortened name of the parameter is used.
    """
    if dependence is not None:
        _draw_dependence(axes, value_axis, dependence)
    x = spread_ties(value_axis.positions, values)
    fit_axis(axes, "y", values)
    ends = np.append(x, value_axis.ticks)
    axes.set_xlim(ends.min() - EDGE, ends.max() + EDGE)
    first = np.arange(len(values)) < n_initial
    style = {"s": 22, "edgecolors": COLOURS[0], "linewidths": 1.0, "zorder": 2.5}
    beyond = Counter()
    for rows, face in ((first, "white"), (~first, COLOURS[0])):
        beyond += scatter_clipped(axes, x[rows], values[rows], facecolors=face, **style)[1]
    failed = np.isnan(values)
    if failed.any():
        base = axes.get_xaxis_transform()
        bottom = np.full(failed.sum(), 0.02)
        axes.scatter(x[failed], bottom, marker="x", color=COLOURS[1], s=22, transform=base)
        annotate_outliers(axes, beyond, f"x {failed.sum()} infeasible or failed")
    else:
        annotate_outliers(axes, beyond)
    note = CURVE_NOTE if dependence is not None else ""
    if n_initial:
        note = (HOLLOW_NOTE if n_initial < len(values) else ALL_HOLLOW_NOTE) + note
    label = label or shorten(value_axis.name, LONGEST_AXIS_NAME)
    axes.set(xlabel=label + value_axis.scale_note + note, ylabel=value_name)
    few = np.arange(0, len(value_axis.ticks), -(-len(value_axis.ticks) // MOST_LABELS))
    _label_ticks(axes, value_axis.ticks[few], [value_axis.labels[i] for i in few])
    hide_frame(axes)


def draw_shares(axes, shares, names):
    """Plot the variance share of each input as a bar with its interval.

    Parameters
    ----------
    axes : matplotlib Axes
    shares : InputShares
        Shares to draw.
    names : list of str
        Inputs to draw. The one with the largest share is at the top.
    """
    if not shares.is_informative:
        draw_text(axes, shares.verdict)
        return
    names = sorted(names, key=lambda name: -shares.share[shares.names.index(name)])
    rows = [shares.names.index(name) for name in names]
    share, *ends = shares.intervals[rows].T
    draw_bars(axes, share, ends, shorten_distinct(names))
    for bar, is_certain in zip(axes.patches, shares.is_significant[rows], strict=True):
        bar.set_facecolor(bar.get_facecolor() if is_certain else "0.8")
    axes.set_xlim(0.0, max(1.05 * ends[1].max(), 0.1))
    axes.set_xlabel("share of the variance\n(line: 90 % interval)\n(grey: it touches 0)")
    fit = f"The model explains {shares.held_out_r2:.0%} of the variance of held-out values."
    title = "\n".join(textwrap.fill(text, TITLE_WIDTH) for text in (shares.verdict, fit))
    title = title.replace("$", r"\$")
    axes.set_title(title, fontsize="small", loc="right", multialignment="left")


def _finish_curves(axes, evaluations, best, sign, label):
    """Label the axes, and exclude very bad values at the start of a search from the y-axis."""
    worst, _ = robust_limits(sign * evaluations)
    within = best[np.isfinite(best) & (sign * best >= worst)]
    if within.size:
        fit_axis(axes, "y", within, full_limits)
    axes.set(xlabel="evaluations", ylabel=label)
    draw_legend(axes)
    hide_frame(axes)


def _draw_dependence(axes, value_axis, dependence):
    """Plot a partial dependence as a curve, or as error bars for categories."""
    x = value_axis.to_position(dependence.x)
    inside = np.isfinite(x) & (x >= 0.0) & (x <= 1.0)
    order = np.flatnonzero(inside)[np.argsort(x[inside], kind="stable")]
    x, curve = x[order], dependence.take(order)
    if value_axis.is_numeric:
        draw_curve(axes, x, curve)
    else:
        axes.vlines(x, curve.low, curve.high, color=COLOURS[5], lw=2.0)
        axes.plot(x, curve.mean, "_", color=COLOURS[5], ms=14, mew=2.0)


def _label_ticks(axes, ticks, labels):
    """Write tick labels, rotated if they would overlap."""
    slanted = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}
    order = np.argsort(ticks)
    lengths, gaps = np.array([len(label) for label in labels])[order], np.diff(ticks[order])
    touching = (lengths[1:] + lengths[:-1]) / 2 > WIDEST_LABELS * gaps / max(gaps.sum(), 1e-9)
    style = slanted if lengths.sum() > WIDEST_LABELS or touching.any() else {}
    axes.set_xticks(ticks, labels, fontsize="small", **style)


def expected_best(scores):
    """Return the expected best of k scores drawn at random, with quantiles.

    The result is exact for every k from 1 to n: the best of k is at most the i-th smallest score
    with probability ``C(i, k) / C(n, k)``.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores to draw from, at least one of them finite. Failures count as the worst score.

    Returns
    -------
    mean : ndarray of shape (n,)
        Expected best score among k = 1, ..., n drawn scores.
    band : ndarray of shape (2, n)
        The 10 % and 90 % quantiles of the best score among k drawn scores.

    Examples
    --------
    >>> expected_best(np.array([0.0, 1.0]))[0]
    array([0.5, 1. ])
    """
    finite = np.isfinite(scores)
    ordered = np.sort(np.where(finite, scores, scores[finite].min()))
    n = ordered.size
    i, k = np.arange(1, n + 1), np.arange(1, n + 1)[:, None]
    cdf = np.cumprod(np.maximum(i - k + 1, 0) / (n - k + 1), axis=0)  # (k, i)
    band = [ordered[np.minimum((cdf < q - 1e-9).sum(axis=1), n - 1)] for q in BAND]
    mean = ordered[-1] - cdf[:, :-1] @ np.diff(ordered)  # exact if all scores are equal
    return mean, np.array(band)
