"""Validation of the response y: its type, missing labels, and codes that look like classes."""

import sys
from collections.abc import Sized
from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d

from skbo_silbo._checks import is_real, warn_user
from skbo_silbo._typing import BoolArray, FloatArray

KINDS = ("numeric", "categorical", "multivariate", "censored")  # types of y
CENSORED = np.dtype([("event", bool), ("time", float)])
ROWS_PER_CLASS = 5  # integers look like classes if values repeat this often on average
NUMBERS_ONLY = (
    "here, got strings. For classes, use SDRClassifier or SemiSlicedInverseRegression, or encode "
    "two classes as 0 and 1."
)
ONE_RESPONSE = (
    "Pass a single response, or use the fit of SemiSlicedInverseRegression, which supports several."
)


def read_response(y, takes, categorical="auto"):
    """Validate the response y, and return it with a mask of the labelled samples.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, q)
    takes : collection of str
        Types of y that the estimator supports: a subset of `KINDS`.
    categorical : "auto" or bool, default="auto"
        Whether y holds categories, as in `split_labelled`.
    """
    if getattr(getattr(y, "dtype", None), "names", None) is not None:
        if "censored" in takes:
            return _as_censored(y)
        raise ValueError(
            "y must not be a structured array here, since censored responses are not supported. "
            "Use the fit of SlicedInverseRegression, or an ordinary array."
        )
    is_category = str(getattr(y, "dtype", None)) == "category"  # a pandas data type
    if categorical == "auto" and "categorical" in takes and is_category:
        categorical = True
    labels, strings = as_label_array(y), NUMBERS_ONLY
    if categorical is not True:
        holds_categories = _holds_categories(labels)
        if categorical == "auto":
            categorical = "categorical" in takes and holds_categories
        else:
            strings = "if categorical=False, got strings. Use categorical='auto'."
    if categorical:
        return _as_categories(labels)
    labels = as_numeric_labels(labels, strings)
    if "multivariate" in takes and labels.ndim == 2 and labels.shape[1] > 1:
        return labels, _is_complete(labels)
    labels = _as_column(labels, ONE_RESPONSE)
    return labels, ~np.isnan(labels)


def as_label_array(y: Any) -> NDArray[Any]:
    """Convert y to an array in which masked entries count as missing."""
    dask_array = sys.modules.get("dask.array")
    if dask_array is not None and isinstance(y, dask_array.Array):
        y = y.compute()  # np.asarray would drop the mask
    if getattr(getattr(y, "dtype", None), "tz", None) is not None:
        y = np.asarray(y, dtype=f"datetime64[{y.dtype.unit}]")  # pandas would make objects
    values: Any = np.asarray(y)
    if not np.ma.is_masked(y):
        return values
    marks: Any = {"f": np.nan, "M": np.datetime64("NaT"), "m": np.timedelta64("NaT")}
    if values.dtype.kind not in marks:
        values = values.astype(object)
    return np.where(np.ma.getmaskarray(y), marks.get(values.dtype.kind), values)


def as_numeric_labels(y: NDArray[Any], strings: str = NUMBERS_ONLY) -> FloatArray:
    """Convert y to floats, with NaN for missing entries."""
    if y.dtype.kind in "mM":
        y = np.where(np.isnat(y), np.nan, y.astype(np.int64))
    if y.dtype.kind in "OUST" and any(isinstance(v, str | bytes) for v in y.ravel()):
        raise ValueError(f"y must hold numbers {strings} Convert strings that are numbers.")
    if y.dtype.kind == "O":
        y = np.where(is_present(y.ravel()).reshape(y.shape), y, np.nan)
    return check_array(
        y, dtype=np.float64, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"
    )


def is_present(values: NDArray[Any]) -> BoolArray:
    """Return a mask of the entries that are not missing: not None, NaN, NaT or pandas' NA."""
    pandas_na = getattr(sys.modules.get("pandas"), "NA", None)
    known = [
        v is not None and v is not pandas_na and (isinstance(v, Sized) or bool(v == v))
        for v in values
    ]
    return np.array(known, dtype=bool)


def _holds_categories(y: NDArray[Any]) -> bool:
    """Return whether y contains strings or booleans, and reject objects such as dates."""
    if y.dtype.kind != "O":
        return y.dtype.kind in "USTb"
    known, texts = y.ravel()[is_present(y.ravel())], str | bytes | bool | np.bool_
    odd = next((v for v in known if not (isinstance(v, texts) or is_real(v))), None)
    if odd is not None:
        raise ValueError(
            "y must hold numbers, NumPy's or pandas' datetimes or durations, strings, booleans or "
            f"pandas categories, got {odd!r}, an object of type {type(odd).__name__}. Convert "
            "dates by pandas.to_datetime, periods by .to_timestamp(), durations by "
            "pandas.to_timedelta and intervals to their .mid; if the objects are classes, pass "
            "y.astype(str)."
        )
    return any(isinstance(v, texts) for v in known)


