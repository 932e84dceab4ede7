"""Helpers for predictors whose first step is a dimension-reduction transformer."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from skbo_silbo._sklearn import HasMethods, StrOptions
from skbo_silbo.decomposition._recursive_feature_machine import RecursiveFeatureMachine
from skbo_silbo.decomposition.rows._reading import warn_if_ignored

# Values that the parameter accepts
REDUCER = [HasMethods(["fit", "transform"]), StrOptions({"passthrough"})]


class ReducerMixin:
    """Mixin for predictors whose parameter `reducer` is None or "passthrough" by default."""

    reducer: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the predictor.

        Parameters
        ----------
        **params : dict
            Parameters. If `reducer` is None or "passthrough", names that begin with ``reducer__``
            set parameters of ``RecursiveFeatureMachine(metric="diagonal", n_iter=1)``.

        Returns
        -------
        self : object
        """
        nested = any(name.startswith("reducer__") for name in params)
        if nested and params.get("reducer", self.reducer) in (None, "passthrough"):
            params["reducer"] = feature_weights()
        return super().set_params(**params)  # type: ignore[misc]


def feature_weights():
    """Create the transformer that multiplies features by learnt weights."""
    return RecursiveFeatureMachine(metric="diagonal", n_iter=1)


def fit_reducer(reducer, X, y, X_unlabeled, weights):
    """Fit a clone of a transformer, passing unlabelled samples if it supports them."""
    if isinstance(reducer, type):
        raise TypeError(
            f"reducer must be an unfitted transformer, got the class {reducer.__name__}. Pass "
            f"reducer={reducer.__name__}()."
        )
    name = f"reducer={reducer!r}" if reducer == "passthrough" else type(reducer).__name__
    reducer = StandardScaler() if reducer == "passthrough" else clone(reducer)
    warn_if_ignored(reducer, len(X_unlabeled), name)
    given = {}
    if len(X_unlabeled) and has_fit_parameter(reducer, "X_unlabeled"):
        given["X_unlabeled"] = X_unlabeled
    if weights is not None:
        given["sample_weight"] = weights
    return reducer.fit(X, y, **given)


def reduce_rows(reducer, X):
    """Return the scores of X, or a column of zeros if the transformer found no direction."""
    if reducer is None or not getattr(reducer, "n_components_", 1):
        return np.zeros((len(X), 1))
    return np.asarray(reducer.transform(X), dtype=np.float64).reshape(len(X), -1)
