"""Embeddings of the cube in few coordinates, drawn at random or learnt from values."""

from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding._linear import LinearEmbedding

__all__ = ["Embedding", "Learner", "LinearEmbedding"]
