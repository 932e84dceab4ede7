"""The values of one parameter on an axis from 0 to 1, and what is written beside it."""

from collections import Counter
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..space import ParameterDomain
from ._panels import is_logarithmic, robust_limits

BELOW = -0.25  # where an axis from 0 to 1 has candidates without a value on it
LONGEST_LABEL = 12
LONGEST_NAME = 20
MOST_LEVELS = 6  # numbers that are all written beside an axis
LEAST_GAP = 0.12  # between two of them, else only the ends and the middle are
MOST_RANKS = 9  # the same of numbers by rank, which are evenly spaced
LOG_NOTE, RANK_NOTE = " (log)", " (by rank)"


@dataclass(frozen=True, eq=False)
class ValueAxis:
    """The values of one parameter on an axis from 0 to 1.

    Attributes
    ----------
    name : str
    positions : ndarray of shape (n,)
        `BELOW` where the candidate does not have the parameter.
    ticks : ndarray of shape (k,)
    labels : list of k str
    is_numeric : bool
        Whether ticks are places on a scale; else each is a value.
    place : callable
        From a list of present values to positions.
    is_logarithmic : bool
    is_ranked : bool
        Whether numbers are evenly spaced in their order, as the optimiser sees a list of them.
    """

    name: str
    positions: np.ndarray
    ticks: np.ndarray
    labels: list
    is_numeric: bool
    place: object
    is_logarithmic: bool = False
    is_ranked: bool = False

    @classmethod
    def of(cls, name, values, domain=None, absent=None):
        """Place values: numbers from end to end of their domain, others in its order.

        Parameters
        ----------
        name : str
        values : sequence of n values
            Masked members are absent.
        domain : ParameterDomain, default=None
            None: what the values themselves show.
        absent : str, default=None
            What to call those. None: what they hold, "none" where that is nothing.
        """
        masked = np.ma.isMaskedArray(values)
        mask = np.ma.getmaskarray(values) if masked else np.zeros(len(values), dtype=bool)
        data = values.data if masked else values
        present = [value for value, out in zip(data, mask, strict=True) if not out]
        domain = ParameterDomain.of(present) if domain is None else domain
        if domain.is_logarithmic:  # a default of 0 or -1 has no place there
            off = [not out and value <= 0 for value, out in zip(data, mask, strict=True)]
            mask = mask | np.array(off, dtype=bool)
            present = [value for value, out in zip(data, mask, strict=True) if not out]
        axis = _number_axis if domain.is_numeric else _category_axis
        axis = _rank_axis if domain.is_ranked else axis
        place, ticks, labels = axis(domain, present)
        positions = np.full(len(mask), BELOW)
        positions[~mask] = place(present)
        if mask.any():
            held = dict.fromkeys(
                "none" if value is None else str(value)
                for value in np.asarray(data, dtype=object)[mask]
            )
            label = short(" or ".join(held), LONGEST_LABEL) if absent is None else absent
            ticks, labels = np.append(ticks, BELOW), [*labels, label]
        scale = domain.is_numeric, place, domain.is_logarithmic, domain.is_ranked
        return cls(name, positions, ticks, labels, *scale)

    @classmethod
    def along(cls, name, scores):
        """Return an axis of scores, (n,), at their own places and without labels."""
        return cls(name, scores, np.empty(0), [], True, np.asarray)

    @classmethod
    def of_values(cls, name, values):
        """Place the values of candidates, masked where they failed; far outliers at the ends."""
        present = values.compressed()
        logarithmic = is_logarithmic(present)
        low, high = robust_limits(present, logarithmic=logarithmic, margin=0.0)
        domain = ParameterDomain(None, low, high, logarithmic) if len(present) else None
        return cls.of(name, np.ma.clip(values, low, high), domain, absent="infeasible or failed")

    @property
    def scale_note(self):
        """What is to be said of the scale behind the name."""
        return LOG_NOTE * self.is_logarithmic + RANK_NOTE * self.is_ranked

    @property
    def is_constant(self):
        """Whether all candidates have one value."""
        return np.ptp(self.positions) == 0.0

    def spread(self, order):
        """Return the positions with those that coincide fanned out in the order given, (n,).

        Parameters
        ----------
        order : ndarray of shape (n,)
            Rank of every candidate: within a bundle the lines lie in this order.
        """
        places, group = np.unique(self.positions, return_inverse=True)
        if len(places) > len(self.positions) / 2 or len(places) == 1:
            return self.positions
        band = 0.5 * np.diff(places).min()
        spread = self.positions.astype(float)
        for g in range(len(places)):
            rows = np.flatnonzero(group == g)
            rows = rows[np.argsort(order[rows], kind="stable")]
            share = (np.arange(len(rows)) + 0.5) / len(rows) - 0.5
            spread[rows] += min(band, 0.012 * len(rows)) * share
        return spread


def short(text, most=LONGEST_NAME):
    """Return a text of at most so many characters, its middle left out.

    A parameter of a nested estimator loses its first steps before, and has dots between the others.
    """
    text = str(text)
    if len(text) > most and "__" in text:
        steps = text.split("__")
        ends = [".".join(steps), *("…" + ".".join(steps[i:]) for i in range(1, len(steps)))]
        text = next((end for end in ends if len(end) <= most), ends[-1])
    head = (most - 1) // 2
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def short_and_distinct(texts, most=LONGEST_NAME):
    """Return texts as `short` does, but cut those less that would look alike."""
    shown = [short(text, most) for text in texts]
    for longer in range(most + 1, max(map(len, texts), default=0) + 1):
        counts = Counter(shown)
        pairs = zip(texts, shown, strict=True)
        shown = [short(text, longer) if counts[label] > 1 else label for text, label in pairs]
    return shown


def number(value):
    """Return a number in few characters: three digits, the exponent without zeros."""
    text = f"{value:.2e}" if 0.0 < abs(value) < 1e-3 else f"{value:.3g}"
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    return f"{float(digits):g}e{int(exponent)}"


def _number_axis(domain, met):
    low, high = min([domain.low, *met]), max([domain.high, *met])  # tails differ from beyond
    if not low < high:
        return lambda v: np.full(len(v), 0.5), np.array([0.5]), [number(low)]
    scale, back = (np.log, np.exp) if domain.is_logarithmic else (np.asarray, np.asarray)
    start, end = scale(low), scale(high)

    def place(values):
        return (scale(np.asarray(values, dtype=float)) - start) / (end - start)

    levels = domain.values or []
    ticks = place(levels)
    if not 1 < len(levels) <= MOST_LEVELS or np.diff(ticks).min() < LEAST_GAP:
        levels = [low, float(back((start + end) / 2.0)), high]
        levels = sorted({round(v) for v in levels}) if domain.is_integer else levels
        ticks = place(levels)
    return place, ticks, list(map(number, levels))


def _rank_axis(domain, met):
    levels = np.unique(np.array([*domain.values, *met], dtype=float))
    ranks = np.linspace(0.0, 1.0, len(levels))
    few = len(levels) <= MOST_RANKS
    shown = np.arange(len(levels)) if few else np.array([0, len(levels) // 2, len(levels) - 1])
    return partial(np.interp, xp=levels, fp=ranks), ranks[shown], list(map(number, levels[shown]))


def _category_axis(domain, met):
    domain = domain.with_met(met)
    n = len(domain.values)
    ticks = np.linspace(0.0, 1.0, n) if n > 1 else np.full(n, 0.5)

    def place(values):
        return domain.index(values) / (n - 1) if n > 1 else domain.index(values) + 0.5

    return place, ticks, short_and_distinct(domain.words, LONGEST_LABEL)
