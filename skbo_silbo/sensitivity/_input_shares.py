"""Shares of the variance of an objective explained by each input."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from skbo_silbo._typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

EXPLAINED = 0.9  # joint share of the important inputs
SETTLED = 0.5  # joint share of the significant inputs from which the verdict is settled
NEGLIGIBLE = 0.005  # a share below it is displayed as 0 %
MOST_SHOWN = 5  # inputs listed in the repr or named in a sentence


@dataclass(frozen=True, eq=False, repr=False)
class InputShares:
    """Shares of the objective's variance that the inputs explain, with intervals.

    The share of an input is its total Sobol index, which includes interactions: the expected
    variance that remains when all other inputs are known, relative to the total variance over the
    search space. Because of interactions, shares can sum to more than 1. Shares are computed for
    the posterior mean of a Gaussian process on all inputs. Intervals are computed from posterior
    draws and calibrated on synthetic problems to contain 90 % of the true shares (experiment
    ``shares``). If a search chose the points, the intervals are wider, because the model may have
    missed inputs (`InputModel.hidden_share`). Shares below about 0.02 cannot be distinguished from
    0. A categorical input has a single share.

    If a constant predicts held-out values as well as the model, all shares are NaN.

    In a conditional search space, resampling an input only has an effect in the branches that
    contain it. Its share is the variance explained within these branches, averaged over all
    branches and divided by the total variance. The choice of the branch is an input, too.
    Resampling it also resamples the inputs that only the new branch has, so its share includes both
    the differences between the branch means and the variance within the branches.

    Attributes
    ----------
    names : tuple of str, of length k
        Names of the inputs that are not constant. In a conditional search space, the first one is
        the choice of the branch (see `SpaceUnion`).
    n_values : int
        Number of finite values that were observed.
    held_out_r2 : float
        R² of predictions of held-out values, on the scale that `scale` describes. NaN if there are
        fewer than ten values.
    is_informative : bool
        Whether the model predicts held-out values better than a constant. If not, there are no
        shares.
    scale : str
        Description of the quantity whose variance is decomposed: the observed values, or their
        logarithms if these are significantly easier to predict. Outliers, which are more than three
        interquartile ranges beyond the quartiles, are clipped first, and their number is given.
    intervals : ndarray of shape (k, 3)
        Share of each input, followed by the lower and the upper bound of its interval.
    together : ndarray of shape (p, 3)
        Share explained jointly by the 1, 2, ..., p most important inputs, with the bounds of its
        interval. p is at most 10.
    cautions : tuple of str, default=()
        Warnings about categorical inputs, one sentence each. An input is listed if one level has at
        least 90 % of the evaluations, so that little is known about the other levels.

    Notes
    -----
    The total index is from Homma and Saltelli (1996) and is computed with
    `scipy.stats.sobol_indices`.

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
    cautions: tuple[str, ...] = ()

    @property
    def share(self) -> FloatArray:
        """Estimated share of the variance for each input, of shape (k,)."""
        return self.intervals[:, 0]

    @property
    def is_significant(self) -> BoolArray:
        """Whether the lower bound of each input's share is at least 0.5 % of the variance."""
        return self.intervals[:, 1] >= NEGLIGIBLE

    @property
    def ranked(self) -> list[str]:
        """Names of the inputs in decreasing order of importance.

        Inputs are sorted by the lower bound of their interval, so an input with a large but
        uncertain share comes after one whose share is significant. Empty if the model is not
        informative.
        """
        if not self.is_informative:
            return []
        return [self.names[i] for i in rank_by_low_end(self.intervals)]

    @property
    def n_important(self) -> int | None:
        """Number of inputs that jointly explain 90 % of the variance, or None if more than p do."""
        reached = self.together[:, 0] >= EXPLAINED
        return int(reached.argmax()) + 1 if reached.any() else None

    @property
    def is_settled(self) -> bool:
        """Whether the significant inputs jointly explain at least half of the variance."""
        m, p = self._n_significant, len(self.together)
        if m == len(self.names) > p:
            return True
        return m > 0 and bool(self.together[min(m, p) - 1, 1] >= SETTLED)

    @property
    def verdict(self) -> str:
        """One-sentence summary of which inputs matter, with 90 % intervals.

        The share that a set of inputs explains "on its own" excludes interactions with other
        inputs. The shares of single inputs include interactions.

        A set of inputs is reported as explaining most of the variance only if their intervals do
        not overlap the intervals of the other inputs.
        """
        if not self.is_informative:
            return f"The values do not show which inputs matter: {self._format_reason()}."
        k, m, n = self.n_important, self._n_significant, len(self.names)
        matter = "matters" if m == 1 else "matter"
        if not self.is_settled:
            if m == 0:
                subject = "whether the input matters" if n == 1 else f"which of {n} inputs matter"
                return f"More values are needed to tell {subject}."
            others = "the other one does" if n - m == 1 else f"any of the other {n - m} do"
            rest = f"more values are needed to tell whether {others}"
            return f"{join_names(self.ranked[:m])} {matter}; {rest}."
        if k is not None and (k < n or n == 1) and self._is_separated(k):
            explain = "explains" if k == 1 else "explain"
            name = f", {self.ranked[0]}," if k == 1 else ""
            return f"{k} of {_format_count(n)}{name} {explain} {self._format_share(k)}."
        some = "All" if m == n else f"At least {m} of"
        return f"{some} {_format_count(n)} {matter}: the {self._format_explained(min(m, n - 1))}."

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas DataFrame with one row per input, the most important first."""
        import pandas as pd

        frame = pd.DataFrame(self.intervals, list(self.names), ["share", "low", "high"])
        return frame.loc[self.ranked or list(self.names)]

    def __repr__(self):
        lines = [self.verdict]
        if self.is_informative:
            lines.append("Shares with interactions:")
            lines += [self._format_line(name) for name in self.ranked[:MOST_SHOWN]]
            lines.append(f"R² of the model on held-out values: {self.held_out_r2:.2f}.")
        return "\n".join([*lines, *self.cautions])

    def _format_line(self, name):
        share, low, high = 100.0 * self.intervals[self.names.index(name)]
        return f"  {share:3.0f} % ({low:.0f} to {high:.0f})  {name}"

    @property
    def _n_significant(self):
        return int(self.is_significant.sum())

    def _format_explained(self, k):
        k = min(k, len(self.together))
        most = "most important explains" if k == 1 else f"{k} most important explain"
        return f"{most} {self._format_share(k)}"

    def _is_separated(self, k):
        """Return whether the intervals of the first k inputs lie above all others."""
        _, low, high = self.intervals[rank_by_low_end(self.intervals)].T
        return k == len(low) or high[k:].max() < low[k - 1]

    def _format_share(self, k):
        share, low, high = 100.0 * self.together[k - 1]
        alone = "on its own" if k == 1 else "on their own"  # the index of a set is a closed one
        return f"{share:.0f} % ({low:.0f} to {high:.0f}) of the variance of {self.scale} {alone}"

    def _format_reason(self):
        if np.isnan(self.held_out_r2):
            count = "1 value is" if self.n_values == 1 else f"{self.n_values} values are"
            return f"{count} too few, or all equal"
        return (
            "the model does not predict held-out values significantly better than a constant "
            f"(R² {self.held_out_r2:.2f}, {self.n_values} values)"
        )


def rank_by_low_end(intervals: FloatArray) -> IntArray:
    """Return indices that sort inputs by decreasing lower bound of their intervals."""
    share, low, _ = np.nan_to_num(intervals).T
    return np.lexsort([-share, -low])


def join_names(names):
    """Join up to five names as an enumeration in a sentence."""
    n_more = len(names) - MOST_SHOWN
    items = [*names[:MOST_SHOWN], *([f"{n_more} more"] if n_more > 0 else [])]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _format_count(n):
    return "1 input" if n == 1 else f"{n} inputs"
