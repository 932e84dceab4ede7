"""What every supervised transformer here does with its input before it computes anything."""

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
from ._weights import are_counts, as_numbers_of_rows, check_sample_weight

CENSORED = np.dtype([("event", bool), ("time", float)])
NUMBERS_ONLY = (
    "here: got strings. Code two classes as 0 and 1, or use SemiSlicedInverseRegression, which "
    "takes categories."
)
ONE_RESPONSE = (
    "Pass one response at a time, or use the fit of SemiSlicedInverseRegression, which takes "
    "several."
)


KINDS = ("numeric", "categorical", "multivariate", "censored")  # what y may be taken for
ROWS_PER_CLASS = 5  # rows a value from which integers look like classes


def is_censored(y):
    """Tell a structured array."""
    return getattr(getattr(y, "dtype", None), "names", None) is not None


def as_censored(y):
    """Return y (n,) of the type `CENSORED`, and which rows have a time.

    Raises
    ------
    ValueError
    """
    masked = np.ma.getmaskarray(y)
    y = np.asarray(y)
    names = {y.dtype[name].kind: name for name in y.dtype.names}
    number = next((names[kind] for kind in "fiu" if kind in names), None)
    if y.ndim != 1 or len(y.dtype.names) != 2 or "b" not in names or number is None:
        raise ValueError(
            "y given as a structured array must hold, for each row, whether there was an event, a "
            f"boolean, and the time, a number, as scikit-survival has it: got {y.dtype} of shape "
            f"{y.shape}. Several responses are columns of an ordinary array."
        )
    rows = np.empty(len(y), dtype=CENSORED)
    rows["event"], rows["time"] = y[names["b"]], y[number]
    rows["time"][masked[names["b"]] | masked[number]] = np.nan
    if np.isinf(rows["time"]).any():
        raise ValueError("y must hold finite times: got an infinite one. NaN marks no label.")
    return rows, ~np.isnan(rows["time"])


@dataclass(frozen=True)
class LabelledData:
    """Rows with a label, their labels, and the rows without.

    Attributes
    ----------
    X_labeled : ndarray of shape (n_l, d)
    y : ndarray of shape (n_l,) or (n_l, q)
        Floats, or the categories as given.
    X_unlabeled : ndarray of shape (n_u, d)
    weights : ndarray of shape (n_l,) or None
        Positive weights of the labelled rows, as numbers of rows.
    is_labeled : ndarray of shape (n,) of bool or None
        Which rows of X, as it was given, the labelled ones are.
    groups : ndarray of shape (n_l,) or None
        Categories, from 0, about whose means the labelled rows are.
    columns : Columns or None
        Of which features the rows are, where constant ones were left out.
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
        """Labelled rows, each as often as it weighs."""
        return len(self.y) if self.weights is None else self.weights.sum()

    def labelled_mean(self) -> FloatArray:
        """Weighted mean of the labelled rows (d,)."""
        if self.weights is None:
            return self.X_labeled.mean(axis=0, dtype=np.float64)
        return self.weights @ self.X_labeled / self.n_rows

    def labelled_only(self) -> "LabelledData":
        """Return the same record without the unlabelled rows."""
        return replace(self, X_unlabeled=self.X_unlabeled[:0])

    def reweighted(self, factors: FloatArray) -> "LabelledData":
        """Return the labelled rows with relative weights times these; rows of 0 are left out."""
        weights = factors if self.weights is None else factors * self.weights
        kept = weights > 0
        return replace(
            self,
            X_labeled=self.X_labeled[kept],
            y=self.y[kept],
            weights=as_numbers_of_rows(weights[kept].astype(np.float64)),
        )

    def counts_written_out(self) -> "LabelledData":
        """Return the record of rows repeated as often as they count; relative weights stay."""
        if self.weights is None or not are_counts(self.weights):
            return self
        X, y = (np.repeat(rows, self.weights, axis=0) for rows in (self.X_labeled, self.y))
        groups = None if self.groups is None else np.repeat(self.groups, self.weights)
        return LabelledData(X, y, self.X_unlabeled, groups=groups)

    def without_weights(self, why: str) -> "LabelledData":
        """Return the same record without weights, after refusing those that differ."""
        if self.weights is not None and np.ptp(self.weights):
            raise ValueError(
                f"sample_weight must be None, or the same for all labelled rows, {why} Got weights "
                f"that count for {self.weights.min():.3g} to {self.weights.max():.3g} rows."
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
    """Validate the arguments of ``fit`` and part labelled from unlabelled rows.

    A row is unlabelled when its y is NaN, NaT, None, pandas' NA or masked, or when it stands in
    `X_unlabeled`. Both give the same record up to the order of the unlabelled rows: those marked
    in y come first.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_`` when `reset`.
    X : array-like of shape (n, d)
        Float32 stays.
    y : array-like of shape (n,), or (n, q)
    X_unlabeled : array-like of shape (n_u, d), default=None
    sample_weight : array-like of shape (n,), default=None
        Rows of weight 0 are left out; otherwise weights of unlabelled rows are not used.
    takes : collection of {"numeric", "categorical", "multivariate", "censored"}
        What y may hold: numbers; strings, booleans or other categories; q numbers a row, all of
        them or NaN in place of all; an event (boolean) and a time (number) a row, as
        scikit-survival has it.
    categorical : "auto" or bool, default="auto"
        True takes numbers for categories too, False nothing for a category.
    reset : bool, default=True
        False compares with the features of an earlier fit.

    Returns
    -------
    LabelledData

    Raises
    ------
    ValueError
        When X is a Dask collection, which would have to be put together; when y is missing,
        infinite, of another length than X, constant, or labels fewer than two rows (of positive
        weight); when a weight is negative or there is not one for every row.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Mark rows without a label by NaN in y."
        )
    check_in_memory("X", X)
    rows = validate_data(estimator, X, reset=reset, dtype=FLOATS, ensure_min_samples=2)
    labels, labelled = check_response(estimator, y, takes, categorical)
    check_consistent_length(rows, labels)
    given = check_sample_weight(sample_weight, len(rows))
    labelled, is_unlabeled, weights = part_weighted(labels, labelled, given)
    unlabelled = rows[is_unlabeled]
    if X_unlabeled is not None:
        unlabelled = np.concatenate([unlabelled, check_unlabelled(estimator, X_unlabeled)])
    if not labelled.all():
        rows, labels = rows[labelled], labels[labelled]
    return LabelledData(rows, labels, unlabelled, weights, labelled)


