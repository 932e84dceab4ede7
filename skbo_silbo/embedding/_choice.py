"""What the option `embedding` stands for, and the learners that learn nothing."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from skbo_silbo._checks import brief
from skbo_silbo._members import missing_members
from skbo_silbo._numerics._priors import LEAST_SPARSE_DIMENSION
from skbo_silbo._typing import FloatArray
from skbo_silbo.decomposition.selection._n_components import check_n_components
from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding._learners import LEARNERS, transformer_learner
from skbo_silbo.embedding._linear import LinearEmbedding

AUTO, AUTO_LEARNT = "sparse", "semi-sir"  # what "auto" is without and with n_components
# Embeddings that keep all inputs, and the prior of the length scales that each stands for
ALL_INPUTS = MappingProxyType({"identity": "dimension-scaled", "sparse": "sparse"})
EMBEDDINGS = ("auto", *ALL_INPUTS, *LEARNERS)


@dataclass(frozen=True)
class IdentityLearner:
    """Learn nothing: ``z = x``.

    Attributes
    ----------
    name : str
        "sparse" beside a surrogate that expects few inputs to matter.
    """

    name: str = "identity"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> LinearEmbedding:
        """Return the identity of the columns of X."""
        return LinearEmbedding(X.shape[1])


@dataclass(frozen=True)
class FixedLearner:
    """Learn nothing: the embedding is the one given.

    Attributes
    ----------
    embedding : object
        A sketch.
    """

    embedding: Embedding
    name = "fixed"

    def learn(self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray) -> Embedding:
        """Return the embedding given."""
        return self.embedding


def choose_embedding(embedding, n_components, d):
    """Return the learner that the option `embedding` stands for.

    Parameters
    ----------
    embedding : str, transformer or Learner
    n_components : int or "auto"
        Coordinates of a learnt embedding.
    d : int
        Columns of the encoded cube.

    Returns
    -------
    learner : Learner

    Raises
    ------
    ValueError
        When the embedding is unknown, or `n_components` does not go with it.
    """
    if isinstance(embedding, str) and embedding in EMBEDDINGS:
        check_n_components(n_components, d)
        return _named(embedding, n_components if n_components == "auto" else int(n_components), d)
    if n_components != "auto":
        raise ValueError(
            f"n_components must be 'auto' when embedding is an object: got {n_components!r}. "
            "Set it on the object."
        )
    if not missing_members(embedding, Learner):
        return embedding
    if isinstance(embedding, type) or not is_transformer(embedding):
        raise ValueError(
            f"embedding must be one of {sorted(EMBEDDINGS)}, a transformer with components_ or "
            "inverse_transform, or an object with name and learn(X, y, X_unlabeled): got "
            f"{brief(embedding)}."
        )
    return transformer_learner(embedding, d)


def is_transformer(embedding: Any) -> bool:
    """Return whether an object can be cloned and fitted as a scikit-learn transformer."""
    return hasattr(embedding, "fit") and hasattr(embedding, "get_params")


def _named(embedding, n_components, d):
    if embedding == "auto":
        if n_components != "auto":
            embedding = AUTO_LEARNT
        else:
            embedding = AUTO if d >= LEAST_SPARSE_DIMENSION else "identity"
    if embedding in LEARNERS:
        return LEARNERS[embedding](n_components)
    if n_components not in ("auto", d):
        raise ValueError(
            f"n_components must be 'auto' or {d} (all inputs) with embedding={embedding!r}: "
            f"got {n_components!r}. Use embedding='semi-sir' for fewer."
        )
    return IdentityLearner(embedding)
