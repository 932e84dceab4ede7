"""Sparse sliced inverse regression: each direction is a lasso of a function of the slices.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
X          (n, d)      labelled samples, columns of mean 0 and variance 1
F          (n, m)      functions of the slice, of mean 0 and variance 1, uncorrelated
P          (n, m)      held-out lasso predictions of each function
M          (m, m)      symmetric part of ``F'P / n``
theta      (m,)        artificial response ``F theta``; the direction is its lasso on X
=========  ==========  ==================================================================

With least squares in place of the lasso and no held-out samples, M would be ``F'X (X'X)^-1 X'F /
n``, which has the same eigenvalues as sliced inverse regression. If the samples have weights, n is
their sum, and moments and lassos are weighted.
"""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from skbo_silbo._checks import warn_user
from skbo_silbo.decomposition._projection import (
    AUTO,
    NONNEGATIVE,
    SupervisedProjection,
)
from skbo_silbo.decomposition.rows._columns import (
    format_column,
    mean_and_error,
    mean_and_spread,
    with_positive_peaks,
)
from skbo_silbo.decomposition.rows._response import target_type
from skbo_silbo.decomposition.selection._n_components import check_identified
from skbo_silbo.decomposition.significance._variance_tests import warn_no_direction

MAX_ITER = 10_000  # sweeps of coordinate descent
N_FOLDS = 5  # of the cross-validation of the penalties
N_PENALTIES = 60  # penalties on a path
DEGREE = 5  # largest degree of the polynomials of the slice's rank
MAX_FUNCTIONS = 20  # largest number of functions of classes or clusters
# Number of standard errors by which a combination must be better than the first function.
ERRORS_TO_COMBINE = 2.0
# Number of standard errors by which n_components="auto" requires a direction to reduce the held-out
# error. One or two would be too few, since the functions were combined on the same samples.
ERRORS_TO_COUNT = 3.0
MAX_GRAM = 2000  # number of features up to which the lasso uses the Gram matrix X'X


