"""Embeddings by invertible transformers, and serialisation of embeddings."""

from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np

from skbo_silbo._typing import FloatArray, InvertibleTransformerLike
from skbo_silbo.embedding._learner_protocol import Embedding, Learner
from skbo_silbo.embedding.linear import LinearEmbedding

RELEARN = "learn again"  # stored in place of embeddings that the next proposal learns again


@dataclass(frozen=True, eq=False)
class TransformerEmbedding:
    """Nonlinear embedding ``z = T(x) - c`` with a fitted transformer T.

    T can be kernel PCA, a Pipeline or an autoencoder, for example. Coordinates are searched in the
    box around the image of the known points, with centre c, because T may map the cube unevenly.

    Attributes
    ----------
    d : int
        Number of inputs, which are the columns of the encoded points.
    transformer : estimator
        A fitted transformer with ``transform`` and ``inverse_transform``.
    centre : ndarray of shape (r,)
        Centre c of the box in which the coordinates are searched.
    half_widths : ndarray of shape (r,)
        Half the side length of the search box along each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import KernelPCA
    >>> from skbo_silbo.embedding.nonlinear import TransformerEmbedding
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    >>> kernel_pca = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    >>> embedding = TransformerEmbedding.from_image(kernel_pca, X)
    >>> embedding.r, embedding.expand(embedding.project(X[:3])).shape
    (2, (3, 5))
    >>> bool((np.abs(embedding.project(X)) <= embedding.half_widths + 1e-12).all())
    True
    """

    d: int
    transformer: InvertibleTransformerLike
    centre: FloatArray
    half_widths: FloatArray

    is_identity = False
    basis = None  # not linear

    @classmethod
    def from_image(cls, transformer: InvertibleTransformerLike, X: FloatArray) -> Self:
        """Create the embedding with the smallest search box that contains the image of X."""
        Z = _image(transformer, X)
        low, high = Z.min(axis=0), Z.max(axis=0)
        return cls(X.shape[1], transformer, (low + high) / 2.0, (high - low) / 2.0)

    @property
    def r(self) -> int:
        """Number of coordinates of the embedding."""
        return self.centre.size

    def project(self, X: FloatArray) -> FloatArray:
        """Return the coordinates ``Z = T(X) - c`` of the points X."""
        return _image(self.transformer, X) - self.centre

    def expand(self, Z: FloatArray) -> FloatArray:
        """Return the inverse transform of the coordinates Z, without clipping to the cube."""
        X = np.asarray(self.transformer.inverse_transform(Z + self.centre), dtype=float)
        return X.reshape(len(Z), self.d)

    def pull_back(self, gradient: FloatArray) -> NoReturn:
        """Raise NotImplementedError, because transformers provide no derivatives."""
        raise NotImplementedError(
            f"{type(self.transformer).__name__} has no derivatives, which a gradient-based search "
            "requires. Use a transformer with components_, or search='random'."
        )


def _image(transformer: InvertibleTransformerLike, X: FloatArray) -> FloatArray:
    Z = np.asarray(transformer.transform(X), dtype=float)
    return Z.reshape(len(X), -1)


def embedding_to_data(embedding: Embedding) -> Any:
    """Convert an embedding to JSON-compatible data.

    Random embeddings are stored as None, because the seed determines them, and fitted transformers
    as `RELEARN`.
    """
    if isinstance(embedding, TransformerEmbedding):
        return RELEARN
    if not isinstance(embedding, LinearEmbedding):
        return None
    basis = embedding.basis
    if basis is None:
        return {"basis": None}
    order = "C" if basis.flags.c_contiguous else "F"  # the memory order affects rounding
    return {"basis": basis.tolist(), "order": order}


def embedding_from_data(data: Any, d: int, learner: Learner) -> Embedding:
    """Restore an embedding of d inputs from the data of `embedding_to_data`.

    A random embedding is drawn again by its learner. An embedding that will be learnt again is the
    identity until then.

    Raises
    ------
    ValueError
        If a basis has the wrong number of rows.
    """
    if data is None:
        return learner.learn(np.empty((0, d)), np.empty(0), np.empty((0, d)))
    if data == RELEARN or data["basis"] is None:
        return LinearEmbedding(d)
    basis = np.array(data["basis"], dtype=float, order=data["order"])
    if basis.ndim != 2 or len(basis) != d:
        raise ValueError(f"the basis must have {d} rows, one per column, got shape {basis.shape}")
    return LinearEmbedding(d, basis)
