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
G          (d, d - a)  orthonormal basis of all that is orthogonal to H: not formed
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

The trace of that variance has an error of its own, large where few rows have most of the leverage.
The statistic over the trace is referred to F, whose second degrees of freedom are those that the
trace has for normal e of one variance (Bell and McCaffrey, Surv. Methodol. 28, 2002): with the
projection P on the constant and Z, and ``a = |H'z|^2 / (1 - h)``, those of one response are
``(sum a (1 - h))^2 / sum_ij a_i a_j (I - P)_ij^2``.

Given that there are k directions, the statistic is n times what the k leading eigenvalues of SS'
sum to beyond those of G'SS'G, and e is taken along the k leading right singular vectors of G'S.
These have an error too: to second order the statistic is larger along the i-th by the factor
``1 + sum_{j > k} var_j / (lambda_i - lambda_j)``, with the eigenvalues lambda of G'SS'G and the
variance of a row of H'S along the j-th vector.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from scipy import linalg

from .._checks import check_choice, check_integer, check_switch
from .._typing import ArrayLike, FloatArray
from ..decomposition import SlicedInverseRegression, Slices
from ..decomposition.rows._centering import mean_and_spread
from ..decomposition.rows._columns import about_group_means, varying_part
from ..decomposition.rows._reading import read_rows
from ..decomposition.significance._sequential_tests import bentler_xie
from ..decomposition.slicing._slices import slice_within

# standard deviations that have to be left of a column less its regression on the others
COLLINEAR = 1e-10


