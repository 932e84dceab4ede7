"""The surface shared by every linear transformer of this package."""

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Scores along ``components_`` (r, d) about ``mean_`` (d,), and the way back.

    A subclass sets both in ``fit``.
    """

    def transform(self, X):
        """Project on the learnt directions.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        Z : ndarray of shape (n, n_components_)
            ``(X - mean_) @ components_.T``, in double precision.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, Z):
        """Lift scores to the point nearest ``mean_`` that has them.

        Parameters
        ----------
        Z : array-like of shape (n, n_components_)

        Returns
        -------
        X : ndarray of shape (n, d)
            ``mean_`` plus the minimum-norm preimage, so that ``transform(X)`` gives Z back.
        """
        check_is_fitted(self)
        Z = check_array(Z, dtype=np.float64, input_name="Z")
        if Z.shape[1] != len(self.components_):
            raise ValueError(
                f"Z must have n_components_ = {len(self.components_)} columns: got {Z.shape[1]}. "
                "Pass scores from transform."
            )
        return Z @ np.linalg.pinv(self.components_).T + self.mean_

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def with_positive_peaks(components):
    """Return components (r, d) with the largest entry of each row made positive."""
    largest = np.take_along_axis(
        components, np.abs(components).argmax(axis=1, keepdims=True), axis=1
    )
    return components * np.where(largest < 0, -1.0, 1.0)
