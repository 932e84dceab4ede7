"""The check that a stated optimum is one: attained, and not beaten."""

import numpy as np
from scipy.optimize import minimize

TOLERANCE = 1e-9  # of the optimum's value, relative to 1 + |optimum|


def check_optimum(problem, n_points, n_polished, random_state):
    """Raise ValueError unless the optimum of a problem survives; see `Problem.check_optimum`."""
    allowed = TOLERANCE * (1.0 + abs(problem.known_optimum()))
    values = problem.evaluate_truth(problem.optimisers)
    for x, value in zip(problem.optimisers, values, strict=True):
        if not abs(value - problem.optimum) <= allowed:
            raise ValueError(_message(problem, "must be attained at every optimiser", value, x))
    X = problem.sample(n_points, random_state)
    best = X[np.argsort(problem.evaluate_truth(X))[:n_polished]]
    polished = [_polish(problem, start) for start in (*problem.optimisers, *best)]
    X = np.vstack([X, *polished])
    values = problem.evaluate_truth(X)
    if values.min() < problem.optimum - allowed:
        best = values.argmin()
        raise ValueError(_message(problem, "must be the least value", values[best], X[best]))


def _polish(problem, start):
    """Return where L-BFGS-B, in coordinates with unit ranges, ends from `start`."""
    lower, upper = problem.bounds.T

    def to_box(u):
        return np.clip(lower + u * (upper - lower), lower, upper)

    unit = [(0.0, 1.0)] * problem.n_dims
    start = (start - lower) / (upper - lower)
    return to_box(minimize(lambda u: problem.truth(to_box(u)), start, bounds=unit).x)


def _message(problem, rule, value, x):
    return (
        f"optimum of {problem.name} {rule}: got optimum={problem.optimum}, but the value is "
        f"{value} at {x}. State the least value and points where it is attained."
    )
