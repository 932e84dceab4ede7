"""Kernel sliced inverse regression, with unlabelled samples.

=========  ========  ======================================================================
symbol     shape     meaning
=========  ========  ======================================================================
K          (n, n)    kernel matrix of all samples, labelled ones first
F = U S    (n, q)    coordinates of the samples: ``F F'`` is K centred on the labelled mean
c          (n, r)    dual coefficients: a direction is ``F' c``
=========  ========  ======================================================================

The mean is weighted if the labelled samples have weights.
"""

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import pairwise_kernels

from skbo_silbo._checks import check_pairs_fit
from skbo_silbo._numerics.leave_one_out import best_ridge
from skbo_silbo._numerics.pencil import RANGE_TOLERANCE, Pencil
from skbo_silbo._numerics.solvers import solve_within_slices
from skbo_silbo._sklearn import StrOptions
from skbo_silbo.decomposition._projection import NONNEGATIVE, SemiSupervisedProjection
from skbo_silbo.decomposition.rows._columns import Columns, mean_and_spread
from skbo_silbo.decomposition.rows._response import response_targets, target_type
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.selection._n_components import (
    check_identified,
    dimension_by_criterion,
)


class KernelSlicedInverseRegression(SemiSupervisedProjection):
    """Kernel sliced inverse regression (KSIR).

    Find nonlinear scores whose slice means differ most: sliced inverse regression in the feature
    space of a kernel [1]_. As in `SemiSlicedInverseRegression`, unlabelled samples add a penalty on
    the roughness of the scores along a nearest-neighbour graph of all samples [2]_. With
    ``kernel="linear"``, the method is linear up to the ridge.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" maximises an information criterion of the eigenvalues [3]_.
    kernel : {"rbf", "linear"}, default="rbf"
        Name of a kernel in `sklearn.metrics.pairwise`. Columns are divided by their standard
        deviation over the labelled samples first, so that units do not matter.
    gamma : float or None, default=None
        Coefficient of the rbf kernel. None means ``1 / n_features``. Tune it by cross-validation if
        possible.
    alpha : "auto" or float, default="auto"
        Weight of the unlabelled samples, as in `SemiSlicedInverseRegression`.
    ridge : "auto" or float, default="auto"
        Penalty on the squared norm of a direction, relative to the mean squared norm of the
        labelled samples in feature space. "auto" minimises the exact leave-one-out error of a
        kernel ridge regression of the ranks of y, or of the class indicators. Duplicated samples
        are left out together.
    n_slices : int, default=10
        Target number of slices, as in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, each of which is a slice. "auto" decides by the type of y, as in
        `SemiSlicedInverseRegression`.
    n_neighbors : int, default=7
        Number of neighbours of each sample in the graph. Distances are measured in feature space.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n, n_components)
        Coefficients of the samples in `X_fit_`. In each column, the entry of largest magnitude is
        positive. The scores of the labelled samples have unit variance if penalty and ridge are
        small.
    offset_ : ndarray of shape (n_components,)
        Offsets subtracted from the scores, which are ``kernel(X, X_fit_) @ dual_coef_ - offset_``.
        The scores of the labelled samples have mean zero.
    scale_ : ndarray of shape (n_features,)
        Standard deviation by which each feature is divided before the kernel is computed.
    X_fit_ : ndarray of shape (n, n_features)
        Training samples at which the kernel is evaluated, labelled ones first.
    eigenvalues_ : ndarray of shape (p,)
        Eigenvalues in decreasing order, between 0 and 1. Each is the share of the penalised
        variance of a score that lies between slices.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    alpha_ : float
        Weight of the unlabelled samples. It is 0 if every sample is labelled.
    alpha_scores_ : dict
        Cross-validation results of ``alpha="auto"``, as in `SemiSlicedInverseRegression`.
    ridge_, gamma_ : float
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Raises
    ------
    ValueError
        If a parameter is outside its range, fewer than two samples are labelled, y is constant or
        infinite, or `n_components` exceeds the number of identified directions.

    Notes
    -----
    Fitting takes O(n^3) time and O(n^2) memory for n labelled and unlabelled samples. This limits n
    to a few thousand.

    References
    ----------
    .. [1] Wu, "Kernel Sliced Inverse Regression with Applications to Classification", JCGS 17,
       2008.
    .. [2] Huang and Su, "Semi-supervised kernel sliced inverse regression", 2014; the graph is that
       of Chen, Zhu, Yuan and Huang, arXiv 2005.14601, section 4.2.
    .. [3] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.

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
    _parameter_constraints: ClassVar = {
        **SemiSupervisedProjection._parameter_constraints,
        "kernel": [StrOptions({"rbf", "linear"})],
        "gamma": [NONNEGATIVE, None],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        alpha: float | str = "auto",
        ridge: float | str = "auto",
        n_slices: int = 10,
        categorical: bool | str = "auto",
        n_neighbors: int = 7,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.ridge = ridge
        self.n_slices = n_slices
        self.categorical = categorical
        self.n_neighbors = n_neighbors

    def _learn(self, data):
        check_pairs_fit(type(self).__name__, len(data.y) + len(data.X_unlabeled))
        slices = self._slice_response(data)
        self._set_kernel_inputs(data)
        K = self._kernel_values(self.X_fit_, self.X_fit_)
        F, dual = kernel_features(K, len(data.y), data.weights)
        pencil = self._pencil(F, data, slices)
        most = min(slices.n_slices - 1, pencil.X.shape[1])
        spectrum = solve_within_slices(pencil, most)
        self._store_scores(F[: len(data.y)], dual, spectrum, slices.n_rows)

    def _check_shape(self, n: int, d: int) -> None:
        pass  # there can be more components than features

    def _store(self, columns: Columns, dtype: Any) -> None:
        pass  # the attributes refer to all features already

    def _scores(self, X):
        values = self._kernel_values(X.astype(np.float64, copy=False), self.X_fit_)
        return (values @ self.dual_coef_ - self.offset_).astype(X.dtype, copy=False)

    def _set_kernel_inputs(self, data):
        """Set `X_fit_`, and the scaling that is applied to samples before the kernel.

        Constant columns are multiplied by 0. For the rbf kernel, columns are centred, which reduces
        rounding errors.
        """
        columns = data.columns
        mean, spread = mean_and_spread(data.X_labeled, data.weights)
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        self.X_fit_ = columns.expand_point(X)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else float(self.gamma)
        self.scale_ = columns.expand(spread, 1.0)
        self._origin = columns.expand_point(mean) * (self.kernel == "rbf")
        self._units = np.where(columns.varying, 1 / self.scale_, 0.0)

    def _kernel_values(self, X, Y):
        X, Y = ((rows - self._origin) * self._units for rows in (X, Y))
        return pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, gamma=self.gamma_)

    def _pencil(self, F, data, slices):
        """Return the generalised eigenvalue problem in the kernel coordinates F."""
        n = len(data.y)
        self.ridge_ = self._resolve_ridge(F[:n], data)
        ridge = self.ridge_ * np.average(np.sum(F[:n] ** 2, axis=1), weights=data.weights)
        X, omega = slices.weighted(F), slices.membership()
        is_ordered = target_type(data.y) == "numeric"
        penalty = self._choose_penalty(F, X, slices, lambda trace: ridge, is_ordered, {})
        return Pencil(X, n, omega, penalty, ridge, slices.root_weights)

    def _resolve_ridge(self, F, data):
        """Return the ridge, selected by cross-validation if it is "auto"."""
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

    def _store_scores(self, F, dual, spectrum, n_rows):
        r, self.eigenvalues_ = self.n_components, spectrum.eigenvalues[: self.n_slices_ - 1]
        if r == "auto":
            r = dimension_by_criterion(self.eigenvalues_, n_rows)
        check_identified(r, len(self.eigenvalues_), remedy=" or more slices")
        self.n_components_ = int(r)
        V = spectrum.directions[:, :r]
        Z = F @ V
        V = V * np.where(Z[np.abs(Z).argmax(axis=0), np.arange(r)] < 0, -1.0, 1.0)
        self.dual_coef_, self.offset_ = dual(np.sqrt(n_rows) * V)

    @property
    def _n_features_out(self):
        return self.dual_coef_.shape[1]


def kernel_features(K, n_labeled, weights=None):
    """Compute coordinates of samples in the feature space of a kernel matrix.

    Returns
    -------
    F : ndarray of shape (n, q)
        Coordinates of the samples in feature space, centred on the labelled mean.
    dual : callable
        Function that maps directions V of shape (q, p) to dual coefficients of shape (n, p) and
        offsets of shape (p,). The score of x is ``k(x, samples) @ coefficients - offsets``.
    """
    shares = np.full(n_labeled, 1 / n_labeled) if weights is None else weights / weights.sum()
    means = K[:, :n_labeled] @ shares
    centred = K - means[:, None] - means + shares @ means[:n_labeled]
    squares, left = linalg.eigh((centred + centred.T) / 2, check_finite=False)
    squares, left = squares[::-1], left[:, ::-1]
    kept = squares > max(RANGE_TOLERANCE * squares[0], 0.0)
    if squares[0] <= 10 * len(K) * np.finfo(np.float64).eps * np.abs(K).max():
        raise ValueError(
            "X must hold samples that differ under the kernel, but all have the same coordinates "
            "in its feature space. Use another kernel or gamma."
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
