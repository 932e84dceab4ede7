"""BOCK: Bayesian optimisation with a kernel of the radius and direction from the centre.

In high dimensions most of the volume of a cube is near its boundary, where a stationary process has
the largest variance. BOCK warps the radius, which enlarges the middle of the cube, and compares
directions by their cosine.

==========  =========  ===========================================================================
symbol      shape      meaning
==========  =========  ===========================================================================
rho         (n,)       radius ``|x| / sqrt(d)``, in [0, 1] on the cube
A           (n, d)     directions ``x / |x|``; 0 at the centre
w           (n,)       warped radius ``1 - (1 - rho^alpha)^beta`` (Kumaraswamy)
R           (n, n)     Matern-5/2 of ``q = (w_i - w_j)^2 / l^2``
C           (n, n)     cosines ``A A'``
P           (n, n)     ``sum_p c_p C^p``, p = 0, ..., 3 (elementwise powers)
K           (n, n)     ``R * P + noise I``
theta       (8,)       logarithms of l, alpha, beta, c_0, ..., c_3 and noise
==========  =========  ===========================================================================
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import xlogy

from skbo_silbo._numerics.hyperparameters import most_probable
from skbo_silbo._numerics.matern import matern52
from skbo_silbo._numerics.priors import HyperparameterPrior
from skbo_silbo._typing import Auto
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.baselines._baseline import Baseline
from skbo_silbo.optimizers.configuration import Configuration, check_n_initial, make_acquisition

from .exact_process import ExactProcess

N_POWERS = 4  # powers of the cosine, from 0 to 3
LEAST_VARIANCE = 1e-14  # smallest predicted variance relative to the signal variance
# alpha <= 1 <= beta: a concave warp, which enlarges the middle of the cube
PRIOR = HyperparameterPrior(
    location=np.log([0.5, 1.0, 1.0, *[1.0 / N_POWERS] * N_POWERS, 1e-4]),
    spread=np.array([1.0, 1.0, 1.0, *[1.5] * N_POWERS, 2.0]),
    bounds=np.log([[1e-2, 1e2], [0.25, 1.0], [1.0, 4.0], *[[1e-5, 1e2]] * N_POWERS, [1e-7, 10.0]]),
)


@dataclass(eq=False, repr=False, kw_only=True)
class BOCK(Baseline):
    """Bayesian optimisation with a cylindrical kernel (Oh, Gavves and Welling 2018).

    Parameters
    ----------
    bounds : array-like of shape (d, 2), scipy.optimize.Bounds, dict or Space
        The search space: lower and upper bounds of each input, or named parameters. The method
        assumes that the minimum is closer to the centre than to the corners.
    acquisition : {"ei", "ucb"}, default="ei"
        The acquisition function: the expected improvement ("ei") or the confidence bound ("ucb").
    n_initial : int or "auto", default="auto"
        Number of points to evaluate before the first model is fitted, including points that were
        not proposed. "auto" is the same number as in `SILBO`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the proposals. Pass an int for reproducible results.

    Attributes
    ----------
    best_x_, best_y_, x_iters_, func_vals_, embedding_, n_initial_, subspace_, space_
        As in `SILBO`; `embedding_` is always the identity.

    References
    ----------
    Oh, Gavves and Welling (2018), "BOCK: Bayesian Optimization with Cylindrical Kernels", ICML. The
    paper samples the hyperparameters; here they maximise the posterior density.

    Examples
    --------
    >>> from benchmarks.engine.baselines import BOCK
    >>> BOCK([(-1, 1)] * 20, random_state=0).ask().shape
    (20,)
    """

    acquisition: str | AcquisitionFunction = "ei"
    n_initial: int | Auto = "auto"

    def configure(self, d: int) -> Configuration:
        """Validate the optimiser's arguments and return its `Configuration` for d inputs."""
        return Configuration(
            acquisition=make_acquisition(self.acquisition),
            surrogate=CylindricalProcess(),
            n_initial=check_n_initial(self.n_initial, d),
        )


class Polar:
    """Points represented by their distance from the centre and their direction.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points of the cube [-1, 1]^d in Cartesian coordinates.

    Attributes
    ----------
    radius : ndarray of shape (n,)
    direction : ndarray of shape (n, d)
        Unit vectors from the centre of the cube to the points, or zero for the centre itself.
    """

    def __init__(self, X):
        lengths = np.linalg.norm(X, axis=1)
        self.radius = np.minimum(lengths / np.sqrt(max(X.shape[1], 1)), 1.0)
        self.direction = X / np.where(lengths > 0.0, lengths, 1.0)[:, None]


def warp(radius, alpha, beta):
    """Return the warped radius of each point and its derivatives with respect to the shape."""
    u = radius**alpha
    left = 1.0 - u
    by_alpha = beta * left ** (beta - 1.0) * alpha * xlogy(u, radius)
    by_beta = -beta * left ** (beta - 1.0) * xlogy(left, left)
    return 1.0 - left**beta, by_alpha, by_beta


