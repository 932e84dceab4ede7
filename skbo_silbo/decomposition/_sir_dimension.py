"""From a problem of sliced inverse regression to as many directions as it shows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .rows._centering import with_positive_peaks
from .selection._criterion import dimension_by_criterion, excess_over_noise
from .selection._n_components import TESTED_WORDS, check_identified
from .significance._linearity import curvature, extra_are_curved, warn_of_curvature
from .significance._sequential_tests import (
    ROWS_PER_FEATURE_TESTED,
    are_large,
    dimension_by_tests,
    sequential_tests,
)

# most directions that a word considers
MAX_AUTO_COMPONENTS = 20


@dataclass(frozen=True, eq=False)
class Directions:
    """What a fit found, in the columns that vary."""

    eigenvalues: np.ndarray
    components: np.ndarray  # (at least 1, d)
    n_components: int
    tests: dict[str, Any]  # by the name of the attribute


def sir_directions(problem, n_components, random_state=None):
    """Solve a problem for a number of directions, or for as many as a word finds.

    Parameters
    ----------
    problem : RowsProblem or MomentsProblem
    n_components : int or one of `COMPONENT_WORDS`
    random_state : int or RandomState instance, default=None
        Of the tests that draw; None is a fixed seed.

    Returns
    -------
    Directions

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
            tests.update([problem.draw_tests(most=most, random_state=seed)])
        r = min(dimension_by_tests(list(tests.values())[-1]), limit)
    elif by_word:
        shown = eigenvalues if problem.is_plain else excess_over_noise(eigenvalues)
        r = dimension_by_criterion(shown[:MAX_AUTO_COMPONENTS], n)
    B = np.sqrt(n) * spectrum.directions[:, : max(r, 1)]
    return Directions(eigenvalues, with_positive_peaks(B.T / problem.scale), int(r), tests)


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


def look_at_curvature(rows, found, classes, columns, names):
    """Return `curvature_`, and say what may have misled the tests that chose the dimension.

    `classes` are the slices of the rows where each is a value of y, else None.
    """
    r, components = found.n_components, found.components
    shares, curved = map(columns.spread, curvature(rows, components))
    if not len(rows) or not r:
        return shares
    extra = extra_are_curved(rows @ components[:r].T, classes)
    by_value = classes is not None
    if extra or (curved.any() and not by_value):
        warn_of_curvature(shares, curved, extra, by_value, names)
    return shares
