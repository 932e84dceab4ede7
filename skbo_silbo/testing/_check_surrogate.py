"""Check of a surrogate, before and after it is fitted."""

import json
from copy import copy

import numpy as np

from skbo_silbo._members import check_members
from skbo_silbo.surrogate import Surrogate
from skbo_silbo.surrogate._warps import left_out_log_density
from skbo_silbo.testing._comparison import require, require_close

STEP = 1e-4  # of the central differences: their error is its square


def check_surrogate(surrogate: Surrogate, *, n_coordinates: int = 3, random_state: int = 0) -> None:
    """Check that a surrogate does what `skbo_silbo.surrogate.Surrogate` says.

    Parameters
    ----------
    surrogate : Surrogate
        Unfitted, as an optimiser is given it; it is copied before every fit.
    n_coordinates : int, default=3
        Coordinates r of the trial data.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When a member is missing, or takes other arguments.
    AssertionError
        When `fit` does not return the surrogate, predictions have the wrong shape or
        are not finite, gradients are not those of the predictions, the state does not go through
        JSON or gives another surrogate, a pending value makes nothing surer or changes the
        surrogate itself, data are changed, or equal values are not survived.

    Examples
    --------
    >>> from skbo_silbo.surrogate import GaussianProcessSurrogate
    >>> from skbo_silbo.testing import check_surrogate
    >>> check_surrogate(GaussianProcessSurrogate())
    """
    check_members("surrogate", surrogate, Surrogate)
    rng = np.random.default_rng(random_state)
    Z = rng.uniform(-1.0, 1.0, (25, n_coordinates))
    y, new = 3.0 + np.sin(2.0 * Z[:, 0]) + 0.1 * rng.standard_normal(25), 0.9 * Z[:5] + 0.05
    before = Z.copy(), y.copy()
    fitted = _fit(surrogate, None, Z, y)
    _check_prediction(fitted, new)
    _check_state(surrogate, fitted, Z, y, new)
    _check_pending(fitted, new)
    more = np.vstack([Z, new]), np.append(y, np.full(5, 3.0))
    _check_prediction(_fit(surrogate, fitted.to_state(), *more), new)
    _check_prediction(_fit(surrogate, None, Z, np.full(25, 2.0)), new)
    density = left_out_log_density(surrogate, Z, y, np.random.default_rng(0))
    require(density.shape == y.shape, f"a density a value: got shape {density.shape}")
    require(np.isfinite(density).all(), "densities of values left out must be finite")
    require((before[0] == Z).all() and (y == before[1]).all(), "fit must not change its data")


def _fit(surrogate, state, Z, y):
    rng = np.random.default_rng(1)
    own = copy(surrogate)
    made = own.fit(Z, y, np.zeros(y.size), state=state, tune=True, rng=rng)
    require(made is own, f"fit must return the surrogate itself: got {made!r}")
    return made


def _check_prediction(surrogate, new):
    mean, std = surrogate.predict(new)
    require(mean.shape == std.shape == (len(new),), "predict must give (m,) and (m,)")
    require(np.isfinite(mean).all() and np.isfinite(std).all(), "predictions must be finite")
    require((std > 0.0).all(), "standard deviations must be positive")
    require(surrogate.relevance_.shape == (new.shape[1],), "a relevance a coordinate")
    require((surrogate.relevance_ >= 0.0).all(), "relevances must not be negative")
    require(surrogate.log_predictive_density(new, mean).shape == mean.shape, "a density a value")
    _check_gradient(surrogate, new)


def _check_gradient(surrogate, new):
    mean, std, by_mean, by_std = surrogate.predict_gradient(new)
    require_close((mean, std), surrogate.predict(new), "predict_gradient must predict the same")
    for k in range(new.shape[1]):
        step = STEP * np.eye(new.shape[1])[k]
        up, down = surrogate.predict(new + step), surrogate.predict(new - step)
        for got, above, below in zip((by_mean, by_std), up, down, strict=True):
            wanted = (above - below) / (2.0 * STEP)
            scale = 1e-3 * max(1.0, np.abs(wanted).max())
            require_close(got[:, k], wanted, "gradients must be those of predict", atol=scale)


def _check_state(template, surrogate, Z, y, new):
    try:
        stored = json.loads(json.dumps(surrogate.to_state()))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the state must be plain data for JSON: {error}") from None
    again = copy(template).fit(Z, y, np.zeros(y.size), state=stored, tune=False, rng=None)
    require_close(again.predict(new), surrogate.predict(new), "a state must give the same fit")


def _check_pending(surrogate, new):
    before = surrogate.predict(new)
    conditioned = surrogate.with_points(new[:1], before[0][:1] - 1.0)
    require_close(surrogate.predict(new), before, "with_points must leave the surrogate as it is")
    require(
        conditioned.predict(new)[0][0] < before[0][0], "the value of a pending point must count"
    )