def _as_categories(y: NDArray[Any]) -> tuple[NDArray[Any], BoolArray]:
    y = _as_column(y, "Combine columns of categories into one.")
    labelled = is_present(y)
    if y.dtype.kind == "f":
        y = y + 0.0  # so that -0.0 and 0.0 are the same category
    if y.dtype.kind not in "USb":
        y = np.where(labelled, y.astype(object), "").astype(str)
    return y, labelled


def _as_censored(y: Any) -> tuple[NDArray[Any], BoolArray]:
    """Convert y to survival times with dtype `CENSORED`, with a mask of labelled samples."""
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


def _as_column(y: NDArray[Any], remedy: str) -> NDArray[Any]:
    """Return y as a 1d array, with a warning if it is a column vector."""
    if y.ndim != 1 and y.shape[1:] != (1,):
        raise ValueError(f"y must be a 1d array, got an array of shape {y.shape}. {remedy}")
    return y if y.ndim == 1 else column_or_1d(y, warn=True)


def _is_complete(y: FloatArray) -> BoolArray:
    """Return a mask of the rows with all responses, and reject rows with only some."""
    missing = np.isnan(y).sum(axis=1)
    partly = np.flatnonzero((missing > 0) & (missing < y.shape[1]))
    if len(partly):
        raise ValueError(
            f"y must hold all {y.shape[1]} responses of a sample, or only NaN, but row {partly[0]} "
            f"has {missing[partly[0]]} NaN. Impute them, or mark the sample as unlabelled."
        )
    return missing == 0


def target_type(y: NDArray[Any]) -> str:
    """Return the type of the response, one of `KINDS`."""
    if y.dtype.names:
        return "censored"
    if y.ndim == 2:
        return "multivariate"
    return "categorical" if y.dtype.kind in "USb" else "numeric"


def response_targets(y: NDArray[Any], weights: FloatArray | None = None) -> FloatArray:
    """Return regression targets for a response: mid-ranks or class indicators.

    Columns have (weighted) mean zero and total variance one. With several responses, each is
    replaced by its mid-ranks.
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


def check_labels(y: NDArray[Any], n_rows: int) -> None:
    """Raise a ValueError if there are fewer than two different labels."""
    if len(y) < 2:
        raise ValueError(
            f"y must hold at least 2 labels (values that are not NaN) of positive weight, got "
            f"{len(y)} in {n_rows} samples. Label more samples."
        )
    if (y == y[0]).all():
        raise ValueError(
            f"y must take at least 2 different values, but all {len(y)} labels are {y[0]!s}."
        )


def check_responses_vary(Y: FloatArray) -> None:
    """Raise a ValueError if one of several responses is constant."""
    if (constant := np.ptp(Y, axis=0) == 0).any():
        raise ValueError(
            f"y must not have constant responses, but response {constant.argmax()} is constant "
            "over the labelled samples. Drop it."
        )


def warn_if_codes(y: NDArray[Any], n_slices: Any) -> None:
    """Warn if integer labels look like class labels or marks of unlabelled samples.

    Parameters
    ----------
    y : ndarray of shape (n_l,) or (n_l, q)
        Labels of the labelled samples, after validation.
    n_slices : int or None
        Target number of slices. The warning about class labels is raised only if y has more
        distinct values than slices.
    """
    if target_type(y) == "categorical" and isinstance(n_slices, Integral):
        _warn_of_strings(y, n_slices)
    if target_type(y) != "numeric" or y[0] != np.rint(y[0]) or (y != np.rint(y)).any():
        return
    n_values, n_marks = len(np.unique(y)), np.count_nonzero(y == -1)
    if y.min() == -1 and 2 * n_marks > len(y):
        warn_user(
            f"y is -1 for {n_marks} of {len(y)} samples. sklearn.semi_supervised uses -1 for "
            "unlabelled samples, but here it is an ordinary value. Use NaN for unlabelled samples; "
            "if -1 is a value, pass categorical=True or False."
        )
    if isinstance(n_slices, Integral) and n_slices < n_values <= len(y) / ROWS_PER_CLASS:
        warn_user(
            f"y holds {n_values} different integers and is treated as numeric, with about "
            f"{n_slices} slices. If they are class labels, pass categorical=True; if not, pass "
            "categorical=False to silence this warning."
        )


def _warn_of_strings(y: NDArray[Any], n_slices: Any) -> None:
    """Warn if string labels look like numbers or are nearly all different."""
    n_values = len(np.unique(y))
    if n_values <= max(n_slices, len(y) / ROWS_PER_CLASS):
        return
    with suppress(ValueError):
        y.astype(float)
        warn_user(
            "y holds numbers as strings and is treated as categorical, with a slice per value. If "
            "they are numbers, pass y.astype(float); if not, pass categorical=True to silence this "
            "warning."
        )
        return
    if n_values > len(y) / 2:
        warn_user(
            f"y holds {n_values} different strings in {len(y)} samples. Each is a slice, and "
            "slices of one sample carry no information. Pass classes with several samples each, or "
            "numbers."
        )
