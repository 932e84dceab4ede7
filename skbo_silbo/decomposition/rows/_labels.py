"""Validation of the response, and the split into labelled and unlabelled samples."""

import sys
from collections.abc import Collection, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_consistent_length, validate_data

from ..._checks import is_real, warn_user
from ..._typing import ArrayLike, BoolArray, FloatArray, IntArray
from ._dask_arrays import FLOATS, check_in_memory, is_dask_array
from ._weights import are_counts, as_effective_counts, check_sample_weight

CENSORED = np.dtype([("event", bool), ("time", float)])
NUMBERS_ONLY = (
    "here, got strings. Encode two classes as 0 and 1, or use SemiSlicedInverseRegression, which "
    "supports categories."
)
ONE_RESPONSE = (
    "Pass a single response, or use the fit of SemiSlicedInverseRegression, which supports several."
)


KINDS = ("numeric", "categorical", "multivariate", "censored")  # types of y
ROWS_PER_CLASS = 5  # samples per value from which integers look like classes


def is_censored(y):
    """Return whether y is a structured array."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def as_censored(y):
    """Return y (n,) with dtype `CENSORED`, and a mask of the labelled samples."""
    masked = np.ma.getmaskarray(y)
    y = np.asarray(y)
    names = {y.dtype[name].kind: name for name in y.dtype.names}
    number = next((names[kind] for kind in "fiu" if kind in names), None)
    if y.ndim != 1 or len(y.dtype.names) != 2 or "b" not in names or number is None:
        raise ValueError(
            "A structured y must be 1d with a boolean field (event) and a numeric field (time), as "
            f"in scikit-survival, got dtype {y.dtype} and shape {y.shape}. Pass several responses "
            "as columns of an ordinary array."
        )
    rows = np.empty(len(y), dtype=CENSORED)
    rows["event"], rows["time"] = y[names["b"]], y[number]
    rows["time"][masked[names["b"]] | masked[number]] = np.nan
    if np.isinf(rows["time"]).any():
        raise ValueError("y must hold finite times, got inf. Use NaN for unlabelled samples.")
    return rows, ~np.isnan(rows["time"])


@dataclass(frozen=True)
class LabelledData:
    """Validated training data, split into labelled and unlabelled samples.

    Attributes
    ----------
    X_labeled : ndarray of shape (n_l, d)
        Labelled samples.
    y : ndarray of shape (n_l,) or (n_l, q)
        Their labels: floats, or categories as given.
    X_unlabeled : ndarray of shape (n_u, d)
        Unlabelled samples.
    weights : ndarray of shape (n_l,) or None
        Positive weights of the labelled samples, in units of samples.
    is_labeled : ndarray of shape (n,) of bool or None
        Mask of the labelled samples among the rows of X as passed.
    groups : ndarray of shape (n_l,) or None
        Group of each labelled sample, numbered from 0, if the samples were centred within groups.
    columns : Columns or None
        Non-constant columns, if the others were dropped.
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
        """Return the (weighted) mean (d,) of the labelled samples."""
        if self.weights is None:
            return self.X_labeled.mean(axis=0, dtype=np.float64)
        return self.weights @ self.X_labeled / self.n_rows

    def labelled_only(self) -> "LabelledData":
        """Return a copy without the unlabelled samples."""
        return replace(self, X_unlabeled=self.X_unlabeled[:0])

    def reweighted(self, factors: FloatArray) -> "LabelledData":
        """Return a copy with weights multiplied by `factors`, without samples of weight 0."""
        weights = factors if self.weights is None else factors * self.weights
        kept = weights > 0
        return replace(
            self,
            X_labeled=self.X_labeled[kept],
            y=self.y[kept],
            weights=as_effective_counts(weights[kept].astype(np.float64)),
        )

    def repeat_by_count(self) -> "LabelledData":
        """Return a copy with each sample repeated by its count; relative weights are kept."""
        if self.weights is None or not are_counts(self.weights):
            return self
        X, y = (np.repeat(rows, self.weights, axis=0) for rows in (self.X_labeled, self.y))
        groups = None if self.groups is None else np.repeat(self.groups, self.weights)
        return LabelledData(X, y, self.X_unlabeled, groups=groups)

    def without_weights(self, why: str) -> "LabelledData":
        """Return a copy without weights; raise ValueError if they differ."""
        if self.weights is not None and np.ptp(self.weights):
            raise ValueError(
                f"sample_weight must be None, or equal for all labelled samples, {why} Got "
                f"effective weights between {self.weights.min():.3g} and {self.weights.max():.3g}."
            )
        return replace(self, weights=None)


