"""Slices: a partition of the labelled samples by their response."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from skbo_silbo._checks import brief
from skbo_silbo._numerics.graphs import neighbor_indices
from skbo_silbo._typing import BoolArray, FloatArray, IntArray
from skbo_silbo.decomposition.rows._weights import effective_weights, sample_by_weight

N_STARTS = 10  # initialisations of k-means
FEWEST_ROWS = 5  # with fewer samples, each distinct value is a slice
ROUNDING = 1e-6  # tolerance, in samples, when sums of weights are compared with slice sizes


@dataclass(frozen=True)
class Slices:
    """Partition of the labelled samples into slices of similar responses.

    Attributes
    ----------
    codes : ndarray of shape (n_l,)
        Index of the slice that each sample belongs to. Slices are numbered from 0 in the order of
        the response.
    counts : ndarray of shape (H,)
        Number of samples in each slice, or their total weight if there are weights. No slice is
        empty.
    weights : ndarray of shape (n_l,) or None
        Weights of the samples, scaled so that a weight of 1 is one sample. None without weights.
        Weighted moments are plain moments of the samples multiplied by the square roots of the
        weights.
    groups : ndarray of shape (n_l,) or None
        Group of each sample, numbered from 0. None if y was not sliced within groups.
    """

    codes: IntArray
    counts: NDArray[np.number[Any]]
    weights: NDArray[Any] | None = None
    groups: IntArray | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups within which the response is sliced."""
        return 1 if self.groups is None else int(self.groups.max()) + 1

    @property
    def root_weights(self) -> FloatArray | None:
        """Square roots of the sample weights, or None without weights."""
        return None if self.weights is None else np.sqrt(self.weights)

    @property
    def n_slices(self) -> int:
        """Number of slices."""
        return len(self.counts)

    @property
    def n_rows(self) -> float:
        """Number of samples, or the sum of their weights."""
        return self.counts.sum()

    def select_unweighted(self, rows: IntArray) -> "Slices":
        """Return the slices of a subset of the samples, in which every sample counts once."""
        return replace(self, weights=None).select(rows)

    def select(self, rows: IntArray | BoolArray) -> "Slices":
        """Return the slices of a subset of the samples, with their weights."""
        codes = np.unique(self.codes[rows], return_inverse=True)[1]
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Slices(codes, np.bincount(codes, weights), weights, groups)

    def select_effective(self, rows: IntArray | BoolArray) -> "Slices":
        """Return the slices of a subset, with weights that sum to its effective sample size."""
        part = self.select(rows)
        if part.weights is None:
            return part
        weights = effective_weights(part.weights)
        return replace(part, counts=np.bincount(part.codes, weights), weights=weights)

    def membership(self) -> sparse.csr_array:
        """Return the membership matrix without localisation, with one column per slice.

        If sample i is in slice h, entry (i, h) is ``sqrt(w_i / n_h)``, where w_i is the weight of
        the sample or 1. All other entries are 0.
        """
        entries = 1 / np.sqrt(self.counts[self.codes])
        if self.weights is not None:
            entries *= self.root_weights
        pointers = np.arange(len(self.codes) + 1)
        return sparse.csr_array((entries, self.codes, pointers), (len(self.codes), self.n_slices))

    def weighted(self, values: FloatArray) -> FloatArray:
        """Multiply values of labelled samples by the square roots of their weights.

        `values` has one row per sample, labelled samples first.
        """
        return values if self.weights is None else values * self._roots(len(values))[:, None]

    def unweighted(self, values: FloatArray) -> FloatArray:
        """Divide values of labelled samples by the square roots of their weights."""
        return values if self.weights is None else values / self._roots(len(values))[:, None]

    def penalty_of_weighted(self, penalty: sparse.csr_array) -> sparse.csr_array:
        """Adapt a penalty matrix P to samples multiplied by the square roots of their weights."""
        if self.weights is None:
            return penalty
        inverse = sparse.diags_array(1 / self._roots(penalty.shape[0]))
        return (inverse @ penalty @ inverse).tocsr()

    def _roots(self, n: int) -> FloatArray:
        roots = np.ones(n)
        roots[: len(self.codes)] = self.root_weights
        return roots


