"""Sliced inverse regression as it is solved, from rows or their moments, and what it shows.

Both problems have ``n_rows``, ``n_features`` and ``n_columns`` (of Omega), ``counts`` of the slices
in ``n_groups`` groups, the ``mean`` of the rows, the ``scale`` of their columns, the relative
``ridge``, ``alpha`` and ``solver``, ``solve(n_wanted)``, and ``draw_tests`` for where chi-square is
no reference.
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
from .selection._alpha import weighed_penalty
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
    are_large,
    dimension_by_tests,
    sequential_tests,
)
from .significance._slice_tests import check_room_for_tests, slice_tests
from .slicing._neighborhoods import column_scales, local_membership
from .slicing._slices import Slices


@dataclass(frozen=True, eq=False)
class RowsProblem:
    """Slices, localised or not, of rows in memory, with a penalty or without."""

    pencil: Pencil
    slices: Slices
    mean: np.ndarray
    scale: Any
    near: np.ndarray | None  # rows among which neighbours are sought; None for plain slices
    n_local_neighbors: int | None
    ridge: float
    alpha: float
    alpha_scores: dict[str, Any] | None
    solver: str
    random_state: np.random.RandomState

    @classmethod
    def of(cls, sir, data, slices):
        """Problem of a `LabelledData` for the parameters of an estimator, `sir`."""
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
            graph = _as_graph_sees(X, sir, slices), X, data.y, slices, ridge_of, search
            penalty, alpha, scores = weighed_penalty(sir, *graph)
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
            solver = "dense"  # whose T is the smaller, and loses no digits where ill-conditioned
        if solver == "auto":
            counted = isinstance(sir.n_components, Integral)
            solver = choose_solver(pencil, relative_ridge=ridge, counted=counted)
        local = sir.n_local_neighbors, ridge, alpha, scores
        return cls(pencil, slices, mean, scale, near, *local, solver, random_state)

    n_given = property(lambda self: self.pencil.n_labeled)
    n_rows = property(lambda self: self.slices.n_rows)
    n_features = property(lambda self: self.pencil.X.shape[1])
    n_columns = property(lambda self: self.pencil.omega.shape[1])
    counts = property(lambda self: self.slices.counts)
    n_groups = property(lambda self: self.slices.n_groups)
    is_plain = property(lambda self: self.near is None)
    is_penalised = property(lambda self: self.pencil.penalty is not None)
    slice_sums = property(lambda self: self.slices.membership().T @ self.pencil.X[: self.n_given])

    def solve(self, n_wanted):
        """Spectrum, with so many directions."""
        return PENCIL_SOLVERS[self.solver](self.pencil, n_wanted, self.random_state)

    def draw_tests(self, **settings):
        """Permutation tests."""
        local = {"near": self.near, "n_local_neighbors": self.n_local_neighbors}
        return slice_tests(self.pencil, self.slices, **local, **settings)


@dataclass(frozen=True, eq=False)
class MomentsProblem:
    """Plain slices, known by the moments of the rows."""

    N: np.ndarray  # (H, d), slice sums over the scale
    basis: Any  # that whitens T
    counts: np.ndarray  # of the slices that have rows
    mean: np.ndarray
    scale: Any
    rho: float  # the ridge, absolute
    ridge: float
    sample: Any = None  # rows (m, d) for tests, and their slices

    n_groups, alpha, alpha_scores, solver = 1, 0.0, None, "dense"
    is_plain, is_penalised = True, False

    @classmethod
    def of(cls, sir, moments, *, whiten=whitening_basis, sample=None):
        """Problem of the columns that vary; None where `whiten` finds no basis."""
        moments = moments.as_numbers_of_rows()
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

    n_given = n_rows = property(lambda self: self.counts.sum())
    n_features = property(lambda self: self.N.shape[1])
    n_columns = property(lambda self: len(self.N))
    slice_sums = property(lambda self: self.N)
    n_identified = property(lambda self: min(len(self.N) - 1, self.basis.n_columns))

    def solve(self, n_wanted):
        """Spectrum, with so many directions."""
        return solve_moments(self.N, self.basis, n_wanted)

    def draw_tests(self, **settings):
        """Permutation tests of the sample, with a ridge for so many rows."""
        X, slices = self.sample
        X = slices.weighted((X - np.average(X, axis=0, weights=slices.weights)) / self.scale)
        ridge = self.rho * slices.n_rows / self.n_rows
        pencil = Pencil(X, len(X), slices.membership(), None, ridge, slices.root_weights)
        return slice_tests(pencil, slices, **settings)


def is_plain(sir, slices):
    """Tell whether slices are not localised."""
    return sir.n_local_neighbors is None or sir.n_local_neighbors >= slices.counts.max()


def depends_on_units(sir, data, slices):
    """Tell whether units matter: plain slices of many rows have neither ridge nor graph."""
    d = data.X_labeled.shape[1]
    ridged = sir.ridge != 0 and (sir.ridge != "auto" or slices.n_rows < ROWS_PER_FEATURE * d)
    exact = sir.solver in ("auto", "dense", "dual") and slices.n_rows > d
    return ridged or not exact or not is_plain(sir, slices) or len(data.X_unlabeled) > 0


def warn_of_unidentified(problem):
    """Say so where there are no more rows than features, and neither ridge nor penalty."""
    n, d = problem.n_given, problem.n_features
    if problem.ridge == 0 and n - 1 <= d and not problem.is_penalised:
        warn_user(
            f"{n:g} labelled rows do not identify directions among {d} features when ridge=0 and "
            "no unlabelled row is used: every eigenvalue is 1 and any split of y is fitted "
            "exactly. Use ridge='auto', or unlabelled rows with alpha > 0."
        )


def _ridge_rule(sir, X_labeled, data, slices):
    """Absolute ridge as a function of the trace of T."""
    if sir.ridge == "auto":
        # slices that have no order which mid-ranks could stand for
        unordered = target_type(data.y) != "numeric" or slices.groups is not None
        rho = choose_ridge(X_labeled, slices, unordered)
        return lambda trace: rho
    return lambda trace: sir.ridge * trace / X_labeled.shape[1]


def _as_graph_sees(X, sir, slices):
    """Rows in units of the spread of all, unless ``scale=False``: their neighbours are near so."""
    near = slices.unweighted(X)
    spread = near.std(axis=0)
    return near / np.where(spread > 0, spread, 1.0) if sir.scale else near


def sir_directions(problem, n_components, random_state=None, *, is_ordered=False):
    """Solve a problem for a number of directions, or for as many as a word finds.

    Parameters
    ----------
    problem : RowsProblem or MomentsProblem
    n_components : int or one of `COMPONENT_WORDS`
    random_state : int or RandomState instance, default=None
        Of the tests that draw; None is a fixed seed.
    is_ordered : bool, default=False
        Let the first score rise with the order of the slices.

    Returns
    -------
    dict
        Fitted attributes.

    Raises
    ------
    ValueError
        Where fewer directions are identified than asked for.
    """
    n, d = problem.n_rows, problem.n_features
    by_word = isinstance(n_components, str)
    most = min(problem.n_columns, MAX_AUTO_COMPONENTS, d) if by_word else int(n_components)
    spectrum = problem.solve(most)
    limit = _n_identified(problem, spectrum.eigenvalues)
    check_sir_identified(n_components, limit)
    eigenvalues, tests = spectrum.eigenvalues[:limit], {}
    if problem.is_plain and not problem.is_penalised and not problem.ridge:
        shape = n, d, len(problem.counts), problem.n_groups
        tests["dimension_tests_"] = sequential_tests(eigenvalues, *shape)
    r = n_components
    if n_components in TESTED_WORDS:
        if not (tests and chi_square_is_valid(n_components, n, d, problem.counts)):
            seed = 0 if random_state is None else random_state
            most = min(limit, MAX_AUTO_COMPONENTS)
            tests["permutation_tests_"] = problem.draw_tests(most=most, random_state=seed)
        r = min(dimension_by_tests(list(tests.values())[-1]), limit)
    elif by_word:
        shown = eigenvalues if problem.is_plain else excess_over_noise(eigenvalues)
        r = dimension_by_criterion(shown[:MAX_AUTO_COMPONENTS], n)
    B = np.sqrt(n) * spectrum.directions[:, : max(r, 1)]
    components = with_positive_peaks(B.T / problem.scale)
    if is_ordered:
        ranks = np.sqrt(problem.counts) * slice_targets(problem.counts, categorical=False)[:, 0]
        if (problem.slice_sums.T @ ranks) @ (problem.scale * components[0]) < 0:
            components[0] *= -1
    return dict(eigenvalues_=eigenvalues, components_=components, n_components_=int(r), **tests)


def _n_identified(problem, eigenvalues):
    if problem.is_plain:
        return min(len(eigenvalues), len(problem.counts) - problem.n_groups)
    return max(int((eigenvalues > 1e-12 * eigenvalues[0]).sum()), 1)


def check_sir_identified(n_components, limit):
    """Refuse more directions than slices show."""
    check_identified(
        n_components,
        limit,
        remedy=", or more slices where y is numeric; where y holds categories, a slice each, "
        "DirectionalRegression sees more directions",
    )


def chi_square_is_valid(n_components, n, d, counts):
    """Tell whether the chi-square tests are to be taken, if there are any."""
    enough = n >= ROWS_PER_FEATURE_TESTED * max(d, len(counts)) and are_large(counts)
    return n_components != "permutation" and enough
