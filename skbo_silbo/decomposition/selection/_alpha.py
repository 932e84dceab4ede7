"""Choice of alpha, the weight of the unlabelled samples, by cross-validation.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
X_l         (n, d)      labelled samples
T           (d, d)      X_l'X_l + alpha' X'LX + rho I, over all labelled samples
W           (n, q)      labelled samples in coordinates in which T is the identity
Y           (n, m)      mid-ranks of the slices, or class indicators
==========  ==========  =======================================================================

Without the held-out samples o, T is I - W_o'W_o in these coordinates, with inverse ``I + W_o'(I -
W_o W_o')^-1 W_o`` (Woodbury). T is therefore factored once per alpha, and a fold takes a few
products of W with the slice sums. Folds are spread evenly over the slices.

The scores of the held-out samples predict their Y by a linear regression fitted within the fold,
and the errors of two alphas are compared sample by sample. Weighted samples are multiplied by their
root weights in X_l and W; the regression and the errors are weighted.
"""

from dataclasses import replace

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._numerics.graphs import graph_penalty
from skbo_silbo._numerics.pencil import Pencil, centred_membership, whitening_basis
from skbo_silbo._numerics.solvers import reduce_to_rows
from skbo_silbo.decomposition.rows._columns import mean_and_error
from skbo_silbo.decomposition.selection._n_components import dimension_by_criterion
from skbo_silbo.decomposition.selection._ridge import slice_targets
from skbo_silbo.decomposition.slicing._slices import evenly_spaced, stratified_order

ALPHAS = (0.0, 0.1, 1.0, 10.0, 100.0)
N_FOLDS = 10
# Largest number of labelled samples used to choose alpha. They are evenly spaced over the slices.
MAX_LABELED = 1000
MAX_ORDER = 8000  # largest order of T, which is factored five times
# Smallest value of 1 - leverage. Rounding could make it negative.
EXACT_LEVERAGE = 1e-9
# Smallest gain over alpha = 0, as a share of the variance of Y. If the scores span all features,
# the errors of different alphas differ only by rounding.
LEAST_GAIN = 1e-6
# A warning is raised if the number of edges between labelled and unlabelled samples is below this
# share of its mean with random labels, and this many standard deviations below it.
LEAST_JOINED, DEVIATIONS = 0.5, 4


def choose_penalty(near, X, slices, ridge, alpha, n_neighbors, is_ordered, n_components, search):
    """Compute the graph penalty and select its weight alpha by cross-validation.

    Alpha is 0 unless another value reduces the error by at least one standard error.

    Parameters
    ----------
    near, X : ndarray of shape (n, d)
        All samples, labelled ones first. `near` holds their coordinates for the neighbour search,
        and X the samples multiplied by the square roots of their weights. In the graph, every
        sample counts once.
    slices : Slices
    ridge : callable
        Function that returns the ridge to add to the diagonal of T, given the trace of T.
    alpha : float or "auto"
    n_neighbors : int
    is_ordered : bool
        Whether the slices are in the order of a numeric response. If so, alpha is chosen by
        predicting the ranks of the slices instead of class indicators.
    n_components : int or str
        Number of directions used for prediction. If it is a string, the information criterion at
        alpha = 0 determines it.
    search : dict
        Keyword arguments of the neighbour search.

    Returns
    -------
    penalty : csr_array or None
        The penalty multiplied by alpha. None if alpha is 0.
    alpha : float
    scores : dict or None
        Arrays of shape (5,), one value per alpha: "alpha", "error" (share of the variance of Y left
        unexplained on held-out samples), "gain" (error reduction from alpha = 0) and
        "standard_error" of the gain. In addition, "verdict" is a one-sentence summary. None unless
        alpha was selected.

    Raises
    ------
    ValueError
        If alpha is "auto" and there are more than `MAX_ORDER` samples and `MAX_ORDER` features.
    """
    n = len(slices.codes)
    if alpha == 0 or len(X) == n:
        return None, 0.0, None
    unit = graph_penalty(near, n, slices.n_rows / n, n_neighbors, **search)
    warn_if_apart(unit, n)
    unit = slices.penalty_of_weighted(unit)
    if alpha != "auto":
        return alpha * unit, float(alpha), None
    if min(X.shape) > MAX_ORDER:
        raise ValueError(
            f"alpha must be a number if samples and features both exceed {MAX_ORDER}, got "
            f"'auto' with {len(X)} samples and {X.shape[1]} features. Use alpha=0, or choose it on "
            "a subsample."
        )
    pencil, slices = _fewer_labels(Pencil(X, n, slices.membership(), unit), slices)
    Y = slice_targets(slices.counts, not is_ordered)[slices.codes]
    order, errors = stratified_order(slices.unweighted(pencil.X_labeled), slices), []
    folds = _folds(slices, order)
    for W in _whitened(pencil, ridge):
        if isinstance(n_components, str):
            sums = centred_membership(slices.membership(), slices.root_weights).T @ W
            eigenvalues = np.linalg.eigvalsh(sums @ sums.T)[::-1][: slices.n_slices - 1]
            n_components = dimension_by_criterion(eigenvalues, slices.n_rows)
        errors.append(_held_out_errors(W, slices, Y, folds, n_components))
    alpha, scores = _verdict(np.column_stack(errors), slices.weights)
    return (alpha * unit if alpha else None), alpha, scores


