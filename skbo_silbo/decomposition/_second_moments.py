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
from scipy import linalg
from sklearn.utils import check_random_state

from .._checks import check_switch
from .._numerics._pencil import Pencil
from .._numerics._solvers import primal_basis
from .._numerics._tridiagonal import eigenvalues_and_leading_vectors
from .._typing import ArrayLike
from ._component_checks import COMPONENT_WORDS, check_a_column_varies, check_n_components
from ._dimension import dimension_by_criterion, dimension_by_tests, warn_of_none
from ._labels import split_labelled
from ._permutation import KernelShuffles, permutation_tests
from ._projection import LinearProjection, with_positive_peaks
from ._ridge import evenly_spaced
from ._scatter import center_on_labels
from ._slices import check_n_slices, slice_response
from ._weighted_shuffles import WeightedShuffles, affordable, weighted_permutation_tests

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


def check_enough_rows(name, n, d):
    """Refuse data whose whitened rows carry no second moments."""
    if n - 1 <= d:
        raise ValueError(
            f"X must have more labelled rows than features + 1 for {name}: got {n} labelled rows "
            f"and {d} features. Reduce the features first, or use SemiSlicedInverseRegression."
        )


def _slice_means(Z, slices):
    """Means (H, q) of the rows of each slice."""
    return (slices.membership().T @ slices.weighted(Z)) / np.sqrt(slices.counts)[:, None]


def _groups(Z, slices, means):
    """Rows of each slice less its mean, times their root weights."""
    groups = []
    for h, mean in enumerate(means):
        members = slices.codes == h
        group = Z[members] - mean
        if slices.weights is not None:
            group *= slices.root_weights[members, None]
        groups.append(group)
    return groups


def sum_of_squared_scatters(groups, weights):
    """``sum_h w_h (A_h'A_h)^2`` (q, q) for groups A_h (n_h, q).

    With fewer rows than columns ``A'A A'A = (L'A)'(L'A)`` for ``A A' = L L'`` (a pivoted Cholesky
    factor: centred rows are dependent): n_h^2 q + n_h q^2 operations in place of q^3.
    """
    q = groups[0].shape[1]
    total, rows = np.zeros((q, q)), []
    for group, weight in zip(groups, weights, strict=True):
        if len(group) < q:
            factor, pivots, rank, _ = linalg.lapack.dpstrf(group @ group.T, lower=1)
            columns, root = group[pivots - 1].T, np.sqrt(weight)
            columns = linalg.blas.dtrmm(root, factor, columns, side=1, lower=1, overwrite_b=1)
            rows.append(columns[:, :rank].T)
        else:
            scatter = group.T @ group
            total += weight * (scatter @ scatter)
    if rows:
        stacked = np.concatenate(rows)
        total += stacked.T @ stacked
    return total


class SlicedAverageVarianceEstimation(_SecondMomentSlicing):
    """Directions along which the variance within slices of y differs from that overall (SAVE).

    Eigenvectors of ``sum_h p_h (I - V_h)^2`` in whitened coordinates [1]_. It sees responses that
    are symmetric in a direction, which sliced inverse regression cannot; it needs more rows, and
    is slower to see a linear trend.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        "auto", or "permutation", tests by permutation, at level .05, whether 0, 1, ... directions
        suffice [3]_. It can find none: `n_components_` is 0 then, `components_` keeps one
        direction, and a warning says so. "criterion" takes an information criterion of the spectrum
        [2]_, at least 1.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`; fewer, larger slices suit second moments.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All, falling; q the number of features that vary independently.
    n_components_, n_slices_, n_features_in_ : int
    permutation_tests_ : dict of ndarray
        "n_components", "statistic" (the eigenvalue after those granted) and "p_value", to the first
        number accepted; only where a word asks for tests.

    References
    ----------
    .. [1] Cook and Weisberg, discussion of "Sliced Inverse Regression", JASA 86, 1991.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [3] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedAverageVarianceEstimation
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> save = SlicedAverageVarianceEstimation(1, n_slices=5).fit(X, X[:, 2] ** 2)
    >>> int(np.argmax(np.abs(save.components_[0])))
    2
    """

    def _kernel_of_rows(self, Z, slices, total):
        """``I - 2 sum p_h V_h + sum p_h V_h^2``; the V_h average ``total - sum p_h m m'``."""
        shares, means = slices.counts / slices.n_rows, _slice_means(Z, slices)
        groups = _groups(Z, slices, means)
        kernel = sum_of_squared_scatters(groups, shares / slices.counts**2)
        kernel -= 2 * (total - (means.T * shares) @ means)
        kernel[np.diag_indices_from(kernel)] += 1
        return kernel


class DirectionalRegression(_SecondMomentSlicing):
    """Directions from means and variances of the slices together.

    Eigenvectors of the average over pairs of slices of ``(2 I - A)^2``, with A the mean of
    ``(Z - Z')(Z - Z')'`` for Z and Z' drawn from the pair [1]_, in its closed form. It sees both
    trends and symmetric responses.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        "auto", or "permutation", tests by permutation, at level .05, whether 0, 1, ... directions
        suffice [3]_. It can find none: `n_components_` is 0 then, `components_` keeps one
        direction, and a warning says so. "criterion" takes an information criterion of the spectrum
        [2]_, at least 1.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`; fewer, larger slices suit second moments.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The labelled scores have unit variance; the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    eigenvalues_ : ndarray of shape (q,)
        All, falling; q the number of features that vary independently.
    n_components_, n_slices_, n_features_in_ : int
    permutation_tests_ : dict of ndarray
        "n_components", "statistic" (the eigenvalue after those granted) and "p_value", to the first
        number accepted; only where a word asks for tests.

    References
    ----------
    .. [1] Li and Wang, "On Directional Regression for Dimension Reduction", JASA 102, 2007.
    .. [2] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [3] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import DirectionalRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> dr = DirectionalRegression(2, n_slices=5).fit(X, X[:, 0] + X[:, 2] ** 2)
    >>> sorted(np.argmax(np.abs(dr.components_), axis=1).tolist())
    [0, 2]
    """

    def _kernel_of_rows(self, Z, slices, total):
        """``4 I - 8 T + 2 T^2`` and the squares, with T the total: ``-2 I`` where that is I.

        Shuffled rows are correlated with those granted by chance, and T shows how.
        """
        shares, means = slices.counts / slices.n_rows, _slice_means(Z, slices)
        groups = _groups(Z, slices, np.zeros_like(means))
        squares = sum_of_squared_scatters(groups, shares / slices.counts**2)
        between = (means.T * shares) @ means
        kernel = squares + between @ between + np.trace(between) * between
        kernel += total @ total - 4 * total
        kernel[np.diag_indices_from(kernel)] += 2
        return 2 * kernel