class SparseSlicedInverseRegression(SupervisedProjection):
    """Sparse sliced inverse regression by the lasso (lasso-SIR).

    Find directions that use few features, even if there are more features than samples. Sliced
    inverse regression is equivalent to a linear regression of an artificial response, which has one
    value per slice; the lasso solves it with sparse coefficients [1]_.

    The artificial response is the combination of a few functions of the slice [2]_ that the lasso
    predicts best on held-out samples. For numeric y, the functions are polynomials of the rank of
    y, and the rank alone is used unless a combination is better by two standard errors. For
    categories, they are the functions that best separate the class means. Columns are standardised,
    so units do not matter.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" counts the leading directions whose artificial response the
        lasso predicts better than its mean does on held-out samples, by at least three standard
        errors. If there are none, a warning is raised, `n_components_` is 0, and `components_`
        holds the leading direction.
    n_slices : int, default=20
        Target number of slices, as in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, each of which is a slice. "auto" decides by the type of y, as in
        `SemiSlicedInverseRegression`.
    penalty : "auto" or float, default="auto"
        Weight of the l1 norm for standardised columns, like `alpha` of
        `sklearn.linear_model.Lasso`. "auto" minimises the error of each direction in five-fold
        cross-validation. Each fold covers the range of y. Duplicated samples share a fold.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Sparse directions, scaled so that the scores of the labelled samples have unit variance. The
        entry of largest magnitude in each row is positive.
    mean_ : ndarray of shape (n_features,)
    support_ : ndarray of shape (n_features,) of bool
        Mask of the features that at least one component uses. The penalty minimises the prediction
        error, and therefore keeps many irrelevant features.
    eigenvalues_ : ndarray of shape (m,)
        Cross-validated counterpart of the eigenvalues of sliced inverse regression, in decreasing
        order. They are the eigenvalues of the covariance between the m functions of the slice and
        the held-out predictions of these functions. Negative eigenvalues are set to 0.
    penalties_ : ndarray of shape (n_components,)
        Weight of the l1 norm that was used for each component.
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Warns
    -----
    UserWarning
        If "auto" finds no direction, or if the lasso selects no feature. Then the component
        consists of the first feature on the lasso path.

    References
    ----------
    .. [1] Lin, Zhao and Liu, "Sparse Sliced Inverse Regression via Lasso", JASA 114, 2019,
       algorithm 1 and section 3.
    .. [2] Wu and Li, "Asymptotic properties of sufficient dimension reduction with a diverging
       number of predictors", Statist. Sinica 21, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SparseSlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 80))
    >>> y = np.exp(X[:, 3] + X[:, 7])
    >>> sparse = SparseSlicedInverseRegression(1).fit(X, y)
    >>> sorted(np.argsort(np.abs(sparse.components_[0]))[-2:].tolist())
    [3, 7]
    """

    _takes = ("numeric", "categorical", "multivariate")
    _parameter_constraints: ClassVar = {
        **SupervisedProjection._parameter_constraints,
        "penalty": [NONNEGATIVE, AUTO],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int = 20,
        categorical: bool | str = "auto",
        penalty: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical
        self.penalty = penalty

    def _learn(self, data):
        slices = self._slice_response(data)
        splits = _folds(data.X_labeled, data.y)
        X, self.mean_ = data.center_on_labels()
        scale = mean_and_spread(X, data.weights)[1]
        X /= scale
        F = self._functions(X, slices, target_type(data.y) == "numeric")
        check_identified(self.n_components, F.shape[1], remedy=" or more slices")
        weights = np.ones(len(X)) if data.weights is None else data.weights.astype(np.float64)
        lasso = _Lasso(X, self.penalty, splits, weights)
        T = self._artificial_responses(lasso, F)
        fits = lasso.fit(T)
        self.n_components_ = self._count_directions(lasso, T, fits)
        kept = max(self.n_components_, 1)
        self.penalties_ = fits.penalties[:kept]
        coefficients = fits.coefficients[:kept]
        self._fill_empty(coefficients, lasso.covariances(T), data.columns)
        spread = mean_and_spread(X @ coefficients.T, data.weights)[1]
        self.components_ = with_positive_peaks(coefficients / spread[:, None] / scale)
        self.support_ = data.columns.expand(self.components_.any(axis=0))

    def _functions(self, X, slices, numeric):
        """Return polynomials of the rank of y, or functions that separate its classes."""
        least = 1 if self.n_components == "auto" else int(self.n_components)
        most = min(max(DEGREE if numeric else MAX_FUNCTIONS, least), slices.n_slices - 1)
        roots, n = np.sqrt(slices.counts), slices.n_rows
        if numeric:
            ranks = (2 * np.cumsum(slices.counts) - slices.counts) / n - 1
            Q = np.linalg.qr(roots[:, None] * np.polynomial.legendre.legvander(ranks, most))[0]
            Q = Q[:, 1:]
        else:
            sums = slices.membership().T @ slices.weighted(X)
            Q, singular, _ = linalg.svd(sums, full_matrices=False, check_finite=False)
            Q = Q[:, :most][:, singular[:most] > 1e-10 * singular[0]]
        return (np.sqrt(n) * Q / roots[:, None])[slices.codes]

    def _artificial_responses(self, lasso, F):
        """Return the artificial responses of lasso-SIR, the most predictable first."""
        fits, m = lasso.fit(F), F.shape[1]
        M = fits.predictions.T @ (lasso.weights_out[:, None] * F[lasso.out])
        M = (M + M.T) / (2 * lasso.weights_out.sum())
        eigenvalues, V = linalg.eigh(M)
        self.eigenvalues_ = np.clip(eigenvalues[::-1], 0, None)
        combined = lasso.fit(F @ V[:, -1:])
        gain, error = mean_and_error(fits.errors[:, :1] - combined.errors, lasso.weights_out)
        theta = V[:, -1:] if gain > ERRORS_TO_COMBINE * error else np.eye(m, 1)
        others = linalg.null_space(theta.T)
        others = others @ linalg.eigh(others.T @ M @ others)[1][:, ::-1] if m > 1 else others
        k = len(self.mean_) if self.n_components == "auto" else int(self.n_components)
        return F @ np.hstack([theta, others])[:, :k]

    def _count_directions(self, lasso, T, fits):
        if self.n_components != "auto":
            return int(self.n_components)
        gains, errors = mean_and_error(T[lasso.out] ** 2 - fits.errors, lasso.weights_out)
        found = int(np.cumprod(gains > ERRORS_TO_COUNT * errors).sum())
        if not found:
            why = "no function of y can be predicted on held-out samples"
            warn_no_direction(why, "Label more samples")
        return found

    def _fill_empty(self, coefficients, covariances, columns):
        """Assign a feature to each direction for which the lasso selected none, and warn."""
        for j in np.flatnonzero(~coefficients.any(axis=1)):
            first = np.argmax(np.abs(covariances[:, j]))
            coefficients[j, first] = 1.0
            if self.n_components_:
                names = vars(self).get("feature_names_in_")
                place = np.flatnonzero(columns.varying)[first]
                warn_user(
                    f"No feature is selected at penalty {self.penalties_[j]:.3g}: there is no "
                    f"sparse direction. The component is {format_column(place, names)}, the first "
                    "feature to enter. Use fewer n_components or a smaller penalty."
                )


@dataclass(frozen=True, eq=False)
class _Fits:
    """Lasso fits of several responses at the selected penalties."""

    coefficients: np.ndarray  # (m, d), from all rows
    penalties: np.ndarray  # (m,)
    predictions: np.ndarray  # (n_out, m)
    errors: np.ndarray  # (n_out, m), squared


@dataclass(frozen=True, eq=False)
class _Lasso:
    """Lasso regressions of several standardised responses on standardised features."""

    X: np.ndarray
    penalty: object
    splits: list
    weights: np.ndarray

    @property
    def out(self):
        """Indices of the held-out samples of all folds."""
        return np.concatenate([out for _, out in self.splits])

    @property
    def weights_out(self):
        """Weights of the held-out samples of all folds."""
        return self.weights[self.out]

    def covariances(self, T):
        """Return the covariance of each feature with each response."""
        return self.X.T @ (T * self.weights[:, None] / self.weights.mean()) / len(T)

    def fit(self, T):
        """Fit each response with the penalty that minimises its cross-validation error."""
        penalties = self._penalties(T)
        with warnings.catch_warnings():  # raised for small penalties that are not selected
            if self.penalty == "auto":
                warnings.simplefilter("ignore", ConvergenceWarning)
            predictions = np.concatenate(
                [self.X[out] @ self._paths(kept, T, penalties) for kept, out in self.splits], axis=1
            )
            errors = (T[self.out].T[:, :, None] - predictions) ** 2
            best = np.average(errors, axis=1, weights=self.weights_out).argmin(axis=1)
            taken = [path[: k + 1] for path, k in zip(penalties, best, strict=True)]
            coefficients = [path[:, -1] for path in self._paths(slice(None), T, taken)]
        which = np.arange(len(best)), slice(None), best
        return _Fits(
            np.array(coefficients),
            np.array([path[-1] for path in taken]),
            predictions[which].T,
            errors[which].T,
        )

    def _penalties(self, T):
        """Return a decreasing grid of penalties for each response, as in glmnet."""
        if self.penalty != "auto":
            return np.full((T.shape[1], 1), float(self.penalty))
        largest = np.maximum(np.abs(self.covariances(T)).max(axis=0), np.finfo(float).eps)
        eps = 1e-3 if self.weights.sum() > self.X.shape[1] else 1e-2
        return np.geomspace(largest, largest * eps, N_PENALTIES, axis=1)

    def _paths(self, rows, T, penalties):
        """Return the coefficients of each response along its grid of penalties."""
        per_row, roots = self.weights[rows].mean(), np.sqrt(self.weights[rows, None])
        X, T = np.asfortranarray(self.X[rows] * roots), np.asfortranarray(T[rows] * roots)
        gram = X.T @ X if X.shape[1] <= MAX_GRAM else False
        settings = {"precompute": gram, "check_input": False, "max_iter": MAX_ITER}
        settings["random_state"] = 0  # unused, but enet_path draws a seed without it
        return [
            enet_path(X, t, l1_ratio=1.0, alphas=path * per_row, Xy=X.T @ t, **settings)[1]
            for t, path in zip(T.T, penalties, strict=True)
        ]


def _folds(X, y):
    """Return cross-validation folds that each cover the range of y.

    Duplicated samples share a fold, since they would predict each other. The folds do not depend
    on the order of the samples.
    """
    codes = np.unique(y, axis=0, return_inverse=True)[1].reshape(len(X), 1)
    _, sets = np.unique(np.hstack([codes, X]) + 0.0, axis=0, return_inverse=True)
    folds = sets.ravel() % N_FOLDS
    places = [folds == fold for fold in range(folds.max() + 1)]
    return [(np.flatnonzero(~out), np.flatnonzero(out)) for out in places]
