"""Sparse sliced inverse regression: one lasso a direction.

=========  ==========  ==================================================================
symbol     shape       meaning
=========  ==========  ==================================================================
X          (n, d)      labelled rows, columns of mean 0 and variance 1
Omega      (n, H)      plain slice membership, ``1 / sqrt(n_h)``
N          (H, d)      slice sums ``Omega'X / sqrt(n)``; N'N is the variance of the slice means
u, s       (H,)        a left singular vector of N and its singular value
t          (n,)        artificial response ``sqrt(n) Omega u / s``, constant in every slice
=========  ==========  ==================================================================

Where rows have weights, n and n_h are their sums, moments of X are weighted, and so is the lasso.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from skbo_silbo._typing import ArrayLike, LegacyRandomState

from .._checks import check_integer, check_nonnegative, warn_user
from ._supervised import SupervisedProjection
from .rows._centering import center_on_labels, with_positive_peaks
from .rows._weights import copies
from .selection._n_components import check_identified

MAX_ITER = 10_000
"""Sweeps of coordinate descent."""
N_PENALTIES = 100
"""Penalties on a path."""


class SparseSlicedInverseRegression(SupervisedProjection):
    """Directions of few features along which X varies with y (lasso SIR).

    Each leading eigenvector of the variance of the slice means gives an artificial response, a
    number a slice, whose best linear predictor is the direction; the lasso finds it where the
    features outnumber the rows, or nearly [1]_. Columns are standardised, so that their units do
    not matter.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        "auto" parts the eigenvalues, each times the norm of its direction, in a large and a small
        group by 2-means and counts the large ones [1]_. It needs a lasso for every slice.
    n_slices : int or array-like of increasing edges, default=10
        As in `SemiSlicedInverseRegression`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `SemiSlicedInverseRegression`.
    penalty : "auto" or float, default="auto"
        Weight of the l1 norm, as in `sklearn.linear_model.Lasso`, for standardised columns. "auto"
        takes the least cross-validated error for every direction.
    n_screened : "auto", int or None, default="auto"
        Features with the largest variance of slice means that the eigenvectors are computed from;
        the lasso sees all. None takes all; "auto" does so where rows outnumber features, and
        elsewhere takes ``n / (2 log n)``, since eigenvectors of that many noisy means are
        noise [2]_.
    cv : int, cross-validation generator or iterable of splits, default=5
        An integer is a number of folds, shuffled; rows that are copies of each other share one.
        Splits are of the rows given to ``fit``; those without a label are left out of them.
    random_state : int, RandomState instance or None, default=None
        Of the folds.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Sparse; the labelled scores have unit variance, the largest entry of each row is positive.
    mean_ : ndarray of shape (n_features,)
    support_ : ndarray of shape (n_features,) of bool
        Features that some component uses.
    eigenvalues_ : ndarray of shape (p,)
        Of the variance of the slice means of the standardised (screened) columns, falling.
    penalties_ : ndarray of shape (n_components,)
    n_components_, n_slices_, n_features_in_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Warns
    -----
    UserWarning
        Where cross-validation keeps no feature: the slices show no direction. The component is then
        the first feature to enter.

    References
    ----------
    .. [1] Lin, Zhao and Liu, "Sparse Sliced Inverse Regression via Lasso", JASA 114, 2019,
       algorithm 1 and section 3.
    .. [2] Lin, Zhao and Liu, "On consistency and sparsity for sliced inverse regression in high
       dimensions", Ann. Statist. 46, 2018 (diagonal thresholding).

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SparseSlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(110, 100))
    >>> y = np.exp(X[:, 3] + X[:, 7])
    >>> sparse = SparseSlicedInverseRegression(1, random_state=0).fit(X, y)
    >>> sorted(np.argsort(np.abs(sparse.components_[0]))[-2:].tolist())
    [3, 7]
    """

    _takes_responses = True

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 10,
        categorical: bool | str = "auto",
        penalty: float | str = "auto",
        n_screened: int | str | None = "auto",
        cv: Any = 5,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.categorical = categorical
        self.penalty = penalty
        self.n_screened = n_screened
        self.cv = cv
        self.random_state = random_state

    def _learn(self, data, slices):
        splits = self._splits(data)
        X, self.mean_ = center_on_labels(data)
        scale = _column_scale(X, data.weights)
        X /= scale
        n_screened = self._n_screened(slices.n_rows)
        responses, self.eigenvalues_ = _artificial_responses(X, slices, n_screened)
        check_identified(self.n_components, len(self.eigenvalues_), remedy=" or more slices")
        lasso = _LassoFit(X, self.penalty, splits, data.weights)
        coefficients, self.penalties_ = self._fit_directions(lasso, responses)
        self._store(X, coefficients, scale, data.weights)

    def _fit_directions(self, lasso, responses):
        n_fits = len(responses) if self.n_components == "auto" else int(self.n_components)
        fits = [lasso.fit(response) for response in responses[:n_fits]]
        norms = np.array([np.linalg.norm(coefficients) for coefficients, _ in fits])
        r = n_fits
        if self.n_components == "auto":
            r = _n_large(self.eigenvalues_ * norms)
        kept = [lasso.not_empty(*fit, t) for fit, t in zip(fits[:r], responses, strict=False)]
        return np.array([coefficients for coefficients, _ in kept]), np.array([p for _, p in kept])

    def _store(self, X, coefficients, scale, weights):
        spread = _spread(X @ coefficients.T, weights)
        self.components_ = with_positive_peaks(coefficients / spread[:, None] / scale)
        self.support_ = (self.components_ != 0).any(axis=0)
        self.n_components_ = len(self.components_)

    def _n_screened(self, n):
        d = self.n_features_in_
        if self.n_screened == "auto":
            return d if n > d else min(d, max(2, int(n / (2 * np.log(n)))))
        return d if self.n_screened is None else min(d, int(self.n_screened))

    def _splits(self, data):
        """Pairs of training and test rows, as places among the labelled ones."""
        if isinstance(self.cv, Integral):
            random_state = check_random_state(self.random_state)
            return _folds(*copies(data.X_labeled, data.y), self.cv, random_state)
        kept = data.is_labeled
        places = np.cumsum(kept) - 1
        splits = check_cv(self.cv).split(kept)
        return [tuple(places[side][kept[side]] for side in split) for split in splits]

    def _check_parameters(self):
        super()._check_parameters()
        if isinstance(self.cv, Real):
            check_integer("cv", self.cv, 2)
        if not (isinstance(self.penalty, str) and self.penalty == "auto"):
            check_nonnegative("penalty", self.penalty, special="'auto'")
        if self.n_screened is not None and self.n_screened != "auto":
            check_integer("n_screened", self.n_screened, 1, special="'auto', None")


@dataclass(frozen=True, eq=False)
class _LassoFit:
    """The lasso on standardised columns; every response is centred as they are."""

    X: np.ndarray
    penalty: object
    splits: list | None
    weights: np.ndarray | None

    def fit(self, response):
        """Coefficients (d,) and the penalty used."""
        if self.penalty != "auto":
            model = Lasso(self.penalty, fit_intercept=False, max_iter=MAX_ITER)
            model.fit(self.X, response, sample_weight=self.weights)
            return model.coef_, float(self.penalty)
        with warnings.catch_warnings():  # of small penalties on the path, which are not taken
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = self._path(response).fit(self.X, response, sample_weight=self.weights)
        return model.coef_, float(model.alpha_)

    def _path(self, response):
        """As in glmnet: down to 1 % of the largest penalty where features outnumber rows."""
        n = len(self.X) if self.weights is None else self.weights.sum()
        eps = 1e-3 if n > self.X.shape[1] else 1e-2
        largest = np.abs(self._correlations(response)).max()
        alphas = np.geomspace(largest, largest * eps, N_PENALTIES)
        return LassoCV(alphas=alphas, cv=self.splits, fit_intercept=False, max_iter=MAX_ITER)

    def _correlations(self, response):
        return np.average(self.X * response[:, None], axis=0, weights=self.weights)

    def not_empty(self, coefficients, penalty, response):
        """Return the same, or with a warning the first feature to enter where there is none."""
        if coefficients.any():
            return coefficients, penalty
        correlations = self._correlations(response)
        first = np.argmax(np.abs(correlations))
        warn_user(
            f"No feature is kept at penalty {penalty:.3g}: the slices show no sparse direction. "
            f"The component holds feature {first} alone, the first to enter. Take fewer "
            "n_components, or a smaller penalty.",
        )
        coefficients = np.zeros_like(coefficients)
        coefficients[first] = correlations[first]
        return coefficients, penalty


def _folds(firsts, sets, n_folds, random_state):
    """Shuffled folds of sets of rows (`copies`), as pairs of training and test rows."""
    folds = KFold(min(n_folds, len(firsts)), shuffle=True, random_state=random_state)
    tests = [np.isin(sets, test) for _, test in folds.split(firsts)]
    return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in tests]


def _spread(X, weights):
    """Root mean square (d,) of centred columns."""
    return np.sqrt(np.average(X**2, axis=0, weights=weights))


def _column_scale(X, weights):
    scale = _spread(X, weights)
    return np.where(scale > 0, scale, 1.0)


def _artificial_responses(X, slices, n_screened):
    """Responses (p, n), one for each direction that the slices identify, and eigenvalues (p,)."""
    omega, n = slices.membership(), slices.n_rows
    N = omega.T @ slices.weighted(X) / np.sqrt(n)
    between = np.einsum("hj,hj->j", N, N)
    screened = np.sort(np.argsort(-between, kind="stable")[:n_screened])
    U, singular, _ = linalg.svd(N[:, screened], full_matrices=False, check_finite=False)
    limit = min(slices.n_slices - 1, n_screened)
    kept = singular[:limit] > 1e-10 * singular[0]
    U, singular = U[:, :limit][:, kept], singular[:limit][kept]
    return np.sqrt(n) * slices.unweighted(omega @ (U / singular)).T, singular**2


def _n_large(values):
    """Size of the upper of two groups of values, such that the sum of squares within is least."""
    values = np.sort(values)[::-1]
    if len(values) == 1:
        return 1
    sizes = np.arange(1, len(values))
    within = [k * values[:k].var() + (len(values) - k) * values[k:].var() for k in sizes]
    return int(sizes[np.argmin(within)])
