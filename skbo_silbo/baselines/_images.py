"""What REMBO's kernels see of a point: its clipped image, or that image warped back."""

from typing import Protocol

import numpy as np

from skbo_silbo._typing import FloatArray


class SketchLike(Protocol):
    """What is asked of a `skbo_silbo.embedding.GaussianSketch`."""

    @property
    def basis(self) -> FloatArray:
        """An orthonormal basis, (d, r), of its range."""

    def expand(self, V: FloatArray, /) -> FloatArray:
        """Return the points, (n, d), of coordinates, (n, r)."""


def clipped_image(Z: FloatArray, sketch: SketchLike) -> FloatArray:
    """Return ``clip(A z)``, (n, d): what the kernel K_X of Wang et al. (2013) compares."""
    return np.clip(sketch.expand(Z), -1.0, 1.0)


def warped_image(Z: FloatArray, sketch: SketchLike) -> FloatArray:
    """Return Psi(z), (n, r): what the kernel K_psi of Binois et al. (2015) compares.

    The clipped image x is projected onto the range of A, as p. Where p lies outside the cube, it is
    pulled to the pivot p' on the cube's surface, and pushed out again by ``||x - p'||``
    along p': so that distances to the cube's faces count (Binois, Ginsbourger and Roustant 2015,
    section 3). It depends on z through x alone: equal images give equal kernels.

    Parameters
    ----------
    Z : ndarray of shape (n, r)
    sketch : GaussianSketch

    Returns
    -------
    warped : ndarray of shape (n, r)
        Coordinates in an orthonormal basis of the range of A.
    """
    X = clipped_image(Z, sketch)
    P = X @ sketch.basis @ sketch.basis.T
    pivots = P / np.maximum(1.0, np.abs(P).max(axis=1, keepdims=True))
    lengths = np.linalg.norm(pivots, axis=1, keepdims=True)
    pushed = np.linalg.norm(X - pivots, axis=1, keepdims=True)
    stretch = 1.0 + pushed / np.where(lengths > 0.0, lengths, 1.0)
    return (stretch * pivots) @ sketch.basis
