"""What runs with several seeds say of a claim that one method is better than another.

Read by ``doc/benchmarks/scripts/write_findings.py`` too.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu, ttest_ind, ttest_rel, wilcoxon

from benchmarks.search.gap_report import error_of_mean
from benchmarks.search.search_report import FEWEST

LEVEL = 0.05  # of a family of comparisons, after Holm


@dataclass(frozen=True)
class Comparison:
    """Values of one side less those of another, the higher the better.

    Attributes
    ----------
    gap, error : float
        Difference of the means, and its standard error.
    middle : float
        Difference of the medians; where the sides are paired, median of the differences.
    runs : str
    p, p_ranks : float
        By Student's or Welch's t; by ranks, Wilcoxon's or Mann and Whitney's.
    """

    gap: float
    error: float
    middle: float
    runs: str
    p: float
    p_ranks: float


def compare(a, b, paired=True):
    """Compare two sides; None where either has too few runs.

    Parameters
    ----------
    a, b : dict of int to float
        Values by seed, the higher the better.
    paired : bool, default=True
        Whether the seeds mean the same on both sides: then only those count that both have.
    """
    if paired:
        a, b = ({seed: side[seed] for seed in sorted(a.keys() & b.keys())} for side in (a, b))
    a, b = (np.array(list(side.values()), dtype=float) for side in (a, b))
    if min(a.size, b.size) < FEWEST:
        return None
    return _paired(a, b) if paired else _apart(a, b)


def _paired(a, b):
    d = a - b
    if not d.any():
        return Comparison(0.0, 0.0, 0.0, str(d.size), 1.0, 1.0)
    p = float(ttest_rel(a, b).pvalue)
    p_ranks = float(wilcoxon(d).pvalue)
    return Comparison(d.mean(), error_of_mean(d), np.median(d), str(d.size), p, p_ranks)


def _apart(a, b):
    error = float(np.hypot(error_of_mean(a), error_of_mean(b)))
    middle = np.median(a) - np.median(b)
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    p_ranks = float(mannwhitneyu(a, b).pvalue)
    return Comparison(a.mean() - b.mean(), error, middle, f"{a.size} and {b.size}", p, p_ranks)


def holm(p_values):
    """Return p values after Holm's correction for as many comparisons; None stays None.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    given = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected, least = list(p_values), 0.0
    for n_smaller, (p, place) in enumerate(given):
        least = max(least, min(1.0, (len(given) - n_smaller) * p))
        corrected[place] = least
    return corrected


def signs_of(gaps, p_corrected):
    """Return 1, -1 or 0 (undecided) for each difference; None where there is none."""
    return [
        None if p is None else int(np.sign(gap)) * (p <= LEVEL)
        for gap, p in zip(gaps, p_corrected, strict=True)
    ]


def verdict_of(signs, wants_level=False):
    """Return what signs say of a claim that the first side is better, or that neither is.

    Parameters
    ----------
    signs : sequence
        1, -1, 0 or None (too few runs), a problem each.
    wants_level : bool, default=False
        Whether the claim is that neither side is better.
    """
    known = [sign for sign in signs if sign is not None]
    if not known:
        return "too few runs"
    some = "" if len(known) == len(signs) else f" ({len(known)} of {len(signs)} problems)"
    return _verdict(set(known), wants_level) + some


def _verdict(signs, wants_level):
    if wants_level:
        return "falls" if signs - {0} else "not refuted"
    words = {1: "stands", -1: "falls", 0: "undecided"}
    rows = [words[sign] for sign in (1, -1, 0) if sign in signs]
    return rows[0] if len(rows) == 1 else ", ".join(f"{word} on some" for word in rows)


def with_plus_minus(values):
    """Return mean ± standard error as words; the error of one value is not known."""
    return f"{np.mean(values):.3f} ± {error_of_mean(values):.3f}"


def format_mean(values):
    """Return mean, standard error and number of runs as words.

    Examples
    --------
    >>> format_mean({0: 1.0, 1: 2.0, 2: 3.0}), format_mean({}), format_mean({5: 2.0})
    ('2 ± 0.58 (3)', '', '2 (1)')
    """
    if not values:
        return ""
    own = np.array(list(values.values()))
    error = f" ± {error_of_mean(own):.2g}" if own.size > 1 else ""
    return f"{own.mean():.4g}{error} ({own.size})"
