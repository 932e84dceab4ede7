"""The aims of the experiments `public` and `public-long`."""

import numpy as np

from benchmarks.search.contestants import is_ours
from benchmarks.search.gap_closed import FEWEST_JUDGED, compared
from benchmarks.search.gap_report import LOW, OURS, grouped_runs, shares_after

MOST_OPEN = 0.8  # our mean open gap over that of the best peer


def gap_aims(group_of, results, n=100):
    """Return the aims of issue 12.7 for every group: open gap, bad runs, stalled runs."""
    rows = []
    for title, runs in grouped_runs(results, group_of).items():
        methods = {run.method for run in runs if run.method == OURS or not is_ours(run.method)}
        for peer in sorted(methods - {OURS}):
            pair = compared(runs, n, {OURS, peer})
            if OURS in pair and len(pair.get(peer, ())) >= FEWEST_JUDGED:
                rows += _aims_beside(title, pair, peer, n)
    return rows


def _aims_beside(title, pair, peer, n):
    ours, theirs = (shares_after(pair, n)[m] for m in (OURS, peer))
    stalled = [np.mean([run.is_stalled(n) for run in pair[m]]) for m in (OURS, peer)]
    opens = 1 - ours.mean(), 1 - theirs.mean()
    lows = np.percentile(ours, LOW), np.percentile(theirs, LOW)
    runs = f"({ours.size} runs)"
    rows = [
        (
            f"{title}: mean open gap (1 less the share) at {n} at most {MOST_OPEN:g} of {peer}'s",
            f"ours {opens[0]:.3f}, theirs {opens[1]:.3f} {runs}",
            bool(opens[0] <= MOST_OPEN * opens[1]),
        ),
        (
            f"{title}: {LOW}th percentile at {n} no worse than {peer}'s",
            f"ours {lows[0]:.3f}, theirs {lows[1]:.3f} {runs}",
            bool(lows[0] >= lows[1]),
        ),
    ]
    if peer == "optuna-tpe":
        aim = f"{title}: share of stalled runs at {n} at most {peer}'s"
        measured = f"ours {stalled[0]:.2f}, theirs {stalled[1]:.2f} {runs}"
        rows.append((aim, measured, stalled[0] <= stalled[1]))
    return rows
