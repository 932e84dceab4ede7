"""How much the unlabelled rows are worth: alpha by cross-validation over the labelled rows.

==========  ==========  =======================================================================
symbol      shape       meaning
==========  ==========  =======================================================================
X_l         (n, d)      labelled rows
T           (d, d)      X_l'X_l + alpha' X'LX + rho I, with all labelled rows in it
W           (n, q)      labelled rows in coordinates in which T is the identity
Y           (n, m)      mid-ranks of the slices, or class indicators
==========  ==========  =======================================================================

A fold's own T lacks its rows; without them it is I - W_o'W_o, o the rows held out, and its inverse
``I + W_o'(I - W_o W_o')^-1 W_o`` (Woodbury). So T is factored once an alpha, and a fold costs a few
products of W with the slice sums. Folds are spread evenly over the slices.
Scores of the rows held out predict their Y through a linear regression within the fold; the errors
of two alphas are compared row by row. Weighted rows are in X_l, and so in W, times the roots of
their weights; regression and errors are weighted.
"""

from dataclasses import replace

import numpy as np

from ..._numerics._pencil import Pencil, centred_membership, whitening_basis
from ..._numerics._solvers import reduce_to_rows
from ..rows._centering import mean_and_error
from ..rows._labels import target_type
from ..slicing._neighborhoods import graph_penalty
from ..slicing._slices import evenly_spaced, stratified_order
from ._n_components import dimension_by_criterion
from ._ridge import slice_targets

ALPHAS = (0.0, 0.1, 1.0, 10.0, 100.0)
N_FOLDS = 10
# labelled rows, evenly spaced over the slices, that choose; the others stay out of T too
MAX_LABELED = 1000
MAX_ORDER = 8000  # order of T above which it is not factored five times
# least room between 1 and the leverage of rows held out: rounding passes 1 where they fit exactly
EXACT_LEVERAGE = 1e-9
# Gain, as a share of the variance of Y, up to which alpha = 0 is kept. Where the scores span all
# features, every alpha predicts the same, and errors differ by rounding only
LEAST_GAIN = 1e-6


def choose_penalty(estimator, near, X, y, slices, ridge, search):
    """Return the graph penalty times alpha, or None; alpha, and the record where it was chosen.

    Parameters
    ----------
    estimator : estimator
        With `alpha`, `n_neighbors` and `n_components`.
    near, X : ndarray of shape (n, d)
        All rows as the graph sees them, and with root weights. In the graph every row counts once:
        weights are of labels.
    y : ndarray of shape (n_l,)
    slices : Slices
    ridge : callable
        As in `choose_alpha`.
    search : dict
        How neighbours are found.
    """
    n, alpha, scores = len(slices.codes), estimator.alpha, None
    if alpha == 0 or len(X) == n:
        return None, 0.0, None
    unit = graph_penalty(near, n, slices.n_rows / n, estimator.n_neighbors, **search)
    unit = slices.penalty_of_weighted(unit)
    if alpha == "auto":
        pencil = Pencil(X, n, slices.membership(), unit)
        categorical = target_type(y) != "numeric"
        alpha, scores = choose_alpha(pencil, slices, ridge, categorical, estimator.n_components)
    return (alpha * unit if alpha else None), float(alpha), scores


def choose_alpha(pencil, slices, ridge, categorical, n_components):
    """Choose alpha by the error in labelled rows held out, 0 unless another is better by an error.

    Parameters
    ----------
    pencil : Pencil
        With the penalty of alpha = 1.
    slices : Slices
    ridge : callable
        From a Pencil to its absolute ridge.
    categorical : bool
        Predict class indicators in place of mid-ranks.
    n_components : int or str
        Directions that predict; a word takes the information criterion at alpha = 0.

    Returns
    -------
    alpha : float
    scores : dict
        "alpha", "error" (share of the variance of Y that held-out rows leave unexplained), "gain"
        (error at 0 less error), "standard_error" of the gain: ndarray of shape (5,) each; and
        "verdict", a sentence.

    Raises
    ------
    ValueError
        Where rows and features are both more than `MAX_ORDER`.
    """
    if min(pencil.X.shape) > MAX_ORDER:
        raise ValueError(
            f"alpha must be a number where rows and features are both more than {MAX_ORDER}: got "
            f"'auto' and {len(pencil.X)} rows of {pencil.X.shape[1]} features. Give alpha=0, or "
            "choose it on a part of the rows."
        )
    pencil, slices = _fewer_labels(pencil, slices)
    Y = slice_targets(slices.counts, categorical)[slices.codes]
    folds, errors = (
        _folds(slices, stratified_order(slices.unweighted(pencil.X_labeled), slices)),
        [],
    )
    for W in _whitened(pencil, ridge):
        if isinstance(n_components, str):
            n_components = _n_predicting(W, slices)
        errors.append(_held_out_errors(W, slices, Y, folds, n_components))
    return _verdict(np.column_stack(errors), slices.weights)