def part_weighted(labels, labelled, weights):
    """Which rows of positive weight are labelled and which not; weights (n_l,) of the first."""
    weighed = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
    is_labeled = labelled & weighed
    check_labels(labels[is_labeled], len(labels))
    numbers = None if weights is None else as_numbers_of_rows(weights[is_labeled])
    return is_labeled, ~labelled & weighed, numbers


def split_as_fitted(estimator, X, y, X_unlabeled=None, sample_weight=None, *, reset=False):
    """`split_labelled`, of whatever rows some ``fit`` of this library takes."""
    categorical = getattr(estimator, "categorical", "auto")
    settings = {"takes": KINDS, "categorical": categorical, "reset": reset}
    return split_labelled(estimator, X, y, X_unlabeled, sample_weight, **settings)


def response_targets(y, weights=None):
    """Targets (n_l, t) that a regression can stand in for slices: mid-ranks, or class indicators.

    Columns have (weighted) mean zero; all together have variance one. Several responses (n_l, q)
    have the mid-ranks of each.
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
    """Tell what checked labels y are: "numeric", "categorical", "multivariate" or "censored"."""
    if y.dtype.names:
        return "censored"
    if y.ndim == 2:
        return "multivariate"
    return "categorical" if y.dtype.kind in "USb" else "numeric"


def warn_of_classes(y, n_slices, remedy="categorical=True"):
    """Say so when checked labels y, whole numbers that look like classes, are cut as numbers."""
    if y.dtype.kind not in "fiu" or y.ndim > 1 or not isinstance(n_slices, Integral):
        return
    if y[0] != np.rint(y[0]) or (y != np.rint(y)).any():
        return
    values = np.unique(y)
    if n_slices < len(values) <= len(y) / ROWS_PER_CLASS:
        warn_user(
            f"y holds {len(values)} different integers and was taken for numbers, cut in about "
            f"{n_slices} slices. If they are classes, pass {remedy}; if numbers, "
            "categorical=False says so."
        )


def warn_of_strings(y, n_slices):
    """Say so where categories y, strings, look like numbers, or are as many as rows."""
    n = len(np.unique(y)) if y.dtype.kind == "U" else 0
    if n <= max(n_slices, len(y) / ROWS_PER_CLASS):
        return
    with suppress(ValueError):
        y.astype(float)
        warn_user(
            "y holds strings of numbers and was taken for categories, a slice each. If they are "
            "numbers, pass y.astype(float); categorical=True says that they are not."
        )
        return
    if n > len(y) / 2:
        warn_user(
            f"y holds {n} different strings in {len(y)} rows, a slice each: slices of one row say "
            "nothing. Pass classes that several rows share, or numbers."
        )


def warn_of_minus_ones(y):
    """Say so where most labels look like scikit-learn's mark of a row without one."""
    if y.dtype.kind not in "fiu" or y.ndim > 1 or 2 * np.count_nonzero(y == -1) <= len(y):
        return
    if (y >= -1).all() and (y == np.rint(y)).all():
        warn_user(
            f"y is -1 in {np.count_nonzero(y == -1)} of {len(y)} rows, by which "
            "sklearn.semi_supervised marks a row without a label; here it is a value. Mark such "
            "rows by NaN; where -1 is a value, pass categorical=True or False."
        )


