"""Comparison of the subspaces that two sets of directions span."""

from typing import NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import check_array

from skbo_silbo._checks import require
from skbo_silbo._typing import ArrayLike


class SubspaceComparison(NamedTuple):
    """Result of `compare_subspaces`.

    Attributes
    ----------
    trace_correlation : float
        Squared trace correlation: 1 if the span of `reference` contains the span of `components`, 0
        if the two are orthogonal.
    largest_angle : float
        Largest principal angle in radians, from 0 to pi / 2.
    """

    trace_correlation: float
    largest_angle: float


def compare_subspaces(
    components: ArrayLike, reference: ArrayLike, X: ArrayLike | None = None
) -> SubspaceComparison:
    """Measure how close the spans of two sets of directions are to each other.

    The squared trace correlation [1]_ is the mean squared cosine of the principal angles. With
    samples X, the angles are between the scores along the directions, so the cosines are canonical
    correlations. This is the natural measure if features are correlated or have different units.

    Parameters
    ----------
    components : array-like of shape (r, d)
        Directions, one per row, such as ``components_`` of a transformer.
    reference : array-like of shape (q, d)
        Directions to compare with. If q differs from r, the squared cosines are divided by r, so
        that the result is the share of `components` that lies in the span of `reference`.
    X : array-like of shape (n, d), default=None
        Samples on which scores are compared. There must be more samples than directions in each
        set. If None, the directions themselves are compared.

    Returns
    -------
    comparison : SubspaceComparison
        Named tuple with `trace_correlation` and `largest_angle`.

    Raises
    ------
    ValueError
        If the numbers of features differ, or all directions or scores of a set are 0.

    References
    ----------
    .. [1] Hooper, "Simultaneous equations and canonical correlation theory", Econometrica 27, 1959.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedInverseRegression
    >>> from skbo_silbo.inspection import compare_subspaces
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> sir = SlicedInverseRegression(1).fit(X, np.exp(X[:, 0] + X[:, 1]))
    >>> compare_subspaces(sir.components_, [[1, 1, 0, 0]], X).trace_correlation > 0.95
    True
    >>> compare_subspaces([[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]]).trace_correlation
    0.5
    """
    for name, given in {"components": components, "reference": reference}.items():
        require(not hasattr(given, "fit"), name, "an array, such as its components_", given)
    A = check_array(components, input_name="components", dtype=np.float64)
    B = check_array(reference, input_name="reference", dtype=np.float64)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"reference must have as many columns as components, got {B.shape[1]} and "
            f"{A.shape[1]}. Pass one direction per row."
        )
    A, B = A.T, B.T
    if X is not None:
        rows = check_array(X, input_name="X", dtype=np.float64)
        if rows.shape[1] != len(A) or len(rows) <= max(A.shape[1], B.shape[1]):
            raise ValueError(
                f"X must have {len(A)} columns, and more rows than either set has directions, got "
                f"shape {rows.shape}. Pass the samples that the directions were fitted to."
            )
        rows = rows - rows.mean(axis=0)
        A, B = rows @ A, rows @ B
    A, B = linalg.orth(A), linalg.orth(B)
    if not A.size or not B.size:
        raise ValueError(
            "components and reference must each have a direction that is not 0, and whose scores "
            "differ between the rows of X."
        )
    share = float(np.sum((A.T @ B) ** 2) / A.shape[1])
    return SubspaceComparison(share, float(linalg.subspace_angles(A, B).max()))
