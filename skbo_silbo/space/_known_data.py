"""What the ends of a known range hang on: rows, columns and spread of the data that a step sees."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from skbo_silbo._sklearn import rows_of, seeded_clone

MOST_ROWS = 500  # of which a spread is read, and on which a step is fitted to see what follows it
WIDE = 30  # columns; with more, polynomials of degree three are too many


@dataclass(frozen=True)
class StepData:
    """The data of one step, as far as they are known.

    Attributes
    ----------
    n : float
        Rows at least, half of them where another estimator parts them; infinite if not known.
    d : float
        Columns at least, of all that the space allows; infinite if not known.
    X, y : array-like or None
        Some rows.
    """

    n: float = np.inf
    d: float = np.inf
    X: Any = None
    y: Any = None

    @classmethod
    def of(cls, X: Any, y: Any) -> Self:
        """Read X and y, either of which may be None."""
        if X is None:
            return cls(y=y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        rows = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))
        X = rows_of(X, rows)
        return cls(n, _n_columns(X), X, None if y is None else rows_of(y, rows))

    def most(self, rule: str | None) -> float:
        """Return the upper end that a rule of the table allows."""
        rules: dict[str | None, float] = {f"n/{k}": np.floor(self.n / k) for k in (2, 3, 4)}
        rules |= {
            None: np.inf,
            "d": self.d,
            "d/2": np.floor(self.d / 2),
            "degree": 3 if self.d <= WIDE else 2,
            # fewer than slices of two rows in half of the rows, with one to spare
            "directions": max(
                min(np.floor(self.d / 2), _n_values(self.y) - 1, np.floor(self.n / 6)), 1
            ),
        }
        return rules[rule]

    def unit(self, name: str | None) -> float:
        """Return what a range of the table is to be multiplied with; .1 or 1 if it is not known."""
        if name is None:
            return 1.0
        if name == "gamma" and self.X is None:
            return 0.1
        if name == "gamma":
            return 1.0 / max(_n_columns(self.X) * _variance(self.X), 1e-9)
        of_y = _variance(self.y) ** 0.5
        return {"y": of_y, "yy": of_y**2, "xy": of_y * _variance(self.X, axis=0) ** 0.5}[name]

    def halved(self) -> Self:
        """Return the data of an estimator inside another, which may part rows and columns."""
        return replace(self, n=np.floor(self.n / 2), d=max(np.floor(self.d / 2), 1))

    def after(self, step: Any, *, few_columns: bool) -> Self:
        """Return what the next step sees: that of scikit-learn's own steps is looked at."""
        unseen = replace(self, X=None, d=np.inf if np.isinf(self.d) and self.X is None else 1)
        if self.X is None or not _is_of_sklearn(step):
            return unseen
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                X = seeded_clone(step, 0).fit_transform(self.X, self.y)
            except Exception:  # the search's own fits will say why
                return unseen
        return replace(self, X=X, d=1 if few_columns else _n_columns(X))


def _n_columns(X):
    shape = getattr(X, "shape", None) or np.shape(X)
    return shape[1] if len(shape) > 1 else np.inf  # texts


def _n_values(y):
    """Return how many values y has, infinite if that is not known."""
    try:
        return np.inf if y is None else len(np.unique(np.asarray(y)))
    except TypeError:  # None beside texts
        return np.inf


def _is_of_sklearn(step):
    own = [step, *(p for p in step.get_params().values() if hasattr(p, "fit"))]
    return all(type(part).__module__.startswith("sklearn.") for part in own)


def _variance(values, axis=None):
    """Return the variance, its mean over columns with axis 0; 1 if there is none."""
    if sparse.issparse(values):
        return float(values.multiply(values).mean() - values.mean() ** 2) or 1.0
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):  # texts, None
        return 1.0
    finite = np.isfinite(values)
    if not finite.any():
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns without a number
        variance = np.nanmean(np.nanvar(np.where(finite, values, np.nan), axis=axis))
    return float(variance) or 1.0
