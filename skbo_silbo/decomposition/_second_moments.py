"""Slice methods that look at variances too, and so find symmetric responses: SAVE and DR.

==========  ==========  =====================================================
symbol      shape       meaning
==========  ==========  =====================================================
Z           (n_l, q)    whitened labelled rows: mean 0, variance I
p_h         (H,)        share of the rows in slice h
m_h, V_h    (q,), (q,q) mean and variance of Z within slice h
==========  ==========  =====================================================
"""

import numpy as np

from .._numerics._tridiagonal import eigenvalues_and_leading_vectors
from .._typing import ArrayLike
from ._projection import SupervisedProjection
from .rows._labels import KINDS
from .selection._criterion import dimension_by_criterion
from .selection._n_components import (
    COMPONENT_WORDS,
    INDEPENDENT,
    TESTED_WORDS,
    check_enough_rows,
    check_identified,
    check_n_components,
)
from .significance._linearity import is_by_value, kept_by_moments
from .significance._nothing_found import warn_of_unseen
from .significance._permutation import KernelShuffles, permutation_tests
from .significance._sequential_tests import dimension_by_tests
from .significance._weighted_shuffles import (
    WeightedShuffles,
    affordable,
    weighted_permutation_tests,
)
from .slicing._evenly_spaced import counts_written_out
from .slicing._whitened_rows import WhitenedRows

N_PERMUTATIONS = 99
MAX_AUTO_COMPONENTS = 20  # most directions that n_components="auto" tests for


class SecondMomentSlicing(SupervisedProjection):
    """Whiten, take the kernel matrix of the slices, return its leading eigenvectors.

    A subclass has one method, ``_kernel_of_rows(Z, slices, total)``, with the variance of Z, and
    says in `_sees` which directions it finds.
    """

    _sees: str
    _sees_means = False

    _takes = KINDS
    _makes_tests = ("dimension_tests_", "permutation_tests_")

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 4,
        categorical: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical

    def _check_shape(self, n, d):
        check_n_components(self.n_components, self.n_features_in_, COMPONENT_WORDS)
        check_enough_rows(type(self).__name__, n, d)

    def _learn(self, data, slices):
        rows = WhitenedRows.of(data, slices)
        self.mean_, Z = rows.mean, rows.Z
        kernel = self._kernel_of_rows(Z, slices, np.eye(Z.shape[1]))
        tested = isinstance(self.n_components, str)  # then the scores of all are needed
        n_vectors = len(kernel) if tested else int(self.n_components)
        eigenvalues, V = eigenvalues_and_leading_vectors(kernel, n_vectors)
        self.eigenvalues_ = np.clip(eigenvalues, 0, None)
        check_identified(self.n_components, len(eigenvalues), INDEPENDENT)
        self.n_components_ = self._choose_n_components(Z, V, slices)
        if self.n_components in TESTED_WORDS:
            found, by_value = self.n_components_, is_by_value(data.y, slices)
            self.n_components_ = kept_by_moments(
                Z @ V, found, slices, "permutation_tests_", by_value
            )
        self.components_ = rows.components(V[:, : max(self.n_components_, 1)])
        if not self.n_components_:
            seen = {"sees_means": self._sees_means, "sees_variances": True}
            warn_of_unseen(Z, data.y, data.weights, self._sees, **seen)

    def _choose_n_components(self, Z, V, slices):
        """Take the number given, or test the scores of all directions V (q, q)."""
        if not isinstance(self.n_components, str):
            return int(self.n_components)
        if self.n_components == "criterion":
            return dimension_by_criterion(self.eigenvalues_, slices.n_rows)
        self._test_by_chi_square(Z @ V, slices)
        self.permutation_tests_ = self._tests(Z @ V, slices)
        return dimension_by_tests(self.permutation_tests_)

    def _test_by_chi_square(self, S, slices):
        """Set tests whose reference is known in large samples, where there are any."""

    def _tests(self, S, slices):
        """Permutation tests of the scores S (n, q) of all directions."""
        places = counts_written_out(S, slices)
        S, slices = S[places], slices.part_to_shuffle(places)
        settings = {
            "most": min(S.shape[1], MAX_AUTO_COMPONENTS),
            "n_permutations": affordable(S, N_PERMUTATIONS),
            "random_state": 0,
        }
        if slices.is_counted:
            problem = KernelShuffles(
                S, lambda Z, total: self._kernel_of_rows(Z, slices, total), slices.groups
            )
            return permutation_tests(problem, **settings)
        identity, scale = np.eye(S.shape[1]), np.sqrt(slices.n_rows)
        problem = WeightedShuffles(
            S / scale,
            np.zeros_like(identity),
            slices,
            lambda Z, slices: self._kernel_of_rows(scale * Z, slices, identity),
        )
        return weighted_permutation_tests(problem, **settings)