def slice_response(
    y: NDArray[Any], n_slices: int, *, sample_weight: NDArray[Any] | None = None
) -> Slices:
    """Slice the response by quantiles, by category or by k-means.

    By R's rule, a slice has ``max(2, n_l // n_slices)`` samples and is extended by all samples with
    the same y as its last one. The last slice contains the remaining samples.

    Parameters
    ----------
    y : ndarray of shape (n_l,) or (n_l, q)
        Numbers, or strings, each of which is a slice. For several responses, the slices are k-means
        clusters of the standardised responses (Setodji and Cook 2004): at most `n_slices` clusters,
        and at most one per two samples. For a structured array of "event" and "time", events and
        censored times are sliced separately. The number of slices of each kind is proportional to
        its number of samples (Li, Wang and Chen 1999).
    n_slices : int
        Target number of slices. If y has at most `n_slices` distinct values and some of them occur
        repeatedly, each distinct value is a slice.
    sample_weight : ndarray of shape (n_l,), default=None
        Positive weights of the samples, scaled so that a weight of 1 is one sample.

    Returns
    -------
    Slices

    Raises
    ------
    ValueError
        If `n_slices` is not an integer of at least 2.
    """
    check_n_slices(n_slices)
    if y.dtype.names:
        codes = _censored_codes(y, n_slices, sample_weight)
    elif y.ndim == 2:
        codes = _clusters(y, n_slices, sample_weight)
    elif y.dtype.kind not in "fiu":
        codes = np.unique(y, return_inverse=True)[1]
    else:
        codes = _codes_by_count(y, n_slices, sample_weight)
    return Slices(codes, np.bincount(codes, sample_weight), sample_weight)


def local_membership(X, slices, n_local_neighbors, *, method="auto", random_state=None):
    """Return the membership matrix of slices localised to nearest neighbours.

    Column j averages the k nearest neighbours of sample j in its slice with weights 1/k (Wu, Liang
    and Mukherjee 2010). The sample itself counts as a neighbour. k is `n_local_neighbors`, or the
    size of the slice if that is smaller. If k is the size of every slice, the result is the same as
    without localisation.

    Parameters
    ----------
    X : ndarray of shape (n_l, d)
    slices : Slices
    n_local_neighbors : int
        Number of nearest neighbours of each sample within its slice, at least 2.
    method, random_state
        As in `neighbor_indices`.

    Returns
    -------
    omega : csr_array of shape (n_l, n_l)
    """
    rows, columns, weights = [], [], []
    for h in range(slices.n_slices):
        members = np.flatnonzero(slices.codes == h)
        others = neighbor_indices(
            X[members], n_local_neighbors - 1, method=method, random_state=random_state
        )
        local = np.column_stack([np.arange(len(members)), others])
        owner, place = np.nonzero(local >= 0)
        rows.append(members[local[owner, place]])
        columns.append(members[owner])
        weights.append(1 / (local >= 0).sum(axis=1)[owner])
    entries = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(weights), entries), shape=(len(X), len(X)))


def slice_within(y, groups, n_slices, *, sample_weight=None):
    """Slice the response separately within each group.

    Groups are numbered from 0, and None means a single group. A ValueError is raised if y is
    constant within every group.
    """
    if groups is None:
        return slice_response(y, n_slices, sample_weight=sample_weight)

    def codes_of(rows):
        weights = None if sample_weight is None else sample_weight[rows]
        return slice_response(y[rows], n_slices, sample_weight=weights).codes

    codes = _codes_within(groups, codes_of)
    if codes.max() == groups.max():
        raise ValueError(
            f"group must have categories within which y varies, but y is constant in each of the "
            f"{codes.max() + 1} categories of {len(y)} labelled samples. Use fewer categories."
        )
    return Slices(codes, np.bincount(codes, sample_weight), sample_weight, groups)


