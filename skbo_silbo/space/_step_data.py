"""Properties of a step's training data, which limit the ranges of its parameters."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from skbo_silbo._sklearn import rows_of, seeded_clone

MOST_ROWS = 500  # used to estimate variances and to fit steps
WIDE = 30  # with more columns, polynomials of degree three have too many terms


@dataclass(frozen=True)
class StepData:
    """Properties of the data that one step of a pipeline is fitted to.

    Attributes
    ----------
    n : float
        Lower bound of the number of rows that the step is fitted to. It is halved inside an
        estimator that may split the rows. If the number is unknown, it is infinite.
    d : float
        Number of columns that the step receives. It is the smallest number if the number differs
        between candidates, and infinite if it is unknown.
    X, y : array-like or None
        Subset of the rows of the data, or None if the data are not available.
    """

    n: float = np.inf
    d: float = np.inf
    X: Any = None
    y: Any = None

    @classmethod
    def from_arrays(cls, X: Any, y: Any) -> Self:
        """Compute the properties of a data set from X and y, either of which may be None."""
        if X is None:
            return cls(y=y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))
        X = rows_of(X, rows)
        return cls(n, _n_columns(X), X, None if y is None else rows_of(y, rows))

    def upper_limit(self, rule: str | None) -> float:
        """Return the upper limit of a parameter's range for data of this size."""
        rules: dict[str | None, float] = {f"n/{k}": np.floor(self.n / k) for k in (2, 3, 4)}
        rules |= {
            None: np.inf,
            "d": self.d,
            "d/2": np.floor(self.d / 2),
            "degree": 3 if self.d <= WIDE else 2,
            # a fold may have half of the rows, and each slice needs at least two or three
            "directions": max(
                min(np.floor(self.d / 2), _n_values(self.y) - 1, np.floor(self.n / 6)), 1
            ),
        }
        return rules[rule]

    def unit(self, name: str | None) -> float:
        """Return the factor that scales a parameter's range to the data."""
        if name is None:
            return 1.0
        if name == "gamma" and self.X is None:
            return 0.1
        if name == "gamma":
            return 1.0 / max(_n_columns(self.X) * _variance(self.X), 1e-9)
        of_y = _variance(self.y) ** 0.5
        return {"y": of_y, "yy": of_y**2, "xy": of_y * _variance(self.X, axis=0) ** 0.5}[name]

    def with_rows(self, X: Any) -> Self:
        """Return the properties of data with the same rows but other columns X."""
        return replace(self, X=X, d=X.shape[1] if X.ndim > 1 else self.d)

    def halved(self) -> Self:
        """Return the properties of the data with half the rows and columns."""
        return replace(self, n=np.floor(self.n / 2), d=max(np.floor(self.d / 2), 1))

    def after(self, step: Any, *, few_columns: bool) -> Self:
        """Return the properties of the data after transformation by a step.

        Only steps from scikit-learn are fitted to determine their output.
        """
        unseen = replace(self, X=None, d=np.inf if np.isinf(self.d) and self.X is None else 1)
        if self.X is None or not _is_of_sklearn(step):
            return unseen
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                X = seeded_clone(step, 0).fit_transform(self.X, self.y)
            except Exception:  # the fits of the search will report it
                return unseen
        return replace(self, X=X, d=1 if few_columns else _n_columns(X))


def _n_columns(X: Any) -> float:
    shape = getattr(X, "shape", None) or np.shape(X)
    return shape[1] if len(shape) > 1 else np.inf  # a list of texts has no columns


def _n_values(y: Any) -> float:
    """Return the number of distinct targets in y, or infinity if it is unknown."""
    try:
        return np.inf if y is None else len(np.unique(np.asarray(y)))
    except TypeError:  # strings mixed with None
        return np.inf


def _is_of_sklearn(step: Any) -> bool:
    own = [step, *(p for p in step.get_params().values() if hasattr(p, "fit"))]
    return all(type(estimator).__module__.startswith("sklearn.") for estimator in own)


def _variance(values: Any, axis: int | None = None) -> float:
    """Return the variance of the finite values, or 1.0 if it is zero or undefined.

    With ``axis=0`` the variances of the columns are averaged.
    """
    if sparse.issparse(values):
        return float(values.multiply(values).mean() - values.mean() ** 2) or 1.0
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):  # strings or None
        return 1.0
    finite = np.isfinite(values)
    if not finite.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of NaN
        variance = np.nanmean(np.nanvar(np.where(finite, values, np.nan), axis=axis))
    return float(variance) or 1.0
