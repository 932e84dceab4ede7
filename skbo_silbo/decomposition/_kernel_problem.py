"""The pencil of kernel sliced inverse regression, solved for many weights and sets of labels."""

from dataclasses import dataclass

import numpy as np

from .._numerics._solvers import solve_moments
from .._numerics._whitening import whitening_basis
from .rows._labels import response_targets
from .selection._held_out import choose_by_gain, held_out_errors, stratified_folds
from .slicing._neighborhoods import graph_penalty
from .slicing._slices import slice_response

ALPHAS = (0.0, 0.1, 1.0, 10.0)  # weights of the unlabelled rows that alpha="auto" compares


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """Coordinates of the rows in feature space, with all that does not depend on alpha.

    Attributes
    ----------
    F : ndarray of shape (n, q)
        Labelled rows first, about their mean.
    y : ndarray of shape (n_l,)
    n_slices : int or ndarray
        As `slice_response` takes it.
    ridge : float
        Absolute.
    roughness : ndarray of shape (q, q) or None
        ``F'PF`` for alpha = 1; None without unlabelled rows.
    weights : ndarray of shape (n_l,) or None
    """

    F: np.ndarray
    y: np.ndarray
    n_slices: object
    ridge: float
    roughness: np.ndarray | None
    weights: np.ndarray | None = None

    def solve(self, alpha, rows=slice(None)):
        """Spectrum with all directions (q, H), learnt from the labels of `rows` alone."""
        y, F = self.y[rows], self.F[: len(self.y)][rows]
        weights = None if self.weights is None else self.weights[rows]
        slices = slice_response(y, self.n_slices, sample_weight=weights)
        F = slices.weighted(F - np.average(F, axis=0, weights=weights))
        share = slices.n_rows / (len(self.y) if self.weights is None else self.weights.sum())
        T = F.T @ F
        if alpha:
            T += alpha * share * self.roughness
        T[np.diag_indices_from(T)] += self.ridge * share
        N = slices.membership().T @ F
        return solve_moments(N, whitening_basis(T), min(slices.n_slices - 1, F.shape[1]))


def roughness_of(F, data, n_neighbors, **search):
    """``F'PF`` (q, q) at alpha = 1, or None where every row is labelled."""
    n_labeled = len(data.y)
    penalty = graph_penalty(F, n_labeled, data.n_rows / n_labeled, n_neighbors, **search)
    return None if penalty is None else F.T @ (penalty @ F)


def compare_alphas(problem, n_components, rng):
    """Best of `ALPHAS` over the labelled rows, and the held-out gain of R^2 of each over 0.

    Rows held out stay in the graph, as unlabelled ones.
    """
    targets = response_targets(problem.y, problem.weights)
    folds = stratified_folds(targets[:, 0], rng)
    errors = np.empty((len(folds), len(ALPHAS)))
    for fold in range(folds.max() + 1):
        held_out = folds == fold
        for column, alpha in enumerate(ALPHAS):
            directions = problem.solve(alpha, ~held_out).directions[:, :n_components]
            Z = problem.F[: len(folds)] @ directions
            errors[held_out, column] = held_out_errors(Z, targets, held_out, problem.weights)
    best, gains, _ = choose_by_gain(errors, problem.weights)
    return ALPHAS[best], dict(zip(ALPHAS, gains.tolist(), strict=True))
