"""Makers of the baselines' surrogates: how the loop starts, tunes and restores one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skbo_silbo._typing import FloatArray
from skbo_silbo.baselines._additive_process import AdditiveProcess
from skbo_silbo.baselines._cylindrical_process import CylindricalProcess
from skbo_silbo.baselines._image_process import ImageProcess
from skbo_silbo.surrogate import log_density_by_folds
from skbo_silbo.surrogate._makers import former_hyperparameters, is_due
from skbo_silbo.surrogate._process import GaussianProcessSurrogate


@dataclass(frozen=True)
class ImageMaker:
    """Makes Gaussian processes on an image of the coordinates, with one length scale.

    Attributes
    ----------
    image : callable
        From (n, r) to (n, k).
    """

    image: Callable[[FloatArray], FloatArray]

    takes_noise = True

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        *,
        moved: bool,
        rng: np.random.Generator,
    ) -> tuple[ImageProcess, dict[str, Any]]:
        """Return a surrogate and its state; the search starts at the former hyperparameters."""
        theta, tuned_at = former_hyperparameters(state, moved, 3)
        tune = is_due(y.size, tuned_at, Z.shape[1])
        inner = GaussianProcessSurrogate(theta, isotropic=True)
        inner.fit(self.image(Z), y, noise, tune=tune)
        state = {**inner.to_state(), "tuned_at": y.size if tune else tuned_at}
        return ImageProcess(inner, self.image, Z.shape[1]), state

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray
    ) -> ImageProcess:
        """Return the surrogate of this state, conditioned on (Z, y)."""
        inner = GaussianProcessSurrogate(isotropic=True)
        inner.from_state(state, self.image(Z), y, noise)
        return ImageProcess(inner, self.image, Z.shape[1])

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the log density of every value given all others, (n,), in nats."""
        inner = GaussianProcessSurrogate(isotropic=True)
        return inner.fit(self.image(Z), y).leave_one_out_log_density()


@dataclass(frozen=True)
class CylindricalMaker:
    """Makes Gaussian processes with the cylindrical kernel."""

    takes_noise = False

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        *,
        moved: bool,
        rng: np.random.Generator,
    ) -> tuple[CylindricalProcess, dict[str, Any]]:
        """Return a surrogate and its state; the search starts at the former hyperparameters."""
        theta, tuned_at = former_hyperparameters(state, moved=False)
        tune = is_due(y.size, tuned_at, Z.shape[1])
        surrogate = CylindricalProcess(theta).fit(Z, y, tune=tune)
        return surrogate, {**surrogate.to_state(), "tuned_at": y.size if tune else tuned_at}

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray
    ) -> CylindricalProcess:
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return CylindricalProcess(state["theta"]).fit(Z, y, tune=False)

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the log density of every value given those of other folds, (n,), in nats."""
        return log_density_by_folds(self, Z, y, rng)


@dataclass(frozen=True)
class AdditiveMaker:
    """Makes sums of Gaussian processes on groups of inputs.

    Attributes
    ----------
    group_size : int
    """

    group_size: int

    takes_noise = False

    def fit(
        self,
        state: dict[str, Any] | None,
        Z: FloatArray,
        y: FloatArray,
        noise: FloatArray,
        *,
        moved: bool,
        rng: np.random.Generator,
    ) -> tuple[AdditiveProcess, dict[str, Any]]:
        """Return a surrogate and its state; the groups of `state` compete with new ones."""
        tuned_at = 0 if moved or state is None else state["tuned_at"]
        tune = is_due(y.size, tuned_at, Z.shape[1])
        process = AdditiveProcess(self.group_size)
        process.fit(Z, y, rng, former=state if tuned_at else None, tune=tune)
        return process, {**process.to_state(), "tuned_at": y.size if tune else tuned_at}

    def restore(
        self, state: dict[str, Any], Z: FloatArray, y: FloatArray, noise: FloatArray
    ) -> AdditiveProcess:
        """Return the surrogate of this state, conditioned on (Z, y)."""
        return AdditiveProcess(self.group_size).from_state(state, Z, y)

    def left_out_log_density(
        self, Z: FloatArray, y: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the log density of every value given those of other folds, (n,), in nats."""
        return log_density_by_folds(self, Z, y, rng)
