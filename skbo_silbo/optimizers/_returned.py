"""What parts of one's own give back, looked at where it arrives and named there.

That they have what is asked for, and can be called, is checked when the optimiser is made.
"""

import numpy as np

from skbo_silbo._checks import check_members
from skbo_silbo.acquisition import Found
from skbo_silbo.surrogate import Surrogate


def check_design(made, n, d):
    """Return the first points as floats, (n, d), after refusing what is none in the cube."""
    X = np.asarray(made, dtype=float)
    if X.shape != (n, d):
        raise ValueError(
            f"design must return {n} points of {d} encoded inputs, ({n}, {d}): got shape "
            f"{X.shape}. Return an array of the shape asked for."
        )
    if not (np.abs(X) <= 1.0).all():
        raise ValueError(
            f"design must return points of the cube [-1, 1]^{d}: got values from {X.min():g} to "
            f"{X.max():g}. The cube stands for the bounds; scale to it."
        )
    return X


def check_made(maker, made):
    """Return surrogate and state after refusing what is no pair, or no surrogate."""
    name = type(maker).__name__
    if not isinstance(made, tuple) or len(made) != 2:
        raise ValueError(
            f"what {name}.fit returns must be a surrogate and its state: got {made!r}. Write "
            "return surrogate, state."
        )
    check_members(f"the surrogate that {name}.fit returns", made[0], Surrogate)
    return made


def lowest_mean(surrogate, Z):
    """Return the lowest mean at coordinates, (n, r), after refusing what no search can use."""
    mean, std = surrogate.predict(Z)
    if not np.shape(mean) == np.shape(std) == (len(Z),) or not np.isfinite(mean).all():
        raise ValueError(
            f"predict of {type(surrogate).__name__} must return finite means and standard "
            f"deviations, ({len(Z)},) each: got shapes {np.shape(mean)} and {np.shape(std)}, and "
            f"{np.sum(~np.isfinite(mean))} means that are not finite. Try "
            "skbo_silbo.testing.check_surrogate."
        )
    return mean.min()


def check_found(search, found):
    """Refuse what is no `Found`."""
    if not isinstance(found, Found):
        raise ValueError(
            f"what {type(search).__name__}.find returns must be a skbo_silbo.acquisition.Found: "
            f"got {found!r}. Write return Found(Z, X), the best first."
        )


def warped(warp, y):
    """Return the values on a scale after refusing a scale that they are not on."""
    values = warp(y)
    if np.shape(values) != y.shape or not np.isfinite(values).all():
        raise ValueError(
            f"warp {warp.name!r} must return a finite number for every value: got shape "
            f"{np.shape(values)} for {y.size} values from {y.min():g} to {y.max():g}. Use one that "
            "is defined for all values, or warp=None."
        )
    return values
