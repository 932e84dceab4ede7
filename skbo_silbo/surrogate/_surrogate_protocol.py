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
    """Protocol of surrogate models. An optimiser copies the surrogate before each `fit`.

    A surrogate may also have the methods of `SurrogateOptions`.
    """

    @property
    def takes_noise(self) -> bool:
        """Whether known noise variances are supported. If not, `tell` raises an error for them."""

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
            Coordinates of the points in the embedding. If the embedding is the identity, these are
            points of the cube [-1, 1]^d.
        y : ndarray of shape (n,)
            Values to model, after the warp. Failed evaluations have been replaced by the worst
            value.
        noise : ndarray of shape (n,)
            Known noise variance of each value, or zeros if `takes_noise` is False.
        state : dict or None
            State returned by `to_state` after the previous fit, or None for the first fit. The
            embedding may have changed since then.
        tune : bool
            Whether to optimise the hyperparameters instead of using those of `state`.
        rng : numpy.random.Generator or None
            Source of all random numbers that the surrogate draws. It is None if nothing is
            optimised.
        """

    def to_state(self) -> dict[str, Any]:
        """Return JSON-compatible data that `fit` accepts as `state`."""

    @property
    def relevance_(self) -> FloatArray:
        """Non-negative relevance of each coordinate, for example the inverse length scales."""

    def predict(self, Z: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the standard deviation of the noise-free objective.

        For Z of shape (m, r), each is an array of shape (m,).
        """

    def predict_gradient(self, Z: FloatArray, /) -> tuple[FloatArray, ...]:
        """Return the mean, the standard deviation, and their gradients with respect to Z.

        For Z of shape (m, r), the first two have shape (m,) and the gradients shape (m, r).
        """

    def log_predictive_density(self, Z: FloatArray, y: FloatArray, /) -> FloatArray:
        """Return the log density of each value, including noise, in nats."""

    def with_points(self, Z: FloatArray, y: FloatArray, /) -> Self:
        """Return a copy conditioned on additional values, with the same hyperparameters."""


class SurrogateOptions(Protocol):
    """Optional methods of a `Surrogate`, which are used if they exist."""

    def unexplained_share(self) -> float:
        """Return the share of variance, from 0 to 1, that leave-one-out predictions do not explain.

        ``search="parzen-turns"`` requires it.
        """


class Warp(Protocol):
    """Protocol of increasing transformations that are applied to the values before modelling."""

    @property
    def name(self) -> str:
        """Name used in reports."""

    def __call__(self, y: FloatArray, /) -> FloatArray:
        """Return the transformed values as an array of shape (n,)."""

    def log_slope(self, y: FloatArray, /) -> FloatArray:
        """Return the logarithm of the derivative at each value."""