def split_labelled(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    X_unlabeled: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    takes: Collection[str] = ("numeric",),
    categorical: bool | str = "auto",
    reset: bool = True,
) -> LabelledData:
    """Validate the arguments of ``fit`` and split labelled from unlabelled samples.

    A sample is unlabelled if its y is NaN, NaT, None, pandas' NA or masked, or if it is passed as
    `X_unlabeled`. The order of the unlabelled samples is that of X followed by `X_unlabeled`.

    Parameters
    ----------
    estimator : BaseEstimator
        Estimator whose ``n_features_in_`` and ``feature_names_in_`` are set if `reset` is True.
    X : array-like of shape (n, d)
        Samples; float32 is preserved.
    y : array-like of shape (n,), or (n, q)
        Response.
    X_unlabeled : array-like of shape (n_u, d), default=None
        Additional unlabelled samples.
    sample_weight : array-like of shape (n,), default=None
        Weights. Samples of weight 0 are dropped; weights of unlabelled samples are not used
        otherwise.
    takes : collection of {"numeric", "categorical", "multivariate", "censored"}
        Supported types of y: "numeric"; "categorical" (strings, booleans or other categories);
        "multivariate" (q numbers per sample, all or none of them NaN); "censored" (structured array
        of a boolean event and a numeric time, as in scikit-survival).
    categorical : "auto" or bool, default="auto"
        True also treats numbers as categories; False treats nothing as a category.
    reset : bool, default=True
        Whether to set the number and names of the features; False compares with an earlier fit.

    Returns
    -------
    LabelledData

    Raises
    ------
    ValueError
        If X is a Dask collection; if y is missing, infinite, constant, of a different length than
        X, or labels fewer than two samples of positive weight; or if `sample_weight` is invalid.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Use NaN in y for unlabelled samples."
        )
    check_in_memory("X", X)
    rows = validate_data(estimator, X, reset=reset, dtype=FLOATS, ensure_min_samples=2)
    labels, labelled = check_response(estimator, y, takes, categorical)
    check_consistent_length(rows, labels)
    given = check_sample_weight(sample_weight, len(rows))
    labelled, is_unlabeled, weights = split_by_label(labels, labelled, given)
    unlabelled = rows[is_unlabeled]
    if X_unlabeled is not None:
        unlabelled = np.concatenate([unlabelled, check_unlabelled(estimator, X_unlabeled)])
    if not labelled.all():
        rows, labels = rows[labelled], labels[labelled]
    return LabelledData(rows, labels, unlabelled, weights, labelled)


def split_by_label(labels, labelled, weights):
    """Return masks of labelled and unlabelled samples of positive weight.

    Also return the weights (n_l,) of the labelled ones, or None.
    """
    weighed = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    is_labeled = labelled & weighed
    check_labels(labels[is_labeled], len(labels))
    numbers = None if weights is None else as_effective_counts(weights[is_labeled])
    return is_labeled, ~labelled & weighed, numbers


def split_as_fitted(estimator, X, y, X_unlabeled=None, sample_weight=None, *, reset=False):
    """Split the arguments of some earlier ``fit``, whatever type of y it supports."""
    categorical = getattr(estimator, "categorical", "auto")
    settings = {"takes": KINDS, "categorical": categorical, "reset": reset}
    return split_labelled(estimator, X, y, X_unlabeled, sample_weight, **settings)


def response_targets(y, weights=None):
    """Return regression targets (n_l, t) that represent y: mid-ranks, or class indicators.

    Columns have (weighted) mean zero and total variance one. Several responses (n_l, q) are
    represented by the mid-ranks of each.
    """
    if y.ndim == 2:
        return np.hstack([response_targets(t, weights) for t in y.T]) / np.sqrt(y.shape[1])
    values, codes = np.unique(y, return_inverse=True)
    if y.dtype.kind in "fiu":
        counts = np.bincount(codes, weights)
        targets = (np.cumsum(counts) - counts / 2)[codes, None]
    else:
        targets = np.eye(len(values))[codes]
    targets = targets - np.average(targets, axis=0, weights=weights)
    return targets / np.sqrt(np.average(np.sum(targets**2, axis=1), weights=weights))


def target_type(y):
    """Return the type of validated labels y, one of `KINDS`."""
    if y.dtype.names:
        return "censored"
    if y.ndim == 2:
        return "multivariate"
    return "categorical" if y.dtype.kind in "USb" else "numeric"


def warn_if_class_labels(y, n_slices, remedy="categorical=True"):
    """Warn if integers that look like class labels are treated as numbers."""
    if y.dtype.kind not in "fiu" or y.ndim > 1 or not isinstance(n_slices, Integral):
        return
    if y[0] != np.rint(y[0]) or (y != np.rint(y)).any():
        return
    values = np.unique(y)
    if n_slices < len(values) <= len(y) / ROWS_PER_CLASS:
        warn_user(
            f"y holds {len(values)} different integers and is treated as numeric, with about "
            f"{n_slices} slices. If they are class labels, pass {remedy}; if not, pass "
            "categorical=False to silence this warning."
        )


def warn_if_numeric_strings(y, n_slices):
    """Warn if string categories are numbers, or nearly all different."""
    n = len(np.unique(y)) if y.dtype.kind == "U" else 0
    if n <= max(n_slices, len(y) / ROWS_PER_CLASS):
        return
    with suppress(ValueError):
        y.astype(float)
        warn_user(
            "y holds numbers as strings and is treated as categorical, with a slice per value. If "
            "they are numbers, pass y.astype(float); if not, pass categorical=True to silence this "
            "warning."
        )
        return
    if n > len(y) / 2:
        warn_user(
            f"y holds {n} different strings in {len(y)} samples. Each is a slice, and slices of "
            "one sample carry no information. Pass classes with several samples each, or numbers."
        )


def warn_if_minus_ones(y):
    """Warn if most labels are -1, scikit-learn's marker of unlabelled samples."""
    if y.dtype.kind not in "fiu" or y.ndim > 1 or 2 * np.count_nonzero(y == -1) <= len(y):
        return
    if (y >= -1).all() and (y == np.rint(y)).all():
        warn_user(
            f"y is -1 for {np.count_nonzero(y == -1)} of {len(y)} samples. sklearn.semi_supervised "
            "uses -1 for unlabelled samples, but here it is an ordinary value. Use NaN for "
            "unlabelled samples; if -1 is a value, pass categorical=True or False."
        )


