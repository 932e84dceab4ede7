"""Bottom-up mapping: the coordinates stay, their points follow the embedding."""

import numpy as np

from skbo_silbo.mapping._mapping_protocol import FullMapping


class BottomUp(FullMapping):
    """Keep every z; its point is the clipped minimum-norm preimage under the embedding in use.

    The bottom-up strategy of SILBO (Chen et al. 2020, Algorithm 3), ``x = clip(z pinv(B))``, and
    with a random B that never changes the map of REMBO (Wang et al. 2013). When B changes the
    points move, and each has to be evaluated again: the optimisers ask for them, and they count.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.mapping._bottom_up import BottomUp
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> BottomUp().lift(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """

    keeps_coordinates = True

    def lift(self, Z, embedding, incumbent=None):
        """Return the points, (m, d), of the cube that stand for the coordinates Z, (m, r)."""
        return np.clip(embedding.expand(Z), -1.0, 1.0)


class InverseMapping(BottomUp):
    """Keep every x and y; put new points where the embedding's inverse says, clipped to the cube.

    The points are those of `BottomUp`; unlike there they stay when the embedding changes.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.embedding import LinearEmbedding
    >>> from skbo_silbo.mapping._bottom_up import InverseMapping
    >>> embedding = LinearEmbedding.from_components(np.array([[0.6, 0.8]]))
    >>> InverseMapping().lift(np.array([[0.5], [1.4]]), embedding).round(6)
    array([[0.3 , 0.4 ],
           [0.84, 1.  ]])
    """

    keeps_coordinates = False
