"""Derivatives of functions that can only be evaluated, with the error that they have.

Which step is best for a difference depends on the rounding of the processor at hand, and a bound
that one step keeps is not kept on another kernel. Here the steps are many and the error is
estimated from them, so that a test asks for no more digits than there are.
"""

import numpy as np

SHRINK = 1.6  # of the step from one row of the tableau to the next
N_STEPS = 9
SAFETY = 10.0
LEAST_DIGITS = 1e-4  # relative: a derivative known no better proves nothing


def directional(function, x, direction, step):
    """Return the derivative along a direction and its error, by Ridders' method.

    Central differences at falling steps, extrapolated to step 0 (Ridders 1982, "Accurate
    computation of F'(x) and F'(x) F''(x)"); the error is the least disagreement of neighbours.
    """
    tableau, best, error = [], np.nan, np.inf
    for i in range(N_STEPS):
        h = step / SHRINK**i
        ahead, behind = function(x + h * direction), function(x - h * direction)
        row = [(ahead - behind) / (2.0 * h)]
        for j in range(i):
            factor = SHRINK ** (2 * (j + 1))
            row.append((factor * row[j] - tableau[-1][j]) / (factor - 1.0))
            now = max(abs(row[-1] - row[-2]), abs(row[-1] - tableau[-1][j]))
            if now < error:
                best, error = row[-1], now
        tableau.append(row)
    return best, error


def gradient_with_error(function, x, step):
    """Return the gradient of a function at x, (d,), and the error of every entry."""
    x = np.asarray(x, dtype=float)
    pairs = [directional(function, x, e, step) for e in np.eye(x.size)]
    return tuple(map(np.array, zip(*pairs, strict=True)))


def assert_gradient(gradient, function, x, *, step=1e-2, atol=0.0):
    """Assert that a gradient is that of a function at x, as far as differences can tell.

    Parameters
    ----------
    gradient : array-like of shape (d,)
    function : callable
        From (d,) to a number.
    x : array-like of shape (d,)
    step : float, default=1e-2
        The first step: one over which the function changes smoothly.
    atol : float, default=0.0
        What is allowed besides the error of the differences.
    """
    numeric, error = gradient_with_error(function, x, step)
    scale = max(np.abs(numeric).max(), atol / LEAST_DIGITS)
    assert (error <= max(LEAST_DIGITS * scale, atol)).all(), f"differences know too little: {error}"
    excess = np.abs(np.asarray(gradient) - numeric) - SAFETY * error - 1e-9 * scale - atol
    assert (excess <= 0.0).all(), f"{gradient} against {numeric}, known to {error}"
