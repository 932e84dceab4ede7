"""Tables and pictures of the share of the gap closed, with their standard errors."""

from collections import Counter
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.engine import Table

from .contestants import is_ours, settings_table
from .gap_closed import COUNTS, FEWEST_JUDGED, compared, gap_runs
from .search_figures import add_legend, draw_band, drawn, mean_band

OURS = "silbo"
LOW = 20  # percentile
GOAL_AT = 100  # evaluations after which the best peer sets the goal
N_RESAMPLES = 1000
HEADER = (
    *(
        "problems",
        "evaluations",
        "method",
        "runs",
        "mean",
        f"{LOW}th percentile",
        "worst",
        "mean rank",
    ),
    *("to the best peer's 100", "stalled"),
)


def gap_report(results, group_of, expensive):
    """Return tables for every group of problems, paired differences, and who took part.

    Parameters
    ----------
    results : list of dict
    group_of : callable
        Problem as data to the title of its group.
    expensive : collection of str
        Methods that run on a named subset only; tables with them hold that subset.
    """
    return [*gap_tables(grouped_runs(results, group_of), expensive), settings_table(results)]


def gap_tables(groups, expensive):
    """Return the shares of all methods that ran everywhere, and of all; differences; the measure.

    Parameters
    ----------
    groups : dict
        Title to a list of `GapRun`.
    expensive : collection of str
        As for `gap_report`.
    """
    expensive = set(expensive)
    cheap = [row for title, runs in groups.items() for row in _rows(title, runs, expensive, False)]
    costly = [row for title, runs in groups.items() for row in _rows(title, runs, expensive, True)]
    few = _too_few(groups, expensive)
    note = f"Left out, with fewer than {FEWEST_JUDGED} runs: {few}." if few else ""
    return [
        Table("Share of the gap closed", HEADER, cheap),
        *(
            [Table("Problems that the expensive methods ran on too", HEADER, costly, note)]
            if costly
            else []
        ),
        *_paired_tables(groups, expensive),
        MEASURE,
    ]


MEASURE = ":doc:`suites` defines the columns."


def grouped_runs(results, group_of):
    """Return {title: runs} in the order of the titles."""
    runs = sorted(gap_runs(results), key=lambda run: group_of(run.problem))
    return {title: list(own) for title, own in groupby(runs, lambda run: group_of(run.problem))}


def _rows(title, runs, expensive, with_expensive):
    """Return the rows of one group: at every budget, every method that ran at the same places."""
    counts = Counter(run.method for run in runs)
    cheap = set(counts) - expensive
    enough = {m for m in set(counts) & expensive if counts[m] >= FEWEST_JUDGED}
    methods = cheap | enough if with_expensive else cheap
    rows = []
    for n in COUNTS:
        by_method = compared(runs, n, methods)
        if len(by_method) > 1 and (not with_expensive or enough & set(by_method)):
            rows += [(title, str(n), *row) for row in _ranked_rows(by_method, n)]
    return rows


def _too_few(groups, expensive):
    """Return the expensive methods that are left out of a group, in words."""
    counts = {title: Counter(run.method for run in runs) for title, runs in groups.items()}
    return "; ".join(
        f"{title}: {method} ({own[method]})"
        for title, own in counts.items()
        for method in sorted(expensive)
        if 0 < own[method] < FEWEST_JUDGED
    )


def _ranked_rows(by_method, n):
    """Return a row for each method, the greatest mean first."""
    shares = shares_after(by_method, n)
    ranks = ranks_after(by_method, n)
    goals = _goals(by_method, n)
    rows = [
        _row(method, own, shares[method], rank, goals, n)
        for (method, own), rank in zip(by_method.items(), ranks, strict=True)
    ]
    return [row for _, row in sorted(rows, key=lambda pair: -pair[0])]


def _row(method, runs, shares, ranks, goals, n):
    stalled = np.array([run.is_stalled(n) for run in runs], dtype=float)
    row = (
        method,
        str(len(runs)),
        with_error(shares.mean(), error_of_mean(shares)),
        with_error(
            np.percentile(shares, LOW), _resampled_error(shares, partial(np.percentile, q=LOW))
        ),
        f"{shares.min():.2f}",
        with_error(ranks.mean(), error_of_mean(ranks)),
        _format_evaluations(runs, goals),
        with_error(stalled.mean(), error_of_mean(stalled)),
    )
    return shares.mean(), row


def shares_after(by_method, n):
    """Return {method: shares of its runs, an ndarray} after n evaluations."""
    return {m: np.array([run.share(n) for run in own]) for m, own in by_method.items()}


def best_peer(by_method, n):
    """Return the peer of the greatest mean share after n evaluations, or None without any."""
    shares = shares_after({m: own for m, own in by_method.items() if not is_ours(m)}, n)
    return max(shares, key=lambda m: shares[m].mean()) if shares else None


