"""The surface shared by every linear transformer of this package."""

from typing import Any, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import ArrayLike, BlockArray, FloatArray
from ._summary import summary_of
from .rows._dask_arrays import FLOATS, check_in_memory, is_dask_array, map_blocks


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scores along ``components_`` (r, d) about ``mean_`` (d,), and the way back.

    A subclass sets both in ``fit``.
    """

    _takes_responses = False  # whether y may have several columns

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
            ``(X - mean_) @ components_.T``, float32 where X is; a Dask array is not computed yet.
        """
        check_is_fitted(self)
        if is_dask_array(X):
            return map_blocks(self.transform, X, len(self.components_))
        check_in_memory("X", X)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        mean, components = self.mean_.astype(X.dtype), self.components_.astype(X.dtype)
        return (X - mean) @ components.T

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
            return map_blocks(self.inverse_transform, Z, self.components_.shape[1])
        check_in_memory("Z", Z)
        scores = check_array(Z, dtype=FLOATS, input_name="Z")
        if scores.shape[1] != len(self.components_):
            raise ValueError(
                f"Z must have n_components_ = {len(self.components_)} columns: got "
                f"{scores.shape[1]}. Pass scores from transform."
            )
        lift = np.linalg.pinv(self.components_).T.astype(scores.dtype)
        return scores @ lift + self.mean_.astype(scores.dtype)

    def summary(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> str:
        """Describe the fit as R's ``dr`` does: slices, directions, eigenvalues, tests.

        Parameters
        ----------
        X : array-like of shape (n, d), default=None
            With the labelled rows and their numbers y, the number of rows is shown, and
            R^2(OLS|dr): the share of the variance of the least-squares fit that is linear in the
            first 1, 2, ... scores.
        y : array-like of shape (n,), default=None

        Returns
        -------
        str
            Shown as it prints. Basis vectors are of unit length; for errors see
            `bootstrap_directions`.
        """
        check_is_fitted(self)
        if X is None or y is None:
            return summary_of(self)
        rows = np.column_stack([validate_data(self, X, reset=False), np.asarray(y, dtype=float)])
        rows = rows[np.isfinite(rows[:, -1])]
        rows -= rows.mean(axis=0)
        A, t = rows[:, :-1], rows[:, -1]
        fitted = A @ np.linalg.lstsq(A, t, rcond=None)[0]
        Q = np.linalg.qr(A @ self.components_.T)[0]
        return summary_of(self, len(rows), np.cumsum((fitted @ Q) ** 2) / (fitted @ fitted))

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._takes_responses
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
