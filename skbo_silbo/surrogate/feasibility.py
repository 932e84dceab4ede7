"""Models of constraints observed at evaluated points, and the probability that all hold.

A constraint c holds where ``c <= 0``. Independent Gaussian processes on all columns of the cube
model the constraints, so that

    log P(feasible) = sum over j of log Phi(-mean_j / std_j)                                 (1)

(Schonlau, Welch and Jones 1998; Gelbart, Snoek and Adams 2014, eq. 3), Phi the normal distribution
function.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from skbo_silbo._numerics.gaussian_process import ProcessStack
from skbo_silbo._numerics.priors import LEAST_SPARSE_DIMENSION
from skbo_silbo._typing import BoolArray, FloatArray
from skbo_silbo.surrogate.process import GaussianProcessSurrogate, refit

LARGEST = 1e6  # constraints are clipped at this multiple of their typical size
PESSIMISM = 2.0  # standard deviations added to predictions at pending points; not tuned

_LOG_ROOT_TWO_PI = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class Feasibility:
    """Joint posterior of the observed constraints.

    Attributes
    ----------
    processes : tuple of GaussianProcessSurrogate
        Gaussian process models, one for each constraint with at least one known value.
    """

    processes: tuple[GaussianProcessSurrogate, ...]

    def log_probability(self, X: FloatArray) -> FloatArray:
        """Return the log probability that a point satisfies all constraints.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Encoded points, one per row.
        """
        total = np.zeros(len(X))
        for process in self.processes:
            mean, std = process.predict(X)
            total += log_ndtr(-mean / std)
        return total

    def log_probability_gradient(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the log probability of feasibility at a single point, and its gradient.

        Parameters
        ----------
        x : ndarray of shape (1, d)

        Returns
        -------
        value : float
        gradient : ndarray of shape (d,)
        """
        total, gradient = 0.0, np.zeros(x.shape[1])
        for stack, locations, scales in self._stacks:
            mean, variance, by_mean, by_variance = stack.predict_gradient(x)
            root, factor = np.sqrt(variance), scales[:, None]
            std = scales * root
            u = -(locations + scales * mean) / std
            value = log_ndtr(u)
            slope = np.exp(-0.5 * u**2 - _LOG_ROOT_TWO_PI - value) / std  # phi / Phi
            by_u = factor * by_mean + u[:, None] * (factor * by_variance / (2.0 * root[:, None]))
            total += value.sum()
            gradient -= (slope[:, None] * by_u).sum(axis=0)
        return total, gradient

    @cached_property
    def _stacks(self):
        """Constraint models that share their points, grouped for fast prediction."""
        groups: dict[bytes, list[GaussianProcessSurrogate]] = {}
        for process in self.processes:
            groups.setdefault(process.posterior_.X.tobytes(), []).append(process)
        return [
            (
                ProcessStack([process.posterior_ for process in group]),
                np.array([process.y_mean_ for process in group]),
                np.array([process.y_scale_ for process in group]),
            )
            for group in groups.values()
        ]

    def with_pending(self, X: FloatArray) -> "Feasibility":
        """Return the posterior given pessimistic constraint values at pending points.

        The values are two standard deviations worse than predicted. This prevents further proposals
        near a pending point that may be infeasible, until its constraints are observed.
        """
        pairs = zip(self.processes, self._pessimistic(X), strict=True)
        return Feasibility(tuple(process.with_points(X, values) for process, values in pairs))

    def holds_with_margin(self, X: FloatArray) -> BoolArray:
        """Return a mask of the points that satisfy all constraints by a margin."""
        return np.all(self._pessimistic(X) <= 0.0, axis=0)

    def _pessimistic(self, X):
        """Return the predicted constraint values plus a multiple of their standard deviation."""
        predicted = np.array([process.predict(X) for process in self.processes])
        return predicted[:, 0] + PESSIMISM * predicted[:, 1]


def fit_feasibility(states, X, constraints, *, tune=True):
    """Fit a Gaussian process to each observed constraint.

    Parameters
    ----------
    states : dict of str to dict
        States returned by the previous fit of the constraint models. The keys are the indices of
        the constraints, as strings.
    X : ndarray of shape (n, d)
        Encoded points, one per row.
    constraints : ndarray of shape (n, m)
        Observed values of m constraints, with NaN if unknown.
    tune : bool, default=True
        Whether to optimise the hyperparameters when an update is due. If False, constraints without
        a state are omitted.

    Returns
    -------
    feasibility : Feasibility or None
        Fitted constraint models, or None if no constraint was observed.
    states : dict of str to dict
        States for the next fit, as JSON-compatible data.
    """
    sparse = X.shape[1] >= LEAST_SPARSE_DIMENSION
    template = GaussianProcessSurrogate(prior="sparse" if sparse else "dimension-scaled")
    made = {}
    for number, values in enumerate(constraints.T):
        rows, state = ~np.isnan(values), states.get(str(number))
        if rows.any() and (tune or state is not None):
            data = X[rows], scaled_constraint(values[rows]), np.zeros(rows.sum())
            made[str(number)] = refit(template, state, *data, tune=tune)
    processes = tuple(process for process, _ in made.values())
    new_states = {number: state for number, (_, state) in made.items()}
    return Feasibility(processes) if processes else None, new_states


def scaled_constraint(c: FloatArray) -> FloatArray:
    """Scale the observed values of a constraint for a Gaussian process.

    Values are divided by the median of the nonzero absolute values and compressed by ``sign(c)
    log(1 + |c|)`` (Eriksson and Poloczek 2021, "bilog"), because only the location of 0 matters. If
    no value is negative, zeros are replaced by minus this median.

    Examples
    --------
    >>> import numpy as np
    >>> from skbo_silbo.surrogate.feasibility import scaled_constraint
    >>> scaled_constraint(np.array([-20.0, 0.0, 20.0, np.inf])).round(2)
    array([-0.69,  0.  ,  0.69, 13.82])
    >>> scaled_constraint(np.array([0.0, 1.0])).round(2)
    array([-0.69,  0.69])
    """
    sizes = np.abs(c[np.isfinite(c) & (c != 0.0)])
    with np.errstate(over="ignore"):
        scaled = np.clip(c / (np.median(sizes) if sizes.size else 1.0), -LARGEST, LARGEST)
    if scaled.max() > 0.0 == scaled.min():
        scaled = np.where(scaled == 0.0, -1.0, scaled)
    return np.sign(scaled) * np.log1p(np.abs(scaled))
