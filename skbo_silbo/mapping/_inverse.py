"""The mapping of nonlinear embeddings: their own inverse."""

import numpy as np


class InverseMapping:
    """Keep every x and y; put new points where the embedding's inverse says, clipped to the cube.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> from skbo_silbo.mapping import InverseMapping
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> InverseMapping().lift(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """

    keeps_coordinates = False

    def lift(self, Z, embedding, incumbent=None):
        """Return the points, (m, d), of the cube that stand for the coordinates Z, (m, r)."""
        return np.clip(embedding.expand(Z), -1.0, 1.0)

    def place(self, found, embedding, incumbent):
        """Return the points of the coordinates that a search found."""
        return self.lift(found.Z, embedding)

    def settle(self, x, z, embedding, rng):
        """Return x: it is the one point of z."""
        return x

    def carry(self, X, embedding):
        """Return the coordinates, (n, r), of evaluated points X under a new embedding."""
        return embedding.project(X)
