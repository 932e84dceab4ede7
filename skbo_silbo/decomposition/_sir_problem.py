"""The eigenvalue problem of sliced inverse regression, set up from samples or from moments."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skbo_silbo._numerics.pencil import Pencil, Spectrum
from skbo_silbo._numerics.solvers import PENCIL_SOLVERS, solve_moments
from skbo_silbo._typing import FloatArray
from skbo_silbo.decomposition.significance._slice_tests import slice_tests
from skbo_silbo.decomposition.slicing._slices import Slices


@dataclass(frozen=True, eq=False, kw_only=True)
class SIRProblem:
    """Generalised eigenvalue problem of sliced inverse regression.

    A subclass implements ``solve(n_wanted)``, which returns the leading directions,
    ``slice_sums()``, which returns the sum of the samples in each slice divided by ``sqrt(n_h)``,
    and ``permutation_tests(most, random_state)`` of the number of directions.

    Attributes
    ----------
    counts : ndarray of shape (H,)
        Number of samples in each slice, or their total weight if there are weights.
    mean : ndarray of shape (d,)
        Mean of the labelled samples.
    scale : ndarray of shape (d,), or 1.0
    ridge : float
        Ridge that is added to the diagonal of T, relative to the mean of this diagonal.
    solver : str
    n_groups : int
        Number of groups of samples within which y is sliced. It is 1 without groups.
    is_plain : bool
        Whether the slices are not localised.
    is_penalised : bool
        Whether T includes a graph penalty.
    """

    counts: np.ndarray
    mean: FloatArray
    scale: Any
    ridge: float
    solver: str = "dense"
    n_groups: int = 1
    is_plain: bool = True
    is_penalised: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the problem has no localisation, no penalty and no ridge."""
        return self.is_plain and not self.is_penalised and not self.ridge


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsProblem(SIRProblem):
    """Eigenvalue problem of SIR set up from samples in memory.

    The slices can be plain or localised, with or without a graph penalty.

    Attributes
    ----------
    pencil : Pencil
    slices : Slices
    random_state : RandomState instance
        Seed of the solver.
    near : ndarray of shape (n_l, d) or None
        Coordinates of the labelled samples for the neighbour search of localised slices. None
        without localisation.
    n_local_neighbors : int or None
    """

    pencil: Pencil
    slices: Slices
    random_state: np.random.RandomState
    near: FloatArray | None
    n_local_neighbors: int | None

    def solve(self, n_wanted: int) -> Spectrum:
        return PENCIL_SOLVERS[self.solver](self.pencil, n_wanted, self.random_state)

    def slice_sums(self) -> FloatArray:
        return self.slices.membership().T @ self.pencil.X_labeled

    def permutation_tests(self, most, random_state):
        local = {"near": self.near, "n_local_neighbors": self.n_local_neighbors}
        return slice_tests(self.pencil, self.slices, most=most, random_state=random_state, **local)


@dataclass(frozen=True, eq=False, kw_only=True)
class MomentsProblem(SIRProblem):
    """Eigenvalue problem of SIR set up from the moments of the samples.

    Attributes
    ----------
    sums : ndarray of shape (H, d)
        Sums of the samples in each slice, as returned by `slice_sums`.
    basis : CholeskyBasis or ExplicitBasis
        Whitening basis of T.
    rho : float
        Ridge that is added to the diagonal of T, in the units of T.
    sample : (ndarray of shape (m, d), Slices) or None
        Random sample of the rows and their slices, used by the permutation tests. None if there is
        no sample.
    """

    sums: FloatArray
    basis: Any
    rho: float
    sample: Any = None

    def solve(self, n_wanted: int) -> Spectrum:
        return solve_moments(self.sums, self.basis, n_wanted)

    def slice_sums(self) -> FloatArray:
        return self.sums

    def permutation_tests(self, most, random_state):
        """Run permutation tests of the number of directions on the stored sample."""
        X, slices = self.sample
        X = slices.weighted((X - np.average(X, axis=0, weights=slices.weights)) / self.scale)
        ridge = self.rho * slices.n_rows / self.counts.sum()
        pencil = Pencil(X, len(X), slices.membership(), None, ridge, slices.root_weights)
        return slice_tests(pencil, slices, most=most, random_state=random_state)