@dataclass(frozen=True, eq=False)
class CoordinateTest:
    """A test that no direction needs some features.

    Attributes
    ----------
    features : list of str
        Names of the features under test.
    statistic : float
    weights : ndarray of shape (m,)
        Under the hypothesis the statistic is about a sum of chi-squares of one degree of freedom
        with these weights.
    p_value : float
        By a scaled chi-square with the same mean and variance as that sum, or by F, whose second
        degrees of freedom say how well the sum of estimated weights is known.
    """

    features: list[str]
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
        normal X, and gives the digits of R's ``dr``. "general" is corrected for leverage and for
        the error of the weights, which R's is not. For .05 it rejects .03 to .07 with 60 skewed
        rows of five features, also where y has two or three classes.
    n_components : int, default=None
        Number of directions that there are, at most the features and the slices less one. None
        makes the marginal test. "general" counts the error of the directions that it is given;
        "constant" does not, as R's, and with few rows rejects too often: .09 for .05 at 100 x 8.
    sample_weight : array-like of shape (n,), default=None
        Integers are counts: a row of weight 3 is three rows. Floats are relative: the test is of
        the population that the weights stand for, whatever they depend on, and its level holds
        where rows are many beside features (for .05 up to .08 at 150 x 5, .10 at 60 x 5). They need
        ``variance="general"``. Rows of weight 0 are left out.
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
    >>> coordinate_test(X, y, [0], n_slices=4).features
    ['x0']
    >>> bool(coordinate_test(X, y, [2, 3]).p_value < 0.01)
    False
    >>> bool(coordinate_test(X, y, [1], n_components=1).p_value < 1e-6)
    True
    """
    rows = RowsUnderTest.of(X, y, n_slices, categorical, variance, sample_weight, group)
    rows = rows.with_directions(n_components)
    indices = rows.indices(features)
    return CoordinateTest([rows.names[j] for j in indices], *rows.test(indices))


@dataclass(frozen=True, eq=False)
class RowsUnderTest:
    """Labelled rows, some features of which can be tested.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Of (weighted) mean 0 and variance 1; constant columns are 0.
    slices : Slices
    names : list of str
        Of the features, x0, x1, ... where X has none.
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
        checker = SlicedInverseRegression(n_slices=n_slices, categorical=categorical)
        takes = ("numeric", "categorical", "censored")
        data = read_rows(checker, X, y, None, sample_weight, takes=takes).labelled_only()
        data = about_group_means(data, group)
        slices = slice_within(data.y, data.groups, n_slices, sample_weight=data.weights)
        if variance == "constant" and not slices.is_counted:
            data.without_weights(
                "or counts of an integer type, with variance='constant', whose chi-squares are "
                "those of rows that weigh the same. Use variance='general'."
            )
        numbered = [f"x{j}" for j in range(checker.n_features_in_)]
        names = [str(name) for name in vars(checker).get("feature_names_in_", numbered)]
        return cls(_standardised(data), slices, names, variance)

    def with_features(self, kept):
        """Return the rows with some of their features alone."""
        return replace(self, X=self.X[:, kept], names=[self.names[j] for j in kept])

    def indices(self, features):
        """Sorted indices of features given by index or name."""
        d, listed = self.X.shape[1], np.asarray(features, dtype=object)
        given = listed.ravel().tolist() if listed.ndim < 2 else [None]
        if len(given) == d and all(isinstance(f, bool | np.bool_) for f in given):
            given = np.flatnonzero(given).tolist()
        places = dict(zip([*range(d), *self.names], [*range(d)] * 2, strict=True))
        is_one = [isinstance(f, str | Integral) and not isinstance(f, bool) for f in given]
        found = {places.get(f) if one else None for f, one in zip(given, is_one, strict=True)}
        if None in found or not 0 < len(found) < d:
            raise ValueError(
                f"features must be some, not all, of the {d} features of X, by index or name, or a "
                f"mask of {d} booleans: got {features!r}."
            )
        return sorted(found)

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
        """Statistic, weights and p-value that directions do without the features at some places."""
        n, k, a = self.slices.n_rows, self.n_components, len(features)
        Q, R = self._factored()
        H = np.linalg.qr(linalg.solve_triangular(R, np.eye(len(R))[:, features], trans="T"))[0]
        omega = self.slices.membership()  # J times root weights, over root n
        sums = (omega.T @ Q).T  # S
        added, granted, along = H.T @ sums, np.zeros(0), np.eye(sums.shape[1])
        known = np.linalg.svd(sums, compute_uv=False) ** 2
        if k is None:
            statistic = n * np.sum(added**2)
        else:
            granted, along = np.linalg.eigh(sums.T @ sums - added.T @ added)  # G'SS'G of slices
            granted, along = granted[::-1], along[:, ::-1]
            statistic = n * max(float(known[:k].sum() - granted[:k].sum()), 0.0)
        if self.variance == "general":
            return self._general(statistic, Q, H, self._residuals(Q, omega, sums) @ along, granted)
        eigenvalues = np.zeros(self._most() if k is None else k)
        eigenvalues[: len(known)] = known[: len(eigenvalues)]
        weights = np.repeat(np.clip(1 - eigenvalues, 0, None), a)
        p_value = bentler_xie(statistic, weights.sum(), weights @ weights)
        return statistic, weights, p_value

    def _most(self):
        """Directions that the slices can show."""
        return self.slices.n_slices - self.slices.n_groups

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
        left = np.append(np.abs(np.diag(R)), np.zeros(d - len(R)))
        if left.min() <= COLLINEAR * np.sqrt(n):
            at = int(np.argmax(left <= COLLINEAR * np.sqrt(n)))
            why = "a combination of those before it" if self.X[:, at].any() else "constant"
            raise ValueError(
                "X must have columns that vary independently for a coordinate test: "
                f"{self.names[at]} is {why}. Leave it out."
            )
        return Q, R

    def _residuals(self, Q, omega, sums):
        """Residuals e (n, H), times the root weights."""
        n, roots = self.slices.n_rows, self._group_roots()
        of_groups = omega.T @ roots
        return np.sqrt(n) * (omega.toarray() - Q @ sums - roots @ of_groups.T)

    def _group_roots(self):
        """Orthonormal columns (n, .), one a group: root weights, or the constant."""
        codes, roots = self.slices.groups, self.slices.weighted(np.ones((len(self.X), 1)))
        if codes is not None:
            roots = roots * np.equal.outer(codes, np.arange(self.slices.n_groups))
        return roots / np.linalg.norm(roots, axis=0)

    def _general(self, statistic, Q, H, e, granted):
        """Refer the statistic to the variance of the rows' own products."""
        n, k, a = self.slices.n_rows, self.n_components, H.shape[1]
        P, copies = np.column_stack([Q, self._group_roots()]), np.ones((len(Q), 1))
        if self.slices.is_counted:  # each of the rows that a weight stands for has its share
            P, copies = self.slices.unweighted(P), self.slices.weighted(copies) ** 2
            Q, e = self.slices.unweighted(Q), self.slices.unweighted(e)
        left = np.maximum(1 - np.sum(P**2, axis=1, keepdims=True), COLLINEAR)
        Z = np.sqrt(n) * Q @ H / np.sqrt(left)
        length = np.sum(Z**2, axis=1, keepdims=True)
        shown = e if k is None else e[:, :k] * np.sqrt(self._growth(copies * length, e, granted, a))
        moved = np.sqrt(copies)[:, :, None] * Z[:, :, None] * shown[:, None, :]
        moved = moved.reshape(len(Z), -1)
        weights = np.linalg.svd(moved, compute_uv=False) ** 2 / n
        squares = self._sum_of_squares(moved, weights, a * (self._most() if k is None else k))
        df = _df_of_trace(length, left, P, copies) * _n_effective((shown.T * copies[:, 0]) @ shown)
        p_value = bentler_xie(statistic, weights.sum(), squares, df)
        return statistic, weights, p_value

    def _growth(self, length, e, granted, a):
        """By how much the error of k directions granted raises the statistic along each, (k,)."""
        k = self.n_components
        variance = np.sum(length * e[:, k:] ** 2, axis=0) / a / self.slices.n_rows**2
        gaps = np.subtract.outer(granted[:k], granted[k:])
        return 1 + np.sum(variance / np.maximum(gaps, 2 * variance + COLLINEAR), axis=1)

    def _sum_of_squares(self, moved, weights, m):
        """Sum of squares of m weights: of pairs of different rows where these are counted."""
        if not self.slices.is_counted:
            return weights @ weights
        n, w = self.slices.n_rows, self.slices.weights
        own = np.sum(moved**2, axis=1) ** 2 / (1 if w is None else w)  # copies are other rows
        unbiased = (weights @ weights - own.sum() / n**2) / (1 - 1 / n)
        return max(unbiased, weights.sum() ** 2 / m)


def _df_of_trace(length, left, P, copies):
    """Degrees of freedom of ``sum length e^2``, e the residuals of regression on P (n, .)."""
    counted = copies * length
    squares = np.sum(counted * length * (2 * left - 1)) + np.sum(((P.T * counted[:, 0]) @ P) ** 2)
    return np.sum(counted * left) ** 2 / squares if squares > 0 else np.inf


def _n_effective(variance):
    """Return how many equal eigenvalues have the sum, and sum of squares, of a variance's."""
    squares = np.sum(variance**2)
    return np.trace(variance) ** 2 / squares if squares else 1.0


def _standardised(data):
    data = varying_part(data)
    mean, spread = mean_and_spread(data.X_labeled, data.weights)
    return data.columns.spread((data.X_labeled - mean) / spread)
