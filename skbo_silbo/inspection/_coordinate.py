"""Which features the directions need: tests of coordinates, and elimination one by one.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
Z          (n, d)      whitened labelled rows: mean 0, variance I
m_h, p_h   (d,), ()    mean of Z within slice h, and its share of the rows
J          (n, H)      indicators of the slices
H          (d, a)      orthonormal; a direction does without the a features where H'b = 0
=========  ==========  ==================================================================
"""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import linalg, stats

from .._checks import check_choice, check_switch
from .._typing import ArrayLike, BoolArray, FloatArray, IntArray
from ..decomposition import SemiSlicedInverseRegression, Slices, slice_response, split_labelled


@dataclass(frozen=True, eq=False)
class CoordinateTest:
    """A test that no direction needs some features.

    Attributes
    ----------
    statistic : float
    weights : ndarray of shape (m,)
        Under the hypothesis the statistic is about a sum of chi-squares of one degree of freedom
        with these weights.
    p_value : float
        By a scaled chi-square with the same mean and variance as that sum.
    """

    statistic: float
    weights: FloatArray
    p_value: float


@dataclass(frozen=True, eq=False)
class Elimination:
    """Features left after backward elimination.

    Attributes
    ----------
    support : ndarray of shape (d,) of bool
        Features kept.
    dropped : ndarray of shape (m,)
        Indices of the others, in the order they went.
    p_values : ndarray of shape (m,)
        Of the test at which each went.
    """

    support: BoolArray
    dropped: IntArray
    p_values: FloatArray


def coordinate_test(
    X: ArrayLike,
    y: ArrayLike,
    features: int | str | Iterable[int | str],
    *,
    n_slices: int | ArrayLike = 10,
    categorical: bool | str = "auto",
    variance: str = "general",
) -> CoordinateTest:
    """Test that the directions of sliced inverse regression do without some features.

    The marginal coordinate test: given the other features, y does not depend on these ones [1]_.
    The number of directions is not needed.

    Parameters
    ----------
    X : array-like of shape (n, d)
        More labelled rows than features.
    y : array-like of shape (n,)
        Numbers or categories; rows with NaN (None) are left out.
    features : int, str, sequence of them or mask of shape (d,) of bool
        Indices of the features under test, their names where X has names, or a boolean for every
        feature, such as ``~backward_elimination(X, y).support``.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.
    variance : {"general", "constant"}, default="general"
        "general" estimates the weights of the chi-squares, "constant" takes them from the
        eigenvalues, which is right where the variance of X given the directions is constant, as for
        normal X, and better in small samples.

    Returns
    -------
    CoordinateTest

    Raises
    ------
    ValueError
        For features that X does not have, none or all of them, a mask of another length, numbers
        that are no integers, or too few labelled rows.

    References
    ----------
    .. [1] Cook, "Testing predictor contributions in sufficient dimension reduction", Ann. Statist.
       32, 2004, sections 4 and 5; the approximation of the p-value is that of Bentler and Xie,
       Statist. Probab. Lett. 47, 2000, the default of R's ``dr``.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import coordinate_test
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = X[:, 0] + np.exp(X[:, 1])
    >>> bool(coordinate_test(X, y, [0]).p_value < 1e-6)
    True
    >>> bool(coordinate_test(X, y, [2, 3]).p_value < 0.01)
    False
    """
    check_choice("variance", variance, ["general", "constant"])
    rows = _Rows.of(X, y, n_slices, categorical)
    return rows.test(rows.indices(features), variance)


def backward_elimination(
    X: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.05,
    n_slices: int | ArrayLike = 10,
    categorical: bool | str = "auto",
    variance: str = "general",
) -> Elimination:
    """Drop the feature that a coordinate test misses least, until every test rejects.

    Parameters
    ----------
    X, y, n_slices, categorical, variance
        As in `coordinate_test`.
    level : float, default=0.05
        In (0, 1): a feature goes while its p-value is above.

    Returns
    -------
    Elimination
        With at least one feature kept. The p-values are those of a search, not of single tests.

    Raises
    ------
    ValueError
        As in `coordinate_test`, or for a `level` outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.inspection import backward_elimination
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = X[:, 0] + np.exp(X[:, 1])
    >>> backward_elimination(X, y, level=0.01).support.nonzero()[0]
    array([0, 1])
    """
    check_choice("variance", variance, ["general", "constant"])
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1): got {level!r}. The default is 0.05.")
    rows = _Rows.of(X, y, n_slices, categorical)
    kept, dropped, p_values = list(range(rows.X.shape[1])), [], []
    while len(kept) > 1:
        current = rows.with_features(kept)
        tests = [current.test([place], variance).p_value for place in range(len(kept))]
        least_missed = int(np.argmax(tests))
        if tests[least_missed] <= level:
            break
        dropped.append(kept.pop(least_missed))
        p_values.append(tests[least_missed])
    support = np.isin(np.arange(rows.X.shape[1]), kept)
    return Elimination(support, np.array(dropped, dtype=int), np.array(p_values))


