"""Learners of embeddings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import Auto, FloatArray, TransformerLike
from skbo_silbo.decomposition import (
    ActiveSubspace,
    SemiSlicedInverseRegression,
    Slices,
    slice_response,
)
from skbo_silbo.embedding.linear import LinearEmbedding

# With at most 50 values, slices have at most seven members. All are neighbours of one another.
PAPER = MappingProxyType({"n_local_neighbors": 7, "n_neighbors": 7, "random_state": 0})
N_TRIAL = 200  # number of random points on which a transformer is tested


@dataclass(frozen=True)
class TransformerLearner:
    """Embedding learner that fits a scikit-learn transformer.

    Attributes
    ----------
    name : str
    transformer : estimator
        Transformer with scikit-learn's interface and, once fitted, ``components_``. It is cloned
        before every fit. Unlabelled points are passed as `X_unlabeled` if its `fit` accepts this
        argument.
    """

    name: str
    transformer: TransformerLike

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Fit the transformer, and return the embedding onto the span of its components.

        The result is the identity if all values or all points are equal. It is also the identity,
        with a warning, if the fit fails.
        """
        if not _varies(X, y):
            return LinearEmbedding(X.shape[1])
        try:
            fitted = _fit_clone(self.transformer, X, y, X_unlabeled)
            return LinearEmbedding.from_components(fitted.components_)
        except ValueError as error:
            warn_user(
                f"embedding={self.transformer!r} could not be fitted to the values so far "
                f"({error}). All inputs are kept until it can. Use fewer components, or a larger "
                "n_initial."
            )
            return LinearEmbedding(X.shape[1])


def transformer_learner(transformer: Any, d: int) -> TransformerLearner:
    """Return an embedding learner for a transformer, after testing it on random data.

    Raises
    ------
    ValueError
        If the fit fails, or its components have the wrong shape.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (N_TRIAL, d))
    try:
        fitted = _fit_clone(transformer, X, rng.permutation(N_TRIAL).astype(float), X)
        rows = np.asarray(fitted.components_, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != d or not np.isfinite(rows).all():
            raise ValueError(f"components_ must be finite, of shape (r, {d}), got {rows.shape}")
    except Exception as error:
        raise ValueError(
            "`embedding` must be a transformer with components_ after fit(X, y), but fitting "
            f"{transformer!r} to {N_TRIAL} random rows raised {type(error).__name__}: {error}. Use "
            "a linear transformer such as SemiSlicedInverseRegression, or an object with name and "
            "learn(X, y, X_unlabeled) (skbo_silbo.embedding.Learner)."
        ) from error
    return TransformerLearner(type(transformer).__name__, transformer)


def _varies(X: FloatArray, y: FloatArray) -> bool:
    """Return whether neither the points X nor the values y are all equal."""
    return np.unique(y).size > 1 and bool(np.ptp(X, axis=0).any())


def _fit_clone(transformer: Any, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> Any:
    """Fit a clone of a transformer, with unlabelled points if it accepts them."""
    transformer = clone(transformer)
    takes_unlabeled = has_fit_parameter(transformer, "X_unlabeled") and len(X_unlabeled) > 0
    extra = {"X_unlabeled": X_unlabeled} if takes_unlabeled else {}
    return transformer.fit(X, y, **extra)


@dataclass(frozen=True)
class SemiSIRLearner:
    """Embedding learner based on semi-supervised sliced inverse regression.

    Attributes
    ----------
    name : str
    n_components : int or "auto"
        Number of coordinates of the embedding, or the number of directions that the slices identify
        if that is lower.
    params : dict
        Additional parameters of the estimator, such as its solver.
    n_slices : int or None
        Target number of slices. None means 10, or `n_components` + 1 if that is larger.
    """

    name: str
    n_components: int | Auto
    params: Mapping[str, Any]
    n_slices: int | None = None

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the learnt embedding, or the identity if no direction is identified."""
        if not _varies(X, y):
            return LinearEmbedding(X.shape[1])
        slices = slice_response(y, self._n_slices)
        if not _means_differ(slices, X):
            return LinearEmbedding(X.shape[1])
        estimator = self._fit_identified(X, y, X_unlabeled)
        return LinearEmbedding.from_components(estimator.components_)

    def _fit_identified(self, *rows: FloatArray) -> SemiSlicedInverseRegression:
        """Fit the estimator with as many directions as the data can identify."""
        if self.params.get("solver") == "paper":  # raises if more directions are requested
            identified = self._fitted("criterion", *rows, alpha=0.0).n_components_  # no graph
            asked = identified if self.n_components == "auto" else self.n_components
            return self._fitted(min(asked, identified), *rows)
        if self.n_components == "auto":
            return self._fitted("criterion", *rows)  # permutation tests are too expensive here
        first = self._fitted(1, *rows)
        n_components = min(self.n_components, len(first.eigenvalues_))
        return first if n_components == 1 else self._fitted(n_components, *rows, alpha=first.alpha_)

    @property
    def _n_slices(self) -> int:
        if self.n_slices is not None:
            return self.n_slices
        return 10 if self.n_components == "auto" else max(10, self.n_components + 1)

    def _fitted(
        self,
        n_components: int | str,
        X: FloatArray,
        y: FloatArray,
        X_unlabeled: FloatArray,
        **chosen: Any,
    ) -> SemiSlicedInverseRegression:
        is_asked = self.params.get("categorical") is True  # "auto" would inspect the values
        own = {"n_slices": self._n_slices, "categorical": is_asked}
        params = {**self.params, **own, **chosen}
        estimator = SemiSlicedInverseRegression(n_components, **params)
        return estimator.fit(X, y, X_unlabeled=X_unlabeled if len(X_unlabeled) else None)


@dataclass(frozen=True)
class ActiveSubspaceLearner:
    """Embedding learner based on the gradients of a sparse Gaussian process.

    Attributes
    ----------
    n_components : int or "auto"
        Number of coordinates of the embedding. It is limited to the number of labelled points minus
        one.
    """

    n_components: int | Auto
    name = "active-subspace"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the learnt embedding, or the identity if no direction is identified."""
        most = "auto" if self.n_components == "auto" else min(self.n_components, len(X) - 1)
        estimator = ActiveSubspace(most)
        return TransformerLearner(self.name, estimator).learn(X, y, X_unlabeled)


def _means_differ(slices: Slices, X: FloatArray) -> bool:
    """Return whether the slice means of X differ by more than rounding errors."""
    means = slices.membership().T @ X / np.sqrt(slices.counts)[:, None]
    return bool((np.ptp(means, axis=0) > 1e-12).any())


def _semi_sir(name: str, **params: Any) -> Callable[[int | Auto], SemiSIRLearner]:
    return lambda n_components: SemiSIRLearner(name, n_components, params)


LEARNERS: Mapping[str, Callable[[int | Auto], Any]] = MappingProxyType(
    {
        "active-subspace": ActiveSubspaceLearner,
        "semi-sir": _semi_sir("semi-sir"),
        "semi-sir-local": _semi_sir("semi-sir-local", alpha=1.0, **PAPER),
        "semi-sir-paper": _semi_sir("semi-sir-paper", alpha=1.0, solver="paper", **PAPER),
        "sir": _semi_sir("sir", alpha=0.0),
    }
)
