"""A surrogate that sees its inputs through a function."""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np

from skbo_silbo._typing import ArrayLike, FloatArray
from skbo_silbo.surrogate import GaussianProcessSurrogate, central_differences


class ImageProcess:
    """A Gaussian process with one length scale on ``image(Z)`` in place of Z.

    Parameters
    ----------
    image : callable
        From (n, r) to (n, k).
    """

    takes_noise = True

    def __init__(self, image: Callable[[FloatArray], FloatArray]) -> None:
        self.image = image

    def fit(
        self,
        Z: FloatArray,
        y: FloatArray,
        noise: ArrayLike = 0.0,
        *,
        state: dict[str, Any] | None = None,
        tune: bool = True,
        rng: np.random.Generator | None = None,
    ) -> Self:
        """Condition on the images of Z, as `GaussianProcessSurrogate.fit` does on Z."""
        self._r = Z.shape[1]
        self._process = GaussianProcessSurrogate(isotropic=True)
        self._process.fit(self.image(Z), y, noise, state=state, tune=tune)
        return self

    @property
    def relevance_(self) -> FloatArray:
        """Ones, (r,): one length scale is shared by all."""
        return np.ones(self._r)

    def predict(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation at the rows of Z."""
        return self._process.predict(self.image(Z))

    def predict_gradient(self, Z: FloatArray) -> tuple[FloatArray, ...]:
        """Return mean, standard deviation and their gradients at the rows of Z."""
        return central_differences(self.predict, Z)

    def log_predictive_density(self, Z: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log density of every value, noise included, (m,)."""
        return self._process.log_predictive_density(self.image(Z), y)

    def leave_one_out_log_density(self) -> FloatArray:
        """Return the log density of every value given all others, (n,), in nats."""
        return self._process.leave_one_out_log_density()

    def with_points(self, Z: FloatArray, y: FloatArray) -> Self:
        """Return a surrogate with points added, hyperparameters kept."""
        other = copy(self)
        other._process = self._process.with_points(self.image(Z), y)
        return other

    def to_state(self) -> dict[str, Any]:
        """Return the hyperparameters as plain data, exactly."""
        return self._process.to_state()
