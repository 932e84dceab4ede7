"""A surrogate that sees its inputs through a function."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.surrogate import GaussianProcessSurrogate, central_differences


class ImageProcess(GaussianProcessSurrogate):
    """A Gaussian process with one length scale on ``image(Z)`` in place of Z.

    Parameters
    ----------
    image : callable
        From (n, r) to (n, k).
    """

    def __init__(self, image: Callable[[FloatArray], FloatArray]) -> None:
        super().__init__(isotropic=True)
        self.image = image

    def fit(self, Z: FloatArray, *args: Any, **options: Any) -> Self:
        """Condition on the images of Z, as `GaussianProcessSurrogate.fit` does on Z."""
        self._r = Z.shape[1]
        return super().fit(self.image(Z), *args, **options)

    @property
    def relevance_(self) -> FloatArray:
        """Ones, (r,): one length scale is shared by all."""
        return np.ones(self._r)

    def with_points(self, Z: FloatArray, y: FloatArray) -> Self:
        """Return a surrogate with points added, hyperparameters kept."""
        return super().with_points(self.image(Z), y)

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation at the rows of Z."""
        return super().predict(self.image(Z))

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Return mean, standard deviation and their gradients at the rows of Z."""
        return central_differences(self.predict, Z)
