"""Validation of the arguments of ``fit``, and the split into labelled and unlabelled samples."""

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, has_fit_parameter, validate_data

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import ArrayLike, BoolArray, FloatArray, IntArray
from skbo_silbo.decomposition.rows._columns import check_extremes
from skbo_silbo.decomposition.rows._response import check_labels, read_response, warn_if_codes
from skbo_silbo.decomposition.rows._weights import effective_weights

FLOATS = (np.float64, np.float32)


@dataclass(frozen=True)
class LabelledData:
    """Validated training data, split into labelled and unlabelled samples.

    Attributes
    ----------
    X_labeled : ndarray of shape (n_l, d)
        Labelled samples.
    y : ndarray of shape (n_l,) or (n_l, q)
        Responses of the labelled samples, as floats or as the categories that were passed.
    X_unlabeled : ndarray of shape (n_u, d)
        Unlabelled samples.
    weights : ndarray of shape (n_l,) or None
        Positive weights of the labelled samples, where a sample of weight 1 counts as one sample.
        None if all are equal.
    is_labeled : ndarray of shape (n,) of bool or None
        Mask of the labelled samples among the rows of the X that was passed to ``fit``.
    groups : ndarray of shape (n_l,) or None
        Group of each labelled sample, numbered from 0. None if the samples were not centred within
        groups.
    columns : Columns or None
        The non-constant columns. None if constant columns were not dropped.
    """

    X_labeled: FloatArray
    y: NDArray[Any]
    X_unlabeled: FloatArray
    weights: NDArray[Any] | None = None
    is_labeled: BoolArray | None = None
    groups: IntArray | None = None
    columns: Any = None

    @property
    def n_rows(self) -> float:
        """Number of labelled samples, or the sum of their weights."""
        return len(self.y) if self.weights is None else self.weights.sum()

    def labelled_mean(self) -> FloatArray:
        """Return the weighted mean of the labelled samples."""
        if self.weights is None:
            return self.X_labeled.mean(axis=0, dtype=np.float64)
        return self.weights @ self.X_labeled / self.n_rows

    def center_on_labels(self) -> tuple[FloatArray, FloatArray]:
        """Subtract the mean of the labelled samples from all samples.

        Return the centred samples, labelled ones first, and the mean. Centring on the pooled mean
        would add a spurious direction if labelled and unlabelled samples have different means.
        """
        mean = self.labelled_mean()
        if len(self.X_unlabeled):
            X = np.concatenate([self.X_labeled, self.X_unlabeled], dtype=np.float64)
            X -= mean
        else:
            X = self.X_labeled - mean
        return X, mean

    def labelled_only(self) -> "LabelledData":
        """Return a copy of the data without the unlabelled samples."""
        return replace(self, X_unlabeled=self.X_unlabeled[:0])

    def reweighted(self, factors: FloatArray) -> "LabelledData":
        """Return a copy of the data with sample weights multiplied by `factors`."""
        weights = factors if self.weights is None else factors * self.weights
        kept = weights > 0
        return replace(
            self,
            X_labeled=self.X_labeled[kept],
            y=self.y[kept],
            weights=effective_weights(weights[kept]),
        )

    def without_weights(self, why: str) -> "LabelledData":
        """Return the data, or raise a ValueError if the weights are unequal."""
        if self.weights is not None:
            raise ValueError(
                f"sample_weight must be None, or equal for all labelled samples, {why} Got "
                f"effective weights between {self.weights.min():.3g} and {self.weights.max():.3g}."
            )
        return self


