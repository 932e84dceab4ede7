"""Slice methods that look at variances too, and so find symmetric responses: SAVE and DR.

==========  ==========  =====================================================
symbol      shape       meaning
==========  ==========  =====================================================
Z           (n_l, q)    whitened labelled rows: mean 0, variance I
p_h         (H,)        share of the rows in slice h
m_h, V_h    (q,), (q,q) mean and variance of Z within slice h
==========  ==========  =====================================================
"""

from typing import Self

import numpy as np
from sklearn.utils import check_random_state

from .._checks import check_switch
from .._numerics._pencil import Pencil
from .._numerics._solvers import primal_basis
from .._numerics._tridiagonal import eigenvalues_and_leading_vectors
from .._typing import ArrayLike
from ._projection import LinearProjection, with_positive_peaks
from .rows._centering import center_on_labels, check_a_column_varies, check_enough_rows
from .rows._labels import split_labelled
from .selection._criterion import dimension_by_criterion
from .selection._n_components import COMPONENT_WORDS, check_n_components
from .significance._permutation import KernelShuffles, permutation_tests
from .significance._sequential_tests import dimension_by_tests, warn_of_none
from .significance._weighted_shuffles import (
    WeightedShuffles,
    affordable,
    weighted_permutation_tests,
)
from .slicing._evenly_spaced import evenly_spaced
from .slicing._slices import check_n_slices, slice_response

N_PERMUTATIONS = 99
MAX_WEIGHTED_ROWS = 2000
"""Rows that counts are written out to, where they are shuffled."""
MAX_AUTO_COMPONENTS = 20
"""Most directions that n_components="auto" tests for."""


class _SecondMomentSlicing(LinearProjection):
    """Whiten, take the kernel matrix of the slices, return its leading eigenvectors.

    A subclass has one method, ``_kernel_of_rows(Z, slices, total)``, with the variance of Z.
    """

    _takes_responses = True

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 10,
        categorical: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            More labelled rows than features.
        y : array-like of shape (n,) or (n, q)
            Numbers or categories; NaN (None) marks a row without a label, which is left out.
            Several responses are numbers, and slices the clusters that k-means finds among them.
        sample_weight : array-like of shape (n,), default=None
            Integers are counts: a row of weight 3 is three rows, for the tests too. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For fewer labelled rows than the method needs, a constant y, or an `n_components` above
            the number of features that vary.
        """
        check_n_slices(self.n_slices)
        check_switch("categorical", self.categorical)
        data = split_labelled(
            self,
            X,
            y,
            sample_weight=sample_weight,
            allow_categories=True,
            categorical=self.categorical,
            multivariate=True,
            n_slices=self.n_slices,
            keep_float32=True,
        ).labelled_only()
        check_n_components(self.n_components, self.n_features_in_, COMPONENT_WORDS)
        check_enough_rows(type(self).__name__, *data.X_labeled.shape)
        check_a_column_varies(data.X_labeled)
        slices = slice_response(data.y, self.n_slices, sample_weight=data.weights)
        self.n_slices_ = slices.n_slices
        X, self.mean_ = center_on_labels(data)
        pencil = Pencil(slices.weighted(X), len(X), slices.membership())
        basis, scale = primal_basis(pencil), np.sqrt(slices.n_rows)
        Z = slices.unweighted(basis.whiten(pencil.X))
        Z *= scale
        kernel = self._kernel_of_rows(Z, slices, np.eye(Z.shape[1]))
        eigenvalues, V = eigenvalues_and_leading_vectors(kernel, self._n_vectors(len(kernel)))
        self.eigenvalues_ = np.clip(eigenvalues, 0, None)
        self._check_rank(len(eigenvalues))
        self.n_components_ = self._choose_n_components(Z, V, slices)
        directions = scale * basis.lift(V[:, : max(self.n_components_, 1)])
        self.components_ = with_positive_peaks(directions.T)
        return self

    def _n_vectors(self, q):
        """How many eigenvectors may be asked for: all where tests need the scores of all."""
        return q if isinstance(self.n_components, str) else int(self.n_components)

    def _choose_n_components(self, Z, V, slices):
        """Take the number given, or test the scores of all directions V (q, q)."""
        self.__dict__.pop("permutation_tests_", None)
        if not isinstance(self.n_components, str):
            return int(self.n_components)
        if self.n_components == "criterion":
            return dimension_by_criterion(self.eigenvalues_, slices.n_rows)
        self.permutation_tests_ = self._tests(Z @ V, slices)
        n_components = dimension_by_tests(self.permutation_tests_)
        if not n_components:
            warn_of_none()
        return n_components

    def _tests(self, S, slices):
        """Permutation tests of the scores S (n, q) of all directions."""
        if slices.is_counted and slices.weights is not None:
            places = evenly_spaced(S, slices, max(len(S), MAX_WEIGHTED_ROWS))
            S, slices = S[places], slices.of_rows(places)
        settings = {
            "most": min(S.shape[1], MAX_AUTO_COMPONENTS),
            "n_permutations": affordable(S, N_PERMUTATIONS),
            "random_state": check_random_state(0),
        }
        if slices.is_counted:
            problem = KernelShuffles(S, lambda Z: self._kernel_of_rows(Z, slices, Z.T @ Z / len(Z)))
            return permutation_tests(problem, **settings)
        identity, scale = np.eye(S.shape[1]), np.sqrt(slices.n_rows)
        problem = WeightedShuffles(
            S / scale,
            np.zeros_like(identity),
            slices,
            lambda Z, slices: self._kernel_of_rows(scale * Z, slices, identity),
        )
        return weighted_permutation_tests(problem, **settings | {"random_state": 0})

    def _check_rank(self, rank):
        if not isinstance(self.n_components, str) and self.n_components > rank:
            raise ValueError(
                f"n_components must be at most {rank}, the number of features that vary "
                f"independently: got {self.n_components}. Use n_components='auto'."
            )
