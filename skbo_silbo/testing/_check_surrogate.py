"""Check of a maker of surrogates, and of what it makes."""

import json

import numpy as np

from skbo_silbo._checks import check_members
from skbo_silbo.surrogate import Surrogate, SurrogateMaker
from skbo_silbo.testing._comparison import require, require_close

STEP = 1e-4  # of the central differences: their error is its square


def check_surrogate(
    maker: SurrogateMaker, *, n_coordinates: int = 3, random_state: int = 0
) -> None:
    """Check that a maker of surrogates does what `skbo_silbo.surrogate.SurrogateMaker` says.

    Parameters
    ----------
    maker : SurrogateMaker
    n_coordinates : int, default=3
        Coordinates r of the trial data.
    random_state : int, default=0
        Seed of the trial data.

    Raises
    ------
    ValueError
        When a member is missing, or takes other arguments.
    AssertionError
        When `fit` does not return a surrogate and its state, predictions have the wrong shape or
        are not finite, gradients are not those of the predictions, the state does not go through
        JSON or restores another surrogate, a believed value makes nothing surer or changes the
        surrogate itself, data are changed, or equal values are not survived.

    Examples
    --------
    >>> from skbo_silbo.surrogate import ProcessMaker
    >>> from skbo_silbo.testing import check_surrogate
    >>> check_surrogate(ProcessMaker())
    """
    check_members("surrogate", maker, SurrogateMaker)
    rng = np.random.default_rng(random_state)
    Z = rng.uniform(-1.0, 1.0, (25, n_coordinates))
    y, new = 3.0 + np.sin(2.0 * Z[:, 0]) + 0.1 * rng.standard_normal(25), 0.9 * Z[:5] + 0.05
    before = Z.copy(), y.copy()
    surrogate, state = _fit(maker, None, Z, y)
    check_members("surrogate", surrogate, Surrogate)
    _check_prediction(surrogate, new)
    _check_state(maker, surrogate, state, Z, y, new)
    _check_belief(surrogate, new)
    again, _ = _fit(maker, state, np.vstack([Z, new]), np.append(y, np.full(5, 3.0)))
    _check_prediction(again, new)
    equal, _ = _fit(maker, None, Z, np.full(25, 2.0))
    _check_prediction(equal, new)
    density = maker.left_out_log_density(Z, y, np.random.default_rng(0))
    require(density.shape == y.shape, f"a density a value: got shape {density.shape}")
    require(np.isfinite(density).all(), "densities of values left out must be finite")
    require((before[0] == Z).all() and (y == before[1]).all(), "fit must not change its data")


def _fit(maker, state, Z, y):
    rng = np.random.default_rng(1)
    made = maker.fit(state, Z, y, np.zeros(y.size), moved=state is None, rng=rng)
    what = f"fit must return a surrogate and its state: got {made!r}"
    require(isinstance(made, tuple) and len(made) == 2, what)
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


def _check_state(maker, surrogate, state, Z, y, new):
    try:
        stored = json.loads(json.dumps(state))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"the state must be plain data for JSON: {error}") from None
    restored = maker.restore(stored, Z, y, np.zeros(y.size))
    require_close(restored.predict(new), surrogate.predict(new), "restore must restore")


def _check_belief(surrogate, new):
    before = surrogate.predict(new)
    believer = surrogate.with_points(new[:1], before[0][:1] - 1.0)
    require_close(surrogate.predict(new), before, "with_points must leave the surrogate as it is")
    require(believer.predict(new)[0][0] < before[0][0], "a value believed must move the mean")
