"""What the loop asks of a surrogate and of a scale of the values.

=========  =========  ==================================================================
symbol     shape      meaning
=========  =========  ==================================================================
Z          (n, r)     coordinates in the embedding
y          (n,)       values as the surrogate sees them: warped, failures filled in
noise      (n,)       known variances of these; zeros for a surrogate that takes none
=========  =========  ==================================================================

An object of one's own needs no base class: it is checked by `check_members` when the optimiser is
made, and by `skbo_silbo.testing.check_surrogate` as a whole.
"""

from typing import Any, Protocol, Self

import numpy as np

from skbo_silbo._typing import FloatArray


class Surrogate(Protocol):
    """A model of the values. The one given to an optimiser is copied before every `fit`.

    It may also have the methods of `SurrogateOptions`.
    """

    @property
    def takes_noise(self) -> bool:
        """Whether known variances of the values are used; if not, `tell` refuses them."""

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
        """Condition on data, and return the surrogate itself.

        Parameters
        ----------
        Z : ndarray of shape (n, r)
            Coordinates in the embedding; the cube [-1, 1]^d where that is the identity.
        y : ndarray of shape (n,)
            Values on the scale of `Warp`, failures replaced by the worst.
        noise : ndarray of shape (n,)
            Known variances of these; zeros where `takes_noise` is False.
        state : dict or None
            What `to_state` of the fit before returned; None for the first. The embedding may have
            changed since.
        tune : bool
            Whether the hyperparameters are to be searched; else those of `state` are kept.
        rng : numpy.random.Generator or None
            The only source of random numbers; None where nothing is searched.
        """

    def to_state(self) -> dict[str, Any]:
        """Return as plain data for JSON what the next fit, or the same fit again, needs."""

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
        """Return a surrogate conditioned on these values of pending points too, all else kept."""


class SurrogateOptions(Protocol):
    """Optional methods of a `Surrogate`. The optimiser uses each one that is there."""

    def unexplained_share(self) -> float:
        """Return the share, 0 to 1, of the variance of y that is left in leave-one-out predictions.

        ``search="parzen-turns"`` needs it.
        """

    def predict_mean(self, Z: FloatArray, /) -> FloatArray:
        """Return the mean of `predict`, (m,), where it is cheaper without the deviation."""


class Warp(Protocol):
    """A rising scale on which learner and surrogate see the values."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def __call__(self, y: FloatArray, /) -> FloatArray:
        """Return the warped values, (n,)."""

    def log_slope(self, y: FloatArray, /) -> FloatArray:
        """Return the logarithm of the derivative at every value, (n,)."""
