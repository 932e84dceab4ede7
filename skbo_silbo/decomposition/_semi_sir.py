"""Semi-supervised and localised sliced inverse regression."""

from typing import ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo._sklearn import StrOptions
from skbo_silbo._typing import ArrayLike, LegacyRandomState
from skbo_silbo.decomposition._sir import SOLVERS, SlicedInverseRegression, check_sir_identified
from skbo_silbo.decomposition.rows._columns import with_positive_peaks
from skbo_silbo.decomposition.rows._reading import LabelledData
from skbo_silbo.decomposition.rows._response import target_type
from skbo_silbo.decomposition.slicing._paper import pairwise_membership, paper_directions
from skbo_silbo.decomposition.slicing._slices import local_membership

PAPER_ALPHA = 1.0  # alpha="auto" with solver="paper", where the subspace does not depend on it


class SemiSlicedInverseRegression(SlicedInverseRegression):
    """Semi-supervised sliced inverse regression (SIR).

    Find the linear combinations of the features along which the mean of X changes with y, from
    labelled and unlabelled samples. The labelled samples are sliced by their response; the
    components solve the generalised eigenvalue problem ``Gamma b = lambda T b``, where Gamma is the
    scatter of the (localised) slice means and T the scatter of the labelled samples. Unlabelled
    samples add a penalty to T: the roughness of the scores along a nearest-neighbour graph of all
    samples ([1]_, section 4.2).

    Without localisation and unlabelled samples, the result agrees with sliced inverse regression in
    R's ``dr`` [2]_. If y holds categories, the components span the same space as the components of
    linear discriminant analysis.

    If y has several responses, the slices are clusters of the responses (k-means inverse regression
    [7]_). If y is censored, observed events and censored times are sliced separately [9]_.

    Unlabelled samples help if labels are few and the response varies smoothly over the data; they
    do not help in general. By default, `alpha` is therefore chosen by cross-validation, may be 0,
    and `alpha_scores_` reports the improvement.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        Number of components. A string selects it from the data:

        - "auto": test at level .05 whether 0, 1, ... directions suffice. Li's chi-square test is
          used if it is valid. This requires slices without localisation, no penalty, no ridge, at
          least three labelled samples per feature and per slice, and no very small slice. Otherwise
          a permutation test is used [4]_.
        - "permutation": always use the permutation test.
        - "criterion": maximise an information criterion of the eigenvalues [5]_. This is fast and
          returns at least 1.

        If the tests find no direction, a warning is raised, `n_components_` is 0, and `components_`
        holds the leading direction.
    n_slices : int, default=10
        Target number of slices. With several responses, it is the number of clusters. As in R's
        ``dr``, every slice has at least two samples, so small data sets have fewer slices.
        `n_slices_` is the number of slices used.
    n_local_neighbors : int or None, default=None
        Number of neighbours in localised SIR [3]_, which replaces each sample by the mean of its
        nearest neighbours within its slice. The sample itself counts as a neighbour. If None,
        slices are not localised. Slices are not localised either if the number is at least the size
        of the largest slice.
    alpha : "auto" or float, default="auto"
        Weight of the unlabelled samples: the penalty is ``alpha * n_labeled`` times the mean
        squared difference of the scores along an edge of the graph. "auto" compares 0, 0.1, 1, 10
        and 100 by ten-fold cross-validation over the labelled samples, and uses 0 unless another
        value reduces the error by at least one standard error. `alpha` is ignored if every sample
        is labelled.
    n_neighbors : int, default=7
        Number of nearest neighbours to which each sample is joined in the graph.
    ridge : "auto" or float, default="auto"
        Ridge added to T, relative to ``trace(T) / n_features``. "auto" is 0 if there are at least
        12 labelled samples per feature. Otherwise it minimises the generalised cross-validation
        error of a ridge regression of the slice mid-ranks, or of the class indicators. With
        ``solver="paper"``, the ridge is the coefficient of the identity in ``M = I + alpha L``, and
        "auto" is 0.
    scale : bool, default=True
        Whether to divide each column by its standard deviation before adding the ridge and building
        the graph, so that neither depends on units. The neighbour search of localised slices uses X
        as given [3]_, and `components_` always refer to X as given.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, each of which is a slice. "auto" treats strings, booleans,
        pandas categories and other objects as categories, but not numbers. It warns about integers
        that repeat so often that they may be class labels.
    solver : {"auto", "dense", "dual", "randomized", "paper"}, default="auto"
        Algorithm for the eigenvalue problem:

        - "dense": exact, forms T.
        - "dual": exact, forms the Gram matrix of the samples. Used if there are more features than
          samples.
        - "randomized": Lanczos iterations (ARPACK) from a random vector to a residual of 1e-10,
          for the leading eigenvalues only. Faster than the exact solvers for localised slices and
          many features.
        - "paper": Algorithm 2 of [1]_ as printed. Use it only to reproduce the paper, because its
          subspace does not depend on the unlabelled samples.
        - "auto": the fastest of "dense", "dual" and "randomized".
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        Nearest-neighbour search. "auto" uses a k-d tree for at most 6 features. For more, it uses
        brute force, or above 80,000 samples pynndescent, which is approximate.
    reweight : {None, "elliptical"}, default=None
        If "elliptical", the labelled samples are weighted so that X looks normally distributed
        around a robust centre ([8]_, as in R's ``dr.weights``). The linearity condition then holds
        approximately. Use it for skewed X, where SIR mistakes curvature of X for a direction.
        Reweighting reduces the effective number of samples, by a quarter for normal X and by three
        fifths for lognormal X. It makes the tests conservative, and helps little for discrete X.
        `sample_weight` is multiplied by these weights.
    random_state : int, RandomState instance or None, default=None
        Seed of pynndescent and of the solvers "randomized" and "paper". The permutation tests and
        `reweight` also use it, with a fixed seed if it is None.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions b, scaled so that ``b' T b`` is the number of labelled samples. Without penalty
        and ridge, the scores of the labelled samples then have unit variance. The sign of the first
        direction is such that its score increases with a numeric y. In all other rows, the entry of
        largest magnitude is positive. There is at least one row, even if `n_components_` is 0.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples (of all samples with ``solver="paper"``).
    eigenvalues_ : ndarray of shape (p,)
        Eigenvalues in decreasing order. Their number depends on the solver. They lie in [0, 1]
        without localisation and penalty, and are non-negative otherwise.
    n_components_ : int
        Number of components. It is 0 if the tests found no direction.
    n_slices_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
        Number of labelled samples in each slice, or their total weight.
    target_type_ : {"numeric", "categorical", "multivariate", "censored"}
        Type of y that ``fit`` has detected.
    alpha_ : float
        Weight of the unlabelled samples; 0.0 if every sample is labelled, unless
        ``solver="paper"``.
    alpha_scores_ : dict
        Cross-validation results of ``alpha="auto"``, with a value for each candidate in "alpha",
        "error" (share of the variance of the response left unexplained on held-out samples), "gain"
        (error reduction from alpha = 0) and "standard_error" of the gain. "verdict" is a
        one-sentence summary.
    ridge_ : float
        Ridge that was used, relative to ``trace(T) / n_features``.
    solver_ : str
        Name of the solver that was used.
    dimension_tests_ : dict of ndarray
        Li's chi-square tests: "n_components", "statistic", "df" and "p_value". Defined only without
        localisation, penalty and ridge; see `permutation_tests_` otherwise. With fewer than three
        samples per feature and per slice the tests are conservative (they reject in 1 to 2 % of
        cases at level .05), so "auto" uses permutation tests instead.
    permutation_tests_ : dict of ndarray
        Permutation tests: "n_components", "statistic", "p_value" and "n_permutations", up to the
        first hypothesis that is accepted. Defined only if these tests determined `n_components_`.
        With weights, the p-value is the larger of two: one from permutations that keep
        the weights with y, and one from permutations that keep them with X.
    curvature_ : ndarray of shape (n_features,)
        Share of the variance of each feature that squares and products of the scores explain in
        addition to the scores. Values near 0 support the linearity condition. NaN with fewer than
        three samples per feature. Defined only if `n_components` is "auto" or "permutation".
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    Raises
    ------
    ValueError
        If a parameter is outside its range, fewer than two samples are labelled, y is constant or
        infinite, or `n_components` exceeds the number of identified directions.

    Warns
    -----
    UserWarning
        If "auto" finds no direction; if the linearity condition fails (a feature, or a later score,
        is a curved function of the scores); if y affects the variance of X rather than its mean,
        which SAVE detects; if integers that repeat often are treated as numbers; if ``ridge=0``
        leaves no direction identified; or if unlabelled samples are used although few edges of the
        neighbour graph join them to labelled samples (less than half as many as with labels
        assigned at random).

    Notes
    -----
    With float32 data, `components_` are float32, computed in double precision. Without
    localisation, the data are not copied.

    References
    ----------
    .. [1] Chen, Zhu, Yuan and Huang, "Semi-supervised Embedding Learning for High-dimensional
       Bayesian Optimization", arXiv 2005.14601, section 4.2.
    .. [2] Li, "Sliced Inverse Regression for Dimension Reduction", JASA 86, 1991.
    .. [3] Wu, Liang and Mukherjee, "Localized Sliced Inverse Regression", JCGS 19, 2010.
    .. [4] Cook and Yin, "Dimension Reduction and Visualization in Discriminant Analysis", Aust. N.
       Z. J. Stat. 43, 2001.
    .. [5] Zhu, Zhu and Feng, "Dimension Reduction in Regressions Through Cumulative Slicing
       Estimation", JASA 105, 2010.
    .. [6] Kish, "Survey Sampling", Wiley, 1965: ``(sum w)^2 / sum w^2``.
    .. [7] Setodji and Cook, "K-Means Inverse Regression", Technometrics 46, 2004.
    .. [8] Cook and Nachtsheim, "Reweighting to Achieve Elliptically Contoured Covariates in
       Regression", JASA 89, 1994.
    .. [9] Li, Wang and Chen, "Dimension Reduction for Censored Regression Data", Ann. Statist. 27,
       1999.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SemiSlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> y = np.exp(X[:, 0] + X[:, 3])
    >>> sir = SemiSlicedInverseRegression().fit(X, y)
    >>> sir.n_components_
    1
    >>> (sir.components_ / np.linalg.norm(sir.components_)).round(2)
    array([[ 0.72, -0.  ,  0.  ,  0.69,  0.01,  0.02]])
    """

    _parameter_constraints: ClassVar = {
        **SlicedInverseRegression._parameter_constraints,
        "solver": [StrOptions({*SOLVERS, "paper"})],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int = 10,
        n_local_neighbors: int | None = None,
        alpha: float | str = "auto",
        n_neighbors: int = 7,
        ridge: float | str = "auto",
        scale: bool = True,
        categorical: bool | str = "auto",
        solver: str = "auto",
        neighbors: str = "auto",
        reweight: str | None = None,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_local_neighbors = n_local_neighbors
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.scale = scale
        self.categorical = categorical
        self.solver = solver
        self.neighbors = neighbors
        self.reweight = reweight
        self.random_state = random_state

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to labelled and unlabelled samples.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or Dask array
            Training data. A Dask array is processed block by block and never loaded as a whole. It
            requires the dense solver, and supports neither localisation nor unlabelled samples.
        y : array-like of shape (n,) or (n, q)
            Response: numbers, datetimes, durations, or categories (strings, booleans). NaN, NaT,
            None, pandas' NA and masked entries mark unlabelled samples. Note that -1, which marks
            unlabelled samples in `sklearn.semi_supervised`, is an ordinary value here.

            Several responses must be numeric. A censored response is a structured array with a
            boolean "event" and a numeric "time" field, as in scikit-survival. Directions that
            affect the censoring are also found.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Additional unlabelled samples.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labelled samples. Only their ratios matter: a sample of weight 2 has the
            influence of two samples. Where the number of samples matters, as in tests, it is the
            effective sample size ``(sum w)^2 / sum w^2``. If weights are counts,
            repeat the samples by ``np.repeat`` instead. Samples of weight 0 are ignored. In the
            graph, every sample counts once. Unequal weights cannot be combined with
            `n_local_neighbors` or ``solver="paper"``.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, X_unlabeled, sample_weight)

    def _learn(self, data):
        if self.solver == "paper":
            self._learn_paper(data)
        else:
            super()._learn(data)

    def _learn_paper(self, data: LabelledData) -> None:
        """Estimate the directions by Algorithm 2 of the paper."""
        slices = self._slice_response(data)
        self.target_type_ = target_type(data.y)
        search = {"method": self.neighbors, "random_state": check_random_state(self.random_state)}
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        self.mean_ = X.mean(axis=0)
        self.solver_, self.ridge_ = "paper", 0.0 if self.ridge == "auto" else float(self.ridge)
        self.alpha_ = PAPER_ALPHA if self.alpha == "auto" else float(self.alpha)
        limit = min(slices.n_slices - 1, X.shape[1])
        check_sir_identified(self.n_components, limit)
        omega = slices.membership()
        if self._is_local(slices):
            omega = local_membership(X[: len(data.y)], slices, self.n_local_neighbors, **search)
            omega = pairwise_membership(omega, slices)
        self.eigenvalues_, B = paper_directions(
            X - self.mean_,
            omega,
            alpha=self.alpha_,
            n_neighbors=self.n_neighbors,
            rank=limit if isinstance(self.n_components, str) else int(self.n_components),
            ridge=self.ridge_,
            **search,
        )
        check_sir_identified(self.n_components, B.shape[1])
        self.n_components_ = B.shape[1]
        self.components_ = with_positive_peaks(B.T)
