"""Protocols of surrogates and of warps of the values.

=========  =========  ==================================================================
symbol     shape      meaning
=========  =========  ==================================================================
Z          (n, r)     coordinates in the embedding
y          (n,)       values as the surrogate sees them: warped, failures filled in
noise      (n,)       known noise variances; zeros if the surrogate does not support them
=========  =========  ==================================================================

No base class is needed. The optimiser checks that all members exist, and
`skbo_silbo.testing.check_surrogate` checks that they work.
"""

from typing import Any, Protocol, Self

import numpy as np

from skbo_silbo._typing import FloatArray


class Surrogate(Protocol):
    """Protocol of surrogate models, which predict the objective.

    A surrogate may also have the methods of `SurrogateOptions`.
    """

    @property
    def takes_noise(self) -> bool:
        """Whether the surrogate supports known noise variances of the observed values."""

    def fit(
        self,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        /,
        *,
        state: dict[str, Any] | None,
        tune: bool,
        rng: np.random.Generator | None,
    ) -> Self:
        """Fit the surrogate and return it.

        Parameters
        ----------
        Z : ndarray of shape (n, r)
            Coordinates of the points in the embedding. For the identity embedding, they are the
            encoded points themselves.
        y : ndarray of shape (n,)
            Observed values after the transformation by the warp. Failed evaluations have been
            replaced by the worst value.
        noise : ndarray of shape (n,)
            Known noise variance of each value, or zeros if `takes_noise` is False.
        state : dict or None
            State returned by `to_state` after the previous fit, or None for the first fit. The
            embedding may have changed since then.
        tune : bool
            Whether to optimise the hyperparameters instead of using those of `state`.
        rng : numpy.random.Generator or None
            Random number generator of the surrogate, or None if nothing is optimised.
        """

    def to_state(self) -> dict[str, Any]:
        """Return the fitted hyperparameters as JSON-compatible data."""

    @property
    def relevance_(self) -> FloatArray:
        """Non-negative relevance of each coordinate, such as its inverse length scale."""

    def predict(self, Z: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Predict the mean and standard deviation of the noise-free objective.

        For Z of shape (m, r), both have shape (m,).
        """

    def predict_gradient(self, Z: FloatArray, /) -> tuple[FloatArray, ...]:
        """Predict the mean, the standard deviation and their gradients.

        For Z of shape (m, r), mean and standard deviation have shape (m,), and gradients (m, r).
        """

    def with_points(self, Z: FloatArray, y: FloatArray, /) -> Self:
        """Return a copy that is conditioned on additional values, without refitting."""


class SurrogateOptions(Protocol):
    """Optional methods of a `Surrogate`."""

    def unexplained_share(self) -> float:
        """Return the share of the variance that leave-one-out predictions do not explain.

        ``search="parzen-turns"`` requires it.
        """


class Warp(Protocol):
    """Protocol of increasing transformations of the observed values."""

    @property
    def name(self) -> str:
        """Name of the transformation in reports."""

    def __call__(self, y: FloatArray, /) -> FloatArray:
        """Transform the observed values."""

    def log_slope(self, y: FloatArray, /) -> FloatArray:
        """Return the logarithm of the transformation's derivative at each value."""