class CylindricalKernel:
    """Cylindrical kernel between points in polar form, with fixed hyperparameters.

    Parameters
    ----------
    theta : ndarray of shape (8,)
        Logarithms of the hyperparameters: the length scale, alpha, beta, the weights c and the
        noise variance.
    """

    def __init__(self, theta):
        self.length, self.alpha, self.beta, *weights, self.noise = np.exp(theta)
        self.weights = np.array(weights)

    def __call__(self, a, b):
        """Return the covariance matrix between two sets of points, without noise."""
        return self.factors(a, b)[0] * self.angular(a.direction @ b.direction.T)

    def variance(self, a):
        """Return the prior variance of the process at each point."""
        return self.angular((a.direction**2).sum(axis=1))

    def factors(self, a, b):
        """Return the correlations of the radii, their derivative, and the scaled differences."""
        warped = (warp(points.radius, self.alpha, self.beta)[0] for points in (a, b))
        gap = np.subtract.outer(*warped) / self.length
        return *matern52(gap**2), gap

    def angular(self, cosine):
        """Return the part of the kernel that depends on directions, ``sum_p c_p cosine^p``."""
        return np.polynomial.polynomial.polyval(cosine, self.weights)

    def derivatives(self, a):
        """Return the derivatives of the covariance matrix with respect to the hyperparameters."""
        R, by_q, gap = self.factors(a, a)
        cosine = a.direction @ a.direction.T
        by_q = by_q * self.angular(cosine)
        _, by_alpha, by_beta = warp(a.radius, self.alpha, self.beta)
        by_gap = 2.0 * by_q * gap / self.length
        return [
            -2.0 * by_q * gap**2,
            *(by_gap * np.subtract.outer(by, by) for by in (by_alpha, by_beta)),
            *(self.weights[p] * R * cosine**p for p in range(N_POWERS)),
            self.noise * np.eye(len(R)),
        ]


class CylindricalProcess(ExactProcess):
    """Gaussian process with the cylindrical kernel of Oh, Gavves and Welling (2018).

    Targets are standardised internally; predictions are in the units of the targets.

    Attributes
    ----------
    theta_ : ndarray of shape (8,)
        Logarithms of the fitted hyperparameters, in the order of `CylindricalKernel`.
    y_mean_, y_scale_ : float
        Mean and standard deviation with which the targets were standardised.

    References
    ----------
    Oh, Gavves and Welling (2018), "BOCK: Bayesian Optimization with Cylindrical Kernels", ICML.
    Here the direction of the centre is the zero vector, so its covariance with other points depends
    on c_0 and their radius only.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.engine.baselines.bock import CylindricalProcess
    >>> Z = np.random.default_rng(0).uniform(-1, 1, (30, 5))
    >>> process = CylindricalProcess().fit(Z, np.linalg.norm(Z, axis=1))
    >>> bool(process.predict(np.full((1, 5), 0.5))[0][0] < process.predict(np.ones((1, 5)))[0][0])
    True
    """

    def fit(self, Z, y, noise=None, *, state=None, tune=True, rng=None):
        """Fit the process to encoded points Z and observed values y.

        The hyperparameter search starts from the mode of the prior and from `state`. It is skipped
        if all targets are equal.

        Returns
        -------
        self : object
        """
        targets = self._standardise(y)
        self.theta_ = PRIOR.location if state is None else np.array(state["theta"])
        if tune and np.ptp(targets) > 0.0:
            log_likelihood = partial(_log_likelihood, Polar(Z), targets)
            self.theta_ = most_probable(log_likelihood, PRIOR, PRIOR.location, self.theta_)
        self._condition(Z, targets)
        return self

    def to_state(self):
        """Return the hyperparameters as JSON-compatible data."""
        return {"theta": self.theta_.tolist()}

    def predict(self, Z):
        """Predict the mean and standard deviation of the noise-free objective."""
        points = Polar(Z)
        covariance = self._kernel(points, self._points)
        solved = cho_solve(self._factor, covariance.T).T
        variance = self._kernel.variance(points)
        left = variance - np.einsum("ij,ij->i", covariance, solved)
        std = np.sqrt(np.maximum(left, LEAST_VARIANCE * variance))
        return self.y_mean_ + self.y_scale_ * (covariance @ self._dual), self.y_scale_ * std

    def _condition(self, Z, targets):
        self._Z, self._points, self._targets = Z, Polar(Z), targets
        self._kernel = CylindricalKernel(self.theta_)
        self._noise = self._kernel.noise
        self._factor = cho_factor(_noisy_covariance(self._kernel, self._points), lower=True)
        self._dual = cho_solve(self._factor, targets)


def _log_likelihood(points, targets, theta):
    """Return the log density of the targets, up to a constant, and its gradient."""
    kernel = CylindricalKernel(theta)
    factor = cho_factor(_noisy_covariance(kernel, points), lower=True)
    dual = cho_solve(factor, targets)
    value = -0.5 * targets @ dual - np.log(np.diag(factor[0])).sum()
    by_K = 0.5 * (np.outer(dual, dual) - cho_solve(factor, np.eye(len(targets))))
    return value, np.array([np.vdot(by_K, by) for by in kernel.derivatives(points)])


def _noisy_covariance(kernel, points):
    K = kernel(points, points)
    K[np.diag_indices_from(K)] += kernel.noise
    return K
