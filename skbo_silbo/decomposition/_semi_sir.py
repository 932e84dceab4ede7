"""Semi-supervised, localised sliced inverse regression."""

from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from skbo_silbo._typing import ArrayLike, LegacyRandomState

from .._checks import check_choice, check_integer, check_nonnegative, check_switch, warn_user
from .._numerics._pencil import Pencil
from .._numerics._solver_choice import DENSE_MAX_FEATURES, choose_solver
from .._numerics._solvers import PENCIL_SOLVERS
from .._numerics._whitening import cholesky_basis
from ._chunks import ChunkedSlicing
from ._projection import LinearProjection
from ._sir_dimension import ChosenDimension
from ._supervised import Supervised
from .rows._centering import center_on_labels, with_positive_peaks
from .rows._columns import varying_part
from .rows._dask_arrays import is_dask_array
from .rows._elliptical import elliptical_weights
from .rows._labels import check_labels, target_type
from .rows._moments import SliceMoments
from .selection._alpha import choose_alpha
from .selection._n_components import COMPONENT_WORDS, TESTED_WORDS
from .selection._ridge import ROWS_PER_FEATURE, choose_ridge
from .significance._direction_errors import direction_errors
from .significance._linearity import rows_to_look_at
from .significance._nothing_found import warn_of_unseen
from .significance._slice_tests import check_room_for_tests
from .slicing._neighborhoods import column_scales, graph_penalty, local_membership
from .slicing._paper import pairwise_membership, paper_directions
from .slicing._slices import slice_within

SOLVERS = ("auto", "dense", "dual", "iterative", "randomized", "paper")
NEIGHBORS = ("auto", "brute", "pynndescent")

# means up to this many standard deviations are taken off the scatter without loss of digits
HARMLESS_MEAN = 1.0
PAPER_ALPHA = 1.0  # what alpha="auto" is for Algorithm 2, whose span does not depend on it


