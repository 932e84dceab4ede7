"""Base class of the dimension-reduction transformers."""

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self, overload

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from skbo_silbo._checks import check_pairs_fit
from skbo_silbo._sklearn import Interval, StrOptions, validate_parameters
from skbo_silbo._typing import ArrayLike, BlockArray, FloatArray
from skbo_silbo.decomposition.rows._columns import (
    Columns,
    center_within_groups,
    drop_constant_columns,
)
from skbo_silbo.decomposition.rows._reading import (
    FLOATS,
    LabelledData,
    check_in_memory,
    is_dask_array,
    map_blocks,
    split_labelled,
    warn_if_ignored,
)
from skbo_silbo.decomposition.selection._alpha import choose_penalty
from skbo_silbo.decomposition.slicing._slices import Slices, slice_within

AUTO = StrOptions({"auto"})
COUNT = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
NONNEGATIVE = Interval(Real, 0, None, closed="left")


class SupervisedProjection(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base class of supervised linear dimension-reduction transformers.

    A subclass implements ``_learn(data)``, where `data` is a `LabelledData` with validated samples
    and without constant columns. The method sets `n_components_`, `eigenvalues_`, `mean_` and
    `components_`. The class attributes below declare what a subclass requires. Parameters are
    validated by `_parameter_constraints`, as in scikit-learn. The parameters `n_slices` and
    `categorical`, and the argument `X_unlabeled` of ``fit``, are optional.
    """

    _takes: tuple[str, ...] = ("numeric",)  # types of y, as in `split_labelled`
    _by_value = False  # whether the values of a numeric y matter, not only their order
    _forms_pairs = False  # whether fit forms a matrix of all pairs of labelled samples
    _needs_rows = False  # whether fit needs more labelled samples than features
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [COUNT, AUTO],
        "n_slices": [AT_LEAST_TWO],
        "categorical": ["boolean", AUTO],
        "alpha": [NONNEGATIVE, AUTO],
        "ridge": [NONNEGATIVE, AUTO],
        "n_neighbors": [COUNT],
        "neighbors": [StrOptions({"auto", "brute", "pynndescent"})],
        "random_state": ["random_state"],
    }
    n_components: Any
    alpha: Any
    n_neighbors: int
    n_features_in_: int
    n_components_: int
    components_: Any
    mean_: Any

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to X and y.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Training samples, one per row.
        y : array-like of shape (n,), or (n, q) if the class supports several responses
            Response: numbers, or another type that the class supports. Samples whose y is NaN, NaT,
            None, pandas' NA or masked are unlabelled, and ignored with a warning.
        sample_weight : array-like of shape (n,), default=None
            Weights of the samples. Only their ratios matter: a sample of weight 2 has the influence
            of two samples. Where the number of samples matters, as in tests, it is the effective
            sample size ``(sum w)^2 / sum w^2``. If weights are counts, repeat the samples by
            ``np.repeat`` instead.

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
        return self._fit(X, y, None, sample_weight)

    def _fit(self, X, y, X_unlabeled, sample_weight, group=None, **given):
        """Validate the data and fit the model."""
        validate_parameters(self)
        given_rows = X, y, X_unlabeled, sample_weight
        data = split_labelled(self, *given_rows, by_value=self._by_value, **self._reading())
        warn_if_ignored(self, len(data.X_unlabeled), type(self).__name__)
        names = vars(self).get("feature_names_in_")
        data = center_within_groups(self._select_samples(data), group)
        data = drop_constant_columns(data, names)
        self._check_shape(*data.X_labeled.shape)
        self._reset()
        self._learn(data, **given)
        self._store(data.columns, data.X_labeled.dtype)
        return self

    def _reading(self) -> dict[str, Any]:
        """Return keyword arguments that tell `split_labelled` and `read_blocks` how to read y."""
        own = {"categorical": "auto", "n_slices": None}
        return {"takes": self._takes} | {name: getattr(self, name, own[name]) for name in own}

    @abstractmethod
    def _learn(self, data: LabelledData, **given: Any) -> None:
        """Estimate the directions from data without constant features."""

    def _select_samples(self, data: LabelledData) -> LabelledData:
        """Return the data without the samples that the method does not use."""
        return data if has_fit_parameter(self, "X_unlabeled") else data.labelled_only()

    def _check_shape(self, n: int, d: int) -> None:
        """Check the parameters against the numbers of labelled samples and features."""
        if not isinstance(self.n_components, str) and self.n_components > self.n_features_in_:
            raise ValueError(
                f"n_components must be at most {self.n_features_in_} (n_features), got "
                f"{self.n_components}. Use n_components='auto' or fewer components."
            )
        if self._forms_pairs:
            check_pairs_fit(type(self).__name__, n)
        if self._needs_rows and n - 1 <= d:
            raise ValueError(
                f"X must have more labelled rows than features + 1 for {type(self).__name__}, got "
                f"{n} labelled rows and {d} features. Reduce the features first, or use "
                "SemiSlicedInverseRegression."
            )

    def _reset(self) -> None:
        """Delete all fitted attributes before a new fit."""
        kept = ("n_features_in_", "feature_names_in_")
        for name in list(vars(self)):
            if name.endswith("_") and name not in kept:
                delattr(self, name)

    def _slice_response(self, data: LabelledData) -> Slices:
        """Slice the response y, within groups if there are any."""
        slices = slice_within(data.y, data.groups, self.n_slices, sample_weight=data.weights)
        self.n_slices_, self.slice_sizes_ = slices.n_slices, slices.counts
        return slices

    def _choose_penalty(self, near, X, slices, ridge, is_ordered, search):
        """Set `alpha_`, and return the graph penalty as `choose_penalty` does."""
        given = self.alpha, self.n_neighbors, is_ordered, self.n_components
        penalty, self.alpha_, scores = choose_penalty(near, X, slices, ridge, *given, search)
        if scores is not None:
            self.alpha_scores_ = scores
        return penalty

    def _store(self, columns: Columns, dtype: Any) -> None:
        """Extend the fitted attributes from the non-constant features to all features."""
        self.mean_ = columns.expand_point(self.mean_)
        self.components_ = columns.expand(self.components_).astype(dtype, copy=False)

    @overload
    def transform(self, X: BlockArray) -> Any: ...
    @overload
    def transform(self, X: ArrayLike) -> FloatArray: ...
    def transform(self, X: Any) -> Any:
        """Project the samples X onto the directions.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array
            Samples to project, one per row.

        Returns
        -------
        Z : ndarray of shape (n, n_components_), or Dask array
            Scores, which are ``(X - mean_) @ components_.T`` for linear methods. They are float32
            if X is. For a Dask array, the result is lazy.
        """
        check_is_fitted(self)
        if is_dask_array(X):
            return map_blocks(self.transform, X, self._n_features_out)
        check_in_memory("X", X)
        return self._scores(validate_data(self, X, reset=False, dtype=FLOATS))

    def _scores(self, X):
        mean, components = self.mean_.astype(X.dtype), self.components_.astype(X.dtype)
        return (X - mean) @ components.T

    def __sklearn_is_fitted__(self):
        return "n_components_" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = "multivariate" in self._takes
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)


class SemiSupervisedProjection(SupervisedProjection):
    """Base class of transformers whose ``fit`` uses unlabelled samples."""

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
        X : array-like of shape (n, n_features)
            Training samples, one per row.
        y : array-like of shape (n,) or (n, q)
            Response: numbers, categories (strings, booleans) or several numeric responses. NaN,
            None and pandas' NA mark unlabelled samples.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Additional unlabelled samples.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labelled samples. Only their ratios matter: a sample of weight 2 has the
            influence of two samples. Where the number of samples matters, it is the effective
            sample size ``(sum w)^2 / sum w^2``. Samples of weight 0 are ignored. Unlabelled samples
            all count once.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is outside its range, fewer than two samples are labelled, y is constant
            or infinite, all labelled samples are equal, or `n_components` exceeds the number of
            identified directions.
        """
        return self._fit(X, y, X_unlabeled, sample_weight)
