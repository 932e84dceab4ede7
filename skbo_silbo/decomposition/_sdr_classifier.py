"""Classification along learnt directions."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from skbo_silbo._numerics.laplace_ridge import LaplaceRidge
from skbo_silbo._sklearn import validate_parameters
from skbo_silbo._typing import ArrayLike, FloatArray, TransformerLike
from skbo_silbo.decomposition._reducers import REDUCER, ReducerMixin, fit_reducer, reduce_rows
from skbo_silbo.decomposition.rows._reading import check_sample_weight, split_labelled
from skbo_silbo.decomposition.rows._response import as_label_array, is_present
from skbo_silbo.decomposition.rows._weights import copies
from skbo_silbo.decomposition.slicing._slices import rows_and_centres

MOST_ROWS = 6000  # largest number of labelled samples that the regression is fitted to
MOST_CENTRES = 2000  # largest number of samples whose kernel functions span the regression


class SDRClassifier(ReducerMixin, ClassifierMixin, BaseEstimator):
    """Kernel classifier, optionally on the scores of a sufficient dimension reduction.

    A kernel ridge regression with a Laplace kernel predicts the class indicators. Its ridge
    minimises the exact leave-one-out error. With more than 2,000 labelled samples, the regression
    is spanned by the kernel functions of 2,000 samples and fitted to at most 6,000 (Nystroem).
    These samples are evenly spaced over the classes.

    Parameters
    ----------
    reducer : transformer or "passthrough", default="passthrough"
        Unfitted transformer that supports classes, such as `SemiSlicedInverseRegression`. It is
        cloned. "passthrough" uses all features, divided by their standard deviations. On public
        data sets, ``RecursiveFeatureMachine(metric="diagonal", n_iter=1)``, which weights the
        features [1]_, is not more accurate on average (:doc:`/guide_reduce`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    reducer_ : transformer
        The transformer, fitted to all samples.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features seen during ``fit``. Defined only if X has feature names that are all
        strings.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin, "Mechanism for feature learning in
       neural networks and backpropagation-free machine learning models", Science 383 (2024).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skbo_silbo import SDRClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> classifier = SDRClassifier().fit(X[::3], y[::3])
    >>> bool(classifier.score(X[1::3], y[1::3]) > 0.95)
    True
    """

    _parameter_constraints: ClassVar = {"reducer": REDUCER}

    def __init__(self, reducer: TransformerLike | str = "passthrough") -> None:
        self.reducer = reducer

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_unlabeled: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the transformer and the classifier to X and y.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : array-like of shape (n,)
            Class of each sample. NaN, None and pandas' NA mark unlabelled samples.
        X_unlabeled : array-like of shape (n_u, n_features), default=None
            Additional unlabelled samples, for a transformer that uses such samples.
        sample_weight : array-like of shape (n,), default=None
            Weights of the labelled samples, as in `SemiSlicedInverseRegression`. The transformer
            must support weights.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If the samples of positive weight belong to fewer than two classes, or if the
            transformer rejects the data.
        TypeError
            If the transformer does not support weights.
        """
        validate_parameters(self)
        codes = self._encode(y, sample_weight)
        data = split_labelled(self, X, codes, X_unlabeled, sample_weight)
        rows, codes = data.X_labeled.astype(np.float64), data.y.astype(np.intp)
        names = self.classes_[codes].astype(str)
        self.reducer_ = fit_reducer(self.reducer, rows, names, data.X_unlabeled, data.weights)
        firsts, sets = copies(rows, codes)
        w = np.bincount(sets, data.weights).astype(np.float64)
        self._n_rows = w.sum()
        kept = rows_and_centres(rows[firsts], codes[firsts], MOST_ROWS, MOST_CENTRES)
        firsts, w = firsts[kept], w[kept]
        indicators = np.eye(len(self.classes_))[codes[firsts]]
        self._shares = np.average(indicators, axis=0, weights=w)
        Z = reduce_rows(self.reducer_, rows[firsts])
        self._machine = LaplaceRidge(Z, indicators - self._shares, w, MOST_CENTRES)
        return self

    def _encode(self, y, sample_weight):
        """Store the classes, and return the class index of each sample, NaN if unlabelled."""
        if y is None:
            raise ValueError(
                "SDRClassifier requires y to be passed, but the target y is None. Use NaN in y for "
                "unlabelled samples."
            )
        y = column_or_1d(as_label_array(y), warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, allow_nan=True, input_name="y")
        labelled, weights = is_present(y), check_sample_weight(sample_weight, len(y))
        if weights is not None:
            labelled &= weights > 0
        known = y[labelled]
        if known.dtype.kind == "O" and len({isinstance(v, str) for v in known.tolist()}) == 1:
            known = np.array(known.tolist())
        check_classification_targets(known)
        self.classes_, places = np.unique(known, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must hold at least 2 classes on samples of positive weight, got "
                f"{len(self.classes_)} class. Label samples of another class."
            )
        codes = np.full(len(y), np.nan)
        codes[labelled] = places
        return codes

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Estimate the class probabilities of the samples X.

        The predicted indicators are clipped from below at ``1 / (n_l + 2)``, where n_l is the
        number of labelled samples, and then scaled to sum to 1.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = self._shares + self._machine.predict(reduce_rows(self.reducer_, X))
        values = np.maximum(values, 1 / (self._n_rows + 2))
        return values / values.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the classes of the samples X.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]
