"""Positions and tick labels of the values of one parameter on an axis from 0 to 1."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial

import numpy as np

from skbo_silbo.space import ParameterDomain

BELOW = -0.25  # position of missing values
LONGEST_LABEL = 12
LONGEST_NAME = 20
MOST_LEVELS = 6  # listed numbers that all get a tick; otherwise only the ends and the middle do
LEAST_GAP = 0.12  # minimum distance between these ticks
MOST_RANKS = 9  # like MOST_LEVELS, for numbers spaced by rank
MOST_DIGITS = 16  # significant digits
LOG_NOTE, RANK_NOTE = " (log)", " (by rank)"


@dataclass(frozen=True, eq=False)
class ValueAxis:
    """Axis of a plot that maps values of a parameter to [0, 1].

    Attributes
    ----------
    name : str
        Name of the parameter.
    positions : ndarray of shape (n,)
        Position of each candidate on the axis. It is `BELOW` if the candidate does not have the
        parameter.
    ticks : ndarray of shape (k,)
        Positions of the ticks.
    labels : list of str, of length k
        Labels of the ticks.
    is_numeric : bool
        Whether the axis is a numerical scale rather than a list of categories.
    to_position : callable
        Function that maps a list of values to positions on the axis.
    scale_note : str, default=""
        Note on the scale of the axis, to append to the label. Numbers can be spaced by their
        logarithms, or evenly if the search space lists them.
    """

    name: str
    positions: np.ndarray
    ticks: np.ndarray
    labels: list
    is_numeric: bool
    to_position: object
    scale_note: str = ""

    @classmethod
    def from_values(cls, name, values, domain=None):
        """Create the axis of a parameter from its evaluated values.

        Parameters
        ----------
        name : str
            Name of the parameter.
        values : sequence of length n
            Values of the parameter for each candidate. Masked entries are missing.
        domain : ParameterDomain, default=None
            Domain of the parameter. If None, it is inferred from the values.

        Returns
        -------
        axis : ValueAxis
        """
        masked = np.ma.isMaskedArray(values)
        mask = np.ma.getmaskarray(values) if masked else np.zeros(len(values), dtype=bool)
        data = values.data if masked else values
        if domain is not None and domain.is_logarithmic:  # defaults such as 0 or -1 are missing
            pairs = zip(data, mask, strict=True)
            mask = np.array([out or value <= 0 for value, out in pairs], dtype=bool)
        present = [value for value, out in zip(data, mask, strict=True) if not out]
        domain = ParameterDomain.from_values(present) if domain is None else domain
        make_scale = _number_scale if domain.is_numeric else _category_scale
        make_scale = _rank_scale if domain.is_ranked else make_scale
        to_position, ticks, labels = make_scale(domain, present)
        positions = np.full(len(mask), BELOW)
        positions[~mask] = to_position(present)
        if mask.any():
            missing = [value for value, out in zip(data, mask, strict=True) if out]
            texts = dict.fromkeys("none" if value is None else str(value) for value in missing)
            label = shorten(" or ".join(texts), LONGEST_LABEL)
            ticks, labels = np.append(ticks, BELOW), [*labels, label]
        note = LOG_NOTE * domain.is_logarithmic + RANK_NOTE * domain.is_ranked
        return cls(name, positions, ticks, labels, domain.is_numeric, to_position, note)

    @property
    def is_constant(self):
        """Whether all candidates have the same value on this axis."""
        return not len(self.positions) or np.ptp(self.positions) == 0.0


def shorten(text, most=LONGEST_NAME):
    """Shorten a text to at most `most` characters by omitting its middle.

    Names of nested parameters lose their first steps instead, and their double underscores become
    dots. Dollar signs are escaped, because matplotlib would read mathematics between two of them.
    """
    text = str(text)
    if len(text) > most and "__" in text:
        steps = text.split("__")
        ends = [".".join(steps), *("…" + ".".join(steps[i:]) for i in range(1, len(steps)))]
        text = next((end for end in ends if len(end) <= most), ends[-1])
    head = (most - 1) // 2
    text = text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
    return text.replace("$", r"\$")


def shorten_distinct(texts, most=LONGEST_NAME):
    """Shorten several texts so that the results remain distinct."""
    shown = [shorten(text, most) for text in texts]
    for longer in range(most + 1, max(map(len, texts), default=0) + 1):
        counts = Counter(shown)
        pairs = zip(texts, shown, strict=True)
        shown = [shorten(text, longer) if counts[label] > 1 else label for text, label in pairs]
    return shown


def significant_digits(value, spread, fewest):
    """Return how many digits to show so that differences of size `spread` are visible."""
    if not (value and spread > 0.0 and math.isfinite(value / spread)):
        return fewest
    orders = math.floor(math.log10(abs(value))) - math.floor(math.log10(spread))
    return min(max(fewest, orders + 2), MOST_DIGITS)


def middle_spread(values):
    """Return the interquartile range of the finite values, or their range if it is 0."""
    finite = [value for value in values if math.isfinite(value)] or [0.0]
    return float(np.subtract(*np.quantile(finite, [0.75, 0.25])) or np.ptp(finite))


def format_number(value, spread=0.0):
    """Format a number with a compact exponent and at least three significant digits.

    A positive `spread` is a difference between such numbers that must be visible.
    """
    value = float(value)
    digits = significant_digits(value, spread, 3)
    text = f"{value:.{digits - 1}e}" if 0.0 < abs(value) < 1e-3 else f"{value:.{digits}g}"
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    return f"{float(digits):g}e{int(exponent)}"


def _number_scale(domain, observed):
    # values can lie outside the domain: tails of a distribution, defaults of the estimator
    low, high = min([domain.low, *observed]), max([domain.high, *observed])
    if not low < high:
        return lambda v: np.full(len(v), 0.5), np.array([0.5]), [format_number(low)]
    scale, back = (np.log, np.exp) if domain.is_logarithmic else (np.asarray, np.asarray)
    start, end = scale(low), scale(high)

    def to_position(values):
        return (scale(np.asarray(values, dtype=float)) - start) / (end - start)

    levels = domain.values or []
    ticks = to_position(levels)
    if not 1 < len(levels) <= MOST_LEVELS or np.diff(ticks).min() < LEAST_GAP:
        levels = [low, float(back((start + end) / 2.0)), high]
        levels = sorted({round(v) for v in levels}) if domain.is_integer else levels
        ticks = to_position(levels)
    return to_position, ticks, list(map(format_number, levels))


def _rank_scale(domain, observed):
    levels = np.unique(np.array([*domain.values, *observed], dtype=float))
    n = len(levels)
    ranks, shown = np.linspace(0.0, 1.0, n), np.arange(n) if n <= MOST_RANKS else [0, n // 2, n - 1]
    to_position = partial(np.interp, xp=levels, fp=ranks)
    return to_position, ranks[shown], list(map(format_number, levels[shown]))


def _category_scale(domain, observed):
    domain = domain.with_values(observed)
    n, lowest = len(domain.values), 0.5 * (len(domain.values) == 1)

    def to_position(values):
        return lowest + domain.index(values) / max(n - 1, 1)

    labels = shorten_distinct(domain.labels, LONGEST_LABEL)
    return to_position, to_position(domain.values), labels
