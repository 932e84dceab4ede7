"""The mapping of nonlinear embeddings: their own inverse."""

from skbo_silbo.mapping._bottom_up import BottomUp


class InverseMapping(BottomUp):
    """Keep every x and y; put new points where the embedding's inverse says, clipped to the cube.

    The points are those of `BottomUp`; unlike there they stay when the embedding changes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> from skbo_silbo.mapping._inverse import InverseMapping
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> InverseMapping().lift(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """

    keeps_coordinates = False
