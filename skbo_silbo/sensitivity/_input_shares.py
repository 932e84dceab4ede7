"""The record of how much of an objective each of its inputs explains, and its words."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skbo_silbo._typing import FloatArray, IntArray
from skbo_silbo.space._values import in_words

if TYPE_CHECKING:
    import pandas as pd

CONSIDERABLE = 0.05  # share of an input that counts among the others that may matter
EXPLAINED = 0.9  # that the inputs named must explain together
SURE = 0.5  # that the inputs beyond chance must explain together, so that more is said than "yet"
MOST_SHOWN = 5  # inputs that the text lists, and names in a sentence


@dataclass(frozen=True, eq=False, repr=False)
class InputShares:
    """How much of the variance of an objective each input explains, with intervals.

    The share of an input is its total Sobol index, interactions included: the part of the variance
    over the whole space that is left when all other inputs are known. Every input is drawn by
    itself from its distribution. Shares can add up to more than 1. It is that of the posterior mean
    of a Gaussian process on all inputs. The interval is of draws from its posterior, its width set
    on planted problems so as to hold 90 % of the true shares (experiment ``shares``). A category is
    one input, whatever number of choices it has. Below about 0.02 a share cannot be distinguished
    from 0.
    Nothing is said (all shares are NaN) where a constant predicts held-out values as well as the
    model.

    In a conditional space, a list of dicts, an input counts in the branches that have it: there its
    value is drawn anew, and elsewhere that changes nothing. So its share is the mean over branches,
    each as probable as it is drawn, of the variance that is lost within the branch, over the
    variance of all. The choice of the branch is an input too. Drawn anew it changes which inputs a
    point has, and new ones have values drawn from their own distributions. So its share includes
    how far the branches differ on average, and how far the values within them do.

    Attributes
    ----------
    names : tuple of str, of length k
        Of the inputs that are not constant. Of a conditional space, a list of dicts, first which of
        the dicts a point is of: by the name of the parameter that says so (`SpaceUnion`).
    n_values : int
        How many finite values this is learnt from.
    held_out_r2 : float
        Share of the variance of held-out values that the model explains, on the scale in use; NaN
        with fewer than ten values.
    is_informative : bool
        Whether the model predicts held-out values better than a constant, so that there are shares.
    scale : str
        What the shares are shares of the variance of: the values, or their logarithms where those
        are the better scale beyond chance. Values beyond three interquartile ranges from the
        quartiles, at most a twentieth on either side, are moved in to there before, so that a
        single one is not all of the variance; how many were is said.
    intervals : ndarray of shape (k, 3)
        Share, and low and high end of its interval, for every input.
    together : ndarray of shape (p, 3)
        The same for what the 1, 2, ..., p most important inputs explain together, all others
        unknown; p is at most 10.
    most_others : int or None, default=None
        How many of the inputs that do not matter beyond chance explain 5 % or more each, at most,
        in 95 % of the draws.
    seldom_varied : tuple of (str, object, int, int), default=()
        The categories whose most frequent level has at least nine tenths of the values: name,
        that level, how many values have another one, and how many there are. Little is known
        of their other levels.

    Notes
    -----
    Total index: Homma and Saltelli (1996). Estimated by `scipy.stats.sobol_indices`.

    Examples
    --------
    >>> from skbo_silbo import SILBO
    >>> optimizer = SILBO([(0, 1)] * 6, random_state=0)
    >>> X = optimizer.ask(25)
    >>> optimizer = optimizer.tell(X, (X[:, 1] - 0.3) ** 2 + 0.1 * X[:, 4])
    >>> shares = optimizer.input_model_.shares
    >>> shares.ranked[:2]
    ['x1', 'x4']
    >>> shares.n_important
    1
    """

    names: tuple[str, ...]
    n_values: int
    held_out_r2: float
    is_informative: bool
    scale: str
    intervals: FloatArray
    together: FloatArray
    most_others: int | None = None
    seldom_varied: tuple[tuple[str, Any, int, int], ...] = ()

    @property
    def share(self) -> FloatArray:
        """The share of every input, (k,)."""
        return self.intervals[:, 0]

    @property
    def ranked(self) -> list[str]:
        """The names by the low end of their intervals, the highest first.

        An input with a large share that may be chance stands behind one that matters beyond chance.
        Empty where nothing is said.
        """
        if not self.is_informative:
            return []
        return [self.names[i] for i in rank_by_low_end(self.intervals)]

    @property
    def n_important(self) -> int | None:
        """How many inputs explain nine tenths together; None if nothing is said, or more than p."""
        reached = self.together[:, 0] >= EXPLAINED
        return int(reached.argmax()) + 1 if reached.any() else None

    @property
    def is_settled(self) -> bool:
        """Whether the inputs that matter beyond chance explain half together, beyond chance too."""
        m, p = self._n_beyond_chance, len(self.together)
        if m == len(self.names) > p:
            return True
        return m > 0 and bool(self.together[min(m, p) - 1, 1] >= SURE)

    @property
    def verdict(self) -> str:
        """What the values say of the inputs, in a sentence; in brackets the 90 % interval.

        No more than the intervals carry. An input matters beyond chance where the low end of its
        interval is above 0. That some explain so much is said where no other interval reaches
        theirs.
        """
        if not self.is_informative:
            return f"Nothing can be said of which inputs matter: {self._why_not()}."
        k, m, n = self.n_important, self._n_beyond_chance, len(self.names)
        matter = "matters" if m == 1 else "matter"
        if not self.is_settled:
            most = self._at_most(n - m)
            if m == 0:
                of = "whether 1 input matters" if n == 1 else f"which of {n} inputs matter"
                return f"The values do not say yet {of}{most and f': at most {most}'}."
            others = "the other one does" if n - m == 1 else f"any of the other {n - m} do"
            rest = f"the values do not say yet whether {others}"
            rest = f"of the other {n - m} inputs at most {most}" if most else rest
            return f"{_in_words(self.ranked[:m])} {matter}; {rest}."
        if k is not None and (k < n or n == 1) and self._are_parted(k):
            return f"{k} of {_inputs(n)} {'explains' if k == 1 else 'explain'} {self._percent(k)}."
        some = "All" if m == n else f"At least {m} of"
        return f"{some} {_inputs(n)} {matter}: the {self._explain(min(m, n - 1))}."

    @property
    def cautions(self) -> list[str]:
        """A sentence for each category whose other levels were hardly tried."""
        return [
            f"Only {n_others} of {n} evaluations used another {name} than {in_words(value)}."
            for name, value, n_others, n in self.seldom_varied
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all as plain data for JSON; numbers that there are not are None."""
        data = {**vars(self), "names": list(self.names), "held_out_r2": _or_none(self.held_out_r2)}
        data["seldom_varied"] = [[s[0], in_words(s[1]), *s[2:]] for s in self.seldom_varied]
        for name in ("intervals", "together"):
            data[name] = [list(map(_or_none, row)) for row in data[name].tolist()]
        return {**data, "verdict": self.verdict}

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas DataFrame: a row an input, the most important first."""
        import pandas as pd

        frame = pd.DataFrame(self.intervals, list(self.names), ["share", "low", "high"])
        return frame.loc[self.ranked or list(self.names)]

    def __repr__(self):
        lines = [self.verdict]
        if self.is_informative:
            lines += [self._line(name) for name in self.ranked[:MOST_SHOWN]]
            lines.append(
                f"Share of held-out values that the model explains: {self.held_out_r2:.2f}."
            )
        return "\n".join(lines + self.cautions)

    def _line(self, name):
        share, low, high = 100.0 * self.intervals[self.names.index(name)]
        return f"  {share:3.0f} % ({low:.0f} to {high:.0f})  {name}"

    @property
    def _n_beyond_chance(self):
        return int(np.sum(self.intervals[:, 1] > 0.0))

    def _explain(self, k):
        k = min(k, len(self.together))
        most = "most important explains" if k == 1 else f"{k} most important explain"
        return f"{most} {self._percent(k)}"

    def _at_most(self, n):
        """Return how many of n other inputs explain much at most, in words; "" if half may."""
        most = self.most_others
        if most is None or 2 * most > n:
            return ""
        explain = "explains" if most == 1 else "explain"
        return f"{most} {explain} {100 * CONSIDERABLE:.0f} % or more"

    def _are_parted(self, k):
        """Whether no interval of another input reaches those of the first k."""
        _, low, high = self.intervals[rank_by_low_end(self.intervals)].T
        return k == len(low) or high[k:].max() < low[k - 1]

    def _percent(self, k):
        share, low, high = 100.0 * self.together[k - 1]
        return f"{share:.0f} % ({low:.0f} to {high:.0f}) of the variance of {self.scale}"

    def _why_not(self):
        if np.isnan(self.held_out_r2):
            said = "1 value is" if self.n_values == 1 else f"{self.n_values} values are"
            return f"{said} too few, or all equal"
        return (
            "on values held out, the model of all inputs is not beyond chance a better one than a "
            f"constant (R² {self.held_out_r2:.2f}, {self.n_values} values)"
        )


def rank_by_low_end(intervals: FloatArray) -> IntArray:
    """Return the order of inputs by the low end of their intervals, then by their shares."""
    share, low, _ = np.nan_to_num(intervals).T
    return np.lexsort([-share, -low])


def _in_words(names):
    """Return names as a list in words, the first five."""
    more = len(names) - MOST_SHOWN
    first = [*names[:MOST_SHOWN], *([f"{more} more"] if more > 0 else [])]
    return first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"


def _inputs(n):
    return "1 input" if n == 1 else f"{n} inputs"


def _or_none(number):
    return None if np.isnan(number) else number
