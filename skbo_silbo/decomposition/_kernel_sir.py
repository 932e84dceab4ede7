"""Sliced inverse regression in the feature space of a kernel, with unlabelled rows."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from skbo_silbo._typing import ArrayLike, LegacyRandomState

from .._checks import check_choice, check_flag, check_integer, check_nonnegative
from .._numerics._leave_one_out import best_ridge
from ._kernel_features import RANGE_TOLERANCE, KernelFeatures
from ._kernel_problem import KernelProblem, compare_alphas, roughness_of
from ._projection import SupervisedProjection
from .rows._centering import mean_and_spread
from .rows._columns import Columns
from .rows._labels import response_targets
from .rows._reading import read_rows
from .rows._weights import copies
from .selection._criterion import dimension_by_criterion
from .selection._n_components import check_identified

KERNELS = (*kernel_metrics(), "precomputed")
OF_DIFFERENCES = ("rbf", "laplacian")  # to which the place of the rows does not matter
OF_HISTOGRAMS = ("additive_chi2", "chi2")  # rows without negative entries, which scores have
NEIGHBORS = ("auto", "brute", "pynndescent")


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
    kernel : {"linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "chi2", \
"additive_chi2", "precomputed"} or callable, default="rbf"
        One of scikit-learn's pairwise kernels, or a function of two rows; those of chi-square take
        rows without negative entries. With "precomputed", X is the kernel matrix, and NaN in y
        marks unlabelled rows.
    gamma : float or None, default=None
        Coefficient of "rbf", "poly", "laplacian", "sigmoid" and "chi2"; None is
        ``1 / n_features``. Better chosen by cross-validation.
    degree : float, default=3
        Of "poly", also called "polynomial".
    coef0 : float, default=1
        Of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keywords of a callable kernel.
    scale : bool, default=True
        Divide the columns by their standard deviations over the labelled rows before the kernel
        sees them, so that units do not matter. Not done with "precomputed" and the kernels of
        chi-square, whose rows are histograms.
    alpha : "auto" or float, default="auto"
        Weight of the unlabelled rows: the penalty is alpha n_l times the mean squared difference of
        the scores along an edge. "auto" compares 0, 0.1, 1 and 10 by five-fold cross-validation
        over the labelled rows and keeps 0 unless another is better by a standard error.
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
        does [4]_: with the same kernel, but "rbf" where that is a function of two rows or one of
        chi-square, which scores cannot be given to.
    inverse_ridge : "auto" or float, default="auto"
        Ridge of that regression, relative to the mean of its kernel's diagonal; "auto" by exact
        leave-one-out.
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        How neighbours are found.
    random_state : int, RandomState instance or None, default=None
        Of the folds of ``alpha="auto"``, and of pynndescent.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n, n_components)
        Coefficients of the fitted rows, those of `X_fit_`; labelled scores have unit variance
        where penalty and ridge are small, and that of largest magnitude is positive.
    offset_ : ndarray of shape (n_components,)
        Scores are ``kernel(X, X_fit_) @ dual_coef_ - offset_``, with mean zero over the labelled
        rows.
    scale_ : ndarray of shape (n_features,)
        What the columns are divided by; not with a precomputed kernel.
    X_fit_ : ndarray of shape (n, n_features) or None
        Labelled rows, then unlabelled ones; None with ``kernel="precomputed"``, whose coefficients
        keep the order of X.
    eigenvalues_ : ndarray of shape (p,)
        Falling, in [0, 1]: shares of the (penalised) variance that lie between slices.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    alpha_ : float
        The weight used; 0 when every row is labelled.
    alpha_scores_ : dict of float
        Held-out gain of R^2 over alpha = 0 of every weight compared; only for ``alpha="auto"`` with
        unlabelled rows.
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
        kernel: str | Callable[..., Any] = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        scale: bool = True,
        alpha: float | str = "auto",
        ridge: float | str = "auto",
        n_slices: int | ArrayLike = 10,
        categorical: bool | str = "auto",
        n_neighbors: int = 7,
        fit_inverse_transform: bool = False,
        inverse_ridge: float | str = "auto",
        neighbors: str = "auto",
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.scale = scale
        self.alpha = alpha
        self.ridge = ridge
        self.n_slices = n_slices
        self.categorical = categorical
        self.n_neighbors = n_neighbors
        self.fit_inverse_transform = fit_inverse_transform
        self.inverse_ridge = inverse_ridge
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
        X : array-like of shape (n, n_features), or (n, n) for a precomputed kernel
        y : array-like of shape (n,) or (n, q)
            Numbers, NaN marking an unlabelled row; or categories (strings, booleans), None, NaN or
            pandas' NA marking an unlabelled row. Several responses are numbers, and slices their
            clusters, as in `SemiSlicedInverseRegression`.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Further unlabelled rows; not with a precomputed kernel.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labels. Integers are counts: a row of weight 3 is three rows. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``. In the
            graph every row counts once. Rows of weight 0 are left out, labelled or not.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_precomputed(X_unlabeled)
        data = read_rows(self, X, y, X_unlabeled, sample_weight, takes=self._takes)
        data = self._varying(data)
        self._forget()
        slices = self._cut(data)
        K, order = self._kernel_of_rows(data)
        features = KernelFeatures.of(K, len(data.y), data.weights)
        problem = self._make_problem(features.coordinates, data)
        self._choose_alpha(problem, slices.n_rows)
        self._store(features, problem.solve(self.alpha_), slices.n_rows, order)
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

    def _kernel_of_rows(self, data):
        """Kernel of all rows, labelled first, and the place of each in the coefficients kept."""
        n_varying = data.columns.n_varying
        self.gamma_ = 1 / n_varying if self.gamma is None else float(self.gamma)
        if self.kernel != "precomputed":
            self.X_fit_ = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
            self._measure(data)
            return self._kernel_values(self.X_fit_, self.X_fit_), slice(None)
        self.X_fit_ = None
        if len(data.is_labeled) != self.n_features_in_:
            raise ValueError(
                "X must be square with kernel='precomputed', the kernel of the rows with "
                f"themselves: got {len(data.is_labeled)} rows and {self.n_features_in_} columns."
            )
        parts = data.is_labeled, data.is_unlabeled
        order = np.concatenate([np.flatnonzero(part) for part in parts])
        K = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)[:, order]
        return K, order

    def _kernel_values(self, X, Y):
        if self.kernel == "precomputed":
            return X
        X, Y = ((rows - self._origin) * self._units for rows in (X, Y))
        if callable(self.kernel):
            return pairwise_kernels(X, Y, metric=self.kernel, **(self.kernel_params or {}))
        return self._named_kernel(self.kernel, X, Y, self.gamma_)

    def _measure(self, data):
        """Set what the kernel sees the columns from, and in which units.

        Named kernels see no constant column, and those of differences the others about their mean,
        without digits lost to it.
        """
        columns = data.columns
        mean, spread = mean_and_spread(columns.part(data.X_labeled), data.weights)
        whole = callable(self.kernel) or self.kernel in OF_HISTOGRAMS
        self.scale_ = columns.spread(spread, 1.0)
        if not self.scale or self.kernel in OF_HISTOGRAMS:
            self.scale_ = np.ones(self.n_features_in_)
        self._origin = columns.place(mean) * (self.kernel in OF_DIFFERENCES)
        self._units = np.where(columns.varying | whole, 1 / self.scale_, 0.0)

    def _named_kernel(self, name, X, Y, gamma):
        shape = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, Y, metric=name, filter_params=True, **shape)

    def _score_kernel(self, Z, Y):
        """Kernel between scores, of unit variance: the same where scores can be its rows.

        The radial one for a function of two rows of X and for chi-square; gamma
        ``1 / n_components_``.
        """
        of_rows_only = callable(self.kernel) or self.kernel in OF_HISTOGRAMS
        return self._named_kernel(
            "rbf" if of_rows_only else self.kernel, Z, Y, 1 / self.n_components_
        )

    def _make_problem(self, F, data):
        y, n_labeled = data.y, len(data.y)
        self.ridge_ = self._resolve_ridge(F[:n_labeled], data)
        search = {"method": self.neighbors, "random_state": self.random_state}
        roughness = None
        if self.alpha != 0:
            roughness = roughness_of(F, data, self.n_neighbors, **search)
        norms = np.einsum("ij,ij->i", F[:n_labeled], F[:n_labeled])
        ridge = self.ridge_ * np.average(norms, weights=data.weights)
        return KernelProblem(F, y, self.n_slices, ridge, roughness, data.weights)

    def _resolve_ridge(self, F, data):
        """Take the ridge given, or the best for the labelled rows F."""
        if self.ridge != "auto":
            return float(self.ridge)
        firsts, sets = copies(data.X_labeled, data.y)
        weights = np.bincount(sets, data.weights).astype(np.float64)
        root = np.sqrt(weights)[:, None]
        left, singular, _ = linalg.svd(root * F[firsts], full_matrices=False, check_finite=False)
        kept = singular > np.sqrt(RANGE_TOLERANCE) * singular[0]
        squares = singular[kept] ** 2
        targets = root * response_targets(data.y[firsts], weights)
        return best_ridge(left[:, kept], squares, targets, intercept=True, weights=weights)

    def _choose_alpha(self, problem, n_rows):
        if problem.roughness is None:
            self.alpha_ = 0.0
        elif self.alpha != "auto":
            self.alpha_ = float(self.alpha)
        else:
            r = self._resolve_n_components(problem.solve(0.0).eigenvalues, n_rows)
            rng = check_random_state(self.random_state)
            self.alpha_, self.alpha_scores_ = compare_alphas(problem, r, rng)

    def _resolve_n_components(self, eigenvalues, n_labeled):
        limit = min(self.n_slices_ - 1, len(eigenvalues))
        if self.n_components == "auto":
            return dimension_by_criterion(eigenvalues[:limit], n_labeled)
        check_identified(self.n_components, limit, remedy=" or more slices")
        return int(self.n_components)

    def _store(self, features, spectrum, n_rows, order):
        r = self._resolve_n_components(spectrum.eigenvalues, n_rows)
        self.n_components_ = r
        self.eigenvalues_ = spectrum.eigenvalues[: self.n_slices_ - 1]
        c, offset = features.dual(np.sqrt(n_rows) * spectrum.directions[:, :r])
        Z = features.coordinates[: len(features.shares)] @ spectrum.directions[:, :r]
        sign = np.where(Z[np.abs(Z).argmax(axis=0), np.arange(r)] < 0, -1.0, 1.0)
        self.offset_ = offset * sign
        n_fitted = len(c) if self.kernel != "precomputed" else self.n_features_in_
        self.dual_coef_ = np.zeros((n_fitted, r))
        self.dual_coef_[order] = c * sign

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
        ridge = self.inverse_ridge
        if ridge == "auto":
            ridge = best_ridge(left, squares, targets, intercept=False, weights=w)
        absolute = ridge * squares.sum() / w.sum()
        learnt = root * ((left / (squares + absolute)) @ (left.T @ targets))
        self._inverse_coef = learnt * self.scale_

    def _varying(self, data, group=None):
        """Leave the rows as they are, for ``X_fit_``, and say which columns vary."""
        if self.kernel == "precomputed":
            return replace(data, columns=Columns.of(data.X_labeled))
        return replace(data, columns=super()._varying(data).columns)

    def _check_parameters(self):
        super()._check_parameters()
        check_flag("scale", self.scale)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_nonnegative("gamma", self.gamma, special="None")
        check_integer("n_components", self.n_components, 1, special="'auto'")
        for name in ("alpha", "ridge", "inverse_ridge"):
            check_nonnegative(name, getattr(self, name), special="'auto'")

    def _check_precomputed(self, X_unlabeled):
        if self.kernel == "precomputed" and X_unlabeled is not None:
            raise ValueError(
                "X_unlabeled must be None with kernel='precomputed': a kernel matrix holds all "
                "rows. Mark the unlabelled ones by NaN in y."
            )
        if self.kernel == "precomputed" and self.fit_inverse_transform:
            raise ValueError(
                "fit_inverse_transform must be False with kernel='precomputed': the rows "
                "themselves are not known. Pass a kernel by name."
            )

    @property
    def _n_features_out(self):
        return self.dual_coef_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
