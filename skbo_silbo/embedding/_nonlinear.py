"""Embeddings by any transformer with an inverse, searched round its image; all as plain data."""

from dataclasses import dataclass
from typing import NoReturn, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skbo_silbo._checks import warn_user
from skbo_silbo._typing import FloatArray, InvertibleTransformerLike
from skbo_silbo.embedding._linear import LinearEmbedding

RELEARN = "learn again"  # in place of an embedding: at the next proposal, from all values


@dataclass(frozen=True, eq=False)
class TransformerEmbedding:
    """``z = T(x) - c`` with a fitted transformer T: kernel PCA, a Pipeline, an autoencoder.

    What `LinearEmbedding` is for linear maps. T need not cover the cube evenly, so z is searched
    in the box round the image of the points that are known, and c is its centre.

    Attributes
    ----------
    d : int
        Coordinates of x.
    transformer : estimator
        Fitted, with ``transform`` and ``inverse_transform``.
    centre : ndarray of shape (r,)
        c.
    half_widths : ndarray of shape (r,)
        Half the sides of the box.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import KernelPCA
    >>> from skbo_silbo.embedding._nonlinear import TransformerEmbedding
    >>> X = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    >>> kernel_pca = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    >>> embedding = TransformerEmbedding.round_image(kernel_pca, X)
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
    basis = None  # the map is no matrix

    @classmethod
    def round_image(cls, transformer: InvertibleTransformerLike, X: FloatArray) -> Self:
        """Return the embedding by a fitted transformer, to be searched round the image of X."""
        Z = _image(transformer, X)
        low, high = Z.min(axis=0), Z.max(axis=0)
        return cls(X.shape[1], transformer, (low + high) / 2.0, (high - low) / 2.0)

    @property
    def r(self) -> int:
        """Number of coordinates of z."""
        return self.centre.size

    def project(self, X: FloatArray) -> FloatArray:
        """Return ``Z = T(X) - c``, of shape (n, r)."""
        return _image(self.transformer, X) - self.centre

    def expand(self, Z: FloatArray) -> FloatArray:
        """Return the points, (n, d), that T's inverse gives for Z, (n, r); not clipped."""
        X = np.asarray(self.transformer.inverse_transform(Z + self.centre), dtype=float)
        return X.reshape(len(Z), self.d)

    def pull_back(self, gradient: FloatArray) -> NoReturn:
        """Raise: a transformer has no derivative."""
        raise NotImplementedError(
            f"a search by gradients needs an embedding with derivatives: "
            f"{type(self.transformer).__name__} has none. Use a transformer with components_, or "
            "search='random'."
        )


@dataclass(frozen=True)
class NonlinearLearner:
    """Learn by a scikit-learn transformer that has ``transform`` and ``inverse_transform``.

    Attributes
    ----------
    transformer : estimator
        Cloned before every fit. `X_unlabeled` is passed if its `fit` takes it.
    """

    transformer: InvertibleTransformerLike

    @property
    def name(self) -> str:
        """Name of the transformer's class."""
        return type(self.transformer).__name__

    def learn(
        self, X: FloatArray, y: FloatArray, X_unlabeled: FloatArray
    ) -> LinearEmbedding | TransformerEmbedding:
        """Return the embedding, searched round the image of labelled and unlabelled points.

        Equal values of y, or equal rows of X, identify nothing: then it is the identity.
        """
        transformer = fit_if_possible(self.transformer, X, y, X_unlabeled)
        if transformer is None:
            return LinearEmbedding(X.shape[1])
        return TransformerEmbedding.round_image(transformer, np.vstack([X, X_unlabeled]))


def varies(X, y):
    """Return whether neither all rows of X, nor all values of y, are the same."""
    return np.unique(y).size > 1 and bool(np.ptp(X, axis=0).any())


def fit_if_possible(transformer, X, y, X_unlabeled):
    """Return what `fit_clone` does; None where the points identify nothing, or too few directions.

    Warns
    -----
    UserWarning
        If the transformer refuses them, or its components are not finite or all zero: values were
        paid for, so the search goes on.
    """
    if not varies(X, y):
        return None
    try:
        fitted = fit_clone(transformer, X, y, X_unlabeled)
        if hasattr(fitted, "components_"):
            LinearEmbedding.from_components(fitted.components_)  # raises where they are none
        elif not np.isfinite(_image(fitted, X)).all():
            raise ValueError("points of the cube have no finite coordinates")
        return fitted
    except ValueError as error:
        warn_user(
            f"embedding must be fitted to the values so far: {transformer!r} refuses them ({error})"
            ". All inputs are kept until it takes them. Give fewer directions, or n_initial more."
        )
        return None


def fit_clone(transformer, X, y, X_unlabeled):
    """Return a clone of the transformer, fitted; unlabelled points are given if it takes them."""
    transformer = clone(transformer)
    takes_unlabeled = has_fit_parameter(transformer, "X_unlabeled") and len(X_unlabeled) > 0
    extra = {"X_unlabeled": X_unlabeled} if takes_unlabeled else {}
    return transformer.fit(X, y, **extra)


def _image(transformer, X):
    Z = np.asarray(transformer.transform(X), dtype=float)
    return Z.reshape(len(X), -1)


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