def warn_if_apart(penalty, n_labeled):
    """Warn if the graph has few edges between labelled and unlabelled samples."""
    joined = penalty[:n_labeled, n_labeled:].nnz
    expected, deviation = joined_at_random(np.diff(penalty.indptr) - 1.0, n_labeled)
    if joined < LEAST_JOINED * expected and expected - joined > DEVIATIONS * deviation:
        warn_user(
            f"The unlabelled samples lie apart from the labelled ones: {joined} edges of the graph "
            f"join them, and {expected:.0f} would if the labels were spread at random. The graph "
            "and alpha='auto' then say little about the unlabelled samples. Check that all samples "
            "were measured and scaled alike, and label some of those to be predicted."
        )


def joined_at_random(degrees, n):
    """Return the moments of the number of edges between a random subset and its complement.

    The moments are the mean and the standard deviation. Two edges that share a sample both join the
    parts with probability n (N - n) / (N (N - 1)), and two disjoint edges with probability
    ``disjoint`` (Friedman and Rafsky, Ann. Statist. 7, 1979, section 3).

    Parameters
    ----------
    degrees : ndarray of shape (N,)
        Number of edges of each sample in the graph.
    n : int
    """
    N, edges, meeting = len(degrees), degrees.sum() / 2, np.sum(degrees * (degrees - 1)) / 2
    sharing = n * (N - n) / (N * (N - 1))
    disjoint = 4 * sharing * (n - 1) * (N - n - 1) / max((N - 2) * (N - 3), 1)
    mean = 2 * sharing * edges
    square = mean + 2 * meeting * sharing + (edges * (edges - 1) - 2 * meeting) * disjoint
    return mean, np.sqrt(max(square - mean**2, 0.0))


def _verdict(errors, weights):
    """Select alpha from the cross-validation errors, and return it with the results.

    Of the values that reduce the error by at least one standard error, the one with the largest
    reduction is chosen. If there are none, alpha is 0.
    """
    gain, standard_error = mean_and_error(errors[:, :1] - errors, weights)
    better = gain > np.maximum(standard_error, LEAST_GAIN)
    best = int(np.argmax(np.where(better, gain, 0.0)))
    scores = {
        "alpha": np.array(ALPHAS),
        "error": np.average(errors, axis=0, weights=weights),
        "gain": gain,
        "standard_error": standard_error,
        "verdict": _format_verdict(best, gain, standard_error),
    }
    return ALPHAS[best], scores


def _format_verdict(best, gain, standard_error):
    if best == 0:
        top = 1 + int(np.argmax(gain[1:]))
        return (
            f"The unlabelled samples did not help: alpha = {ALPHAS[top]:g}, the best "
            f"positive value, changes the explained held-out variance by {gain[top]:+.3f} "
            f"(standard error {standard_error[top]:.3f})."
        )
    return (
        f"The unlabelled samples increased the explained held-out variance by {gain[best]:.3f} "
        f"(standard error {standard_error[best]:.3f}), with alpha = {ALPHAS[best]:g}."
    )


def _fewer_labels(pencil, slices):
    """Reduce the problem to at most `MAX_LABELED` labelled samples."""
    n = pencil.n_labeled
    if n <= MAX_LABELED:
        return pencil, slices
    X = slices.unweighted(pencil.X_labeled)
    rows = evenly_spaced(X, replace(slices, weights=None), MAX_LABELED)
    fewer = slices.select(rows)
    order = np.r_[rows, np.setdiff1d(np.arange(len(pencil.X)), rows)]
    penalty = pencil.penalty[order][:, order] * (fewer.n_rows / slices.n_rows)
    return Pencil(pencil.X[order], len(rows), fewer.membership(), penalty), fewer


def _whitened(pencil, ridge):
    """Yield the whitened data matrix W for each value of alpha."""
    if pencil.X.shape[1] > len(pencil.X):  # in coordinates of the span of the samples
        pencil, _ = reduce_to_rows(pencil)
    labelled = pencil.X_labeled.T @ pencil.X_labeled
    rough = pencil.X.T @ (pencil.penalty @ pencil.X)
    for alpha in ALPHAS:
        T = labelled + alpha * rough
        T[np.diag_indices_from(T)] += ridge(np.trace(T))
        yield whitening_basis(T).whiten(pencil.X_labeled)


def _folds(slices, order):
    """Return the indices and slices of each cross-validation fold."""
    n_folds, folds = min(N_FOLDS, len(order)), []
    for fold in range(n_folds):
        out = np.sort(order[fold::n_folds])
        kept = np.setdiff1d(order, out)
        within = slices.select(kept)
        omega = centred_membership(within.membership(), within.root_weights)
        folds.append((out, kept, within, omega))
    return folds


def _held_out_errors(W, slices, Y, folds, n_components):
    """Return the squared error of each held-out sample in a regression on the directions."""
    errors, rows = np.empty(len(Y)), slices.unweighted(W)
    for out, kept, within, omega in folds:
        leverages, V = np.linalg.eigh(W[out] @ W[out].T)
        room = np.maximum(1 - leverages, EXACT_LEVERAGE)
        sums = omega.T @ W[kept]
        solved = sums + (sums @ W[out].T @ V / room) @ (V.T @ W[out])
        V = np.linalg.eigh(sums @ solved.T)[1][:, ::-1][:, :n_components]
        Z, mean = rows @ (solved.T @ V), np.average(Y[kept], axis=0, weights=within.weights)
        Z -= np.average(Z[kept], axis=0, weights=within.weights)
        given = within.weighted(Z[kept]), within.weighted(Y[kept] - mean)
        predicted = mean + Z[out] @ np.linalg.lstsq(*given, rcond=None)[0]
        errors[out] = np.sum((Y[out] - predicted) ** 2, axis=1)
    return errors
