"""Sliced inverse regression in the feature space of a kernel, with unlabelled rows.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
K          (n, n)    kernel values of all rows, labelled ones first
F = U S    (n, q)    coordinates of the rows, ``F F'`` the kernel about the labelled mean
c          (n, r)    a direction as a combination of the rows: ``F' c``
=========  ========  ======================================================================

The mean is weighted where the labelled rows have weights.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from skbo_silbo._typing import ArrayLike, LegacyRandomState

from .._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_nonnegative,
    check_pairs_fit,
)
from .._numerics._leave_one_out import best_ridge
from .._numerics._pencil import Pencil
from .._numerics._solvers import solve_within_slices
from ._projection import SupervisedProjection
from .rows._centering import mean_and_spread
from .rows._labels import response_targets
from .rows._reading import read_rows
from .rows._weights import copies
from .selection._alpha import weighed_penalty
from .selection._n_components import check_identified, dimension_by_criterion
from .slicing._neighborhoods import NEIGHBORS

KERNELS = ("rbf", "laplacian", "linear", "poly", "cosine")
OF_DIFFERENCES = ("rbf", "laplacian")  # to which the place of the rows does not matter
# eigenvalues of the centred kernel below this share of the largest are taken as zero
RANGE_TOLERANCE = 1e-12


def _learns_inverse(estimator):
    if not estimator.fit_inverse_transform:
        raise AttributeError(
            "fit_inverse_transform must be True for inverse_transform: got "
            f"{estimator.fit_inverse_transform!r}. Fit again with fit_inverse_transform=True."
        )
    return True


class KernelSlicedInverseRegression(SupervisedProjection):
    """Nonlinear scores along which X varies with y, learnt from labelled and unlabelled rows.

    Sliced inverse regression in the feature space of a kernel [1]_: the curves along which the
    slices of y differ most for their roughness. Unlabelled rows enter as in
    `SemiSlicedInverseRegression`, by the roughness of the scores along a nearest-neighbour graph
    over all rows [2]_. With ``kernel="linear"`` it is the linear method, up to the ridge.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of scores. "auto" takes an information criterion of the spectrum [3]_.
    kernel : {"rbf", "laplacian", "linear", "poly", "cosine"}, default="rbf"
        One of scikit-learn's pairwise kernels, of columns divided by their standard deviations over
        the labelled rows, so that units do not matter.
    gamma : float or None, default=None
        Coefficient of all but "linear" and "cosine"; None is ``1 / n_features``. Better chosen by
        cross-validation.
    alpha : "auto" or float, default="auto"
        Weight of the unlabelled rows, as in `SemiSlicedInverseRegression`.
    ridge : "auto" or float, default="auto"
        Penalty on the norm of a direction, relative to the mean squared norm of the labelled rows
        in feature space. "auto" takes the least exact leave-one-out error of a kernel ridge
        regression of the ranks of y, or of each response (of the class indicators, for categories);
        rows that are copies of each other are left out together.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.
    n_neighbors : int, default=7
        Neighbours of each row in the graph, nearest in feature space.
    fit_inverse_transform : bool, default=False
        Learn the way back, a kernel ridge regression of the rows on their scores, as `KernelPCA`
        does [4]_: with the same kernel, and the ridge of least leave-one-out error.
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        How neighbours are found.
    random_state : int, RandomState instance or None, default=None
        Of pynndescent.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n, n_components)
        Coefficients of the fitted rows, those of `X_fit_`; labelled scores have unit variance
        where penalty and ridge are small, and that of largest magnitude is positive.
    offset_ : ndarray of shape (n_components,)
        Scores are ``kernel(X, X_fit_) @ dual_coef_ - offset_``, with mean zero over the labelled
        rows.
    scale_ : ndarray of shape (n_features,)
        What the columns are divided by.
    X_fit_ : ndarray of shape (n, n_features)
        Labelled rows, then unlabelled ones.
    eigenvalues_ : ndarray of shape (p,)
        Falling, in [0, 1]: shares of the (penalised) variance that lie between slices.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    alpha_ : float
        The weight used; 0 when every row is labelled.
    alpha_scores_ : dict
        As in `SemiSlicedInverseRegression`, where alpha was chosen.
    ridge_, gamma_ : float
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter outside its range, fewer than two labels, a constant or
        infinite y, or an explicit `n_components` above the number of directions identified.

    Notes
    -----
    Time is O(n^3) and memory O(n^2) for n labelled and unlabelled rows: some thousands at most.

    References
    ----------
    .. [1] Wu, "Kernel Sliced Inverse Regression with Applications to Classification", JCGS 17,
       2008.
    .. [2] Huang and Su, "Semi-supervised kernel sliced inverse regression", 2014; the graph is that
       of Chen, Zhu, Yuan and Huang, arXiv 2005.14601, section 4.2.
    .. [3] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [4] Bakir, Weston and Schoelkopf, "Learning to Find Pre-Images", NeurIPS 16, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import KernelSlicedInverseRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> radius = np.hypot(*X.T)
    >>> sir = KernelSlicedInverseRegression(1, gamma=1.0).fit(X, radius)
    >>> bool(abs(np.corrcoef(sir.transform(X)[:, 0], radius)[0, 1]) > 0.95)
    True
    """

    _takes = ("numeric", "categorical", "multivariate")

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        alpha: float | str = "auto",
        ridge: float | str = "auto",
        n_slices: int | ArrayLike = 10,
        categorical: bool | str = "auto",
        n_neighbors: int = 7,
        fit_inverse_transform: bool = False,
        neighbors: str = "auto",
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.ridge = ridge
        self.n_slices = n_slices
        self.categorical = categorical
        self.n_neighbors = n_neighbors
        self.fit_inverse_transform = fit_inverse_transform
        self.neighbors = neighbors
        self.random_state = random_state

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the scores.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,) or (n, q)
            Numbers, NaN marking an unlabelled row; or categories (strings, booleans), None, NaN or
            pandas' NA marking an unlabelled row. Several responses are numbers, and slices their
            clusters, as in `SemiSlicedInverseRegression`.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Further unlabelled rows.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labels. Integers are counts: a row of weight 3 is three rows. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``. In the
            graph every row counts once. Rows of weight 0 are left out, labelled or not.

        Returns
        -------
        self
        """
        self._check_parameters()
        data = read_rows(self, X, y, X_unlabeled, sample_weight)
        data = replace(data, columns=self._varying(data).columns)  # X_fit_ has all
        self._forget()
        slices = self._cut(data)
        self._measure(data)
        check_pairs_fit(type(self).__name__, len(self.X_fit_))
        K = self._kernel_values(self.X_fit_, self.X_fit_)
        F, dual = kernel_features(K, len(data.y), data.weights)
        pencil = self._pencil(F, data, slices)
        most = min(slices.n_slices - 1, pencil.X.shape[1])
        spectrum = solve_within_slices(pencil, most)
        self._store(F[: len(data.y)], dual, spectrum, slices.n_rows)
        if self.fit_inverse_transform:
            self._fit_inverse(K, data.weights)
        return self

    @available_if(_learns_inverse)
    def inverse_transform(self, Z: Any) -> Any:
        """Rows that have about the given scores.

        Parameters
        ----------
        Z : array-like of shape (n, r), or Dask array

        Returns
        -------
        X : ndarray of shape (n, n_features), or Dask array
            Float32 where Z is.

        Raises
        ------
        AttributeError
            If `fit_inverse_transform` is False: the method is not there.
        """
        return super().inverse_transform(Z)

    def _scores(self, X):
        values = self._kernel_values(X.astype(np.float64, copy=False), self.X_fit_)
        return (values @ self.dual_coef_ - self.offset_).astype(X.dtype, copy=False)

    def _lift(self, Z):
        values = self._score_kernel(Z.astype(np.float64, copy=False), self._Z_fit)
        return (values @ self._inverse_coef + self._X_mean).astype(Z.dtype, copy=False)

    def _measure(self, data):
        """Set the rows that the kernel sees, what it sees the columns from, and their units.

        It sees no constant column, and one of differences the others about their mean, without
        digits lost to it.
        """
        columns = data.columns
        mean, spread = mean_and_spread(columns.part(data.X_labeled), data.weights)
        self.X_fit_ = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        self.gamma_ = 1 / columns.n_varying if self.gamma is None else float(self.gamma)
        self.scale_ = columns.spread(spread, 1.0)
        self._origin = columns.place(mean) * (self.kernel in OF_DIFFERENCES)
        self._units = np.where(columns.varying, 1 / self.scale_, 0.0)

    def _kernel_values(self, X, Y):
        X, Y = ((rows - self._origin) * self._units for rows in (X, Y))
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, gamma=self.gamma_)

    def _score_kernel(self, Z, Y):
        """Kernel between scores, of unit variance, with gamma ``1 / n_components_``."""
        gamma = 1 / self.n_components_
        return pairwise_kernels(Z, Y, metric=self.kernel, filter_params=True, gamma=gamma)

    def _pencil(self, F, data, slices):
        """Pencil of the coordinates F (n, q), labelled rows first, with ridge and penalty."""
        n, random_state = len(data.y), check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        self.ridge_ = self._resolve_ridge(F[:n], data)
        ridge = self.ridge_ * np.average(np.sum(F[:n] ** 2, axis=1), weights=data.weights)
        X, omega = slices.weighted(F), slices.membership()
        graph = F, X, data.y, slices, lambda trace: ridge, search
        penalty, self.alpha_, scores = weighed_penalty(self, *graph)
        if scores is not None:
            self.alpha_scores_ = scores
        return Pencil(X, n, omega, penalty, ridge, slices.root_weights)

    def _resolve_ridge(self, F, data):
        """Take the ridge given, or the best for the labelled rows F."""
        if self.ridge != "auto":
            return float(self.ridge)
        firsts, sets = copies(data.X_labeled, data.y)
        weights = np.bincount(sets, data.weights).astype(np.float64)
        root = np.sqrt(weights)[:, None]
        rows = root * F[firsts]
        squares, left = linalg.eigh(rows @ rows.T, check_finite=False)
        kept = squares > RANGE_TOLERANCE * squares[-1]
        targets = root * response_targets(data.y[firsts], weights)
        return best_ridge(left[:, kept], squares[kept], targets, intercept=True, weights=weights)

    def _store(self, F, dual, spectrum, n_rows):
        r, self.eigenvalues_ = self.n_components, spectrum.eigenvalues[: self.n_slices_ - 1]
        if r == "auto":
            r = dimension_by_criterion(self.eigenvalues_, n_rows)
        check_identified(r, len(self.eigenvalues_), remedy=" or more slices")
        self.n_components_ = int(r)
        V = spectrum.directions[:, :r]
        Z = F @ V
        V = V * np.where(Z[np.abs(Z).argmax(axis=0), np.arange(r)] < 0, -1.0, 1.0)
        self.dual_coef_, self.offset_ = dual(np.sqrt(n_rows) * V)

    def _fit_inverse(self, K, weights):
        """Kernel ridge regression of the centred rows on their scores; unlabelled ones weigh 1."""
        w = np.ones(len(K))
        if weights is not None:
            w[: len(weights)] = weights
        firsts, sets = copies(self.X_fit_, np.zeros(len(K)))
        w = np.bincount(sets, w)
        root = np.sqrt(w)[:, None]
        self._Z_fit = K[firsts] @ self.dual_coef_ - self.offset_
        self._X_mean = np.average(self.X_fit_[firsts], axis=0, weights=w)
        targets = root * (self.X_fit_[firsts] - self._X_mean) / self.scale_
        squares, left = linalg.eigh(root * self._score_kernel(self._Z_fit, self._Z_fit) * root.T)
        kept = squares > RANGE_TOLERANCE * squares[-1]
        squares, left = squares[kept], left[:, kept]
        ridge = best_ridge(left, squares, targets, intercept=False, weights=w)
        absolute = ridge * squares.sum() / w.sum()
        learnt = root * ((left / (squares + absolute)) @ (left.T @ targets))
        self._inverse_coef = learnt * self.scale_

    def _check_parameters(self):
        super()._check_parameters()
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_choice("kernel", self.kernel, KERNELS)
        check_flag("fit_inverse_transform", self.fit_inverse_transform)
        check_nonnegative("gamma", self.gamma, special="None")
        check_integer("n_components", self.n_components, 1, special="'auto'")
        check_nonnegative("alpha", self.alpha, special="'auto'")
        check_nonnegative("ridge", self.ridge, special="'auto'")

    @property
    def _n_features_out(self):
        return self.dual_coef_.shape[1]


