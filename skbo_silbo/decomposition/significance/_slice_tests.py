"""How many directions slices show, where chi-square is no reference: by means or second moments."""

from dataclasses import replace

import numpy as np

from ..._numerics._pencil import Pencil
from ..._numerics._solvers import DENSE_MAX_FEATURES, whitened_rows
from ..slicing._slices import repeat_by_count, rows_to_shuffle
from ._permutation import (
    kernel_shuffles,
    local_shuffles,
    mean_shuffles,
    n_affordable_permutations,
    permutation_tests,
    rotate_to_leading,
    weighted_permutation_tests,
    weighted_shuffles,
)

N_PERMUTATIONS = 199
N_FEWER_PERMUTATIONS = 99  # of localised slices, which seek neighbours anew, and of many numbers
MANY = 10**6  # entries of the whitened rows above which shuffles are costly


def check_room_for_tests(pencil):
    """Refuse a penalty on more rows and features than T or the Gram matrix is formed of.

    Raises
    ------
    ValueError
    """
    if pencil.penalty is not None and min(pencil.X.shape) > DENSE_MAX_FEATURES:
        raise ValueError(
            "n_components must be a number or 'criterion' where unlabelled rows have a weight and "
            f"rows and features are both more than {DENSE_MAX_FEATURES}: got a word that asks for "
            f"tests, and {len(pencil.X)} rows of {pencil.X.shape[1]} features. Give a number, or "
            "alpha=0."
        )


def slice_tests(pencil, slices, *, most, random_state, near=None, n_local_neighbors=None):
    """Test (localised) slices, in coordinates in which the pencil's T is the identity.

    Parameters
    ----------
    pencil : Pencil
    slices : Slices
    most : int
        Largest number of directions that can be found.
    random_state : int or RandomState instance
    near : ndarray of shape (n_l, d), default=None
        Rows among which neighbours are sought; None for plain slices.
    n_local_neighbors : int, default=None

    Returns
    -------
    dict of ndarray
        As `permutation_tests`.
    """
    places = rows_to_shuffle(slices.unweighted(pencil.X_labeled), slices)
    near = None if near is None else near[places]
    n_written_out = slices.n_rows if slices.is_counted else len(slices.codes)
    if pencil.penalty is None and len(places) < n_written_out:
        pencil, slices = _of_rows(pencil, slices, places)
        places = np.arange(len(places))
    if not slices.is_counted:
        return _tests_of_weighted(pencil, slices, places, most, random_state)
    S, slices = slices.unweighted(whitened_rows(pencil))[places], slices.select_unweighted(places)
    if near is None:
        make_statistic = mean_shuffles(S, slices.membership(), slices.groups)
    else:
        make_statistic = local_shuffles(S, near, slices, n_local_neighbors)
    cheap = near is None and S.size <= MANY
    return permutation_tests(
        make_statistic,
        most=min(most, S.shape[1]),
        n_permutations=N_PERMUTATIONS if cheap else N_FEWER_PERMUTATIONS,
        random_state=random_state,
    )


def moment_tests(S, slices, kernel_of_rows, most):
    """Test the second moments of scores S (n, q) along all directions.

    Parameters
    ----------
    kernel_of_rows : callable
        Kernel matrix of rows, their slices and their variance.

    Returns
    -------
    dict
        As `permutation_tests`.
    """
    places = repeat_by_count(S, slices)
    S, slices = S[places], slices.select_to_shuffle(places)
    n_permutations = n_affordable_permutations(S, N_FEWER_PERMUTATIONS)
    settings = {"most": most, "n_permutations": n_permutations, "random_state": 0}
    if slices.is_counted:
        shuffles = kernel_shuffles(S, lambda Z, T: kernel_of_rows(Z, slices, T), slices.groups)
        return permutation_tests(shuffles, **settings)
    one, scale = np.eye(S.shape[1]), np.sqrt(slices.n_rows)
    shuffles = weighted_shuffles(
        S / scale, np.zeros_like(one), slices, lambda Z, cut: kernel_of_rows(scale * Z, cut, one)
    )
    return weighted_permutation_tests(shuffles, **settings)


def _of_rows(pencil, slices, places):
    """Pencil and slices of some rows alone, which are not penalised, with a ridge for so many."""
    X, part = slices.unweighted(pencil.X_labeled)[places], slices.select_to_shuffle(places)
    X = X - np.average(X, axis=0, weights=part.weights)
    ridge = pencil.ridge * part.n_rows / slices.n_rows
    return Pencil(part.weighted(X), len(X), part.membership(), None, ridge), part


def _tests_of_weighted(pencil, slices, places, most, random_state):
    """Test rows of relative weight."""
    S = whitened_rows(pencil)
    S = slices.unweighted(rotate_to_leading(S, slices.membership().T @ S))
    fixed = np.eye(S.shape[1]) - (S.T * slices.weights) @ S
    part = slices.select(places)
    scale = slices.n_rows / part.n_rows  # so that their weights sum to those of all
    part = replace(part, counts=scale * part.counts, weights=scale * part.weights)
    return weighted_permutation_tests(
        weighted_shuffles(S[places], fixed, part, _between),
        most=min(most, S.shape[1]),
        n_permutations=n_affordable_permutations(S[places], N_PERMUTATIONS),
        random_state=random_state,
    )


def _between(Z, slices):
    """Scatter (H, H) of the slice means of rows Z, as seen from the slices."""
    sums = slices.membership().T @ slices.weighted(Z)
    return sums @ sums.T