def check_unlabelled(estimator, X_unlabeled):
    """Validate additional unlabelled samples (n_u, d)."""
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


def check_response(estimator, y, takes, categorical="auto", *, strings=NUMBERS_ONLY):
    """Validate y and return it with a mask of the labelled samples."""
    if is_censored(y):
        if "censored" not in takes:
            raise ValueError(
                f"y must not be a structured array for {type(estimator).__name__}, which does not "
                "support censored responses here. Use the fit of SlicedInverseRegression, or an "
                "ordinary array."
            )
        return as_censored(y)
    if categorical == "auto" and "categorical" in takes and _has_category_dtype(y):
        categorical = True
    y = as_label_array(y)
    if categorical is not True:
        _check_no_times_or_intervals(y)
    if categorical == "auto":
        categorical = "categorical" in takes and _holds_categories(y)
    elif not categorical:
        strings = "if categorical=False, got strings. Use categorical='auto'."
    if categorical:
        return _as_categories(y)
    y = as_numeric_labels(y, strings)
    if "multivariate" in takes and y.ndim == 2 and y.shape[1] > 1:
        return y, _is_complete(y)
    y = _as_column(y, ONE_RESPONSE)
    return y, ~np.isnan(y)


def as_label_array(y):
    """Convert y to an array, with masked entries replaced by NaN, NaT or None."""
    if is_dask_array(y):
        y = y.compute()  # np.asarray would drop the mask
    if getattr(getattr(y, "dtype", None), "tz", None) is not None:
        y = np.asarray(y, dtype=f"datetime64[{y.dtype.unit}]")  # pandas would make objects
    values = np.asarray(y)
    if not np.ma.is_masked(y):
        return values
    marks = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}
    if values.dtype.kind not in marks:
        values = values.astype(object)
    return np.where(np.ma.getmaskarray(y), marks.get(values.dtype.kind), values)


