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
    """Protocol of models of the objective, which an optimiser copies before every `fit`.

    A surrogate may also have the methods of `SurrogateOptions`.
    """

    @property
    def takes_noise(self) -> bool:
        """Whether known noise variances are supported; if not, `tell` rejects them."""

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
            Coordinates in the embedding; points of the cube [-1, 1]^d if it is the identity.
        y : ndarray of shape (n,)
            Warped values, with failures replaced by the worst value.
        noise : ndarray of shape (n,)
            Known noise variances of y; zeros if `takes_noise` is False.
        state : dict or None
            Result of `to_state` of the previous fit; None for the first one. The embedding may have
            changed since.
        tune : bool
            Whether to optimise the hyperparameters instead of using those of `state`.
        rng : numpy.random.Generator or None
            The only source of random numbers; None if nothing is optimised.
        """

    def to_state(self) -> dict[str, Any]:
        """Return plain data from which `fit` can start, or repeat the same fit."""

    @property
    def relevance_(self) -> FloatArray:
        """Relevance of each coordinate, (r,), non-negative: inverse length scales, or ones."""

    def predict(self, Z: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the noise-free objective, (m,) each."""

    def predict_gradient(self, Z: FloatArray, /) -> tuple[FloatArray, ...]:
        """Return mean and standard deviation, (m,) each, and their gradients, (m, r) each."""

    def log_predictive_density(self, Z: FloatArray, y: FloatArray, /) -> FloatArray:
        """Return the log density of values, (m,), in nats, including noise."""

    def with_points(self, Z: FloatArray, y: FloatArray, /) -> Self:
        """Return a copy conditioned on additional values, with the same hyperparameters."""


class SurrogateOptions(Protocol):
    """Optional methods of a `Surrogate`, each used if it exists."""

    def unexplained_share(self) -> float:
        """Return the share of variance left by leave-one-out predictions, from 0 to 1.

        ``search="parzen-turns"`` requires it.
        """


class Warp(Protocol):
    """Protocol of increasing transformations of the values before models are fitted."""

    @property
    def name(self) -> str:
        """Name used in reports."""

    def __call__(self, y: FloatArray, /) -> FloatArray:
        """Return the warped values, (n,)."""

    def log_slope(self, y: FloatArray, /) -> FloatArray:
        """Return the logarithm of the derivative at every value, of shape (n,)."""
