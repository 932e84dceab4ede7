"""Permutation tests of how many directions there are."""

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from .._typing import ArrayLike, FloatArray, IntArray, TransformerLike
from ..decomposition import (
    DirectionalRegression,
    SemiSlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from ..decomposition.significance import dimension_by_tests
from ._names import refuse_pipeline

PERMUTED = (SemiSlicedInverseRegression, SlicedAverageVarianceEstimation, DirectionalRegression)


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """Tests that k directions suffice, for k = 0, 1, ... to the first that is accepted.

    Attributes
    ----------
    n_components : ndarray of shape (m,)
        k, the directions granted.
    statistic : ndarray of shape (m,)
        The eigenvalue after the k-th.
    p_value : ndarray of shape (m,)
        ``(1 + shuffles that reach the statistic) / (1 + n_permutations)``.
    n_permutations : ndarray of shape (m,)
        Shuffles made. They end when ten have reached the statistic and the hypothesis is accepted,
        whatever others would say.
    n_found : int
        Directions found at level .05: the last k where it is accepted.
    """

    n_components: IntArray
    statistic: FloatArray
    p_value: FloatArray
    n_permutations: IntArray
    n_found: int


def permutation_tests(
    estimator: TransformerLike, X: ArrayLike, y: ArrayLike, **fit_params: Any
) -> PermutationTests:
    """Test by permutation whether 0, 1, ... directions suffice, also where chi-square is valid.

    Granting k directions, the rest of X is shuffled against them and y; the next eigenvalue is
    compared with those of the shuffles [1]_. The tests are those of ``n_components="auto"``, with
    whatever ridge, penalty and slices `estimator` has.

    Parameters
    ----------
    estimator : SlicedInverseRegression, SemiSlicedInverseRegression, \
SlicedAverageVarianceEstimation, DirectionalRegression
        Cloned, fitted or not; its `n_components` is not used.
    X, y
        As in ``estimator.fit``.
    **fit_params
        Further arguments of it: `X_unlabeled`, `sample_weight`, `group`.

    Returns
    -------
    PermutationTests

    Raises
    ------
    TypeError
        When the estimator has no permutation tests.
    ValueError
        When its solver is "paper", which tests nothing, and whatever ``estimator.fit`` refuses.

    Warns
    -----
    UserWarning
        As ``fit``: where no direction is found.

    References
    ----------
    .. [1] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SemiSlicedInverseRegression
    >>> from skbo_silbo.inspection import permutation_tests
    >>> X = np.random.default_rng(0).normal(size=(120, 5))
    >>> y = X[:, 0] + X[:, 3]
    >>> tests = permutation_tests(SemiSlicedInverseRegression(), X, y)
    >>> tests.n_found, tests.n_components, int(tests.n_permutations[0])
    (1, array([0, 1]), 199)
    >>> bool(tests.p_value[0] == 1 / 200)
    True
    """
    refuse_pipeline(estimator)
    if not isinstance(estimator, PERMUTED):
        names = ", ".join(kind.__name__ for kind in (SlicedInverseRegression, *PERMUTED))
        raise TypeError(
            f"estimator must be one of {names}, which test by permutation: got {estimator!r}."
        )
    if estimator.get_params().get("solver") == "paper":
        raise ValueError(
            "solver must not be 'paper' for permutation tests, which Algorithm 2 has none of: got "
            f"{estimator!r}. Take solver='auto'."
        )
    fitted = clone(estimator).set_params(n_components="permutation").fit(X, y, **fit_params)
    tests = fitted.permutation_tests_
    return PermutationTests(**tests, n_found=dimension_by_tests(tests))
