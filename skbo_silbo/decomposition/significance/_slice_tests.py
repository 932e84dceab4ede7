"""Permutation and bootstrap tests of the number of directions of each method."""

from dataclasses import replace

import numpy as np

from skbo_silbo._numerics.pencil import Pencil
from skbo_silbo._numerics.solvers import whitened_rows
from skbo_silbo.decomposition.rows._moments import membership
from skbo_silbo.decomposition.significance._permutation import (
    EXTENSION,
    kernel_shuffles,
    local_shuffles,
    mean_shuffles,
    n_affordable_permutations,
    permutation_tests,
    rotate_to_leading,
    sign_flips,
    weighted_permutation_tests,
    weighted_shuffles,
)
from skbo_silbo.decomposition.slicing._slices import rows_to_shuffle

N_PERMUTATIONS = 199
N_FEWER_PERMUTATIONS = 99  # for localised slices, which repeat the search, and second moments
COLLINEAR = 1e-8  # a score depends on earlier scores if its residual deviation is below this
ROWS_PER_SCORE = 5  # least number of samples per direction in tests of second moments
MANY = 10**6  # permutations of plain slices are costly if whitened samples have more entries


def slice_tests(pencil, slices, *, most, random_state, near=None, n_local_neighbors=None):
    """Test the number of directions of sliced inverse regression.

    Parameters
    ----------
    pencil : Pencil
    slices : Slices
    most : int
        Largest number of directions that the tests consider.
    random_state : int or RandomState instance
    near : ndarray of shape (n_l, d), default=None
        Coordinates of the samples for the neighbour search of localised slices. None without
        localisation.
    n_local_neighbors : int, default=None

    Returns
    -------
    dict of ndarray
        Values of the tests, as returned by `permutation_tests`.
    """
    places = rows_to_shuffle(slices.unweighted(pencil.X_labeled), slices)
    near = None if near is None else near[places]
    if pencil.penalty is None and len(places) < len(slices.codes):
        pencil, slices = _of_rows(pencil, slices, places)
        places = np.arange(len(places))
    if slices.weights is not None:
        return _tests_of_weighted(pencil, slices, places, most, random_state)
    S, slices = whitened_rows(pencil)[places], slices.select(places)
    if near is None:
        make_statistic = mean_shuffles(S, slices.membership(), slices.groups)
    else:
        make_statistic = local_shuffles(S, near, slices, n_local_neighbors)
    usual, largest = N_FEWER_PERMUTATIONS, N_FEWER_PERMUTATIONS
    if near is None and S.size <= MANY:
        usual, largest = N_PERMUTATIONS, EXTENSION * N_PERMUTATIONS
    return permutation_tests(make_statistic, min(most, S.shape[1]), (usual, largest), random_state)


def moment_tests(S, slices, kernel_of_rows, random_state):
    """Test the number of directions of a method based on second moments.

    Large data are subsampled, see `scores_to_shuffle`.

    Parameters
    ----------
    S : ndarray of shape (n, q)
        Whitened samples. The first columns are the scores of the leading directions.
    slices : Slices
    kernel_of_rows : callable
        Function that maps whitened samples, their slices and their covariance to the kernel matrix.
    random_state : int or RandomState instance

    Returns
    -------
    dict
        Values of the tests, as returned by `permutation_tests`.
    """
    S, slices, _ = scores_to_shuffle(S, slices)
    settings = S.shape[1], n_affordable_permutations(S, N_FEWER_PERMUTATIONS), random_state
    if slices.weights is None:
        shuffles = kernel_shuffles(S, lambda Z, T: kernel_of_rows(Z, slices, T), slices.groups)
        return permutation_tests(shuffles, *settings)
    one, scale = np.eye(S.shape[1]), np.sqrt(slices.n_rows)
    shuffles = weighted_shuffles(
        S / scale, np.zeros_like(one), slices, lambda Z, cut: kernel_of_rows(scale * Z, cut, one)
    )
    return weighted_permutation_tests(shuffles, *settings)


def wild_bootstrap(S, e, slices, random_state):
    """Run wild bootstrap tests of the hypotheses that k = 0, 1, ... directions suffice.

    Large data are subsampled, see `scores_to_shuffle`.
    """
    S, slices, places = scores_to_shuffle(S, slices)
    flips = sign_flips(S, e[places], slices.weights)
    n_flips = n_affordable_permutations(S, N_PERMUTATIONS)
    return permutation_tests(flips, S.shape[1], n_flips, random_state)


def scores_to_shuffle(S, slices):
    """Select the samples whose scores are permuted in the tests.

    Returns
    -------
    S : ndarray of shape (m, q)
        Scores of the selected samples, ordered by slice and norm. Without weights, they
        are orthonormalised within the selection, so that the first k scores span the same space as
        before. Scores that depend linearly on earlier ones are omitted, for example the score of a
        rare category that was not selected.
    slices : Slices
    places : ndarray of shape (m,)
        Indices of the samples that were selected.
    """
    places = rows_to_shuffle(S, slices, ROWS_PER_SCORE * S.shape[1])
    S, slices = S[places], slices.select(places)
    if slices.weights is None:
        Q, R = np.linalg.qr(S - S.mean(axis=0))
        S = np.sqrt(len(S)) * Q[:, np.abs(np.diag(R)) > COLLINEAR * np.sqrt(len(S))]
    return S, slices, places


def _of_rows(pencil, slices, places):
    """Restrict an eigenvalue problem to a subset of the samples."""
    X, part = slices.unweighted(pencil.X_labeled)[places], slices.select(places)
    X = X - np.average(X, axis=0, weights=part.weights)
    ridge = pencil.ridge * part.n_rows / slices.n_rows
    return Pencil(part.weighted(X), len(X), part.membership(), None, ridge), part


def _tests_of_weighted(pencil, slices, places, most, random_state):
    """Run permutation tests for weighted samples."""
    S = whitened_rows(pencil)
    S = slices.unweighted(rotate_to_leading(S, slices.membership().T @ S))
    fixed = np.eye(S.shape[1]) - (S.T * slices.weights) @ S
    part = slices.select(places)
    scale = slices.n_rows / part.n_rows  # so that the weights have the same sum as before
    part = replace(part, counts=scale * part.counts, weights=scale * part.weights)
    shuffles = weighted_shuffles(S[places], fixed, part, _between)
    n_permutations = n_affordable_permutations(S[places], N_PERMUTATIONS)
    most = min(most, S.shape[1])
    return weighted_permutation_tests(shuffles, most, n_permutations, random_state)


def _between(Z, slices):
    """Return the scatter matrix between the slice means of Z, in its H x H dual form."""
    sums = membership(slices.codes, slices.n_slices, slices.weights) @ Z
    sums /= np.sqrt(slices.counts)[:, None]
    return sums @ sums.T
