"""The check that a stated optimum is one: attained, stationary, and not beaten."""

import numpy as np
from scipy.optimize import minimize

TOLERANCE = 1e-9  # of the optimum's value, relative to 1 + |optimum|
STEP = 1e-5  # of central differences, relative to the range of an input
SLOPE = 1e-5  # a slope counts as zero below this: change of f / scale of f over a whole range


def check_optimum(problem, n_points, n_polished, random_state):
    """Raise ValueError unless the optimum of a problem survives; see `Problem.check_optimum`."""
    scale = problem.regret_scale(random_state)  # refuses an unknown optimum
    values = problem.evaluate_truth(problem.optimisers)
    allowed = TOLERANCE * (1.0 + abs(problem.optimum))
    for x, value in zip(problem.optimisers, values, strict=True):
        if not abs(value - problem.optimum) <= allowed:
            raise ValueError(_message(problem, "must be attained at every optimiser", value, x))
        _check_stationary(problem, x, scale)
    X = problem.sample(n_points, random_state)
    values = problem.evaluate_truth(X)
    for start in X[np.argsort(values)[:n_polished]]:
        x = _polish(problem, start)
        X, values = np.vstack([X, x]), np.append(values, problem.truth(x))
    if values.min() < problem.optimum - allowed:
        best = values.argmin()
        raise ValueError(_message(problem, "must be the least value", values[best], X[best]))


def slopes(problem, x):
    """Return the change of f over the whole range of each input, by central differences at x.

    Where x lies on a bound the slope is one-sided, and zero if f rises towards the inside, so that
    zero is what the optimality conditions of a box ask for everywhere.
    """
    lower, upper = problem.bounds.T
    h = STEP * (upper - lower)
    up, down = np.minimum(x + h, upper), np.maximum(x - h, lower)
    d = problem.n_dims
    X = np.tile(x, (2 * d, 1))
    X[np.arange(d), np.arange(d)] = up
    X[np.arange(d, 2 * d), np.arange(d)] = down
    values = problem.evaluate_truth(X)
    slope = (values[:d] - values[d:]) / (up - down) * (upper - lower)
    slope = np.where(x == lower, np.minimum(slope, 0.0), slope)
    return np.where(x == upper, np.maximum(slope, 0.0), slope)


def _check_stationary(problem, x, scale):
    slope = slopes(problem, x)
    steepest = np.abs(slope).argmax()
    if not abs(slope[steepest]) <= SLOPE * scale:
        raise ValueError(
            f"optimisers of {problem.name} must be stationary: got slope {slope[steepest]} of "
            f"input {steepest} at {x}. Give the optimiser to full precision."
        )


def _polish(problem, start):
    """Return where L-BFGS-B, in coordinates with unit ranges, ends from `start`."""
    lower, upper = problem.bounds.T
    width = upper - lower

    def to_box(u):
        return np.clip(lower + u * width, lower, upper)

    result = minimize(
        lambda u: problem.truth(to_box(u)),
        (start - lower) / width,
        jac=lambda u: slopes(problem, to_box(u)),
        bounds=[(0.0, 1.0)] * problem.n_dims,
        method="L-BFGS-B",
    )
    return to_box(result.x)


def _message(problem, rule, value, x):
    return (
        f"optimum of {problem.name} {rule}: got optimum={problem.optimum}, but the value is "
        f"{value} at {x}. State the least value and points where it is attained."
    )
