"""Recursive feature machine: directions of the average gradient outer product of a kernel."""

from typing import ClassVar

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from skbo_silbo._numerics.laplace_ridge import LaplaceRidge, mean_distance
from skbo_silbo._sklearn import StrOptions
from skbo_silbo.decomposition._projection import COUNT, SemiSupervisedProjection
from skbo_silbo.decomposition.rows._columns import Frame, mean_and_spread, with_positive_peaks
from skbo_silbo.decomposition.rows._response import check_responses_vary, response_targets
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.selection._n_components import check_identified
from skbo_silbo.decomposition.slicing._slices import rows_and_centres, spread_over_response

MOST_ROWS = 4000  # largest number of labelled samples to which the regression is fitted
MOST_CENTRES = 1000  # largest number of samples whose kernel functions span the regression
MOST_GRADIENTS = 5000  # largest number of other labelled, and of unlabelled, samples averaged over
# n_components="auto" retains the first share of the metric's trace, and directions that hold the
# second. On eight models with 60 to 200 samples of 5 to 20 features, both found the true number in
# 0.88 of 640 data sets that did not choose them, and the first alone in 0.86.
AUTO_SHARE, LARGE_SHARE = 0.95, 0.03
RANK_TOLERANCE = 1e-14  # eigenvalues below this share of the largest count as 0


