"""Slices of the response: which labelled row belongs to which, and how many each holds."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from ..._checks import brief
from ..._typing import ArrayLike, FloatArray, IntArray
from ..rows._weights import are_counts, sample_by_weight

N_STARTS = 10  # starts of k-means, seeded
FEWEST_ROWS = 5  # rows from which different values can be cut in two slices of two rows or more
ROUNDING = 1e-6  # rows by which a sum of weights may miss the size of a slice


@dataclass(frozen=True)
class Slices:
    """A partition of the labelled rows by their response.

    Attributes
    ----------
    codes : ndarray of shape (n_l,)
        Slice of each row, from 0 in the order of the response.
    counts : ndarray of shape (H,)
        Rows in each slice, all positive: the sum of their weights where they have any.
    weights : ndarray of shape (n_l,) or None
        Of the rows, as numbers of rows. Weighted moments of rows are plain moments of rows times
        the roots of these.
    groups : ndarray of shape (n_l,) or None
        Category of each row, from 0, where every slice is of one category.
    """

    codes: IntArray
    counts: NDArray[np.number[Any]]
    weights: NDArray[Any] | None = None
    groups: IntArray | None = None

    @property
    def n_groups(self) -> int:
        """Number of categories within which the response is cut, 1 where there are none."""
        return 1 if self.groups is None else int(self.groups.max()) + 1

    @property
    def root_weights(self) -> FloatArray | None:
        """Roots of the weights (n_l,), or None."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def is_counted(self) -> bool:
        """Whether rows weigh the same, or are counted."""
        return self.weights is None or are_counts(self.weights)

    @property
    def n_slices(self) -> int:
        """Number of slices, H."""
        return len(self.counts)

    @property
    def n_rows(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.counts.sum()

    def select_unweighted(self, rows: IntArray) -> "Slices":
        """Slices of some rows only, without weights; those that no row is left in are dropped."""
        return replace(self, weights=None).select(rows)

    def select(self, rows: IntArray) -> "Slices":
        """As `of_rows`, with the weights that the rows have."""
        codes = np.unique(self.codes[rows], return_inverse=True)[1]
        weights, groups = (None if v is None else v[rows] for v in (self.weights, self.groups))
        return Slices(codes, np.bincount(codes, weights), weights, groups)

    def select_to_shuffle(self, rows: IntArray) -> "Slices":
        """As `of_rows` where rows are counted, and may repeat, as `part` where they are not."""
        return self.select_unweighted(rows) if self.is_counted else self.select(rows)

    def membership(self) -> sparse.csr_array:
        """Plain Omega (n_l, H): 1/sqrt(n_h), times the root weight, where row i is in slice h."""
        entries = 1 / np.sqrt(self.counts[self.codes])
        if self.weights is not None:
            entries *= self.root_weights
        pointers = np.arange(len(self.codes) + 1)
        return sparse.csr_array((entries, self.codes, pointers), (len(self.codes), self.n_slices))

    def weighted(self, values: FloatArray) -> FloatArray:
        """Values (n, p) of the rows, labelled ones first, times their root weights; else 1."""
        return values if self.weights is None else values * self._roots(len(values))[:, None]

    def unweighted(self, values: FloatArray) -> FloatArray:
        """Undo `weighted`."""
        return values if self.weights is None else values / self._roots(len(values))[:, None]

    def penalty_of_weighted(self, penalty: sparse.csr_array) -> sparse.csr_array:
        """Penalty P (n, n) of rows for what `weighted` makes of them: X'PX is the same."""
        if self.weights is None:
            return penalty
        inverse = sparse.diags_array(1 / self._roots(penalty.shape[0]))
        return (inverse @ penalty @ inverse).tocsr()

    def _roots(self, n: int) -> FloatArray:
        roots = np.ones(n)
        roots[: len(self.codes)] = self.root_weights
        return roots


def slice_response(
    y: NDArray[Any], n_slices: int | ArrayLike, *, sample_weight: NDArray[Any] | None = None
) -> Slices:
    """Cut the response as R's ``dr`` does, at given edges, by category, or by k-means.

    Parameters
    ----------
    y : ndarray of shape (n_l,) or (n_l, q)
        Numbers, or strings (each category a slice). Of a structured array of "event" and "time"
        the times are cut twice, where there was an event and where there was none, in as many
        slices as their shares of the rows say (Li, Wang and Chen 1999). Where a row has several
        responses, slices are the clusters that k-means finds among them, divided by their standard
        deviations (Setodji and Cook 2004): at most `n_slices`, and at most one for two rows.
    n_slices : int or array-like of increasing edges
        An int is the number aimed at: slices of ``max(2, n_l // n_slices)`` rows, each extended
        to the end of a run of ties, the last taking the rest; a response with at most `n_slices`
        values, of which some repeat, gets a slice a value (R's rule gives different values one
        too, which show nothing). Edges e cut into (-inf, e_0), [e_0,
        e_1), ..., [e_k, inf).
    sample_weight : ndarray of shape (n_l,), default=None
        Positive: as how many rows each counts.

    Returns
    -------
    Slices

    Raises
    ------
    ValueError
        If `n_slices` is neither, the edges leave fewer than two slices with rows, or there are
        edges for several responses.
    """
    n_slices = check_n_slices(n_slices)
    if y.dtype.names:
        codes = _censored_codes(y, n_slices, sample_weight)
    elif y.ndim == 2:
        codes = _clusters(y, n_slices, sample_weight)
    elif y.dtype.kind not in "fiu":
        codes = np.unique(y, return_inverse=True)[1]
    elif isinstance(n_slices, np.ndarray):
        codes = _codes_by_edges(y, n_slices)
    else:
        codes = _codes_by_count(y, n_slices, sample_weight)
    return Slices(codes, np.bincount(codes, sample_weight), sample_weight)


def slice_within(y, groups, n_slices, *, sample_weight=None):
    """Cut the response within each group (n_l,), numbered from 0, as `slice_response` does.

    Or altogether, where `groups` is None.

    Raises
    ------
    ValueError
        As `slice_response`, or where no group has two slices.
    """
    if groups is None:
        return slice_response(y, n_slices, sample_weight=sample_weight)

    def codes_of(rows):
        weights = None if sample_weight is None else sample_weight[rows]
        return slice_response(y[rows], n_slices, sample_weight=weights).codes

    codes = _codes_within(groups, codes_of)
    if codes.max() == groups.max():
        raise ValueError(
            f"group must hold categories within which y varies: got {codes.max() + 1} of them for "
            f"{len(y)} labelled rows, and y varies in none. Give fewer categories."
        )
    return Slices(codes, np.bincount(codes, sample_weight), sample_weight, groups)


def _codes_within(groups, codes_of):
    """Codes that begin anew in each group, after those of the groups before."""
    codes, begin = np.empty(len(groups), dtype=int), 0
    for group in range(groups.max() + 1):
        rows = groups == group
        codes[rows] = begin + codes_of(rows)
        begin = codes[rows].max() + 1
    return codes


def check_n_slices(n_slices):
    """Return `n_slices` as an int, or as an array of increasing edges."""
    if isinstance(n_slices, Integral) and not isinstance(n_slices, bool):
        if n_slices < 2:
            raise ValueError(
                f"n_slices must be at least 2: got {n_slices}. A single slice has no direction."
            )
        return int(n_slices)
    edges = np.asarray(n_slices)
    if edges.ndim != 1 or edges.dtype.kind not in "fiu" or len(edges) == 0:
        raise ValueError(
            f"n_slices must be an int or a 1-d array of slice edges: got {brief(n_slices)}. Give "
            "how many slices, or the values at which to cut."
        )
    if not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise ValueError(
            f"n_slices given as edges must be finite and increase: got {brief(n_slices)}. Sort "
            "them, and drop those that repeat."
        )
    return edges.astype(np.float64)


def _clusters(y, n_slices, weights):
    """Cluster of each row of y (n, q), whatever the order of the rows."""
    if isinstance(n_slices, np.ndarray):
        raise ValueError(
            f"n_slices must be an integer where a row of y has {y.shape[1]} responses: got edges. "
            "Give the number of clusters."
        )
    values, ranks = np.unique(y, axis=0, return_inverse=True)
    if len(values) <= n_slices:
        return ranks
    counts = np.bincount(ranks, weights)
    values = values - np.average(values, axis=0, weights=counts)
    spread = np.sqrt(np.average(values**2, axis=0, weights=counts))
    values /= np.where(spread > 0, spread, 1.0)
    n_clusters = min(n_slices, max(2, int(counts.sum() // 2)))
    search = KMeans(n_clusters, n_init=N_STARTS, random_state=0)
    return search.fit(values, sample_weight=counts).labels_[ranks]


def _censored_codes(y, n_slices, weights):
    """Slices of the times of events, then of those that were censored."""
    w = np.ones(len(y)) if weights is None else weights

    def codes_of(rows):
        if isinstance(n_slices, np.ndarray):
            return np.searchsorted(n_slices, y["time"][rows], side="right")
        few = int(np.rint(n_slices * w[rows].sum() / w.sum()))
        return _codes_by_count(y["time"][rows], few, w[rows]) if few > 1 else 0

    groups = np.unique(~y["event"], return_inverse=True)[1]
    return np.unique(_codes_within(groups, codes_of), return_inverse=True)[1]


def _codes_by_count(y, n_slices, weights):
    values, ranks = np.unique(y, return_inverse=True)
    last_rows = np.cumsum(np.bincount(ranks, weights))
    some_repeat = len(values) < last_rows[-1] - ROUNDING
    if len(values) <= n_slices and (some_repeat or last_rows[-1] < FEWEST_ROWS):
        return ranks
    size = max(2, np.floor(last_rows[-1] / n_slices + ROUNDING))
    begins = np.zeros(len(values), dtype=int)
    begins[_first_values(last_rows, size)] = 1
    return np.cumsum(begins)[ranks]


def _first_values(last_rows, size):
    """Index of the value with which each slice after the first begins.

    `last_rows` counts the rows up to each distinct value. Where one run of ties would swallow
    every row, it becomes a slice of its own: R's rule would leave a single slice.
    """
    n, end, last_values = last_rows[-1], 0, []
    while end < n - 2:
        value = last_rows.searchsorted(min(end + size - ROUNDING, n))
        end = last_rows[value]
        last_values.append(value)
    if len(last_values) < 2:
        return np.array([max(last_values[0], 1) if last_values else len(last_rows) // 2])
    return np.array(last_values[:-1]) + 1


def _codes_by_edges(y, edges):
    occupied, codes = np.unique(np.searchsorted(edges, y, side="right"), return_inverse=True)
    if len(occupied) < 2:
        raise ValueError(
            "n_slices given as edges must part the labelled y in at least 2 slices: all "
            f"{len(codes)} labels fall into one. Place an edge inside the range of y."
        )
    return codes


def evenly_spaced(X, slices, n_rows):
    """Places of at most `n_rows` rows X (n, d), evenly spaced in the order of `stratified_order`.

    Weighted rows come as often as they weigh: those at these places have equal weights.
    """
    if slices.weights is not None:
        order = stratified_order(X, slices)
        return np.sort(order[sample_by_weight(slices.weights[order], n_rows)])
    if len(X) <= n_rows:
        return np.arange(len(X))
    return stratified_order(X, slices)[np.linspace(0, len(X) - 1, n_rows).round().astype(int)]


def stratified_order(X, slices):
    """Places of the rows by slice, and by length within it: whatever order they come in."""
    return np.lexsort((np.einsum("ij,ij->i", X, X), slices.codes))


MAX_ROWS = 2000  # rows, evenly spaced in the order of y, that are shuffled where there are more


def repeat_by_count(X, slices):
    """Places of the rows X (n, d) as often as they count, `MAX_ROWS` or n at most; or all."""
    if slices.weights is None or not slices.is_counted:
        return np.arange(len(X))
    return evenly_spaced(X, slices, max(len(X), MAX_ROWS))


def rows_to_shuffle(X, slices):
    """Places of the rows X (n, d) that are shuffled: counted ones as often as they count."""
    if not slices.is_counted:
        slices = replace(slices, weights=None)
    return evenly_spaced(X, slices, MAX_ROWS)
