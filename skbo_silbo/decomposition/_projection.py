"""Base class of the dimension-reduction transformers."""

from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_pairs_fit, check_seed, check_switch
from .._typing import ArrayLike, BlockArray, FloatArray
from ._summary import format_summary
from .rows._columns import center_within_groups, drop_constant_columns
from .rows._dask_arrays import FLOATS, check_in_memory, is_dask_array, map_blocks
from .rows._labels import split_as_fitted
from .rows._reading import read_rows
from .selection._n_components import check_enough_rows, check_n_components
from .slicing._slices import check_n_slices, slice_within

OPTIONAL_ATTRIBUTES = (
    *("components_", "mean_", "eigenvalues_", "n_components_", "alpha_scores_", "curvature_"),
    *("dimension_tests_", "permutation_tests_", "bootstrap_tests_"),
    *("length_scale_", "signal_variance_", "noise_", "log_marginal_likelihood_"),
    *("n_refinements_", "scale_"),
)  # fitted attributes that are not set by every fit, and so must be deleted before the next one


class SupervisedProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of transformers with ``components_`` (r, d) and ``mean_`` (d,).

    A subclass implements ``_learn(data, slices)``, which sets the fitted attributes in the columns
    that vary, or overrides ``fit``. It may have parameters `n_slices` and `categorical`.
    """

    _takes: tuple[str, ...] = ("numeric",)  # types of y, as in `split_labelled`
    _by_value = False  # whether the values of a numeric y matter, not only their order
    _words: tuple[str, ...] = ("auto",)  # values of n_components other than integers
    _forms_pairs = False  # whether fit forms a matrix of all pairs of labelled samples
    _needs_rows = False  # whether fit needs more labelled samples than features
    n_components: Any
    n_features_in_: int
    components_: Any
    mean_: Any

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training data.
        y : array-like of shape (n,), or (n, q) if the class supports several responses
            Response: numbers, or another type that the class supports. Samples whose y is NaN, NaT,
            None, pandas' NA or masked are unlabelled and ignored.
        sample_weight : array-like of shape (n,), default=None
            Integers are counts: a sample of weight 3 is equivalent to three samples, also in tests.
            Floats are relative; they are scaled to sum to the effective sample size ``(sum w)^2 /
            sum w^2``.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is outside its range, there are too few labelled samples, y or every
            column of X is constant, or `n_components` exceeds the number of identified directions.
        """
        return self._fit_within(X, y, sample_weight)

    def _fit_within(self, X, y, sample_weight=None, group=None):
        """Fit, centring X and slicing y within the categories of `group` if given."""
        self._check_parameters()
        data = read_rows(self, X, y, None, sample_weight)
        data = self._drop_constant_columns(data.labelled_only(), group)
        self._check_shape(*data.X_labeled.shape)
        self._reset()
        self._learn(data, self._slice_response(data))
        self._store_in_features(data.columns, data.X_labeled.dtype)
        return self

    def _learn(self, data, slices):
        raise NotImplementedError

    def _check_parameters(self):
        if hasattr(self, "n_slices"):
            check_n_slices(self.n_slices)
            check_switch("categorical", self.categorical)
        if hasattr(self, "random_state"):
            check_seed(self.random_state)

    def _check_shape(self, n, d):
        """Validate the parameters against n labelled samples of d non-constant columns."""
        check_n_components(self.n_components, self.n_features_in_, self._words)
        if self._forms_pairs:
            check_pairs_fit(type(self).__name__, n)
        if self._needs_rows:
            check_enough_rows(type(self).__name__, n, d)

    def _drop_constant_columns(self, data, group=None):
        names = vars(self).get("feature_names_in_")
        return drop_constant_columns(center_within_groups(data, group), names)

    def _slice_response(self, data):
        """Return the slices of y; two slices for diagnostics if the class has no `n_slices`."""
        if not hasattr(self, "n_slices"):
            return slice_within(data.y, None, 2, sample_weight=data.weights)
        slices = slice_within(data.y, data.groups, self.n_slices, sample_weight=data.weights)
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        self._n_groups = slices.n_groups
        return slices

    def _reset(self):
        """Delete attributes of an earlier fit."""
        for name in OPTIONAL_ATTRIBUTES:
            vars(self).pop(name, None)

    def _store_in_features(self, columns, dtype):
        """Expand the fitted attributes from the columns that vary to all features."""
        self.mean_ = columns.expand_point(self.mean_)
        self.components_ = columns.expand(self.components_).astype(dtype, copy=False)

    @overload
    def transform(self, X: BlockArray) -> Any: ...
    @overload
    def transform(self, X: ArrayLike) -> FloatArray: ...
    def transform(self, X: Any) -> Any:
        """Project X on the components.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array
            Samples.

        Returns
        -------
        Z : ndarray of shape (n, n_components_), or Dask array
            Scores; ``(X - mean_) @ components_.T`` for linear methods. Float32 if X is. For a Dask
            array, the result is lazy.
        """
        check_is_fitted(self)
        if is_dask_array(X):
            return map_blocks(self.transform, X, self._n_features_out)
        check_in_memory("X", X)
        return self._scores(validate_data(self, X, reset=False, dtype=FLOATS))

    @overload
    def inverse_transform(self, Z: BlockArray) -> Any: ...
    @overload
    def inverse_transform(self, Z: ArrayLike) -> FloatArray: ...
    def inverse_transform(self, Z: Any) -> Any:
        """Map scores back to the feature space.

        Parameters
        ----------
        Z : array-like of shape (n, n_components_), or Dask array
            Scores.

        Returns
        -------
        X : ndarray of shape (n, d), or Dask array
            The points closest to ``mean_`` that have these scores, so that ``transform(X)`` returns
            Z. Float32 if Z is.
        """
        check_is_fitted(self)
        if is_dask_array(Z):
            return map_blocks(self.inverse_transform, Z, self.n_features_in_)
        check_in_memory("Z", Z)
        scores = check_array(Z, dtype=FLOATS, input_name="Z")
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z must have n_components_ = {self._n_features_out} columns, got "
                f"{scores.shape[1]}. Pass scores returned by transform."
            )
        return self._lift(scores)

    def _scores(self, X):
        mean, components = self.mean_.astype(X.dtype), self.components_.astype(X.dtype)
        return (X - mean) @ components.T

    def _lift(self, Z):
        return Z @ np.linalg.pinv(self.components_).T.astype(Z.dtype) + self.mean_.astype(Z.dtype)

    def __sklearn_is_fitted__(self):
        return "n_components_" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = "multivariate" in self._takes
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def summary(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> str:
        """Summarise the fit: slices, directions, eigenvalues and tests, as R's ``dr`` prints them.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            Training samples. If X and y are given, the summary also reports the number of samples
            and R^2(OLS|dr), the share of the variance of the least-squares fit that is linear in
            the first 1, 2, ... scores. For sliced inverse regression without ridge, penalty and
            reweighting, it also reports standard errors of the directions by the delta method,
            which do not assume a distribution of X.
        y : array-like of shape (n,) or (n, q), default=None
            Response passed to ``fit``.
        sample_weight : array-like of shape (n,), default=None
            Weights passed to ``fit``. Standard errors require counts.
        group : array-like of shape (n,), default=None
            Groups passed to ``fit``. All statistics are then computed after centring within groups.

        Returns
        -------
        str
            Text that prints as a table. Basis vectors have unit length. Standard errors refer to
            `components_`, divided by the same length, so that the ratio of an entry to its error is
            a z-value. They include rotations within the subspace, unlike `bootstrap_directions`.
            Kernel methods have no basis vectors.

        Raises
        ------
        ValueError
            If X, y and `group` do not match the slices of ``fit``.
        """
        check_is_fitted(self)
        if X is None or y is None:
            return format_summary(self)
        rows = split_as_fitted(self, X, y, sample_weight=sample_weight).labelled_only()
        rows = center_within_groups(rows, group)
        self._check_same_rows(rows)
        return format_summary(self, rows, self._standard_errors(rows))

    def _check_same_rows(self, rows):
        """Raise ValueError if the samples do not match the slices of the fit."""
        n_groups = 1 if rows.groups is None else int(rows.groups.max()) + 1
        if n_groups != (fitted := getattr(self, "_n_groups", 1)):
            raise ValueError(
                f"group must be the one passed to fit, which had {fitted} categories (1 if group "
                f"was None), got {n_groups}. Pass the same column to summary."
            )
        sizes = getattr(self, "slice_sizes_", None)
        if sizes is None or getattr(self, "reweight", None) is not None:
            return
        if not np.isclose(np.sum(sizes), rows.n_rows):
            raise ValueError(
                f"X and y must be the training samples: got {rows.n_rows:g} labelled samples, but "
                f"fit used {np.sum(sizes):g}. Pass the X, y and sample_weight given to fit."
            )

    def _standard_errors(self, rows):
        """Return standard errors (r, d) of `components_`, or None if there are none."""

    @property
    def _n_features_out(self):
        return len(self.components_)
