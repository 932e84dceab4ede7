"""A surrogate that sees its inputs through a function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.surrogate import central_differences
from skbo_silbo.surrogate._process import GaussianProcessSurrogate


class ImageProcess:
    """A surrogate on ``image(Z)`` in place of Z.

    Parameters
    ----------
    surrogate : GaussianProcessSurrogate
        Conditioned on images.
    image : callable
        From (n, r) to (n, k).
    n_coordinates : int
        r.
    """

    def __init__(
        self,
        surrogate: GaussianProcessSurrogate,
        image: Callable[[FloatArray], FloatArray],
        n_coordinates: int,
    ) -> None:
        self.surrogate = surrogate
        self.image = image
        self.n_coordinates = n_coordinates

    @property
    def relevance_(self) -> FloatArray:
        """Ones, (r,): one length scale is shared by all."""
        return np.ones(self.n_coordinates)

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation at the rows of Z."""
        return self.surrogate.predict(self.image(Z))

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Return mean, standard deviation and their gradients at the rows of Z."""
        return central_differences(self.predict, Z)

    def log_predictive_density(self, Z: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log density of every value, noise included, (m,)."""
        return self.surrogate.log_predictive_density(self.image(Z), y)

    def with_points(self, Z: FloatArray, y: FloatArray) -> "ImageProcess":
        """Return a surrogate with points added, hyperparameters kept."""
        surrogate = self.surrogate.with_points(self.image(Z), y)
        return ImageProcess(surrogate, self.image, self.n_coordinates)

    def to_state(self) -> dict[str, Any]:
        """Return the hyperparameters as plain data, exactly."""
        return self.surrogate.to_state()
