"""Sliced inverse regression of arrays, of chunks, and of Dask arrays."""

from typing import Any, Self

import numpy as np

from .._checks import check_choice, check_integer, check_nonnegative, check_switch
from .._numerics._pencil import cholesky_basis
from .._numerics._solvers import DENSE_MAX_FEATURES
from .._typing import ArrayLike, LegacyRandomState
from ._projection import SupervisedProjection
from ._sir_problem import (
    MomentsProblem,
    RowsProblem,
    check_sir_identified,
    chi_square_is_valid,
    depends_on_units,
    solve_sir,
    warn_if_unidentified,
)
from .rows._columns import check_some_column_varies, drop_constant_columns
from .rows._dask_arrays import is_dask_array
from .rows._elliptical import elliptical_weights
from .rows._labels import KINDS, check_labels, target_type, warn_if_class_labels
from .rows._moments import SliceMoments
from .rows._reading import read_blocks, read_chunk, read_rows
from .selection._n_components import COMPONENT_WORDS, TESTED_WORDS
from .significance._direction_errors import direction_errors
from .significance._linearity import check_linearity, has_slice_per_value, linearity_sample
from .significance._sequential_tests import SIGNIFICANCE
from .significance._variance_tests import warn_if_dependence_unseen, warn_no_direction
from .slicing._chunks import ChunkSummary, SliceCoding, summarise_blocks
from .slicing._slices import slice_response, slice_within

SOLVERS = ("auto", "dense", "dual", "iterative", "randomized")
# in standard deviations: smaller means can be subtracted from the scatter without losing digits
HARMLESS_MEAN = 1.0
# the values that partial_fit and Dask arrays support
STREAMED = {"n_local_neighbors": (None,), "reweight": (None,), "solver": ("auto", "dense")}