def _codes_within(groups, codes_of):
    """Slice each group, and number the slices of all groups consecutively."""
    codes, begin = np.empty(len(groups), dtype=int), 0
    for group in range(groups.max() + 1):
        rows = groups == group
        codes[rows] = begin + codes_of(rows)
        begin = codes[rows].max() + 1
    return codes


def check_n_slices(n_slices):
    """Raise a ValueError unless `n_slices` is an integer of at least 2."""
    if not isinstance(n_slices, Integral) or isinstance(n_slices, bool) or n_slices < 2:
        raise ValueError(
            f"n_slices must be an integer of at least 2, got {brief(n_slices)}. To cut y at given "
            "values, pass np.digitize(y, values) as y."
        )


def _clusters(y, n_slices, weights):
    """Return the k-means cluster of each row of y."""
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
    """Slice survival times, separating events from censored times."""
    w = np.ones(len(y)) if weights is None else weights

    def codes_of(rows):
        few = int(np.rint(n_slices * w[rows].sum() / w.sum()))
        return _codes_by_count(y["time"][rows], few, w[rows]) if few > 1 else 0

    groups = np.unique(~y["event"], return_inverse=True)[1]
    return _codes_within(groups, codes_of)


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
    """Return, for each slice after the first, the index of its first distinct value.

    `last_rows` is the cumulative count of the distinct values. If R's rule put all samples into one
    slice because of ties, the tied samples become a slice of their own, since a single slice is
    useless.
    """
    n, end, last_values = last_rows[-1], 0, []
    while end < n - 2:
        value = last_rows.searchsorted(min(end + size - ROUNDING, n))
        end = last_rows[value]
        last_values.append(value)
    if len(last_values) < 2:
        return np.array([max(last_values[0], 1) if last_values else len(last_rows) // 2])
    return np.array(last_values[:-1]) + 1


def evenly_spaced(X, slices, n_rows):
    """Select at most `n_rows` rows of X, evenly spaced in `stratified_order`.

    Rows are repeated in proportion to their weights, so the selected rows have equal weights.
    """
    if slices.weights is not None:
        order = stratified_order(X, slices)
        return np.sort(order[sample_by_weight(slices.weights[order], n_rows)])
    if len(X) <= n_rows:
        return np.arange(len(X))
    return stratified_order(X, slices)[np.linspace(0, len(X) - 1, n_rows).round().astype(int)]


def spread_over_response(X, y, n_rows):
    """Select at most `n_rows` rows of X, evenly spaced in the order of y."""
    codes = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    return np.sort(evenly_spaced(X, Slices(codes, np.bincount(codes)), n_rows))


def rows_and_centres(X, y, n_rows, n_centres):
    """Select at most `n_rows` rows of X, the first `n_centres` of which are centres of kernels.

    The rows are evenly spaced in the order of y, and so are the centres.
    """
    rows = spread_over_response(X, y, n_rows)
    centres = spread_over_response(X[rows], y[rows], n_centres)
    return np.concatenate([rows[centres], np.delete(rows, centres)])


def stratified_order(X, slices):
    """Return indices that sort the samples by slice and norm, whatever their original order."""
    return np.lexsort((np.einsum("ij,ij->i", X, X), slices.codes))


MAX_ROWS = 2000  # largest number of samples that permutation tests use


def rows_to_shuffle(X, slices, at_least=0):
    """Return the indices of the samples to use in permutation tests.

    At most `MAX_ROWS` rows, or `at_least` if that is more, are selected. They are sorted by slice
    and norm, so that the order of the rows of X does not matter.
    """
    slices = replace(slices, weights=None)
    rows = evenly_spaced(X, slices, max(MAX_ROWS, at_least))
    return rows[stratified_order(X[rows], replace(slices, codes=slices.codes[rows]))]