@dataclass(frozen=True, eq=False)
class _Rows:
    X: FloatArray  # (n, d), labelled, centred
    slices: Slices
    names: list[str]  # empty where X has none

    @classmethod
    def of(cls, X, y, n_slices, categorical):
        check_switch("categorical", categorical)
        checker = SemiSlicedInverseRegression()
        data = split_labelled(
            checker,
            X,
            y,
            allow_categories=True,
            categorical=categorical,
            n_slices=n_slices,
        ).labelled_only()
        n, d = data.X_labeled.shape
        if n - 1 <= d:
            raise ValueError(
                f"X must have more labelled rows than features + 1 for a coordinate test: got {n} "
                f"labelled rows and {d} features. Leave features out first."
            )
        names = list(vars(checker).get("feature_names_in_", []))
        centred = data.X_labeled - data.X_labeled.mean(axis=0)
        return cls(centred, slice_response(data.y, n_slices), names)

    def with_features(self, kept):
        return _Rows(self.X[:, kept], self.slices, [])

    def indices(self, features):
        """Sorted indices of features given by index or name."""
        found, d = self._found(features), self.X.shape[1]
        if found is None or not all(0 <= f < d for f in found) or not 0 < len(found) < d:
            raise ValueError(
                f"features must be some, not all, of the {d} features of X, by index"
                f"{' or name' if self.names else ''}, or a mask of {d} booleans: got {features!r}."
            )
        return sorted(found)

    def _found(self, features):
        """Set of the indices meant; None where they are of no kind, or names are not known."""
        single = np.ndim(features) == 0 and isinstance(features, str | Integral)
        given = [features] if single else list(np.atleast_1d(np.asarray(features, dtype=object)))
        if given and all(isinstance(f, bool | np.bool_) for f in given):
            return set(np.flatnonzero(given)) if len(given) == self.X.shape[1] else None
        if all(isinstance(f, str) for f in given):
            return set(map(self.names.index, given)) if set(given) <= set(self.names) else None
        if all(isinstance(f, Integral) and not isinstance(f, bool | np.bool_) for f in given):
            return set(map(int, given))
        return None

    def test(self, features, variance):
        n = len(self.X)
        Q, R = np.linalg.qr(self.X)
        if np.abs(np.diag(R)).min() <= 1e-10 * np.linalg.norm(self.X, axis=0).max():
            raise ValueError(
                "X must have columns that vary independently for a coordinate test: some are "
                "collinear or constant. Leave them out."
            )
        Z, shares = np.sqrt(n) * Q, self.slices.counts / n
        basis = linalg.solve_triangular(R, np.eye(len(R))[:, features], trans="T")
        H = np.linalg.qr(basis)[0]
        J = np.eye(self.slices.n_slices)[self.slices.codes] / np.sqrt(shares)
        sums = Z.T @ J / n  # sqrt(p_h) m_h, a column a slice
        statistic = n * np.sum((H.T @ sums) ** 2)
        if variance == "general":
            weights = _general_weights(Z, J - np.sqrt(shares), sums, H)
        else:
            eigenvalues = np.zeros(self.slices.n_slices - 1)
            known = linalg.svdvals(sums)[: len(eigenvalues)] ** 2
            eigenvalues[: len(known)] = known
            weights = np.repeat(np.clip(1 - eigenvalues, 0, None), len(features))
        return CoordinateTest(float(statistic), weights, _bentler_xie(statistic, weights))


def _general_weights(Z, J, sums, H):
    """Eigenvalues of the variance of ``vec(H'Z e')``, e the residuals of J regressed on Z."""
    residuals = J - Z @ sums
    moved = (Z @ H)[:, :, None] * residuals[:, None, :]
    factor = moved.reshape(len(Z), -1) / np.sqrt(len(Z))
    return linalg.svdvals(factor) ** 2


def _bentler_xie(statistic, weights):
    total, squares = weights.sum(), np.sum(weights**2)
    df = total**2 / squares
    return float(stats.chi2.sf(statistic * df / total, df))