class RecursiveFeatureMachine(SemiSupervisedProjection):
    """Dimension reduction by the average gradients of a kernel regression.

    A kernel ridge regression with a Laplace kernel is fitted to the labelled samples. The square
    root of the average outer product of its gradients (AGOP) over labelled and unlabelled samples
    becomes the metric in which the kernel of the next regression measures distances [1]_ [2]_. The
    components are the leading eigenvectors of the last AGOP, multiplied by the square roots of
    their eigenvalues, so that the most important direction has the largest scores. The scores
    therefore suit methods that use distances, such as nearest neighbours and kernels.

    Like `ActiveSubspace`, the method finds directions in which y is symmetric; it also supports
    classes. Features are divided by their standard deviation over the labelled samples, so that
    the result does not depend on units.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of components. "auto" uses the fewest directions whose eigenvalues sum to 95 % of
        the total, and one more direction if its eigenvalue is at least 3 % of the total.
    metric : {"full", "diagonal"}, default="full"
        Form of the metric. "full" learns linear combinations of features. "diagonal" weights the
        features, which needs fewer labels: each direction is a single feature, the most important
        one first.
    n_iter : int, default=5
        Number of regressions. With more iterations, the directions become more accurate and their
        number clearer. For predictions from few labels, one iteration is best
        (:doc:`/guide_reduce`).
    categorical : "auto" or bool, default="auto"
        Whether y holds classes. "auto" decides by the type of y, as in
        `SemiSlicedInverseRegression`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, orthogonal for features of unit standard deviation, in decreasing order of the
        eigenvalues. The entry of largest magnitude in each row is positive, and the mean distance
        between the scores of two labelled samples is 1.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples.
    eigenvalues_ : ndarray of shape (q,)
        Eigenvalues of the average gradient outer product in decreasing order, for features of unit
        standard deviation and in squared units of y; q is the number of non-constant features.
        Classes, and several responses, have a total variance of 1.
    importance_ : ndarray of shape (n_features,)
        Importance of each feature: its share of the squared gradients, that is, the diagonal of the
        average gradient outer product divided by its trace.
    bandwidth_ : float
        Bandwidth of the kernel of the last regression. It is ten times the mean distance between
        labelled samples in the metric of this regression.
    ridge_ : float
        Ridge of the last regression, relative to the mean squared norm of a sample in feature
        space. It minimises the exact leave-one-out error. Duplicated samples are left out together.
    n_components_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Notes
    -----
    A regression takes O(n^3) time and O(n^2) memory for n labelled samples. With more than 1,000,
    it is spanned by the kernel functions of 1,000 samples and fitted to at most 4,000 (Nystroem).
    The gradients are averaged over these samples, at most 5,000 other labelled samples and at most
    5,000 unlabelled samples. All these samples are evenly spaced, the labelled ones in the order of
    y. A full metric adds O(d^3) time. Float32 data are converted to float64.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383 (2024).
    .. [2] D. Beaglehole, D. Holzmueller, A. Radhakrishnan, M. Belkin, "xRFM: Accurate, scalable,
       and interpretable feature learning models for tabular data", arXiv 2508.10053 (2025), which
       has the diagonal metric.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import RecursiveFeatureMachine
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> y = X[:, 1] * np.sin(X[:, 4])
    >>> machine = RecursiveFeatureMachine(2).fit(X, y)
    >>> np.flatnonzero(machine.importance_ > 0.1)
    array([1, 4])
    """

    _takes = ("numeric", "categorical", "multivariate")
    _by_value = True
    _parameter_constraints: ClassVar = {
        **SemiSupervisedProjection._parameter_constraints,
        "metric": [StrOptions({"diagonal", "full"})],
        "n_iter": [COUNT],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        metric: str = "full",
        n_iter: int = 5,
        categorical: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_iter = n_iter
        self.categorical = categorical

    def _learn(self, data):
        w = np.ones(len(data.y)) if data.weights is None else data.weights.astype(np.float64)
        targets, unit = self._targets(data.y, w)
        frame = Frame.from_labelled(data.X_labeled, targets, w)
        firsts, sets = copies(data.X_labeled, data.y)
        distinct = data.X_labeled[firsts], data.y[firsts]
        fitted = firsts[rows_and_centres(*distinct, MOST_ROWS, MOST_CENTRES)]
        rest = np.setdiff1d(firsts, fitted)
        n_rest, n_unlabeled = len(rest), len(data.X_unlabeled)
        if n_rest > MOST_GRADIENTS:
            rest = rest[spread_over_response(data.X_labeled[rest], data.y[rest], MOST_GRADIENTS)]
        unlabelled = data.X_unlabeled[_evenly_spaced(n_unlabeled, MOST_GRADIENTS)]
        labelled = np.concatenate([fitted, rest])
        X = np.concatenate([data.X_labeled[labelled], unlabelled], dtype=np.float64)
        w = np.bincount(sets, w)[sets[labelled]]
        w[len(fitted) :] *= n_rest / max(len(rest), 1)
        share = n_unlabeled / max(len(unlabelled), 1)
        w = np.concatenate([w, np.full(len(unlabelled), share)])
        U, T = frame.standardise(X), targets[fitted]
        T = T - np.average(T, axis=0, weights=w[: len(T)])
        M = self._learn_metric(U, T, w)
        roots = self._leading_roots(unit**2 * M)
        Z = U[: len(T)][:MOST_CENTRES] @ roots.T
        unit_distance = mean_distance(cdist(Z, Z), w[: len(Z)])
        self.mean_ = frame.mean
        self.components_ = with_positive_peaks(roots / (unit_distance * frame.scale))
        self.importance_ = data.columns.expand(_diagonal(M) / _diagonal(M).sum())

    def _targets(self, y, weights):
        """Return targets of mean 0 and total variance 1, and the scale of a single response."""
        if y.dtype.kind != "f":
            return response_targets(y, weights), 1.0
        Y = y.reshape(len(y), -1)
        check_responses_vary(Y)
        mean, spread = mean_and_spread(Y, weights)
        return (Y - mean) / (spread * np.sqrt(len(spread))), spread[0] if len(spread) == 1 else 1.0

    def _learn_metric(self, U, T, weights):
        """Return the learnt metric of the kernel, or its diagonal if ``metric="diagonal"``.

        The first n rows of U are labelled, with targets T of shape (n, t).
        """
        n, d, diagonal = len(T), U.shape[1], self.metric == "diagonal"
        M = np.ones(d) if diagonal else np.eye(d)
        for _ in range(self.n_iter):
            root = _root(_root(M))  # the root of the metric, which is the root of the AGOP
            Z = U * root if diagonal else U @ root
            machine = LaplaceRidge(Z[:n], T, weights[:n], MOST_CENTRES)
            S = machine.outer_product(Z, weights, diagonal=diagonal)
            M = root * S * root if diagonal else root @ S @ root
        self.ridge_, self.bandwidth_ = machine.ridge, machine.bandwidth
        return M

    def _leading_roots(self, M):
        """Return each direction multiplied by the square root of its eigenvalue."""
        self.eigenvalues_, V = _eigenpairs(M)
        shares = self.eigenvalues_ / self.eigenvalues_.sum()
        rank = np.count_nonzero(self.eigenvalues_ > RANK_TOLERANCE * self.eigenvalues_[0])
        check_identified(self.n_components, rank, "directions along which the fit changes")
        if self.n_components == "auto":
            held = np.cumsum(shares) - shares  # by the directions before
            r = int(np.count_nonzero((held < AUTO_SHARE) | (shares >= LARGE_SHARE)))
        else:
            r = int(self.n_components)
        self.n_components_ = r
        return np.sqrt(self.eigenvalues_[:r, None]) * V[:r]


def _evenly_spaced(n, most):
    """Return at most `most` evenly spaced indices from 0 to n - 1."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def _diagonal(M):
    """Return the diagonal of a metric given as a matrix or as its diagonal."""
    return M if M.ndim == 1 else np.diag(M)


def _eigenpairs(M):
    """Return the eigenvalues and eigenvectors of a metric, largest eigenvalue first."""
    if M.ndim == 1:
        order = np.argsort(-M, kind="stable")
        return M[order], np.eye(len(M))[order]
    eigenvalues, V = linalg.eigh(M)
    return np.clip(eigenvalues[::-1], 0, None), V.T[::-1]


def _root(M):
    """Return the symmetric square root of a metric given as a matrix or as its diagonal."""
    if M.ndim == 1:
        return np.sqrt(M)
    eigenvalues, V = _eigenpairs(M)
    return (V.T * np.sqrt(eigenvalues)) @ V