def check_unlabelled(estimator, X_unlabeled):
    """Return further unlabelled rows (n_u, d), checked."""
    check_in_memory("X_unlabeled", X_unlabeled)
    if np.ndim(X_unlabeled) == 1:
        raise ValueError(
            f"X_unlabeled must hold rows of the {estimator.n_features_in_} features of X, (n_u, "
            f"{estimator.n_features_in_}): got shape ({len(X_unlabeled)},). Weights are passed by "
            "name, sample_weight=; a single row as X_unlabeled[None]."
        )
    rows = check_array(X_unlabeled, dtype=FLOATS, ensure_min_samples=0, input_name="X_unlabeled")
    try:
        validate_data(estimator, X_unlabeled, reset=False, skip_check_array=True)
    except ValueError as error:
        raise ValueError(f"X_unlabeled must have the columns of X. {error}") from error
    return rows


def check_response(estimator, y, takes, categorical="auto", *, strings=NUMBERS_ONLY):
    """Return y checked, and which rows are labelled; `strings` ends a refusal of these."""
    if is_censored(y):
        if "censored" not in takes:
            raise ValueError(
                f"y must not be a structured array for {type(estimator).__name__}, which takes no "
                "censored response here. Use the fit of SlicedInverseRegression, which does, or an "
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
        strings = "where categorical=False: got strings. Pass categorical='auto'."
    if categorical:
        return _as_categories(y)
    y = as_numeric_labels(y, strings)
    if "multivariate" in takes and y.ndim == 2 and y.shape[1] > 1:
        return y, _is_complete(y)
    y = _as_column(y, ONE_RESPONSE)
    return y, ~np.isnan(y)


def as_label_array(y):
    """Return y as an array, with NaN, NaT or None in place of masked entries."""
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
    """Return an array y as floats, NaN where it is NaT, None or pandas' NA."""
    if y.dtype.kind in "mM":
        y = np.where(np.isnat(y), np.nan, y.astype(np.int64))
    if y.dtype.kind in "OUST" and any(isinstance(v, str | bytes) for v in y.ravel()):
        raise ValueError(f"y must hold numbers {strings} Where strings are numbers, convert them.")
    if y.dtype.kind == "O":
        y = np.where(is_known(y.ravel()).reshape(y.shape), y, np.nan)
    return check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
    )


def _check_no_times_or_intervals(y):
    """Refuse objects that have an order, or a width, which neither numbers nor classes keep."""
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
    """Return y (n,), of shape (n,) or, with scikit-learn's warning, (n, 1)."""
    if y.ndim != 1 and y.shape[1:] != (1,):
        raise ValueError(f"y must be a 1d array, one label a row: got shape {y.shape}. {remedy}")
    return y if y.ndim == 1 else column_or_1d(y, warn=True)


def _is_complete(y):
    """Tell which rows of y (n, q) have all responses; those with some are refused."""
    missing = np.isnan(y).sum(axis=1)
    partly = np.flatnonzero((missing > 0) & (missing < y.shape[1]))
    if len(partly):
        raise ValueError(
            f"y must hold all {y.shape[1]} responses of a row, or NaN in place of all: row "
            f"{partly[0]} lacks {missing[partly[0]]}. Fill them in, or mark the row as unlabelled."
        )
    return missing == 0


def _has_category_dtype(y):
    """Tell categories of pandas."""
    pandas = sys.modules.get("pandas")
    kinds = (pandas.Series, pandas.Categorical) if pandas else ()
    return isinstance(y, kinds) and y.dtype == "category"


def _holds_categories(y):
    """Tell strings, booleans and objects, unless all of the last are numbers."""
    if y.dtype.kind != "O":
        return y.dtype.kind in "USTb"
    known = y.ravel()[is_known(y.ravel())]
    return any(isinstance(v, bool | np.bool_) or not is_real(v) for v in known)


def is_known(values):
    """Tell which objects (n,) are neither None, NaN, NaT nor pandas' NA."""
    pandas_na = getattr(sys.modules.get("pandas"), "NA", None)
    known = [v is not None and v is not pandas_na and not _differs(v) for v in values]
    return np.array(known, dtype=bool)


def _differs(value):
    """Tell what is not equal to itself, as NaN and NaT; sequences are."""
    return not isinstance(value, Sized) and bool(value != value)


def _as_categories(y):
    y = _as_column(y, "Join the columns into one where they hold categories.")
    labelled = is_known(y)
    if y.dtype.kind == "f":
        y = y + 0.0  # -0.0 is no category of its own
    if y.dtype.kind not in "USb":
        y = np.where(labelled, y.astype(object), "").astype(str)
    return y, labelled


def check_labels(y, n_rows):
    """Refuse fewer than two labels, or labels that are all the same."""
    if len(y) < 2:
        raise ValueError(
            f"y must hold at least 2 labels (values that are not NaN) on rows of positive weight: "
            f"got {len(y)} among {n_rows} rows. Label more rows."
        )
    if (y == y[0]).all():
        raise ValueError(
            f"y must take at least 2 different values: all {len(y)} labels are {y[0]!s}. "
            "A constant response has no direction."
        )


def check_responses_vary(Y):
    """Raise ValueError if one of several responses Y (n, q) is constant."""
    if (constant := np.ptp(Y, axis=0) == 0).any():
        raise ValueError(
            f"y must vary in every response: response {constant.argmax()} is constant over the "
            "labelled rows. Leave it out."
        )
