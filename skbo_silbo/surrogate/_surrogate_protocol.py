"""What the loop asks of a surrogate, of its maker and of a scale of the values.

=========  =========  ==================================================================
symbol     shape      meaning
=========  =========  ==================================================================
Z          (n, r)     coordinates in the embedding
y          (n,)       values as the surrogate sees them: warped, failures filled in
noise      (n,)       known variances of these; zeros for a maker that takes none
=========  =========  ==================================================================

An object of one's own needs no base class: it is checked by `check_members` when the optimiser is
made, and by `skbo_silbo.testing.check_surrogate` as a whole.
"""

from typing import Any, Protocol, Self

import numpy as np

from skbo_silbo._typing import FloatArray


class Surrogate(Protocol):
    """What is believed of the objective, conditioned on values."""

    @property
    def relevance_(self) -> FloatArray:
        """How much each coordinate matters, (r,), >= 0: inverse length scales, or ones."""

    def predict(self, Z: FloatArray, /) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the objective without noise, (m,) each."""

    def predict_gradient(self, Z: FloatArray, /) -> tuple[FloatArray, ...]:
        """Return mean, standard deviation, (m,) each, and their gradients by z, (m, r) each."""

    def log_predictive_density(self, Z: FloatArray, y: FloatArray, /) -> FloatArray:
        """Return the log density of values, noise included, (m,), in nats."""

    def with_points(self, Z: FloatArray, y: FloatArray, /) -> Self:
        """Return a surrogate that believes in these values too, all else kept."""


class SurrogateMaker(Protocol):
    """Fits surrogates as values come in; what has to be kept between two fits is a plain state.

    The maker decides when its hyperparameters are searched again.
    """

    @property
    def takes_noise(self) -> bool:
        """Whether known variances of the values are used; if not, `tell` refuses them."""

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        /,
        *,
        moved: bool,
        rng: np.random.Generator,
    ) -> tuple[Surrogate, dict[str, Any]]:
        """Return a surrogate and its state.

        Parameters
        ----------
        state : dict or None
            The state of the fit before; None for the first.
        Z : ndarray of shape (n, r)
            Coordinates in the embedding; the cube [-1, 1]^d where that is the identity.
        y : ndarray of shape (n,)
            Values as the surrogate sees them: on the scale of `Warp`, failures filled in by the
            worst.
        noise : ndarray of shape (n,)
            Known variances of these; zeros for a maker that takes none.
        moved : bool
            Whether the coordinates are others than at the fit before.
        rng : numpy.random.Generator
            The only source of random numbers.
        """

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray, /
    ) -> Surrogate:
        """Return the surrogate of this state; nothing is searched."""

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator, /
    ) -> FloatArray:
        """Return the log density of every value given others, (n,), in nats."""


class Warp(Protocol):
    """A rising scale on which learner and surrogate see the values."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def __call__(self, y: FloatArray, /) -> FloatArray:
        """Return the warped values, (n,)."""

    def log_slope(self, y: FloatArray, /) -> FloatArray:
        """Return the logarithm of the derivative at every value, (n,)."""
