"""Semi-supervised, localised sliced inverse regression."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo._typing import ArrayLike, LegacyRandomState

from .._checks import check_choice, check_integer, check_nonnegative
from ._sir import SOLVERS, SlicedInverseRegression
from ._sir_problem import check_sir_identified, is_plain
from .rows._centering import with_positive_peaks
from .slicing._neighborhoods import NEIGHBORS, local_membership
from .slicing._paper import pairwise_membership, paper_directions

PAPER_ALPHA = 1.0  # what alpha="auto" is for Algorithm 2, whose span does not depend on it


class SemiSlicedInverseRegression(SlicedInverseRegression):
    """Directions along which X varies with y, learnt from labelled and unlabelled rows.

    Labelled rows are sliced by their response. The components solve ``Gamma b = lambda T b``: Gamma
    is the scatter of the (local) slice means, and T that of the labelled rows. Unlabelled rows add
    to T the roughness of the scores along a nearest-neighbour graph over all rows [1]_. With
    neither localisation nor unlabelled rows this is sliced inverse regression as in R's ``dr``
    [2]_; with categories for y its space is that of linear discriminant analysis.

    With several responses a row, the slices are clusters of the responses (k-means inverse
    regression [7]_): directions that any of them, or their dependence on each other, needs. A
    censored response is sliced twice, where there was an event and where there was none [9]_.

    Unlabelled rows help when the active structure is locally smooth and labels are few; they do
    not help in general. So by default `alpha` is chosen by cross-validation, 0 among its values,
    and `alpha_scores_` says what they were worth.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        Number of directions. "auto" tests at level .05 whether 0, 1, ... directions suffice: by
        Li's chi-square statistic where that is valid (plain slices, no penalty, no ridge, at least
        three labelled rows a feature and a slice, no slice of few rows), elsewhere by permutation
        [4]_. The answer can be 0: `n_components_` is 0 then, `components_` keeps one direction, and
        a warning says so. "permutation" takes these everywhere. "criterion" maximises an
        information criterion of the spectrum [5]_: cheap, at least 1.
    n_slices : int or array-like of increasing edges, default=10
        Slices aimed at, or the values at which to cut; clusters, where a row has several responses.
        R's rule gives a slice at least two rows, so that few rows have fewer slices, whatever is
        asked for: `n_slices_` tells how many.
    n_local_neighbors : int or None, default=None
        Localises the slices [3]_: each row is replaced by the mean of that many nearest rows of
        its slice, itself included. None, or any number not below the size of every slice, gives
        plain slices.
    alpha : "auto" or float, default="auto"
        Weight of the unlabelled rows: the penalty is alpha n_l times the mean squared difference
        of the scores along an edge. Not used when every row is labelled. "auto" is the best of 0,
        .1, 1, 10 and 100 in ten folds over the labelled rows, and 0 unless another explains more
        of the rows held out by one standard error.
    n_neighbors : int, default=7
        Neighbours of each row in the graph.
    ridge : "auto" or float, default="auto"
        Added to T, relative to ``tr(T) / n_features``. "auto" is 0 from 12 labelled rows a feature
        on; below that it minimises the generalised cross-validation error of a ridge regression on
        the mid-ranks of the slices, or on class indicators. ``solver="paper"`` adds a number bare
        to ``M = I + alpha L``, and nothing for "auto".
    scale : {"auto", True, False}, default="auto"
        Divide every column by its standard deviation before ridge and graph see it, so that
        neither depends on units. True does so for the neighbours of localised slices too, which
        "auto" seeks among X as given [3]_; False does not at all. `components_` are for X as given.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, a slice each. "auto" takes strings, booleans, pandas' categories
        and other objects for categories; numbers, of type object too, for numbers, with a warning
        where they are integers of many rows each.
    solver : {"auto", "dense", "dual", "iterative", "randomized", "paper"}, default="auto"
        "dense" forms T, "dual" the Gram matrix of the rows, where features outnumber them; both are
        exact. "iterative" uses conjugate gradients and forms neither. "randomized" finds the
        leading directions by a randomised range finder, accurate to a residual of 1e-10; it is
        faster than the exact solvers for localised slices and many features. "paper" is Algorithm 2
        of [1]_ as printed, which cannot use the unlabelled rows; kept to reproduce the paper.
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        How neighbours are found; "auto" takes pynndescent (approximate) above 80 000 rows.
    reweight : {None, "elliptical"}, default=None
        "elliptical" weighs the labelled rows so that X looks normal about its robust centre [8]_,
        as R's ``dr.weights``, and the linearity condition holds nearly: for skewed X, whose curves
        plain slicing returns as directions. It costs a quarter of normal rows and three fifths of
        lognormal ones, tests then reject far too seldom, and it helps little where X is
        discrete. `sample_weight` multiplies these weights.
    random_state : int, RandomState instance or None, default=None
        Used by pynndescent, by the solvers "iterative", "randomized" and "paper", and by the
        permutation tests and `reweight`, which draw from a fixed seed when it is None.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions b scaled so that ``b'Tb`` is the number of labelled rows: without penalty and
        ridge the labelled scores have unit variance. For numeric y the first score rises with y;
        elsewhere the largest entry of each row is positive. At least one row, also where
        `n_components_` is 0.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled rows (of all rows with ``solver="paper"``).
    eigenvalues_ : ndarray of shape (p,)
        All eigenvalues that the solver knows, falling; in [0, 1] for plain slices without penalty,
        at least 0 otherwise.
    n_components_ : int
        0 where ``n_components="auto"`` found none.
    n_slices_ : int
    slice_sizes_ : ndarray of shape (n_slices,)
        Labelled rows in each slice, or the sums of their weights.
    target_type_ : {"numeric", "categorical", "multivariate", "censored"}
        What y was taken for.
    alpha_ : float
        The weight used; 0.0 when every row is labelled, unless ``solver="paper"``.
    alpha_scores_ : dict
        Only where alpha was chosen: "alpha", "error" (share of the response's (weighted) variance
        left unexplained in rows held out), "gain" over alpha = 0, its "standard_error", ndarrays;
        and "verdict", a sentence that says what the unlabelled rows were worth.
    ridge_ : float
        The relative ridge used.
    solver_ : str
        The solver used.
    dimension_tests_ : dict of ndarray
        "n_components", "statistic", "df", "p_value" of Li's tests; only for plain slices without
        penalty and ridge. With fewer than three rows a feature and a slice, where "auto" shuffles
        rows in their place, they reject too seldom: .01 to .02 for .05.
    permutation_tests_ : dict of ndarray
        "n_components", "statistic", "p_value", "n_permutations", to the first k accepted; where
        they chose. With relative weights the larger p-value of two: weights stay with y, or with X.
    curvature_ : ndarray of shape (n_features,)
        Share of each feature's variance that squares and products of the scores explain beyond
        the scores: near 0 where slicing's linearity condition holds. NaN where there are too few
        rows to tell, fewer than three a feature. Only where a word asks for tests, and not after
        ``partial_fit``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only when X has feature names that are all strings.

    Raises
    ------
    ValueError
        From ``fit``, for a parameter outside its range, fewer than two labels, a constant or
        infinite y, or an explicit `n_components` above the number of directions identified.

    Warns
    -----
    UserWarning
        When "auto" finds no direction, or the linearity condition fails: a feature is curved along
        those it finds (x2 near x1^2), or those after the first bend along it. When little is found
        where the variance of X within slices depends on y, which SAVE sees. When an integer y of
        many repeated values is cut as numbers. When ``ridge=0`` leaves nothing identified.

    Notes
    -----
    Float32 rows have float32 `components_`, from double precision; plain slices copy none of them.

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

    _solvers = (*SOLVERS, "paper")

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 10,
        n_local_neighbors: int | None = None,
        alpha: float | str = "auto",
        n_neighbors: int = 7,
        ridge: float | str = "auto",
        scale: Any = "auto",
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
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or Dask array
            The blocks of a Dask array are read one after the other and never put together: plain
            slices, the exact solver, no graph.
        y : array-like of shape (n,) or (n, q)
            Numbers, datetimes or durations; or categories (strings, booleans). NaN, NaT, None,
            pandas' NA or a masked entry marks an unlabelled row. Several responses are numbers.
            -1, by which `sklearn.semi_supervised` marks a row, is a number or a class like any
            other. A censored response is a structured array of an event (boolean) and a time
            (number) a row, as scikit-survival has it: times are cut in slices where there was an
            event, and apart where there was none. Directions of the censoring are found too.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Further unlabelled rows.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labels. An array of integers holds counts: a row of weight 3 is three
            rows, for tests and choices too. Floats are relative, and scaled to sum to the effective
            number of rows (Kish 1965). In the graph every row counts once, labelled or not. Rows of
            weight 0 are left out; an unlabelled row has no other use for its weight. Weights that
            differ are refused with `n_local_neighbors` and with ``solver="paper"``.

        Returns
        -------
        self
        """
        return self._fit(X, y, X_unlabeled, sample_weight)

    def _learn(self, data, slices):
        if self.solver == "paper":
            return self._learn_as_printed(data, slices)
        return super()._learn(data, slices)

    def _check_parameters(self):
        super()._check_parameters()
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_nonnegative("alpha", self.alpha, special="'auto'")

    def _learn_as_printed(self, data, slices):
        """Algorithm 2 of the paper."""
        random_state = check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        self.mean_ = X.mean(axis=0)
        self.solver_, self.ridge_ = "paper", 0.0 if self.ridge == "auto" else float(self.ridge)
        self.alpha_ = PAPER_ALPHA if self.alpha == "auto" else float(self.alpha)
        limit = min(slices.n_slices - 1, data.columns.n_varying)
        check_sir_identified(self.n_components, limit)
        omega = slices.membership()
        if not is_plain(self, slices):
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