def _verdict(errors, weights):
    """Alpha and the record of `choose_alpha` from squared errors (n, 5).

    It is 0 unless another beats it by a standard error: then the one that gains most of those.
    """
    gain, standard_error = mean_and_error(errors[:, :1] - errors, weights)
    better = gain > np.maximum(standard_error, LEAST_GAIN)
    best = int(np.argmax(np.where(better, gain, 0.0)))
    scores = {
        "alpha": np.array(ALPHAS),
        "error": np.average(errors, axis=0, weights=weights),
        "gain": gain,
        "standard_error": standard_error,
        "verdict": _words(best, gain, standard_error),
    }
    return ALPHAS[best], scores


def _words(best, gain, standard_error):
    if best == 0:
        top = 1 + int(np.argmax(gain[1:]))
        return (
            f"The unlabelled rows were worth nothing: alpha = {ALPHAS[top]:g}, the best positive "
            f"one, explains {gain[top]:+.3f} of the held-out variance more than alpha = 0 "
            f"(standard error {standard_error[top]:.3f})."
        )
    return (
        f"The unlabelled rows were worth {gain[best]:+.3f} of the held-out variance (standard "
        f"error {standard_error[best]:.3f}), with alpha = {ALPHAS[best]:g}."
    )


def _fewer_labels(pencil, slices):
    """Return the same problem with at most `MAX_LABELED` labelled rows and all in the graph."""
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
    """Yield W for every alpha: one factor each, of order d or of the number of rows."""
    if pencil.X.shape[1] > len(pencil.X):  # in coordinates of the rows' span
        pencil, _ = reduce_to_rows(pencil)
    labelled = pencil.X_labeled.T @ pencil.X_labeled
    rough = pencil.X.T @ (pencil.penalty @ pencil.X)
    for alpha in ALPHAS:
        T = labelled + alpha * rough
        T[np.diag_indices_from(T)] += ridge(np.trace(T))
        yield whitening_basis(T).whiten(pencil.X_labeled)


def _n_predicting(W, slices):
    sums = centred_membership(slices.membership(), slices.root_weights).T @ W
    eigenvalues = np.linalg.eigvalsh(sums @ sums.T)[::-1][: slices.n_slices - 1]
    return dimension_by_criterion(eigenvalues, slices.n_rows)


def _folds(slices, order):
    """Rows held out, the others, and slices and centred Omega of these, for every fold."""
    n_folds, folds = min(N_FOLDS, len(order)), []
    for fold in range(n_folds):
        out = np.sort(order[fold::n_folds])
        kept = np.setdiff1d(order, out)
        within = slices.select(kept)
        omega = centred_membership(within.membership(), within.root_weights)
        folds.append((out, kept, within, omega))
    return folds


def _held_out_errors(W, slices, Y, folds, n_components):
    """Squared error (n,) of every row from directions and a regression that have not seen it."""
    errors, rows = np.empty(len(Y)), slices.unweighted(W)
    for out, kept, within, omega in folds:
        leverages, V = np.linalg.eigh(W[out] @ W[out].T)
        room = np.maximum(1 - leverages, EXACT_LEVERAGE)
        sums = omega.T @ W[kept]
        solved = sums + (sums @ W[out].T @ V / room) @ (V.T @ W[out])
        V = np.linalg.eigh(sums @ solved.T)[1][:, ::-1][:, :n_components]
        predicted = _regress(rows @ (solved.T @ V), Y, kept, within)
        errors[out] = np.sum((Y[out] - predicted[out]) ** 2, axis=1)
    return errors


def _regress(Z, Y, kept, within):
    """Linear prediction (n, m) of Y from the scores, fitted to the rows kept, whose slices say."""
    Z = Z - np.average(Z[kept], axis=0, weights=within.weights)
    mean = np.average(Y[kept], axis=0, weights=within.weights)
    rows, targets = within.weighted(Z[kept]), within.weighted(Y[kept] - mean)
    return mean + Z @ np.linalg.lstsq(rows, targets, rcond=None)[0]
