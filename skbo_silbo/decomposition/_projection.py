"""The surface shared by every transformer of this package, and the order in which a fit goes."""

from typing import Any, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_pairs_fit, check_seed, check_switch
from .._typing import ArrayLike, BlockArray, FloatArray
from ._summary import summary_of
from .rows._columns import about_group_means, varying_part
from .rows._dask_arrays import FLOATS, check_in_memory, is_dask_array, map_blocks
from .rows._labels import split_as_fitted
from .rows._reading import read_rows
from .selection._n_components import check_enough_rows, check_n_components
from .slicing._slices import check_n_slices, slice_within

PASSING = (
    *("components_", "mean_", "eigenvalues_", "n_components_", "alpha_scores_", "curvature_"),
    *("dimension_tests_", "permutation_tests_", "bootstrap_tests_"),
    *("length_scale_", "signal_variance_", "noise_", "log_marginal_likelihood_"),
    *("n_refinements_", "scale_"),
)  # attributes that one fit may set and the next one may not; a subclass may have others


class SupervisedProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scores along ``components_`` (r, d) about ``mean_`` (d,), learnt from labelled rows.

    A subclass has ``_learn(data, slices)``, which sets the fitted attributes in the columns that
    vary, or a ``fit`` of its own. It may have the parameters `n_slices` and `categorical`.
    """

    _takes: tuple[str, ...] = ("numeric",)  # what y may be, as in `split_labelled`
    _by_value = False  # whether more than the order of a numeric y counts
    _words: tuple[str, ...] = ("auto",)  # what n_components may be beside a number
    _forms_pairs = False  # whether a matrix of all pairs of labelled rows is formed
    _needs_rows = False  # whether labelled rows must be more than columns
    n_components: Any
    n_features_in_: int
    components_: Any
    mean_: Any

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the directions.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,), or (n, q) where the class takes several responses
            Numbers, or what else the class says that it takes. Samples whose y is NaN, NaT, None,
            pandas' NA or masked are unlabelled, and left out.
        sample_weight : array-like of shape (n,), default=None
            Integers are counts: a row of weight 3 is three rows, for the tests too. Floats are
            relative, and scaled to sum to the effective number ``(sum w)^2 / sum w^2``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter outside its range, fewer labelled rows than the method needs, a constant
            y, columns that are all constant, or an `n_components` above the number of directions
            that can be identified.
        """
        return self._fit_within(X, y, sample_weight)

    def _fit_within(self, X, y, sample_weight=None, group=None):
        """Fit; with a category of each row in `group` rows are about its mean, slices within it."""
        self._check_parameters()
        data = read_rows(self, X, y, None, sample_weight)
        data = self._varying(data.labelled_only(), group)
        self._check_shape(*data.X_labeled.shape)
        self._forget()
        self._learn(data, self._cut(data))
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
        """Refuse parameters that do not go with n labelled rows of d columns that vary."""
        check_n_components(self.n_components, self.n_features_in_, self._words)
        if self._forms_pairs:
            check_pairs_fit(type(self).__name__, n)
        if self._needs_rows:
            check_enough_rows(type(self).__name__, n, d)

    def _varying(self, data, group=None):
        names = vars(self).get("feature_names_in_")
        return varying_part(about_group_means(data, group), names)

    def _cut(self, data):
        """Slices of the labelled rows; two, if the class has none, for diagnostics."""
        if not hasattr(self, "n_slices"):
            return slice_within(data.y, None, 2, sample_weight=data.weights)
        slices = slice_within(data.y, data.groups, self.n_slices, sample_weight=data.weights)
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        self._n_groups = slices.n_groups
        return slices

    def _forget(self):
        """Drop the attributes of an earlier fit."""
        for name in PASSING:
            vars(self).pop(name, None)

    def _store_in_features(self, columns, dtype):
        """Give fitted attributes, of the columns that vary, the shape of all features."""
        self.mean_ = columns.place(self.mean_)
        self.components_ = columns.spread(self.components_).astype(dtype, copy=False)

    @overload
    def transform(self, X: BlockArray) -> Any: ...
    @overload
    def transform(self, X: ArrayLike) -> FloatArray: ...
    def transform(self, X: Any) -> Any:
        """Project on the learnt directions.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array

        Returns
        -------
        Z : ndarray of shape (n, n_components_), or Dask array
            Of a linear method ``(X - mean_) @ components_.T``; float32 where X is. A Dask array is
            not computed yet.
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
        """Lift scores to the point nearest ``mean_`` that has them.

        Parameters
        ----------
        Z : array-like of shape (n, n_components_), or Dask array

        Returns
        -------
        X : ndarray of shape (n, d), or Dask array
            ``mean_`` plus the minimum-norm preimage, so that ``transform(X)`` gives Z back; float32
            where Z is.
        """
        check_is_fitted(self)
        if is_dask_array(Z):
            return map_blocks(self.inverse_transform, Z, self.n_features_in_)
        check_in_memory("Z", Z)
        scores = check_array(Z, dtype=FLOATS, input_name="Z")
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z must have n_components_ = {self._n_features_out} columns: got "
                f"{scores.shape[1]}. Pass scores from transform."
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
        """Describe the fit as R's ``dr`` does: slices, directions, eigenvalues, tests.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            With the rows fitted and their y, it shows their number and R^2(OLS|dr): the share of
            the variance of the least-squares fit that is linear in the first 1, 2, ... scores.
            Sliced inverse regression without ridge, penalty and reweighting then has standard
            errors too: by the delta method, whatever the distribution of X.
        y : array-like of shape (n,) or (n, q), default=None
        sample_weight : array-like of shape (n,), default=None
            As in ``fit``; errors are shown where the weights are counts.
        group : array-like of shape (n,), default=None
            As in ``fit``: all is then shown about the means of the categories.

        Returns
        -------
        str
            Shown as it prints. Basis vectors are of unit length. Their errors are those of
            `components_`, whose scores have unit variance, over the same length: an entry over its
            error is a z value. They tell how far each direction moves, turns within the subspace
            included, which those of `bootstrap_directions` leave out. Of a kernel there are no
            directions to show.

        Raises
        ------
        ValueError
            Where X, y and `group` are not those of ``fit``, as far as the slices tell.
        """
        check_is_fitted(self)
        if X is None or y is None:
            return summary_of(self)
        rows = split_as_fitted(self, X, y, sample_weight=sample_weight).labelled_only()
        rows = about_group_means(rows, group)
        self._check_same_rows(rows)
        return summary_of(self, rows, self._standard_errors(rows))

    def _check_same_rows(self, rows):
        """Refuse rows that are seen not to be those fitted."""
        n_groups = 1 if rows.groups is None else int(rows.groups.max()) + 1
        if n_groups != (fitted := getattr(self, "_n_groups", 1)):
            raise ValueError(
                f"group must be that of fit, which had {fitted} categories (1 where group was "
                f"None): got {n_groups}. Pass the same column to summary."
            )
        sizes = getattr(self, "slice_sizes_", None)
        if sizes is None or getattr(self, "reweight", None) is not None:
            return
        if not np.isclose(np.sum(sizes), rows.n_rows):
            raise ValueError(
                f"X and y must be the rows fitted: got {rows.n_rows:g} labelled rows, and the "
                f"slices hold {np.sum(sizes):g}. Pass those of fit, with their sample_weight."
            )

    def _standard_errors(self, rows):
        """Return errors (r, d) of `components_`, or None where none are known."""

    @property
    def _n_features_out(self):
        return len(self.components_)