def split_labelled(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    X_unlabeled: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    takes: Collection[str] = ("numeric",),
    categorical: bool | str = "auto",
    n_slices: Any = None,
    by_value: bool = False,
    reset: bool = True,
) -> LabelledData:
    """Validate the arguments of ``fit`` and split labelled from unlabelled samples.

    A sample is unlabelled if its y is NaN, NaT, None, pandas' NA or masked, or if it is passed as
    `X_unlabeled`. Unlabelled samples of X come first, followed by `X_unlabeled`.

    Parameters
    ----------
    estimator : BaseEstimator
        Estimator whose ``n_features_in_`` and ``feature_names_in_`` are set if `reset` is True.
    X : array-like of shape (n, d)
        Samples, labelled and unlabelled. The dtype float32 is preserved.
    y : array-like of shape (n,), or (n, q)
        Response of each sample. Missing values mark unlabelled samples.
    X_unlabeled : array-like of shape (n_u, d), default=None
        Additional unlabelled samples.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples. Samples of weight 0 are dropped. All other weights of unlabelled
        samples are ignored.
    takes : collection of {"numeric", "categorical", "multivariate", "censored"}
        Types of y that the estimator supports: "numeric"; "categorical" (strings, booleans or
        pandas categories); "multivariate" (q numbers per sample, all or none of them NaN);
        "censored" (structured array of a boolean event and a numeric time, as in scikit-survival).
    categorical : "auto" or bool, default="auto"
        Whether y holds categories. If True, numbers and other objects are also treated as
        categories. If False, no values are. "auto" decides by the type of y and warns about numbers
        that look like class labels.
    n_slices : int, default=None
        Number of slices into which y will be cut. The warnings about class labels depend on it.
    by_value : bool, default=False
        Whether the estimator computes squares of y. If so, values whose squares could overflow or
        underflow are rejected.
    reset : bool, default=True
        Whether to set the number and names of the features on the estimator. If False, they are
        compared with the number and names of an earlier fit.

    Returns
    -------
    LabelledData

    Raises
    ------
    ValueError
        If X is a Dask collection; if y is missing, infinite, constant, of a different length than
        X, or labels fewer than two samples of positive weight; if X or y hold values that are too
        extreme; or if `sample_weight` is invalid.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Use NaN in y for unlabelled samples."
        )
    check_in_memory("X", X)
    try:
        rows = validate_data(estimator, X, reset=reset, dtype=FLOATS, ensure_min_samples=2)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        remedy = "Encode text by TargetEncoder in a ColumnTransformer, for example."
        raise ValueError(f"X must hold numbers: {error}. {remedy}") from error
    labels, labelled, unlabelled, weights = read_labels(rows, y, sample_weight, takes, categorical)
    X_rest = rows[unlabelled]
    if X_unlabeled is not None:
        X_rest = np.concatenate([X_rest, check_unlabelled(estimator, X_unlabeled)])
    if not labelled.all():
        rows, labels = rows[labelled], labels[labelled]
    if categorical == "auto" and reset:
        warn_if_codes(labels, n_slices)
    check_extremes(rows, names=vars(estimator).get("feature_names_in_"))
    if labels.dtype.kind == "f" and (by_value or labels.ndim > 1):
        check_extremes(labels, "y")
    return LabelledData(rows, labels, X_rest, weights, labelled)


def read_labels(X, y, sample_weight, takes, categorical):
    """Validate the response and the weights of the samples X.

    Return the labels, masks of the labelled and of the unlabelled samples, and the weights of the
    labelled samples or None.
    """
    labels, is_present = read_response(y, takes, categorical)
    check_consistent_length(X, labels)
    weights = check_sample_weight(sample_weight, len(labels))
    weighed = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    labelled = is_present & weighed
    check_labels(labels[labelled], len(labels))
    weights = None if weights is None else effective_weights(weights[labelled])
    return labels, labelled, ~is_present & weighed, weights


def read_blocks(estimator, X, y, X_unlabeled, sample_weight, *, takes, categorical, n_slices):
    """Validate the arguments of ``fit`` for a Dask array X, which is not loaded.

    Return the labels, a mask of the labelled rows of X, the weights of the labelled rows or None,
    and whether there are unlabelled samples.
    """
    if np.isnan(X.shape).any() or X.ndim != 2:
        raise ValueError(
            f"X must be a 2d Dask array with known chunk sizes, got shape {X.shape}. Call "
            "X.compute_chunk_sizes() first."
        )
    validate_data(estimator, np.zeros((1, X.shape[1])))
    if X_unlabeled is not None:
        check_unlabelled(estimator, X_unlabeled)
    labels, labelled, unlabelled, weights = read_labels(X, y, sample_weight, takes, categorical)
    if categorical == "auto":
        warn_if_codes(labels[labelled], n_slices)
    warn_if_ignored(estimator, unlabelled.sum(), type(estimator).__name__)
    return labels[labelled], labelled, weights, X_unlabeled is not None or bool(unlabelled.any())


def warn_if_ignored(estimator: Any, n_unlabelled: int, name: str) -> None:
    """Warn about unlabelled samples if the named estimator does not use such samples."""
    if n_unlabelled and not has_fit_parameter(estimator, "X_unlabeled"):
        warn_user(
            f"{n_unlabelled} unlabelled samples were ignored: {name} does not use them. Leave them "
            "out, or use SemiSlicedInverseRegression or RecursiveFeatureMachine, which do."
        )


def check_unlabelled(estimator: BaseEstimator, X_unlabeled: Any) -> FloatArray:
    """Validate additional unlabelled samples."""
    check_in_memory("X_unlabeled", X_unlabeled)
    if np.ndim(X_unlabeled) == 1:
        raise ValueError(
            f"X_unlabeled must have shape (n_u, {estimator.n_features_in_}), got "
            f"({len(X_unlabeled)},). Pass weights by name, as sample_weight=, and a single sample "
            "as X_unlabeled[None]."
        )
    rows = check_array(X_unlabeled, dtype=FLOATS, ensure_min_samples=0, input_name="X_unlabeled")
    try:
        validate_data(estimator, X_unlabeled, reset=False, skip_check_array=True)
    except ValueError as error:
        raise ValueError(f"X_unlabeled must have the same features as X. {error}") from error
    return rows


def check_sample_weight(sample_weight: Any, n: int) -> NDArray[Any] | None:
    """Validate sample weights, which must be non-negative and not all 0.

    None is returned unchanged. Weights below the rounding error of the largest are returned as 0.
    """
    if sample_weight is None:
        return None
    given = np.full(n, sample_weight) if isinstance(sample_weight, Real) else sample_weight
    weights = np.asarray(given)
    if not isinstance(given, str):
        weights = check_array(given, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have shape ({n},), a weight for every row of X, got "
            f"{weights.shape or given!r}. Pass a 1d array of {n} numbers."
        )
    if weights.min() < 0:
        raise ValueError(
            f"sample_weight must be non-negative, got {weights.min()!s}. Drop such samples, or set "
            "their weight to 0."
        )
    # smaller weights vanish in sums, and their inverse overflows
    weights = np.where(weights < np.finfo(float).eps * weights.max(), 0.0, weights)
    if not weights.any():
        raise ValueError(
            f"sample_weight must be positive for some samples, but all {n} weights are zero. Pass "
            "None for equal weights."
        )
    return weights


# -- Dask, without importing it ------------------------------------------------------------------


def is_dask_array(X: Any) -> bool:
    """Return whether X is a Dask array."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def check_in_memory(name: str, rows: Any) -> None:
    """Raise a ValueError for a Dask collection if all samples are needed at once."""
    dask = sys.modules.get("dask")
    if dask is not None and dask.is_dask_collection(rows):
        raise ValueError(
            f"{name} must be in memory, since all samples are needed at once, got "
            f"a Dask {type(rows).__name__}. Pass np.asarray({name}) if it fits in memory, or use "
            "SemiSlicedInverseRegression, whose fit reads Dask arrays block by block (convert a "
            "frame by to_dask_array(lengths=True))."
        )


def map_blocks(function: Callable[[Any], Any], X: Any, n_columns: int) -> Any:
    """Apply a function lazily to each block of rows of a Dask array.

    The result has `n_columns` columns, and dtype float32 if X has.
    """
    rows = X.rechunk({1: -1})
    dtype = X.dtype if X.dtype in FLOATS else np.dtype(np.float64)
    chunks = (rows.chunks[0], (n_columns,))
    return rows.map_blocks(function, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))
