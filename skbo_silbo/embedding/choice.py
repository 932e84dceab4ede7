"""Resolution of the option `embedding`, and learners of fixed embeddings."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo._members import missing_members
from skbo_silbo._numerics.priors import LEAST_SPARSE_DIMENSION
from skbo_silbo._typing import Auto, FloatArray
from skbo_silbo.decomposition.selection._n_components import check_n_components
from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding.learners import LEARNERS, transformer_learner
from skbo_silbo.embedding.linear import LinearEmbedding

AUTO, AUTO_LEARNT = "sparse", "semi-sir"  # meaning of "auto" without and with n_components
# Embeddings that keep all inputs, and the length scale prior that each implies.
ALL_INPUTS = MappingProxyType({"identity": "dimension-scaled", "sparse": "sparse"})
EMBEDDINGS = ("auto", *ALL_INPUTS, *LEARNERS)


@dataclass(frozen=True)
class IdentityLearner:
    """Embedding learner that keeps all inputs, ``z = x``.

    Attributes
    ----------
    name : str
        Name of the learner in reports: "identity", or "sparse" if the surrogate's prior assumes
        that few inputs are relevant.
    """

    name: str = "identity"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the identity embedding for points with as many inputs as X."""
        return LinearEmbedding(X.shape[1])


@dataclass(frozen=True)
class FixedLearner:
    """Embedding learner that ignores the data and returns a fixed embedding.

    Attributes
    ----------
    embedding : object
        The fixed embedding, which `learn` returns for any data.
    """

    embedding: Embedding
    name = "fixed"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> Embedding:
        """Return the fixed embedding, whatever the data."""
        return self.embedding


def choose_embedding(embedding: Any, n_components: int | Auto, d: int) -> Learner:
    """Return the embedding learner, given the option `embedding`.

    Parameters
    ----------
    embedding : str, transformer or Learner
    n_components : int or "auto"
        Number of coordinates of a learnt embedding.
    d : int
        Number of columns of the encoded points.

    Returns
    -------
    learner : Learner

    Raises
    ------
    ValueError
        If the embedding is unknown or incompatible with `n_components`.
    """
    if isinstance(embedding, str) and embedding in EMBEDDINGS:
        check_n_components(n_components, d)
        if embedding == "auto" and n_components != "auto":
            embedding = AUTO_LEARNT
        elif embedding == "auto":
            embedding = AUTO if d >= LEAST_SPARSE_DIMENSION else "identity"
        if embedding in LEARNERS:
            r = n_components if n_components == "auto" else int(n_components)
            return LEARNERS[embedding](r)
        if n_components not in ("auto", d):
            raise ValueError(
                f"`n_components` must be 'auto' or {d} (all inputs) with embedding={embedding!r}, "
                f"got {n_components!r}. Use embedding='semi-sir' for fewer."
            )
        return IdentityLearner(embedding)
    if n_components != "auto":
        raise ValueError(
            f"n_components must be 'auto' if embedding is an object, got {n_components!r}. Set the "
            "number of components on the object."
        )
    if not missing_members(embedding, Learner):
        return embedding
    if isinstance(embedding, type) or not is_transformer(embedding):
        raise ValueError(
            f"embedding must be one of {sorted(EMBEDDINGS)}, a transformer with components_, or an "
            f"object with name and learn(X, y, X_unlabeled), got {brief(embedding)}."
        )
    return transformer_learner(embedding, d)


def is_transformer(embedding: Any) -> bool:
    """Return whether an object has the interface of a scikit-learn transformer."""
    return hasattr(embedding, "fit") and hasattr(embedding, "get_params")
