"""Low-dimensional embeddings of the search space, and methods that learn them."""

from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding.linear import LinearEmbedding

__all__ = ["Embedding", "Learner", "LinearEmbedding"]
