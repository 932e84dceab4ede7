"""Check of an acquisition function."""

import numpy as np

from skbo_silbo._members import check_members
from skbo_silbo.acquisition import AcquisitionFunction
from skbo_silbo.testing._comparison import require, require_close

STEP = 1e-4  # of the central differences, in standard deviations: their error is its square
FAR = 30.0  # standard deviations above the best value, where naive formulas end in 0 or NaN


def check_acquisition(acquisition: AcquisitionFunction, *, random_state: int = 0) -> None:
    """Check that a function does what `skbo_silbo.acquisition.AcquisitionFunction` says.

    Parameters
    ----------
    acquisition : AcquisitionFunction
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When it takes other arguments.
    AssertionError
        When values or derivatives have the wrong shape or are not finite, derivatives are not those
        of the values, a value depends on other points, data are changed, or what lies far above
        `best` is worth more than what lies far below.

    Examples
    --------
    >>> from skbo_silbo.acquisition import log_expected_improvement
    >>> from skbo_silbo.testing import check_acquisition
    >>> check_acquisition(log_expected_improvement)
    """
    check_members("acquisition", acquisition, AcquisitionFunction)
    rng, best = np.random.default_rng(random_state), 1.5
    std = rng.uniform(0.1, 2.0, 40)
    mean = best + std * rng.permutation(np.linspace(-10.0, FAR, 40))
    before = mean.copy(), std.copy()
    value, *slopes = acquisition(mean, std, best, return_gradient=True)
    require(len(slopes) == 2, "return_gradient must give values, and two derivatives")
    for array in (value, *slopes):
        require(np.shape(array) == (40,), f"shapes must be (n,): got {np.shape(array)}")
        require(np.isfinite(array).all(), "values and derivatives must be finite")
    require_close(acquisition(mean, std, best), value, "return_gradient must give the same values")
    require_close(acquisition(mean[:7], std[:7], best), value[:7], "points must not meet")
    _check_slopes(acquisition, mean, std, best, slopes)
    far = acquisition(best + np.array([-3.0, 3.0]), np.ones(2), best)
    require(far[0] >= far[1] - 1e-9 * abs(far[1]), "larger must be better, and a low mean is")
    require((mean == before[0]).all() and (std == before[1]).all(), "it must not change its data")


def _check_slopes(acquisition, mean, std, best, slopes):
    h = STEP * std
    for name, got, a, b in zip(("mean", "std"), slopes, (h, 0.0 * h), (0.0 * h, h), strict=True):
        up, down = acquisition(mean + a, std + b, best), acquisition(mean - a, std - b, best)
        what = f"the derivative by {name} must be that of the values"
        require_close(got, (up - down) / (2.0 * h), what, rtol=1e-3, atol=1e-6)
