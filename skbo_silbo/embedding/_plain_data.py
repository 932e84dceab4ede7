"""Learnt embeddings as plain data for JSON."""

import numpy as np

from skbo_silbo.embedding._linear import LinearEmbedding
from skbo_silbo.embedding._nonlinear import TransformerEmbedding

RELEARN = "learn again"  # in place of an embedding: at the next proposal, from all values


def embedding_to_data(embedding):
    """Return a learnt linear embedding as plain data; None for a sketch, drawn again from seed.

    `RELEARN` for a fitted transformer, which is no plain data.
    """
    if isinstance(embedding, TransformerEmbedding):
        return RELEARN
    if not isinstance(embedding, LinearEmbedding):
        return None
    basis = embedding.basis
    if basis is None:
        return {"basis": None}
    order = "C" if basis.flags.c_contiguous else "F"  # of memory: it decides last bits
    return {"basis": basis.tolist(), "order": order}


def embedding_from_data(data, d, learner):
    """Return the embedding, on d inputs, that `embedding_to_data` was given.

    A sketch comes from its learner again, who needs no values for it; what is to be learnt again
    is the identity until then.

    Raises
    ------
    ValueError
        If a basis has another number of rows.
    """
    if data is None:
        return learner.learn(np.empty((0, d)), np.empty(0), np.empty((0, d)))
    if data == RELEARN or data["basis"] is None:
        return LinearEmbedding(d)
    basis = np.array(data["basis"], dtype=float, order=data["order"])
    if basis.ndim != 2 or len(basis) != d:
        raise ValueError(f"the basis must have {d} rows, one for every column: got {basis.shape}")
    return LinearEmbedding(d, basis)