def _goals(by_method, n):
    """Return what the best peer has after 100 evaluations, a value a run; None without any."""
    peer = best_peer(by_method, min(n, GOAL_AT)) if n >= GOAL_AT else None
    return None if peer is None else [run.values[GOAL_AT - 1] for run in by_method[peer]]


def _format_evaluations(runs, goals):
    if goals is None:
        return ""
    counts = np.array([run.evaluations_to(goal) for run, goal in zip(runs, goals, strict=True)])
    reached, most = np.isfinite(counts), min(run.values.size for run in runs)
    middle, share = np.median(counts), f"{reached.mean():.0%}"
    if not np.isfinite(middle):
        return f"> {most}; {share}"
    error = _resampled_error(np.minimum(counts, most + 1), np.median)
    return f"{with_error(middle, error, 0)}; {share}"


def error_of_mean(values):
    """Return the standard error of a mean; NaN for one value.

    Examples
    --------
    >>> round(error_of_mean([1.0, 2.0, 3.0]), 4)
    0.5774
    """
    values = np.asarray(values, dtype=float)
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan


def _resampled_error(values, statistic):
    if values.size < 2:
        return np.nan
    drawn = np.random.default_rng(0).integers(values.size, size=(N_RESAMPLES, values.size))
    return float(np.std(statistic(values[drawn], axis=1), ddof=1))


def with_error(value, error, digits=2):
    """Return ``value (error)``, or the value alone where there is no error.

    Examples
    --------
    >>> with_error(0.5, 0.123), with_error(0.5, float("nan"))
    ('0.50 (0.12)', '0.50')
    """
    number = f"{value:.{digits}f}"
    return number if np.isnan(error) else f"{number} ({error:.{digits}f})"


def _paired_tables(groups, expensive):
    """Return the differences of shares, ours less each other method's, at the same places."""
    every = [run for runs in groups.values() for run in runs]
    rows = [
        row
        for n in COUNTS
        for title, runs in {**groups, "all": every}.items()
        for row in _paired_rows(title, runs, n, expensive)
    ]
    note = f"Mean share of {OURS} minus that of the other method, over the runs that both have."
    header = ("problems", "evaluations", "other", "runs", "difference", "in standard errors")
    return [Table("Paired differences", header, rows, note)] if rows else []


def _paired_rows(title, runs, n, expensive):
    others = dict.fromkeys(run.method for run in runs if run.method != OURS)
    pairs = {m: compared(runs, n, {OURS, m}) for m in others}
    return [
        (title, str(n), other, *_format_difference(paired_difference(pair, other, n)))
        for other, pair in pairs.items()
        if set(pair) == {OURS, other}
        and (other not in expensive or len(pair[other]) >= FEWEST_JUDGED)
    ]


def paired_difference(by_method, other, n):
    """Return our shares less those of another method, one a place, an ndarray."""
    shares = shares_after(by_method, n)
    return shares[OURS] - shares[other]


def _format_difference(differences):
    mean, error = differences.mean(), error_of_mean(differences)
    times = f"{mean / error:+.1f}" if error > 0 else ""
    return str(differences.size), with_error(mean, error, 3), times


def ranks_after(by_method, n):
    """Return the ranks after n evaluations, one row a method and one column a place."""
    return rankdata([[r.values[n - 1] for r in own] for own in by_method.values()], axis=0)


def gap_figures(group_of, expensive, results, folder, n=100):
    """Draw one panel a group: mean share against evaluations, chance after n as the zero.

    Returns
    -------
    pictures : list of (str, str)
        File name and caption.
    """
    groups = grouped_runs(results, group_of)
    name = f"{results[0]['experiment']}.png"
    size = (5.6 * len(groups), 3.9)
    with drawn(Path(folder) / name, 1, len(groups), size) as panels:
        for axes, (title, runs) in zip(panels[0], groups.items(), strict=True):
            cheap = {run.method for run in runs} - set(expensive)
            for method, own in compared(runs, n, cheap).items():
                shares = np.array([run.share_of(run.values[:n], n) for run in own])
                draw_band(axes, method, mean_band(shares), label=f"{method} ({len(own)})")
            axes.set(title=title, xlabel="evaluations, every one counted")
            axes.set(xlim=(0, n), ylim=(-0.5, 1))
            add_legend(axes)
        panels[0][0].set_ylabel("mean share of the gap closed (1: all)")
    caption = (
        "Mean share of the gap closed after each evaluation. The gap is between the mean of "
        f"random search after {n} evaluations and the lowest known value. Bands are one standard "
        "error. Numbers of runs are in parentheses. Shares below -0.5, and methods that ran on "
        "some problems only, are not drawn."
    )
    return [(name, caption)]
