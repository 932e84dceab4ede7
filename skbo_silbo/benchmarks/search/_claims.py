"""What runs with several seeds say of a claim that one method is better than another."""

import numpy as np
from scipy.stats import t as student_t

from ._gap_closed import FEWEST
from ._gap_report import error_of_mean

LEAST_RUNS = FEWEST  # with fewer no claim is made
CONFIDENCE = 0.95


def told_mean(values):
    """Return mean, standard error and number of runs as words.

    Parameters
    ----------
    values : dict of int to float
        By seed.

    Examples
    --------
    >>> told_mean({0: 1.0, 1: 2.0, 2: 3.0}), told_mean({}), told_mean({5: 2.0})
    ('2 ± 0.58 (3)', '', '2 (1)')
    """
    if not values:
        return ""
    own = np.array(list(values.values()))
    error = f" ± {error_of_mean(own):.2g}" if own.size > 1 else ""
    return f"{own.mean():.4g}{error} ({own.size})"


def difference(a, b, paired=True):
    """Return the difference of two means, and whether it is more than chance.

    Parameters
    ----------
    a, b : dict of int to float
        Values by seed, the higher the better.
    paired : bool, default=True
        Whether the seeds mean the same on both sides: then only those count that both have, and
        Student's t is of their differences. Else all count, by Welch's t.

    Returns
    -------
    found : tuple of (float, float, str, int) or None
        mean(a) - mean(b), its standard error, the number of runs as words, and 1, -1 or 0: 0 where
        95 % confidence holds 0. None where either side has too few runs.
    """
    if paired:
        a, b = ({seed: side[seed] for seed in sorted(a.keys() & b.keys())} for side in (a, b))
    sides = [np.array(list(side.values())) for side in (a, b)]
    sizes = [side.size for side in sides]
    if min(sizes) < LEAST_RUNS:
        return None
    gap = float(sides[0].mean() - sides[1].mean())
    error, freedom = _paired(*sides) if paired else _welch(*sides)
    told = str(sizes[0]) if paired else f"{sizes[0]}, {sizes[1]}"
    return gap, error, told, int(np.sign(gap)) if is_decided(gap, error, freedom) else 0


def told_difference(a, b, paired=True):
    """Return the difference as words, with "+", "-" or "=" for better, worse, undecided."""
    found = difference(a, b, paired)
    if found is None:
        return f"{len(a)}, {len(b)} runs"
    gap, error, runs, sign = found
    return f"{gap:+.3g} ± {error:.2g} ({runs}) {'=+-'[sign]}"


def verdict_of(found, wants_level=False):
    """Return what differences say of a claim that the first side is better, or that it is level.

    Parameters
    ----------
    found : sequence
        What `difference` returns, a problem each.
    wants_level : bool, default=False
        Whether the claim is that neither side is better.

    Returns
    -------
    verdict : str
        Of the problems with enough runs, and how many these are where some have too few.
    """
    signs = [one[-1] for one in found if one is not None]
    if not signs:
        return "not decided: too few runs"
    some = "" if len(signs) == len(found) else f" ({len(signs)} of {len(found)} problems)"
    return _verdict(signs, wants_level) + some


def _verdict(signs, wants_level):
    better, worse = 1 in signs, -1 in signs
    if wants_level:
        return "falls" if better or worse else "not refuted"
    if better and worse:
        return "stands on some, falls on others"
    if worse:
        return "falls" if all(signs) else "falls on some, undecided on others"
    if not better:
        return "undecided"
    return "stands" if all(signs) else "stands on some, undecided on others"


def _paired(a, b):
    """Return the standard error of the mean of a - b, and its degrees of freedom."""
    return error_of_mean(a - b), a.size - 1


def _welch(a, b):
    return welch((error_of_mean(a), error_of_mean(b)), (a.size, b.size))


def welch(errors, sizes):
    """Return the standard error of the difference of two means, and its degrees of freedom.

    Parameters
    ----------
    errors : tuple of two floats
        Standard errors of the means.
    sizes : tuple of two ints
        Of how many values, 2 at least.
    """
    parts = np.square(errors)
    total = parts.sum()
    if total == 0.0:
        return 0.0, sum(sizes) - 2
    return float(np.sqrt(total)), float(1.0 / ((parts / total) ** 2 / (np.array(sizes) - 1)).sum())


def is_decided(gap, error, freedom):
    """Whether a difference has its sign with 95 % confidence, by Student's t."""
    return bool(abs(gap) > student_t.ppf((1.0 + CONFIDENCE) / 2.0, freedom) * error)
