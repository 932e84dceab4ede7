"""Directions of a kernel machine: its average gradient outer product, fed back as its metric."""

from typing import ClassVar, Self

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from skbo_silbo._numerics.laplace_ridge import LaplaceRidge, mean_distance
from skbo_silbo._sklearn import StrOptions
from skbo_silbo._typing import ArrayLike
from skbo_silbo.decomposition._projection import COUNT, SupervisedProjection
from skbo_silbo.decomposition.rows._columns import Frame, mean_and_spread, with_positive_peaks
from skbo_silbo.decomposition.rows._response import check_responses_vary, response_targets
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.selection._n_components import check_identified

MOST_ROWS = 5_000  # labelled rows up to which the kernel is decomposed
AUTO_SHARE = 0.99  # of the trace of the metric that the directions of "auto" hold
RANK_TOLERANCE = 1e-14  # eigenvalues below this share of the largest are rounding errors


class RecursiveFeatureMachine(SupervisedProjection):
    """Directions along which a kernel machine, fitted to the labels, changes most.

    A kernel ridge regression with a Laplace kernel is fitted to the labelled rows. The average over
    labelled and unlabelled rows of the outer products of its gradients (AGOP) says along which
    directions the prediction changes. It becomes the metric by which a kernel measures distances,
    and with ``n_iter > 1`` the regression is fitted again [1]_ [2]_. The components are the leading
    directions of the last metric, scaled so that the distance between two rows of scores is their
    distance in this metric. They therefore suit methods that use distances, such as nearest
    neighbours and kernels.

    Like `ActiveSubspace` it finds directions in which the response is even, and it takes classes
    too. All features are divided by their standard deviation over the labelled rows first, so that
    their units do not matter.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        Number of directions. "auto" takes the fewest whose eigenvalues sum to 99 % of all.
    metric : {"diagonal", "full"}, default="diagonal"
        "diagonal" weighs the features and does not rotate them: each direction is one feature, the
        most important first. "full" learns linear combinations of features, and needs more labels.
    n_iter : int, default=1
        Number of times that the metric is learnt. The first time the kernel sees all features
        alike, then it sees the metric learnt before. More times sharpen the metric: with few labels
        predictions lost a little from the second time on.
    categorical : "auto" or bool, default="auto"
        Whether y holds classes. "auto" takes strings, booleans and pandas' categories for classes
        and numbers for numbers.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthogonal directions for features of unit standard deviation, largest eigenvalue first; the
        entry of largest magnitude in each is positive. The mean distance between the scores of two
        labelled rows is 1.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows.
    eigenvalues_ : ndarray of shape (q,)
        Of the average gradient outer product for features of unit standard deviation, falling; q is
        the number of features that vary. In squared units of y; for classes, and for several
        responses, the responses have a total variance of 1.
    importance_ : ndarray of shape (n_features,)
        Diagonal of the average gradient outer product over its trace: the share of each feature in
        the squared slopes. It sums to 1.
    bandwidth_ : float
        Bandwidth of the kernel of the last regression: ten times the mean distance between labelled
        rows in the metric of that regression.
    ridge_ : float
        Ridge of the last regression, of least exact leave-one-out error, over the mean squared norm
        of a row in feature space. Rows that are copies of each other are left out together.
    n_components_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Notes
    -----
    Each of the `n_iter` regressions takes O(n^3) time and O(n^2) memory for n labelled rows, which
    may be at most 5,000, and O(m n d) time for the gradients at m rows in all, in batches of
    bounded memory. A full metric adds O(d^3). X of dtype float32 is computed with in float64.

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
        **SupervisedProjection._parameter_constraints,
        "metric": [StrOptions({"diagonal", "full"})],
        "n_iter": [COUNT],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        metric: str = "diagonal",
        n_iter: int = 1,
        categorical: bool | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_iter = n_iter
        self.categorical = categorical

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric and its leading directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,) or (n, q)
            Numbers, NaN marking an unlabelled row; or classes (strings, booleans), None, NaN or
            pandas' NA marking an unlabelled row. Several responses count alike.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Further unlabelled rows. Gradients are averaged over them too.
        sample_weight : array-like of shape (n,), default=None
            Weights of the squared errors and of the gradients of labelled rows, where unlabelled
            rows weigh 1. Integers are counts: a row of weight 3 is three rows. Floats are relative,
            and scaled to sum to the effective number ``(sum w)^2 / sum w^2``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter outside its range, fewer than two or more than 5,000 labelled rows,
            constant or infinite labels, labelled rows that are all the same, or an `n_components`
            above the number of directions along which the fit changes.
        """
        return self._fit(X, y, X_unlabeled, sample_weight)

    def _learn(self, data):
        w = np.ones(len(data.y)) if data.weights is None else data.weights.astype(np.float64)
        targets, unit = self._targets(data.y, w)
        frame = Frame.from_labelled(data.X_labeled, targets, w)
        firsts, sets = copies(data.X_labeled, data.y)
        X = np.concatenate([data.X_labeled[firsts], data.X_unlabeled], dtype=np.float64)
        w = np.concatenate([np.bincount(sets, w), np.ones(len(data.X_unlabeled))])
        U, T = frame.standardise(X), targets[firsts]
        M = self._learn_metric(U, T, w)
        roots = self._leading_roots(unit**2 * M)
        unit_distance = mean_distance(cdist(*2 * [U[: len(T)] @ roots.T]), w[: len(T)])
        self.mean_ = frame.mean
        self.components_ = with_positive_peaks(roots / (unit_distance * frame.scale))
        self.importance_ = data.columns.expand(_diagonal(M) / _diagonal(M).sum())

    def _targets(self, y, weights):
        """Targets (n, t) of mean 0 and total variance 1, and their unit in that of y."""
        if y.dtype.kind != "f":
            return response_targets(y, weights), 1.0
        Y = y.reshape(len(y), -1)
        check_responses_vary(Y)
        mean, spread = mean_and_spread(Y, weights)
        return (Y - mean) / (spread * np.sqrt(len(spread))), spread[0] if len(spread) == 1 else 1.0

    def _learn_metric(self, U, T, weights):
        """Return the metric, (d, d) or its diagonal (d,).

        The first n of the rows U (m, d) have the targets T (n, t).
        """
        n, d, diagonal = len(T), U.shape[1], self.metric == "diagonal"
        M = np.ones(d) if diagonal else np.eye(d)
        for _ in range(self.n_iter):
            root = _root(M)
            Z = U * root if diagonal else U @ root
            machine = LaplaceRidge(Z[:n], T, weights[:n])
            S = machine.outer_product(Z, weights, diagonal=diagonal)
            if not S.any():  # one row has all the weight, and the fit is constant
                break
            M = root * S * root if diagonal else root @ S @ root
        self.ridge_, self.bandwidth_ = machine.ridge, machine.bandwidth
        return M

    def _leading_roots(self, M):
        """Set `eigenvalues_` and `n_components_`; the leading directions times their roots."""
        self.eigenvalues_, V = _eigenpairs(M)
        held = np.cumsum(self.eigenvalues_) / self.eigenvalues_.sum()
        rank = np.count_nonzero(self.eigenvalues_ > RANK_TOLERANCE * self.eigenvalues_[0])
        check_identified(self.n_components, rank, "directions along which the fit changes")
        auto = self.n_components == "auto"
        r = int(np.searchsorted(held, AUTO_SHARE)) + 1 if auto else int(self.n_components)
        self.n_components_ = r
        return np.sqrt(self.eigenvalues_[:r, None]) * V[:r]

    def _check_shape(self, n, d):
        super()._check_shape(n, d)
        if n > MOST_ROWS:
            raise ValueError(
                f"X must have at most {MOST_ROWS} labelled rows for RecursiveFeatureMachine, which "
                f"decomposes a matrix of all pairs of rows: got {n}. Fit it to a random sample of "
                "the rows, or use OuterProductGradients."
            )


def _diagonal(M):
    """Diagonal of a metric, (d, d) or its diagonal (d,)."""
    return M if M.ndim == 1 else np.diag(M)


def _eigenpairs(M):
    """Eigenvalues (d,) of a metric, falling, and their directions (d, d) as rows."""
    if M.ndim == 1:
        order = np.argsort(-M, kind="stable")
        return M[order], np.eye(len(M))[order]
    eigenvalues, V = linalg.eigh(M)
    return np.clip(eigenvalues[::-1], 0, None), V.T[::-1]


def _root(M):
    """Symmetric square root of a metric, (d, d) or its diagonal (d,)."""
    if M.ndim == 1:
        return np.sqrt(M)
    eigenvalues, V = _eigenpairs(M)
    return (V.T * np.sqrt(eigenvalues)) @ V
