"""Learners of the embedding: from labelled points to the linear map that the surrogate sees."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import Auto, FloatArray, TransformerLike
from skbo_silbo.decomposition import ActiveSubspace, SemiSlicedInverseRegression, slice_response
from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.embedding._nonlinear import (
    NonlinearLearner,
    fit_clone,
    fit_if_possible,
    varies,
)

PAPER = MappingProxyType({"n_local_neighbors": 7, "n_neighbors": 7, "random_state": 0})
N_TRIAL = 200  # random points that a transformer is tried on


@dataclass(frozen=True)
class TransformerLearner:
    """Learn by a scikit-learn transformer that has ``components_`` after ``fit(X, y)``.

    Attributes
    ----------
    name : str
    transformer : estimator
        Cloned before every fit. `X_unlabeled` is passed if its `fit` takes it.
    """

    name: str
    transformer: TransformerLike

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding onto the span of the transformer's components.

        Equal values of y, or equal rows of X, identify no direction: then it is the identity.
        """
        transformer = fit_if_possible(self.transformer, X, y, X_unlabeled)
        if transformer is None:
            return LinearEmbedding(X.shape[1])
        return LinearEmbedding.from_components(transformer.components_)


def transformer_learner(transformer: Any, d: int) -> TransformerLearner | NonlinearLearner:
    """Return the learner by a transformer of d inputs, linear or not, after a trial of it.

    Raises
    ------
    ValueError
        When a fit to random numbers ends in an error, or what it learnt maps back to no inputs.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (N_TRIAL, d))
    try:
        fitted = fit_clone(transformer, X, rng.permutation(N_TRIAL).astype(float), X)
        linear = hasattr(fitted, "components_") or not hasattr(type(fitted), "inverse_transform")
        rows = fitted.components_ if linear else fitted.inverse_transform(fitted.transform(X))
        wanted = (len(rows), d) if linear else X.shape
        if np.shape(rows) != wanted:
            what = "components_ have" if linear else "inverse_transform gave rows of"
            raise ValueError(f"{what} shape {np.shape(rows)}, not {wanted}")
        if not np.isfinite(np.asarray(rows, dtype=float)).all():
            raise ValueError(
                f"{'components_ are' if linear else 'inverse_transform is'} not finite"
            )
    except Exception as error:
        raise ValueError(
            "embedding must be a transformer with components_ after fit(X, y), or one whose "
            f"inverse_transform maps back to all inputs: a trial of {transformer!r} on {N_TRIAL} "
            f"random rows ended in {type(error).__name__}: {error}. Use PCA, "
            "SemiSlicedInverseRegression or another linear one; or give KernelPCA "
            "fit_inverse_transform=True, or a Pipeline of steps that can all be inverted."
        ) from error
    if not linear:
        return NonlinearLearner(transformer)
    return TransformerLearner(type(transformer).__name__, transformer)


@dataclass(frozen=True)
class SemiSIRLearner:
    """Learn by semi-supervised sliced inverse regression.

    Attributes
    ----------
    name : str
    n_components : int or "auto"
        Coordinates; early in a run the slices identify fewer, and then those are used.
    params : dict
        Further parameters of the estimator.
    n_slices : int or None
        None: 10, or one more than the coordinates where these are 10 or more.
    """

    name: str
    n_components: int | Auto
    params: Mapping[str, Any]
    n_slices: int | None = None

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding, or the identity when equal values identify no direction."""
        if not varies(X, y):
            return LinearEmbedding(X.shape[1])
        slices = slice_response(y, self._n_slices)
        if not _means_differ(slices, X):
            return LinearEmbedding(X.shape[1])
        self._warn_where_slices_are_plain(slices)
        estimator = self._as_many_as_identified(slices, X, y, X_unlabeled)
        return LinearEmbedding.from_components(estimator.components_)

    def _as_many_as_identified(self, slices, *rows):
        """Return the fitted estimator, with fewer directions where the data identify fewer."""
        if self.params.get("solver") == "paper":  # divides by zero past what is identified
            d, centred = rows[0].shape[1], rows[0] - rows[0].mean(axis=0)
            most = d if self.n_components == "auto" else self.n_components
            rank = int(np.linalg.matrix_rank(centred))
            return self._fitted(max(min(most, rank, slices.n_slices - 1), 1), *rows)
        if self.n_components == "auto":
            return self._fitted("criterion", *rows)  # tests by permutation are too expensive here
        first = self._fitted(1, *rows)
        n_components = min(self.n_components, len(first.eigenvalues_))
        return first if n_components == 1 else self._fitted(n_components, *rows, alpha=first.alpha_)

    def _warn_where_slices_are_plain(self, slices):
        k = self.params.get("n_local_neighbors")
        largest = int(slices.counts.max())
        if k is not None and k >= largest:
            warn_user(
                f"n_local_neighbors={k} is no localisation: the slices of {slices.n_rows} values "
                f"have at most {largest} rows, so this is plain slicing. The paper's settings have "
                "that until there are enough values; for slices that are localised give embedding="
                f"SemiSlicedInverseRegression(n_local_neighbors={max(largest - 1, 2)}).",
            )

    @property
    def _n_slices(self):
        if self.n_slices is not None:
            return self.n_slices
        return 10 if self.n_components == "auto" else max(10, self.n_components + 1)

    def _fitted(self, n_components, X, y, X_unlabeled, **chosen):
        is_asked = self.params.get("categorical") is True  # "auto" would ask what values are
        own = {"n_slices": self._n_slices, "categorical": is_asked}
        params = {**self.params, **own, **chosen}
        estimator = SemiSlicedInverseRegression(n_components, **params)
        return estimator.fit(X, y, X_unlabeled=X_unlabeled if len(X_unlabeled) else None)


@dataclass(frozen=True)
class ActiveSubspaceLearner:
    """Learn the directions along which a Gaussian process with a sparse prior is steepest.

    Attributes
    ----------
    n_components : int or "auto"
        Coordinates; fewer labels than that identify fewer.
    """

    n_components: int | Auto
    name = "active-subspace"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the embedding, or the identity when equal values identify no direction."""
        most = "auto" if self.n_components == "auto" else min(self.n_components, len(X) - 1)
        estimator = ActiveSubspace(most, random_state=0)
        return TransformerLearner(self.name, estimator).learn(X, y, X_unlabeled)


def _means_differ(slices, X):
    """Whether the means of the slices of X, (n, d), differ by more than rounding."""
    means = slices.membership().T @ X / np.sqrt(slices.counts)[:, None]
    return bool((np.ptp(means, axis=0) > 1e-12).any())


def _semi_sir(name, **params):
    return lambda n_components: SemiSIRLearner(name, n_components, params)


LEARNERS = MappingProxyType(
    {
        "active-subspace": ActiveSubspaceLearner,
        "semi-sir": _semi_sir("semi-sir"),
        "semi-sir-local": _semi_sir("semi-sir-local", alpha=1.0, **PAPER),
        "semi-sir-paper": _semi_sir("semi-sir-paper", alpha=1.0, solver="paper", **PAPER),
        "sir": _semi_sir("sir", alpha=0.0),
    }
)