class SemiSlicedInverseRegression(ChunkedSlicing, ChosenDimension, Supervised, LinearProjection):
    """Directions along which X varies with y, learnt from labelled and unlabelled rows.

    Labelled rows are sliced by their response. The components solve ``Gamma b = lambda T b``: Gamma
    is the scatter of the (local) slice means, and T that of the labelled rows. Unlabelled rows add
    to T the roughness of the scores along a nearest-neighbour graph over all rows [1]_. With
    neither localisation nor unlabelled rows this is sliced inverse regression as in R's ``dr``
    [2]_; with categories for y its space is that of linear discriminant analysis.

    With several responses a row, the slices are clusters of the responses (k-means inverse
    regression [7]_): directions that any of them, or their dependence on each other, needs. A
    censored response is sliced twice, where there was an event and where there was none [10]_.

    Unlabelled rows help when the active structure is locally smooth and labels are few; they do
    not help in general. So by default `alpha` is chosen by cross-validation, 0 among its values,
    and `alpha_scores_` says what they were worth.

    Parameters
    ----------
    n_components : "auto", "permutation", "criterion" or int, default="auto"
        Number of directions. "auto" tests at level .05 whether 0, 1, ... directions suffice: by
        Li's chi-square statistic where that is valid (plain slices, no penalty, no ridge, at least
        three labelled rows a feature and a slice, no slice of few rows), elsewhere by permutation
        [4]_, or, of chunks (``partial_fit``), by random rotation [8]_. The answer can be 0:
        `n_components_` is 0 then, `components_` keeps one direction, and a warning says so.
        "permutation" takes these wherever there are rows to shuffle. "criterion" maximises an
        information criterion of the spectrum [5]_: cheap, at least 1.
    n_slices : int or array-like of increasing edges, default=10
        Slices aimed at (`n_slices_` tells how many R's rule gave), or the values at which to cut;
        clusters, where a row has several responses.
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
        "dense" forms T, "dual" the Gram matrix of the rows; both are exact. "iterative" uses
        conjugate gradients and forms neither. "randomized" finds the leading directions of
        localised slices by Lanczos iteration. "paper" is Algorithm 2 of [1]_ as printed,
        which cannot use the unlabelled rows; kept to reproduce the paper.
    neighbors : {"auto", "brute", "pynndescent"}, default="auto"
        How neighbours are found; "auto" takes pynndescent (approximate) above 80 000 rows.
    reweight : {None, "elliptical"}, default=None
        "elliptical" weighs the labelled rows so that X looks normal about its robust centre [9]_,
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
        ridge the labelled scores have unit variance. The largest entry of each is positive. At
        least one row, also where `n_components_` is 0.
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
    rotation_tests_ : dict of ndarray
        The same after ``partial_fit``, which has no rows to shuffle: for normal X [8]_.
    curvature_ : ndarray of shape (n_features,)
        Share of each feature's variance that squares and products of the scores explain beyond
        the scores: near 0 where slicing's linearity condition holds. NaN where there are too few
        rows to tell, fewer than three a feature. Only where a word asks for tests, and not after
        ``partial_fit``, which keeps no rows to look at.
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
    .. [8] Langsrud, "Rotation Tests", Stat. Comput. 15, 2005.
    .. [9] Cook and Nachtsheim, "Reweighting to Achieve Elliptically Contoured Covariates in
       Regression", JASA 89, 1994.
    .. [10] Li, Wang and Chen, "Dimension Reduction for Censored Regression Data", Ann. Statist. 27,
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

    _takes_responses = True
    _takes_censored = True
    _component_words = COMPONENT_WORDS
    _passing = (
        "alpha_scores_",
        "curvature_",
        "dimension_tests_",
        "permutation_tests_",
        "rotation_tests_",
    )

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

    def fit(
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
            Numbers, NaN marking an unlabelled row; or categories (strings, booleans), None, NaN or
            pandas' NA marking an unlabelled row. Several responses are numbers. -1, by which
            `sklearn.semi_supervised` marks a row, is a number or a class like any other. A
            censored response is a structured array of an event (boolean) and a time (number) a
            row, as scikit-survival has it: times are cut in slices where there was an event, and
            apart where there was none. Directions of the censoring are found too.
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
        if is_dask_array(X):
            return self._fit_blocks(X, y, X_unlabeled, sample_weight)
        return self._fit_rows(*self._part(X, y, X_unlabeled, sample_weight))

    def _fit_rows(self, data, slices):
        self._begin(data.y, slices, data.columns)
        if self.solver == "paper":
            self._learn_as_printed(data, slices)
        else:
            if not self._fit_moments(data, slices):
                self._learn(data, slices)
            if self._found_little():
                rows = data.X_labeled, data.y, data.weights
                sees = "directions along which the mean of X given y moves"
                warn_of_unseen(*rows, sees, found=self.n_components_, sees_means=True)
        self._store_in_features(data.columns)
        return self

    def _learn(self, data, slices):
        random_state = check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        X, self.mean_ = center_on_labels(data)
        X = slices.weighted(X)
        scale = self._standardise(X, data, slices)
        near = self._near_rows(X[: len(data.y)], scale, slices)
        omega = self._omega(near, slices, search)
        pencil = self._build_pencil(X, slices, omega, search)
        if self.n_components in TESTED_WORDS:
            check_room_for_tests(pencil)
        self.solver_ = self._choose_solver(pencil)
        solve, n_wanted = PENCIL_SOLVERS[self.solver_], self._n_wanted(pencil.omega.shape[1])
        spectrum = solve(pencil, n_wanted, random_state)
        plain, penalised = self._is_plain(slices), pencil.penalty is not None
        self._store_spectrum(spectrum, slices.n_rows, plain=plain, penalised=penalised)
        self.n_components_ = self._choose_n_components(
            slices.n_rows, plain, lambda: self._shuffle(pencil, slices, near)
        )
        self._store_components(spectrum, slices.n_rows, scale)
        if self.n_components in TESTED_WORDS:
            n, d = pencil.X_labeled.shape
            places = rows_to_look_at(n, d, slices.weights)
            rows = slices.unweighted(pencil.X_labeled)[places]
            self._look_at_curvature(rows, self.components_ * scale, data.y, slices, places)

    def _choose_solver(self, pencil):
        if self.solver != "auto":
            return self.solver
        counted = isinstance(self.n_components, Integral)
        return choose_solver(pencil, relative_ridge=self.ridge_, counted=counted)

    def _fit_moments(self, data, slices):
        """Fit from the moments of the rows, which need not be centred; False where they do not do.

        Plain slices of many rows need no more, unless T is too ill-conditioned to be formed.
        """
        n, d = data.X_labeled.shape
        tested = self.n_components not in TESTED_WORDS or self._has_rows_to_test(n)
        ridged = self._depends_on_units(slices, len(data.X_unlabeled))
        if ridged or data.weights is not None or not tested or n <= d + 1:
            return False
        if self.solver == "auto" and d > DENSE_MAX_FEATURES:
            return False
        moments = SliceMoments.of(
            data.X_labeled, slices.codes, slices.n_slices, safe_mean=HARMLESS_MEAN
        )
        if not self._solve_moments(moments, cholesky_basis):
            return False
        if self.n_components in TESTED_WORDS:
            places = rows_to_look_at(n, d)
            rows = data.X_labeled[places].astype(np.float64, copy=False)
            self._look_at_curvature(rows, self.components_, data.y, slices, places)
        return True

    def _usable(self, data):
        if self.alpha == 0 and self.solver != "paper":
            data = data.labelled_only()
        if (obstacle := self._no_weights_because()) is not None:
            data = data.without_weights(obstacle)
        if self.reweight == "elliptical":
            X = data.X_labeled.astype(np.float64, copy=False)
            data = data.reweighted(elliptical_weights(X, self.random_state))
            check_labels(data.y, len(X))
        return data

    def _no_weights_because(self):
        """Say which parameter weights cannot go with, and the remedy; None where they can."""
        if self.n_local_neighbors is not None:
            return (
                "with n_local_neighbors: a row's weight moves no neighbour. Use "
                "n_local_neighbors=None."
            )
        if self.solver == "paper":
            return "with solver='paper', which knows no weights. Use solver='auto'."
        return None

    def _begin(self, y, slices, columns):
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        self._columns = columns
        self._n_groups, self._moments, self._is_solved = slices.n_groups, None, True
        self.target_type_ = target_type(y)

    def _standard_errors(self, rows):
        if not hasattr(self, "dimension_tests_") or self.reweight is not None:
            return None
        slices = slice_within(rows.y, rows.groups, self.n_slices, sample_weight=rows.weights)
        if not slices.is_counted or not np.array_equal(slices.counts, self.slice_sizes_):
            return None
        rows = varying_part(rows)
        errors = direction_errors(rows.X_labeled, slices, len(self.components_))
        return None if errors is None else rows.columns.spread(errors)

    def _check_parameters(self):
        super()._check_parameters()
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        for name in ("alpha", "ridge"):
            check_nonnegative(name, getattr(self, name), special="'auto'")
        check_switch("scale", self.scale)
        if self.reweight is not None:
            if self.reweight != "elliptical":
                raise ValueError(f"reweight must be None or 'elliptical': got {self.reweight!r}.")
            if (obstacle := self._no_weights_because()) is not None:
                raise ValueError(f"reweight must be None {obstacle} Got {self.reweight!r}.")
        check_integer("n_local_neighbors", self.n_local_neighbors, 2, special="None")

    def _standardise(self, X, data, slices):
        """Divide the columns of X in place where units would matter; return by what."""
        if not (self.scale and self._depends_on_units(slices, len(data.X_unlabeled))):
            return 1.0
        scale = column_scales(X, slices)
        X /= scale
        return scale

    def _near_rows(self, X_labeled, scale, slices):
        """Rows among which localised slices seek neighbours; None for plain slices."""
        if self._is_plain(slices):
            return None
        return X_labeled if self.scale is True else X_labeled * scale

    def _depends_on_units(self, slices, n_unlabeled):
        """Tell whether units matter: plain slices of many rows have neither ridge nor graph."""
        ridged = self.ridge != 0 and (
            self.ridge != "auto" or slices.n_rows < ROWS_PER_FEATURE * self._columns.n_varying
        )
        exact = self.solver in ("auto", "dense") and slices.n_rows > self._columns.n_varying
        return ridged or not exact or not self._is_plain(slices) or n_unlabeled > 0

    def _build_pencil(self, X, slices, omega, search):
        n_labeled = len(slices.codes)
        labelled = X[:n_labeled]
        ridge_of = self._ridge_rule(labelled, slices)
        penalty = self._penalty(X, slices, ridge_of, search)
        pencil = Pencil(
            labelled if penalty is None else X,
            n_labeled,
            omega,
            penalty,
            root_weights=slices.root_weights,
        )
        if self.ridge != "auto":
            self.ridge_ = self._given_ridge(n_labeled, penalised=penalty is not None)
            return pencil.with_relative_ridge(self.ridge_)
        rho = ridge_of(None)
        self.ridge_ = float(rho / pencil.mean_scatter()) if rho else 0.0
        return replace(pencil, ridge=rho)

    def _ridge_rule(self, X_labeled, slices):
        """Absolute ridge as a function of the trace of T."""
        if self.ridge == "auto":
            by_slice = self.target_type_ != "numeric" or slices.groups is not None
            rho = choose_ridge(X_labeled, slices, by_slice)
            return lambda trace: rho
        return lambda trace: self.ridge * trace / X_labeled.shape[1]

    def _penalty(self, X, slices, ridge_of, search):
        """Graph penalty times alpha, or None; sets `alpha_`."""
        self.alpha_ = 0.0
        if len(X) == len(slices.codes):
            return None
        penalty = self._unit_penalty(X, slices, search)
        if self.alpha == "auto":
            unit = Pencil(X, len(slices.codes), slices.membership(), penalty)
            self.alpha_, self.alpha_scores_ = choose_alpha(
                unit,
                slices,
                ridge=ridge_of,
                categorical=self.target_type_ != "numeric",
                n_components=None if isinstance(self.n_components, str) else self.n_components,
            )
        else:
            self.alpha_ = float(self.alpha)
        return self.alpha_ * penalty if self.alpha_ else None

    def _unit_penalty(self, X, slices, search):
        """Penalty of alpha = 1; with `scale`, near rows are near in units of all rows' spread.

        In the graph every row counts once: weights are of labels.
        """
        near = slices.unweighted(X)
        if self.scale:
            spread = near.std(axis=0)
            near = near / np.where(spread > 0, spread, 1.0)
        n = len(slices.codes)
        penalty = graph_penalty(near, n, slices.n_rows / n, self.n_neighbors, **search)
        return slices.penalty_of_weighted(penalty)

    def _omega(self, near, slices, search):
        if near is None:
            return slices.membership()
        return local_membership(near, slices, self.n_local_neighbors, **search)

    def _is_plain(self, slices):
        return self.n_local_neighbors is None or self.n_local_neighbors >= slices.counts.max()

    def _given_ridge(self, n_labeled, penalised):
        """Return the ridge given by hand; without one, say where nothing is identified."""
        if self.ridge == 0 and n_labeled - 1 <= self._columns.n_varying and not penalised:
            warn_user(
                f"{n_labeled} labelled rows do not identify directions among "
                f"{self._columns.n_varying} features when ridge=0 and no unlabelled row is used: "
                "every eigenvalue is 1 and any split of y is fitted exactly. Use ridge='auto', or "
                "unlabelled rows with alpha > 0."
            )
        return float(self.ridge)

    def _store_components(self, spectrum, n_labeled, scale):
        directions = np.sqrt(n_labeled) * spectrum.directions[:, : max(self.n_components_, 1)]
        self.components_ = with_positive_peaks(directions.T / scale)

    def _learn_as_printed(self, data, slices):
        """Algorithm 2 of the paper."""
        random_state = check_random_state(self.random_state)
        search = {"method": self.neighbors, "random_state": random_state}
        X = np.concatenate([data.X_labeled, data.X_unlabeled], dtype=np.float64)
        self.mean_ = X.mean(axis=0)
        self.solver_, self.ridge_ = "paper", 0.0 if self.ridge == "auto" else float(self.ridge)
        self.alpha_ = PAPER_ALPHA if self.alpha == "auto" else float(self.alpha)
        limit = min(slices.n_slices - 1, data.columns.n_varying)
        self._check_identified(limit)
        omega = self._omega(self._near_rows(X[: len(data.y)], 1.0, slices), slices, search)
        if not self._is_plain(slices):
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
        self._check_identified(B.shape[1])
        self.n_components_ = B.shape[1]
        self.components_ = with_positive_peaks(B.T)
