"""Sliced inverse regression as an eigenvalue problem, and its solution.

`RowsProblem` holds the samples, `MomentsProblem` only their moments. Both have the same attributes:
``n_rows``, ``n_features`` and ``n_columns`` (of Omega), ``counts`` of the slices in ``n_groups``
groups, ``mean`` of the labelled samples, ``scale`` of the columns, the relative ``ridge``,
``alpha`` and ``solver``. ``solve(n_wanted)`` returns the leading eigenpairs, and
``permutation_tests`` tests the dimension if the chi-square test is not valid.
"""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._checks import warn_user
from .._numerics._pencil import Pencil, whitening_basis
from .._numerics._solvers import PENCIL_SOLVERS, choose_solver, solve_moments
from .rows._centering import center_on_labels, with_positive_peaks
from .rows._labels import target_type
from .selection._alpha import choose_penalty
from .selection._n_components import (
    MAX_AUTO_COMPONENTS,
    TESTED_WORDS,
    check_identified,
    dimension_by_criterion,
    excess_over_noise,
)
from .selection._ridge import (
    ROWS_PER_FEATURE,
    choose_ridge,
    choose_ridge_from_moments,
    slice_targets,
)
from .significance._sequential_tests import (
    ROWS_PER_FEATURE_TESTED,
    dimension_by_tests,
    sequential_tests,
    slices_are_large,
)
from .significance._slice_tests import check_room_for_tests, slice_tests
from .slicing._neighborhoods import column_scales, local_membership
from .slicing._slices import Slices


@dataclass(frozen=True, eq=False)
class RowsProblem:
    """Problem of samples in memory: plain or localised slices, with or without a graph penalty."""

    pencil: Pencil
    slices: Slices
    mean: np.ndarray
    scale: Any
    near: np.ndarray | None  # coordinates of the neighbour search; None for plain slices
    n_local_neighbors: int | None
    ridge: float
    alpha: float
    alpha_scores: dict[str, Any] | None
    solver: str
    random_state: np.random.RandomState

    @classmethod
    def from_data(cls, sir, data, slices):
        """Set up the problem of a `LabelledData` for the parameters of the estimator `sir`."""
        random_state = check_random_state(sir.random_state)
        search = {"method": sir.neighbors, "random_state": random_state}
        X, mean = center_on_labels(data)
        X, scale = slices.weighted(X), 1.0
        if sir.scale and depends_on_units(sir, data, slices):
            scale = column_scales(X, slices)
            X /= scale
        near, omega = None, slices.membership()
        if not is_plain(sir, slices):
            near = X[: len(data.y)] * (1.0 if sir.scale is True else scale)
            omega = local_membership(near, slices, sir.n_local_neighbors, **search)
        ridge_of = _ridge_rule(sir, X[: len(data.y)], data, slices)
        penalty, alpha, scores = None, 0.0, None
        if len(X) > len(data.y):
            graph = _graph_coordinates(X, sir, slices), X, data.y, slices, ridge_of, search
            penalty, alpha, scores = choose_penalty(sir, *graph)
        rows = X[: len(data.y)] if penalty is None else X
        pencil = Pencil(rows, len(data.y), omega, penalty, root_weights=slices.root_weights)
        if sir.ridge == "auto":
            rho = ridge_of(None)
            ridge = float(rho / pencil.mean_scatter()) if rho else 0.0
            pencil = replace(pencil, ridge=rho)
        else:
            ridge = float(sir.ridge)
            pencil = pencil.with_relative_ridge(ridge)
        if sir.n_components in TESTED_WORDS:
            check_room_for_tests(pencil)
        solver = sir.solver
        if solver == "dual" and len(rows) >= rows.shape[1]:
            solver = "dense"  # T is the smaller matrix, and loses no digits if ill-conditioned
        if solver == "auto":
            counted = isinstance(sir.n_components, Integral)
            solver = choose_solver(pencil, relative_ridge=ridge, counted=counted)
        local = sir.n_local_neighbors, ridge, alpha, scores
        return cls(pencil, slices, mean, scale, near, *local, solver, random_state)

    n_labeled = property(lambda self: self.pencil.n_labeled)
    n_rows = property(lambda self: self.slices.n_rows)
    n_features = property(lambda self: self.pencil.X.shape[1])
    n_columns = property(lambda self: self.pencil.omega.shape[1])
    counts = property(lambda self: self.slices.counts)
    n_groups = property(lambda self: self.slices.n_groups)
    is_plain = property(lambda self: self.near is None)
    is_penalised = property(lambda self: self.pencil.penalty is not None)
    slice_sums = property(lambda self: self.slices.membership().T @ self.pencil.X[: self.n_labeled])

    def solve(self, n_wanted):
        """Return the eigenvalues and the `n_wanted` leading directions."""
        return PENCIL_SOLVERS[self.solver](self.pencil, n_wanted, self.random_state)

    def permutation_tests(self, **settings):
        """Test the dimension by permutation."""
        local = {"near": self.near, "n_local_neighbors": self.n_local_neighbors}
        return slice_tests(self.pencil, self.slices, **local, **settings)


