"""Top-down mapping: the evaluated points stay, their coordinates follow the embedding."""

import numpy as np

from skbo_silbo._numerics._box import nearest_preimages


class TopDown:
    """Keep every x and y; put new points at the preimage of z nearest the incumbent.

    The top-down strategy of SILBO (Chen et al. 2020, section 4.3 and Algorithm 4), which leaves
    the choice among the many preimages to CMA-ES. Here it is the one nearest the incumbent,
    so that coordinates the embedding does not see stay where they have done well.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.mapping import LinearEmbedding, TopDown
    >>> embedding = LinearEmbedding.from_components(np.array([[1.0, 0.0, 0.0]]))
    >>> TopDown().lift(np.array([[0.5]]), embedding, np.array([0.0, 0.3, -0.3])).round(6)
    array([[ 0.5,  0.3, -0.3]])
    """

    def lift(self, Z, embedding, incumbent):
        """Return points of the cube with coordinates Z, or the nearest to them that there are.

        Parameters
        ----------
        Z : ndarray of shape (m, r)
            Coordinates in the embedding.
        embedding : LinearEmbedding
        incumbent : ndarray of shape (d,)
            Among the points with the same coordinates, the one nearest this is taken.

        Returns
        -------
        X : ndarray of shape (m, d)
            In ``[-1, 1]``.
        """
        if embedding.is_identity:
            return np.clip(Z, -1.0, 1.0)
        return nearest_preimages(Z, embedding.basis, incumbent)

    def carry(self, X, embedding):
        """Return the coordinates, (n, r), of evaluated points X under a new embedding."""
        return embedding.project(X)