def as_numeric_labels(y, strings=NUMBERS_ONLY):
    """Convert an array y to floats, with NaN in place of NaT, None and pandas' NA."""
    if y.dtype.kind in "mM":
        y = np.where(np.isnat(y), np.nan, y.astype(np.int64))
    if y.dtype.kind in "OUST" and any(isinstance(v, str | bytes) for v in y.ravel()):
        raise ValueError(f"y must hold numbers {strings} Convert strings that are numbers.")
    if y.dtype.kind == "O":
        y = np.where(is_present(y.ravel()).reshape(y.shape), y, np.nan)
    return check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
    )


def _check_no_times_or_intervals(y):
    """Raise ValueError for dates, periods and intervals, which are neither numbers nor classes."""
    if y.dtype.kind != "O":
        return
    pandas = sys.modules.get("pandas")
    kinds = (date, time, timedelta, np.datetime64, np.timedelta64)
    kinds += (pandas.Period, pandas.Interval) if pandas else ()
    found = next((v for v in y.flat if isinstance(v, kinds) and not _differs(v)), None)
    if found is not None:
        raise ValueError(
            "y must hold numbers, NumPy's or pandas' datetimes or durations, strings, booleans or "
            f"categories: got {found!r}, an object of type {type(found).__name__}. Convert dates "
            "by pandas.to_datetime, periods by .to_timestamp(), durations by pandas.to_timedelta "
            "and intervals to their .mid; if they are classes, pass y.astype(str)."
        )


def _as_column(y, remedy):
    """Return y of shape (n,); warn like scikit-learn if it was (n, 1)."""
    if y.ndim != 1 and y.shape[1:] != (1,):
        raise ValueError(f"y must be a 1d array, got an array of shape {y.shape}. {remedy}")
    return y if y.ndim == 1 else column_or_1d(y, warn=True)


def _is_complete(y):
    """Return the mask of rows of y (n, q) with all responses; raise if some have only a part."""
    missing = np.isnan(y).sum(axis=1)
    partly = np.flatnonzero((missing > 0) & (missing < y.shape[1]))
    if len(partly):
        raise ValueError(
            f"y must hold all {y.shape[1]} responses of a sample, or only NaN, but row {partly[0]} "
            f"has {missing[partly[0]]} NaN. Impute them, or mark the sample as unlabelled."
        )
    return missing == 0


def _has_category_dtype(y):
    """Return whether y is a pandas categorical."""
    pandas = sys.modules.get("pandas")
    kinds = (pandas.Series, pandas.Categorical) if pandas else ()
    return isinstance(y, kinds) and y.dtype == "category"


def _holds_categories(y):
    """Return whether y holds strings, booleans, or objects that are not all numbers."""
    if y.dtype.kind != "O":
        return y.dtype.kind in "USTb"
    known = y.ravel()[is_present(y.ravel())]
    return any(isinstance(v, bool | np.bool_) or not is_real(v) for v in known)


def is_present(values):
    """Return the mask of objects (n,) other than None, NaN, NaT and pandas' NA."""
    pandas_na = getattr(sys.modules.get("pandas"), "NA", None)
    known = [v is not None and v is not pandas_na and not _differs(v) for v in values]
    return np.array(known, dtype=bool)


def _differs(value):
    """Return whether a scalar differs from itself, as NaN and NaT do."""
    return not isinstance(value, Sized) and bool(value != value)


def _as_categories(y):
    y = _as_column(y, "Combine columns of categories into one.")
    labelled = is_present(y)
    if y.dtype.kind == "f":
        y = y + 0.0  # so that -0.0 and 0.0 are the same category
    if y.dtype.kind not in "USb":
        y = np.where(labelled, y.astype(object), "").astype(str)
    return y, labelled


def check_labels(y, n_rows):
    """Raise ValueError for fewer than two labels, or labels that are all equal."""
    if len(y) < 2:
        raise ValueError(
            f"y must hold at least 2 labels (values that are not NaN) of positive weight, got "
            f"{len(y)} in {n_rows} samples. Label more samples."
        )
    if (y == y[0]).all():
        raise ValueError(
            f"y must take at least 2 different values, but all {len(y)} labels are {y[0]!s}."
        )


def check_responses_vary(Y):
    """Raise ValueError if one of several responses Y (n, q) is constant."""
    if (constant := np.ptp(Y, axis=0) == 0).any():
        raise ValueError(
            f"y must not have constant responses, but response {constant.argmax()} is constant "
            "over the labelled samples. Drop it."
        )