@dataclass(frozen=True, eq=False)
class MomentsProblem:
    """Problem of plain slices, given by the moments of the samples."""

    N: np.ndarray  # (H, d), slice sums divided by the scale
    basis: Any  # whitening basis of T
    counts: np.ndarray  # samples in each non-empty slice
    mean: np.ndarray
    scale: Any
    rho: float  # absolute ridge
    ridge: float
    sample: Any = None  # samples (m, d) for the tests, and their slices

    n_groups, alpha, alpha_scores, solver = 1, 0.0, None, "dense"
    is_plain, is_penalised = True, False

    @classmethod
    def from_moments(cls, sir, moments, *, whiten=whitening_basis, sample=None):
        """Set up the problem of `SliceMoments`; None if `whiten` finds no basis of T."""
        moments = moments.as_effective_counts()
        counts = moments.counts[moments.counts > 0]
        scale = np.sqrt(np.diag(moments.scatter) / moments.n) if sir.scale else 1.0
        scatter = moments.scatter / np.multiply.outer(scale, scale)
        N, mean_scatter = moments.slice_sums() / scale, np.diag(scatter).mean()
        if sir.ridge == "auto":
            unordered = sir.target_type_ != "numeric"
            rho = choose_ridge_from_moments(scatter, N, counts, unordered)
        else:
            rho = sir.ridge * mean_scatter
        scatter[np.diag_indices_from(scatter)] += rho
        basis = whiten(scatter)
        if basis is None:
            return None
        ridge = float(rho / mean_scatter)
        return cls(N, basis, counts, moments.mean, scale, rho, ridge, sample)

    n_labeled = n_rows = property(lambda self: self.counts.sum())
    n_features = property(lambda self: self.N.shape[1])
    n_columns = property(lambda self: len(self.N))
    slice_sums = property(lambda self: self.N)
    n_identified = property(lambda self: min(len(self.N) - 1, self.basis.n_columns))

    def solve(self, n_wanted):
        """Return the eigenvalues and the `n_wanted` leading directions."""
        return solve_moments(self.N, self.basis, n_wanted)

    def permutation_tests(self, **settings):
        """Test the dimension on the stored sample, with the ridge scaled to its size."""
        X, slices = self.sample
        X = slices.weighted((X - np.average(X, axis=0, weights=slices.weights)) / self.scale)
        ridge = self.rho * slices.n_rows / self.n_rows
        pencil = Pencil(X, len(X), slices.membership(), None, ridge, slices.root_weights)
        return slice_tests(pencil, slices, **settings)


def is_plain(sir, slices):
    """Return whether the slices are not localised."""
    return sir.n_local_neighbors is None or sir.n_local_neighbors >= slices.counts.max()


def depends_on_units(sir, data, slices):
    """Return whether the result depends on the units of X, as it does with a ridge or a graph."""
    d = data.X_labeled.shape[1]
    ridged = sir.ridge != 0 and (sir.ridge != "auto" or slices.n_rows < ROWS_PER_FEATURE * d)
    exact = sir.solver in ("auto", "dense", "dual") and slices.n_rows > d
    return ridged or not exact or not is_plain(sir, slices) or len(data.X_unlabeled) > 0