def kernel_features(K, n_labeled, weights=None):
    """Decompose a kernel (n, n) whose first `n_labeled` rows and columns are labelled.

    Returns
    -------
    F : ndarray of shape (n, q)
        Coordinates of the rows in feature space.
    dual : callable
        From directions V (q, p) to coefficients (n, p) on the rows, and offsets (p,). The score of
        x is ``k(x, rows) @ coefficients - offsets``.
    """
    shares = np.full(n_labeled, 1 / n_labeled) if weights is None else weights / weights.sum()
    means = K[:, :n_labeled] @ shares
    centred = K - means[:, None] - means + shares @ means[:n_labeled]
    squares, left = linalg.eigh((centred + centred.T) / 2, check_finite=False)
    squares, left = squares[::-1], left[:, ::-1]
    kept = squares > max(RANGE_TOLERANCE * squares[0], 0.0)
    if squares[0] <= 10 * len(K) * np.finfo(np.float64).eps * np.abs(K).max():
        raise ValueError(
            "X must hold rows that differ under the kernel: all of them are the same point of "
            "its feature space. Choose another kernel or gamma."
        )
    left, singular = left[:, kept], np.sqrt(squares[kept])

    def dual(V):
        c = left @ (V / singular[:, None])
        totals = c.sum(axis=0)
        offsets = means @ c
        offsets -= totals * (shares @ means[:n_labeled])
        c[:n_labeled] -= np.outer(shares, totals)
        return c, offsets

    return left * singular, dual
