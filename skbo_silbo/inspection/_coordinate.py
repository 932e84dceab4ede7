"""Which features the directions need: tests of coordinates.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
Z          (n, d)      whitened labelled rows: mean 0, variance I
m_h, p_h   (d,), ()    mean of Z within slice h, and its share of the rows
J          (n, H)      indicators of the slices, over the roots of p_h
w          (n,)        weights of the rows, as numbers of rows: moments and n are their sums
S          (d, H)      sqrt(p_h) m_h, a column a slice
H          (d, a)      orthonormal; a direction does without the a features where H'b = 0
G          (d, d - a)  orthonormal basis of all that is orthogonal to H
e          (n, H)      residuals of J, less its mean, regressed on Z
=========  ==========  ==================================================================

The statistic is n times the squared length of ``H'Z'WJ / n``, whose variance under the hypothesis
is that of the mean of w v, v the entries of a row's ``H'z e'``. Counts are rows: the estimate is
``sum w v v' / n^2``. Relative weights were drawn with their rows: it is ``sum w^2 v v' / n^2``
(Binder, Int. Stat. Rev. 51, 1983, section 3). Both are over ``1 - h`` for a row of leverage h,
because a row draws the regression to itself and its residual is small (MacKinnon and White,
J. Econometrics 29, 1985, HC2); R's ``dr`` leaves that out. The sum of squares of the weights, which
the p-value needs too, is one over pairs of different rows where these are counted: that of weights
with an error is too large.

Given that there are k directions, the statistic is n times what the k leading eigenvalues of SS'
sum to beyond those of G'SS'G, and e is taken along the k leading right singular vectors of S.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy import linalg

from .._checks import check_choice, check_integer, check_switch
from .._typing import ArrayLike, FloatArray
from ..decomposition import SemiSlicedInverseRegression, Slices, split_labelled
from ..decomposition.rows._centering import mean_and_spread
from ..decomposition.rows._columns import varying_part
from ..decomposition.rows._groups import about_group_means
from ..decomposition.significance import bentler_xie
from ..decomposition.slicing._slices import slice_within

# standard deviations that have to be left of a column less its regression on the others
COLLINEAR = 1e-10


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


def coordinate_test(
    X: ArrayLike,
    y: ArrayLike,
    features: int | str | Iterable[int | str],
    *,
    n_slices: int | ArrayLike = 10,
    categorical: bool | str = "auto",
    variance: str = "general",
    n_components: int | None = None,
    sample_weight: ArrayLike | None = None,
    group: ArrayLike | None = None,
) -> CoordinateTest:
    """Test that the directions of sliced inverse regression do without some features.

    Given the other features, y does not depend on these ones [1]_, as far as slice means see it: a
    feature in which y is even is not missed. The marginal test needs no number of directions; the
    conditional one takes it as known, and is stronger where it is right.

    Parameters
    ----------
    X : array-like of shape (n, d)
        More labelled rows than features.
    y : array-like of shape (n,)
        Numbers, categories or a censored response; rows with NaN (None) are left out.
    features : int, str, sequence of them or mask of shape (d,) of bool
        Indices of the features under test, their names where X has names, or a boolean for every
        feature, such as ``~stepwise_selection(X, y).support``.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.
    variance : {"general", "constant"}, default="general"
        "general" estimates the weights of the chi-squares, "constant" takes them from the
        eigenvalues, which is right where the variance of X given the directions is constant, as for
        normal X, and gives the digits of R's ``dr``; "general" is corrected for leverage, which R's
        is not, and holds its level in small samples.
    n_components : int, default=None
        Number of directions that there are, at most the features and the slices less one. None
        makes the marginal test. With few rows a conditional test rejects too often: 0.08 for 0.05
        at 100 x 8, as R's does.
    sample_weight : array-like of shape (n,), default=None
        Integers are counts: a row of weight 3 is three rows. Floats are relative: the test is of
        the population that the weights stand for, whatever they depend on, and its level holds
        where rows are many beside features (for .05 about .06 at 150 x 5, up to .12 at
        60 x 5). They need ``variance="general"``. Rows of weight 0 are left out.
    group : array-like of shape (n,), default=None
        Categories of a further predictor, as in ``fit`` of `SlicedInverseRegression`: the test is
        of directions given the category. Weights are then counts.

    Returns
    -------
    CoordinateTest

    Raises
    ------
    ValueError
        For features that X does not have, none or all of them, a mask of another length, numbers
        that are no integers, too few labelled rows, more components than there can be, or relative
        weights that differ with ``variance="constant"``.

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
    >>> bool(coordinate_test(X, y, [1], n_components=1).p_value < 1e-6)
    True
    """
    rows = TestedRows.of(X, y, n_slices, categorical, variance, sample_weight, group)
    rows = rows.with_directions(n_components)
    return rows.test(rows.indices(features))


@dataclass(frozen=True, eq=False)
class TestedRows:
    """Labelled rows, some features of which can be tested.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Of (weighted) mean 0 and variance 1; constant columns are 0.
    slices : Slices
    names : list of str
        Of the features; empty where X has none.
    variance : {"general", "constant"}
    n_components : int or None
        Directions that there are, where that is taken as known.
    """

    X: FloatArray
    slices: Slices
    names: list[str]
    variance: str
    n_components: int | None = None

    @classmethod
    def of(cls, X, y, n_slices, categorical, variance, sample_weight, group):
        """Validate the arguments of `coordinate_test`."""
        check_choice("variance", variance, ["general", "constant"])
        check_switch("categorical", categorical)
        checker = SemiSlicedInverseRegression()
        data = split_labelled(
            checker,
            X,
            y,
            sample_weight=sample_weight,
            allow_categories=True,
            categorical=categorical,
            censored=True,
            n_slices=n_slices,
        ).labelled_only()
        data = about_group_means(data, group)
        slices = slice_within(data.y, data.groups, n_slices, sample_weight=data.weights)
        if variance == "constant" and not slices.is_counted:
            data.without_weights(
                "or counts of an integer type, with variance='constant', whose chi-squares are "
                "those of rows that weigh the same. Use variance='general'."
            )
        names = list(vars(checker).get("feature_names_in_", []))
        return cls(_standardised(data), slices, names, variance)

    def with_features(self, kept):
        """Return the rows with some of their features alone."""
        return TestedRows(self.X[:, kept], self.slices, [], self.variance)

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

    def with_directions(self, k):
        """Return the same with a number of directions, or None; refuse what slices cannot show."""
        check_integer("n_components", k, 1, special="None")
        if k is not None and k > (most := min(self._most(), self.X.shape[1])):
            raise ValueError(
                f"n_components must be at most {most}, the directions that {self.slices.n_slices} "
                f"slices of {self.X.shape[1]} features can show: got {k}. Give fewer."
            )
        return replace(self, n_components=k)

    def test(self, features):
        """Test that the directions do without the features at some places."""
        k = self.n_components
        n, a = self.slices.n_rows, len(features)
        Q, R = self._factored()
        basis = linalg.solve_triangular(R, np.eye(len(R))[:, features], trans="T")
        full = np.linalg.qr(basis, mode="complete")[0]
        H, G = full[:, :a], full[:, a:]
        omega = self.slices.membership()  # J times root weights, over root n
        sums = (omega.T @ Q).T  # S
        _, singular, right = linalg.svd(sums, full_matrices=False)
        if k is None:
            statistic, along = np.sum((H.T @ sums) ** 2), np.eye(len(right.T))
        else:
            beside = linalg.svdvals(G.T @ sums)
            statistic, along = np.sum(singular[:k] ** 2) - np.sum(beside[:k] ** 2), right[:k].T
        statistic = n * max(float(statistic), 0.0)
        if self.variance == "general":
            moved = self._moved(Q, H, (omega, sums), along)
            weights = linalg.svdvals(moved) ** 2 / n
            most = self._most() if k is None else k
            squares = self._sum_of_squares(moved, weights, a * most)
        else:
            eigenvalues = np.zeros(self._most() if k is None else k)
            known = singular[: len(eigenvalues)] ** 2
            eigenvalues[: len(known)] = known
            weights = np.repeat(np.clip(1 - eigenvalues, 0, None), a)
            squares = weights @ weights
        return CoordinateTest(statistic, weights, bentler_xie(statistic, weights.sum(), squares))

    def _most(self):
        """Directions that the slices can show."""
        return self.slices.n_slices - self.slices.n_groups

    def _groups_of_slices(self):
        """Size (n,) of each row's group, and the means (n, H) there of J, over root n."""
        codes, counts, weights = self.slices.codes, self.slices.counts, self.slices.weights
        groups = np.zeros(len(codes), int) if self.slices.groups is None else self.slices.groups
        sizes, of_slice = np.bincount(groups, weights)[groups], np.empty(len(counts), int)
        of_slice[codes] = groups
        return sizes, np.equal.outer(groups, of_slice) * np.sqrt(counts) / sizes[:, None]

    def free_beside(self, taken):
        """Places of the features that are no linear combination of those taken."""
        X = self.slices.weighted(self.X)
        Q = np.linalg.qr(X[:, taken])[0]
        rest = np.linalg.norm(X - Q @ (Q.T @ X), axis=0)
        free = rest > 2 * COLLINEAR * np.sqrt(self.slices.n_rows)
        free[taken] = False
        return np.flatnonzero(free)

    def _factored(self):
        """Factor the rows times their root weights: Q (n, d) and R (d, d)."""
        n, d = self.slices.n_rows, self.X.shape[1]
        if n - 1 <= d:
            raise ValueError(
                f"X must have more labelled rows than features + 1 for a coordinate test: got "
                f"{n:.6g} labelled rows and {d} features. Leave features out first."
            )
        Q, R = np.linalg.qr(self.slices.weighted(self.X))
        if len(R) < d or np.abs(np.diag(R)).min() <= COLLINEAR * np.sqrt(n):
            raise ValueError(
                "X must have columns that vary independently for a coordinate test: some are "
                "collinear or constant. Leave them out."
            )
        return Q, R

    def _moved(self, Q, H, sliced, along):
        """Rows whose sum of squares over n is the variance of the statistic's root."""
        n, (omega, sums) = self.slices.n_rows, sliced
        roots = self.slices.weighted(np.ones((len(Q), 1)))
        sizes, means = self._groups_of_slices()
        e = np.sqrt(n) * (omega.toarray() - Q @ sums - roots * means)
        leverage = np.sum(Q**2, axis=1) + roots[:, 0] ** 2 / sizes
        if self.slices.is_counted:  # each of the rows that a weight stands for has its share
            leverage = self.slices.unweighted(self.slices.unweighted(leverage[:, None]))[:, 0]
        Z = np.sqrt(n) * Q @ H / np.sqrt(np.maximum(1.0 - leverage, COLLINEAR))[:, None]
        moved = (Z[:, :, None] * (e @ along)[:, None, :]).reshape(len(Z), -1)
        if self.slices.is_counted:
            moved = self.slices.unweighted(moved)
        return moved

    def _sum_of_squares(self, moved, weights, m):
        """Sum of squares of m weights: of pairs of different rows where these are counted."""
        if not self.slices.is_counted:
            return weights @ weights
        n, w = self.slices.n_rows, self.slices.weights
        own = np.sum(moved**2, axis=1) ** 2 / (1 if w is None else w)  # copies are other rows
        unbiased = (weights @ weights - own.sum() / n**2) / (1 - 1 / n)
        return max(unbiased, weights.sum() ** 2 / m)


def _standardised(data):
    data = varying_part(data)
    mean, spread = mean_and_spread(data.X_labeled, data.weights)
    return data.columns.spread((data.X_labeled - mean) / spread)