def warn_if_unidentified(problem):
    """Warn if there are too few labelled samples to identify any direction."""
    n, d = problem.n_labeled, problem.n_features
    if problem.ridge == 0 and n - 1 <= d and not problem.is_penalised:
        warn_user(
            f"{n:g} labelled samples do not identify directions of {d} features with ridge=0 and "
            "without unlabelled samples: every eigenvalue is 1 and any response is fitted exactly. "
            "Use ridge='auto', or unlabelled samples with alpha > 0."
        )


def _ridge_rule(sir, X_labeled, data, slices):
    """Return the absolute ridge as a function of the trace of T."""
    if sir.ridge == "auto":
        # mid-ranks need ordered slices
        unordered = target_type(data.y) != "numeric" or slices.groups is not None
        rho = choose_ridge(X_labeled, slices, unordered)
        return lambda trace: rho
    return lambda trace: sir.ridge * trace / X_labeled.shape[1]


def _graph_coordinates(X, sir, slices):
    """Return the coordinates of the neighbour search: standardised unless ``scale=False``."""
    near = slices.unweighted(X)
    spread = near.std(axis=0)
    return near / np.where(spread > 0, spread, 1.0) if sir.scale else near


def solve_sir(problem, n_components, random_state=None, *, is_ordered=False):
    """Solve a problem and determine the number of directions.

    Parameters
    ----------
    problem : RowsProblem or MomentsProblem
    n_components : int or one of `COMPONENT_WORDS`
    random_state : int or RandomState instance, default=None
        Seed of the permutation tests; None is a fixed seed.
    is_ordered : bool, default=False
        Whether to make the first score increase with the order of the slices.

    Returns
    -------
    eigenvalues : ndarray of shape (p,)
    components : ndarray of shape (r, d)
    n_components : int
    tests : dict
        Test results, under "chi_square" and "permutation".

    Raises
    ------
    ValueError
        If `n_components` exceeds the number of identified directions.
    """
    n, d = problem.n_rows, problem.n_features
    is_auto = isinstance(n_components, str)
    most = min(problem.n_columns, MAX_AUTO_COMPONENTS, d) if is_auto else int(n_components)
    spectrum = problem.solve(most)
    limit = _n_identified(problem, spectrum.eigenvalues)
    check_sir_identified(n_components, limit)
    eigenvalues, tests = spectrum.eigenvalues[:limit], {}
    if problem.is_plain and not problem.is_penalised and not problem.ridge:
        shape = n, d, len(problem.counts), problem.n_groups
        tests["chi_square"] = sequential_tests(eigenvalues, *shape)
    r = n_components
    if n_components in TESTED_WORDS:
        if not (tests and chi_square_is_valid(n_components, n, d, problem.counts)):
            seed = 0 if random_state is None else random_state
            most = min(limit, MAX_AUTO_COMPONENTS)
            tests["permutation"] = problem.permutation_tests(most=most, random_state=seed)
        r = min(dimension_by_tests(list(tests.values())[-1]), limit)
    elif is_auto:
        shown = eigenvalues if problem.is_plain else excess_over_noise(eigenvalues)
        r = dimension_by_criterion(shown[:MAX_AUTO_COMPONENTS], n)
    B = np.sqrt(n) * spectrum.directions[:, : max(r, 1)]
    components = with_positive_peaks(B.T / problem.scale)
    if is_ordered:
        ranks = np.sqrt(problem.counts) * slice_targets(problem.counts, categorical=False)[:, 0]
        if (problem.slice_sums.T @ ranks) @ (problem.scale * components[0]) < 0:
            components[0] *= -1
    return eigenvalues, components, int(r), tests


def _n_identified(problem, eigenvalues):
    if problem.is_plain:
        return min(len(eigenvalues), len(problem.counts) - problem.n_groups)
    return max(int((eigenvalues > 1e-12 * eigenvalues[0]).sum()), 1)


def check_sir_identified(n_components, limit):
    """Raise ValueError if more directions are requested than the slices identify."""
    check_identified(
        n_components,
        limit,
        remedy=", or more slices if y is numeric; if y holds categories, DirectionalRegression can "
        "find more directions",
    )


def chi_square_is_valid(n_components, n, d, counts):
    """Return whether the data are large enough for the chi-square tests."""
    enough = n >= ROWS_PER_FEATURE_TESTED * max(d, len(counts)) and slices_are_large(counts)
    return n_components != "permutation" and enough