class SlicedInverseRegression(SupervisedProjection):
    """Sliced inverse regression (SIR).

    Find the linear combinations of the features along which the mean of X changes with y.
    Unlabelled samples are ignored; `SemiSlicedInverseRegression` uses them.

    SIR finds directions of the central subspace if the mean of X is linear in the scores (the
    linearity condition, which holds for elliptical X). It finds all of them if each one affects the
    mean of X given y (the coverage condition) [1]_. A warning is raised if one of these conditions
    appears to fail. Given a categorical predictor as `group`, ``fit`` finds the directions that y
    depends on in addition to it (partial inverse regression [2]_).

    Parameters
    ----------
    n_components, n_slices, n_local_neighbors, ridge, scale, categorical, solver, reweight, \
    om_state
        As in `SemiSlicedInverseRegression`. ``ridge=0`` gives the digits of R's ``dr``.

    Attributes
    ----------
    components_, mean_, eigenvalues_, n_components_, n_slices_, slice_sizes_, target_type_, \
    e_, solver_, dimension_tests_, permutation_tests_, curvature_, \
    atures_in_, feature_names_in_
        As in `SemiSlicedInverseRegression`.

    References
    ----------
    .. [1] Li, "Sliced Inverse Regression for Dimension Reduction", JASA 86, 1991.
    .. [2] Chiaromonte, Cook and Li, "Sufficient Dimension Reduction in Regressions with Categorical
       Predictors", Ann. Statist. 30, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo import SlicedInverseRegression
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> sir = SlicedInverseRegression().fit(X, np.exp(X[:, 0] + X[:, 3]))
    >>> sir.n_components_
    1
    """

    _takes = KINDS
    _words = COMPONENT_WORDS
    _solvers: tuple[str, ...] = SOLVERS
    _coding: Any
    _seen: Any = None  # summary of the chunks so far
    _keys: Any
    _dtype: Any
    alpha: Any = 0.0  # parameters of SemiSlicedInverseRegression, without unlabelled samples
    n_neighbors = 7
    neighbors = "auto"

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_slices: int | ArrayLike = 10,
        n_local_neighbors: int | None = None,
        ridge: float | str = "auto",
        scale: Any = "auto",
        categorical: bool | str = "auto",
        solver: str = "auto",
        reweight: str | None = None,
        random_state: LegacyRandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_local_neighbors = n_local_neighbors
        self.ridge = ridge
        self.scale = scale
        self.categorical = categorical
        self.solver = solver
        self.reweight = reweight
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, n_features), or Dask array
            Training data. A Dask array is processed block by block.
        y : array-like of shape (n,) or (n, q)
            Response, as in `SemiSlicedInverseRegression`. Samples without a label are ignored.
        sample_weight : array-like of shape (n,), default=None
            Weights, as in `SemiSlicedInverseRegression`. With `group`, they must be counts.
        group : array-like of shape (n,), default=None
            Categorical predictor to adjust for, such as sex. X is centred and y is sliced within
            each category, and permutation tests permute within categories. The covariance of X
            should be the same in all categories. Cannot be combined with `reweight`,
            ``solver="paper"`` or a Dask array.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X, y, None, sample_weight, group)

    def _fit(self, X, y, X_unlabeled, sample_weight, group=None):
        self._check_parameters()
        if group is not None and (self.reweight is not None or is_dask_array(X)):
            raise ValueError(
                "group must be None with `reweight` or a Dask array, "
                f"got {self!r}. Use reweight=None and an array in memory."
            )
        if is_dask_array(X):
            return self._fit_blocks(X, y, X_unlabeled, sample_weight)
        data = read_rows(self, X, y, X_unlabeled, sample_weight)
        data = self._drop_constant_columns(self._select_samples(data), group)
        self._check_shape(*data.X_labeled.shape)
        self._reset()
        self._seen = None
        self.target_type_ = target_type(data.y)
        self._learn(data, self._slice_response(data))
        self._store_in_features(data.columns, data.X_labeled.dtype)
        return self

    def _learn(self, data, slices):
        problem = self._moments_problem(data, slices) or RowsProblem.from_data(self, data, slices)
        by_value = has_slice_per_value(data.y, slices)
        self._solve_and_check(problem, data.X_labeled, slices, by_value, data.columns)
        first = vars(self).get("dimension_tests_", {"p_value": [0.0]})["p_value"][0]
        is_fixed = not isinstance(self.n_components, str)
        if not self.n_components_ or (is_fixed and first > SIGNIFICANCE):
            rows = data.X_labeled, data.y, data.weights
            sees = "changes in the mean of X given y"
            warn_if_dependence_unseen(*rows, sees, found=self.n_components_, sees_means=True)

    def _moments_problem(self, data, slices):
        """Return the problem computed from moments, or None if the samples themselves are needed.

        Moments suffice for plain slices of many samples if T is well enough conditioned to be
        formed. They save centring, and copying, X.
        """
        n, d = data.X_labeled.shape
        valid = chi_square_is_valid(self.n_components, n, d, slices.counts)
        tested = self.n_components not in TESTED_WORDS or valid
        is_special = data.weights is not None or slices.groups is not None
        if depends_on_units(self, data, slices) or is_special or not tested or n <= d + 1:
            return None
        if self.solver == "auto" and d > DENSE_MAX_FEATURES:
            return None
        rows = data.X_labeled, slices.codes, slices.n_slices
        moments = SliceMoments.from_rows(*rows, safe_mean=HARMLESS_MEAN)
        return MomentsProblem.from_moments(self, moments, whiten=cholesky_basis)

    def _solve(self, problem):
        """Set the attributes of the solution, in the columns that vary."""
        is_ordered = self.target_type_ == "numeric" and problem.n_groups == 1
        settings = {"random_state": self.random_state, "is_ordered": is_ordered}
        solution = solve_sir(problem, self.n_components, **settings)
        self.eigenvalues_, self.components_, self.n_components_, tests = solution
        if "chi_square" in tests:
            self.dimension_tests_ = tests["chi_square"]
        if "permutation" in tests:
            self.permutation_tests_ = tests["permutation"]
        self.mean_, self.solver_ = problem.mean, problem.solver
        self.ridge_, self.alpha_ = problem.ridge, problem.alpha
        if problem.alpha_scores is not None:
            self.alpha_scores_ = problem.alpha_scores

    def _solve_and_check(self, problem, X, slices, by_value, columns):
        """Solve a problem, then check the linearity condition if tests chose the dimension."""
        if self.ridge != "auto":
            warn_if_unidentified(problem)
        self._solve(problem)
        if self.n_components in TESTED_WORDS:
            places = linearity_sample(*X.shape, slices.weights)
            names = vars(self).get("feature_names_in_")
            rows = X[places].astype(np.float64, copy=False)
            found = self.components_, self.n_components_
            kind = by_value, self.target_type_ == "categorical"
            self.curvature_ = check_linearity(
                rows, *found, slices.codes[places], *kind, columns, names
            )

    def _fit_blocks(self, X, y, X_unlabeled, sample_weight):
        """Fit to a Dask array block by block; y is loaded as a whole."""
        self._check_streamed("compute the Dask array first")
        y, labelled, weights = read_blocks(self, X, y, X_unlabeled, sample_weight)
        self._check_shape(*X.shape)
        slices = slice_response(y, self.n_slices, sample_weight=weights)
        self._reset()
        self.target_type_, self._seen, self._n_groups = target_type(y), None, 1
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        problem, columns = self._problem_of(summarise_blocks(X, labelled, slices))
        self._solve_and_check(problem, *problem.sample, has_slice_per_value(y, slices), columns)
        if not self.n_components_:
            warn_no_direction()
        self._store_in_features(columns, np.result_type(X.dtype, np.float32))
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Update the model with a chunk of labelled samples.

        After the last chunk, the result agrees with that of ``fit`` on all samples. Only the mean,
        the covariance matrix, the slice means and 2000 samples are stored, so the data need not fit
        in memory.

        The slices are plain and are fixed at the first call: by the edges given as `n_slices`, by
        `classes`, or by slicing the first chunk if `n_slices` is an integer. To use the slices of
        ``fit``, compute the edges on all of y with `slice_edges`.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Chunk of the training data.
        y : array-like of shape (n,)
            Response. Every sample must be labelled.
        classes : array-like of shape (H,), default=None
            All categories that y can take. Required at the first call if y holds categories;
            ignored later.
        sample_weight : array-like of shape (n,), default=None
            Weights, as in ``fit``. They are counts if they are integers in all chunks.

        Returns
        -------
        self : object
            `components_` is available as soon as the samples seen identify `n_components`
            directions. No warning is raised if no direction is found, since more chunks may follow.
            If Li's test is not valid, "auto" runs permutation tests on a random sample of 2000
            rows. `curvature_` is not computed.

        Raises
        ------
        ValueError
            If y holds NaN or a category that is not in `classes`; if `classes` is missing although
            ``categorical=True``, or given although ``categorical=False``; if a weight is negative;
            if `n_slices` has changed since the first call; or if `n_local_neighbors`, `reweight` or
            the solver require all samples at once. The model is then unchanged.

        Warns
        -----
        UserWarning
            If a slice defined by the first chunk holds most of the later samples, for example
            because the chunks are sorted by y.
        """
        self._check_parameters()
        self._check_streamed("use fit")
        first = self._seen is None
        if first:
            self._check_classes(classes)
        categories = classes is not None if first else self._coding.edges is None
        rows, labels, weights = read_chunk(
            self, X, y, sample_weight, reset=first, categories=categories
        )
        self._check_shape(*rows.shape)
        if not first:
            coding = self._coding
            coding.check_unchanged(self.n_slices)
        else:
            if classes is None and self.categorical == "auto":
                warn_if_class_labels(labels, self.n_slices, remedy="all of them as `classes`")
            coding = SliceCoding.from_first_chunk(labels, self.n_slices, classes, weights)
        check_sir_identified(self.n_components, coding.n_slices - 1)
        codes = coding.codes(labels)  # raises before the random state is used
        if first:
            self._keys = np.random.RandomState(0)
        keys = self._keys.random_sample(len(rows))
        seen = ChunkSummary.from_chunk(rows, codes, coding.n_slices, keys, weights)
        before = None if first else self._seen.moments.counts
        dtype = rows.dtype if first else np.result_type(self._dtype, rows.dtype)
        seen = seen if first else self._seen.merged(seen)
        self._reset()
        self._coding, self._dtype, self._seen = coding, dtype, seen
        self.target_type_ = "numeric" if coding.classes is None else "categorical"
        counts = seen.moments.as_effective_counts().counts
        self.slice_sizes_ = counts[counts > 0]
        self.n_slices_, self._n_groups = len(self.slice_sizes_), 1
        self._solve_if_identified()
        coding.warn_if_uneven(seen.moments.counts, before)
        return self

    def _problem_of(self, seen):
        """Return the problem of the chunks seen so far, and the columns that vary."""
        moments, columns = seen.moments.drop_constant_columns()
        if self._seen is None:
            check_some_column_varies(columns)
        return MomentsProblem.from_moments(self, moments, sample=seen.sample(columns)), columns

    def _solve_if_identified(self):
        """Fit to the chunks seen so far, unless they do not identify the directions yet."""
        least = 1 if isinstance(self.n_components, str) else self.n_components
        if self.n_slices_ <= least or not self._seen.moments.drop_constant_columns()[1].n_varying:
            return
        problem, columns = self._problem_of(self._seen)
        if problem.n_identified >= least:
            self._solve(problem)
            self._store_in_features(columns, self._dtype)

    def _check_streamed(self, remedy):
        """Reject parameters that need all samples at once."""
        for name, allowed in STREAMED.items():
            if (value := getattr(self, name)) not in allowed:
                choices = " or ".join(map(repr, allowed))
                raise ValueError(
                    f"{name} must be {choices} for chunks of samples, got {value!r}. Use "
                    f"{allowed[0]!r}, or {remedy}."
                )

    def _check_classes(self, classes):
        if self.categorical is True and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit if categorical=True, "
                "got None. Pass all categories that y can take."
            )
        if self.categorical is False and classes is not None:
            raise ValueError(
                f"classes must be None if categorical=False, got {classes!r}. Use "
                "categorical='auto'."
            )

    def _select_samples(self, data):
        """Drop samples that the parameters do not use, and apply `reweight`."""
        if self.alpha == 0 and self.solver != "paper":
            data = data.labelled_only()
        if (obstacle := self._weights_conflict()) is not None:
            data = data.without_weights(obstacle)
        if self.reweight == "elliptical":
            X = data.X_labeled.astype(np.float64, copy=False)
            data = data.reweighted(elliptical_weights(X, self.random_state))
            check_labels(data.y, len(X))
        return data

    def _weights_conflict(self):
        """Name the parameter that excludes weights, and the remedy; None if there is none."""
        if self.solver == "paper":
            return "with solver='paper'. Use solver='auto'."
        if self.n_local_neighbors is not None:
            return "with n_local_neighbors. Use n_local_neighbors=None."
        return None

    def _standard_errors(self, rows):
        if not hasattr(self, "dimension_tests_") or self.reweight is not None:
            return None
        slices = slice_within(rows.y, rows.groups, self.n_slices, sample_weight=rows.weights)
        if not slices.is_counted or not np.array_equal(slices.counts, self.slice_sizes_):
            return None
        rows = drop_constant_columns(rows)
        errors = direction_errors(rows.X_labeled, slices, len(self.components_))
        return None if errors is None else rows.columns.expand(errors)

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("solver", self.solver, self._solvers)
        check_nonnegative("ridge", self.ridge, special="'auto'")
        check_switch("scale", self.scale)
        check_choice("reweight", self.reweight, [None, "elliptical"])
        if self.reweight is not None and (obstacle := self._weights_conflict()) is not None:
            raise ValueError(f"reweight must be None {obstacle} Got {self.reweight!r}.")
        check_integer("n_local_neighbors", self.n_local_neighbors, 2, special="None")
