"""The values of one parameter on an axis from 0 to 1, and what is written beside it."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ._limits import robust_limits

BELOW = -0.25  # where a value that there is not is drawn on an axis from 0 to 1
LONGEST_LABEL = 12
LONGEST_NAME = 20
DECADES = 100.0  # highest by lowest from which numbers are placed by their logarithm


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
    """

    name: str
    positions: np.ndarray
    ticks: np.ndarray
    labels: list
    is_numeric: bool
    place: object

    @classmethod
    def of(cls, name, values, absent="none"):
        """Place values: numbers by size, or its logarithm over two decades or more, others apart.

        Parameters
        ----------
        name : str
        values : sequence of n values
            Masked members are absent.
        absent : str
            What to call those.
        """
        mask = np.ma.getmaskarray(np.ma.asarray(values))
        present = [value for value, out in zip(np.ma.getdata(values), mask, strict=True) if not out]
        is_numeric = all(map(_is_number, present))
        place, ticks, labels = (_number_axis if is_numeric else _category_axis)(present)
        positions = np.full(len(mask), BELOW)
        positions[~mask] = place(present)
        if mask.any():
            ticks, labels = np.append(ticks, BELOW), [*labels, absent]
        return cls(name, positions, ticks, labels, is_numeric, place)

    @classmethod
    def along(cls, name, scores):
        """Return an axis of scores, (n,), at their own places and without labels."""
        return cls(name, scores, np.empty(0), [], True, np.asarray)

    @classmethod
    def of_values(cls, name, values):
        """Place the values of candidates, masked where they failed; far outliers at the ends."""
        present = values.compressed()
        low, high = robust_limits(present, margin=0.0) if len(present) else (0.0, 0.0)
        return cls.of(name, np.ma.clip(values, low, high), absent="failed")

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
    """Return a text of at most so many characters, its middle left out."""
    text = str(text)
    head = (most - 1) // 2
    return text if len(text) <= most else f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def number(value):
    """Return a number in few characters: three digits, the exponent without zeros."""
    text = f"{value:.3g}"
    if "e" not in text and value != 0.0 and abs(value) < 1e-3:
        text = f"{value:.2e}"
    if "e" not in text:
        return text
    digits, exponent = text.split("e")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits}e{int(exponent)}"


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _number_axis(values):
    values = np.asarray(values, dtype=float)
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    if not low < high:
        ticks = np.array([0.5])[: len(values)]
        return lambda v: np.full(len(v), 0.5), ticks, [number(v) for v in values[:1]]
    if low > 0 and high / low >= DECADES and _is_even_in_logarithms(values):
        scale, back = np.log, np.exp
    else:
        scale = back = np.asarray
    start, end = scale(low), scale(high)
    labels = [number(low), number(back((start + end) / 2.0)), number(high)]

    def place(values):
        return (scale(np.asarray(values, dtype=float)) - start) / (end - start)

    return place, np.array([0.0, 0.5, 1.0]), labels


def _is_even_in_logarithms(values):
    """Return whether the median lies nearer the middle of the range of logarithms."""

    def off(v):
        return abs((np.median(v) - v.min()) / np.ptp(v) - 0.5)

    return off(np.log(values)) < off(values)


def _category_axis(values):
    words = sorted({_in_words(value) for value in values})
    ticks = np.linspace(0.0, 1.0, len(words)) if len(words) > 1 else np.array([0.5])
    places = dict(zip(words, ticks, strict=True))

    def place(values):
        return np.array([places.get(_in_words(value), np.nan) for value in values])

    return place, ticks, [_cut(text) for text, _ in words]


def _in_words(value):
    """Return a category as text, and whether it is one: 1 and "1" are two."""
    text = type(value).__name__ if hasattr(value, "get_params") else str(value)
    return text, isinstance(value, str)


def _cut(text):
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
