"""What an acquisition and a search of one's own return is looked at, in every proposal."""

from dataclasses import dataclass

import numpy as np
import pytest

from skbo_silbo import SILBO, minimize
from skbo_silbo.acquisition import Found

BOUNDS = [(-1.0, 1.0)] * 3


def bowl(x):
    return float(((x - 0.3) ** 2).sum())


@dataclass
class GoesWrong:
    """A confidence bound that returns something else from the third proposal on."""

    wrong: str
    n_calls: int = 0

    def __call__(self, mean, std, best, *, return_gradient=False):
        self.n_calls += 1
        value, gradients = std - mean, (-np.ones_like(mean), np.ones_like(std))
        if self.n_calls > 40:
            if self.wrong == "None":
                return None
            if self.wrong == "slope":
                gradients = np.full_like(mean, np.nan), gradients[1]
            spoilt = {"nan": value * np.nan, "inf": value + np.inf, "short": value[:-1], "one": 1.0}
            value = spoilt.get(self.wrong, value)
        return (value, *gradients) if return_gradient else value


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("None", r"acquisition must return an array of shape .*wrong='None'.* returned None"),
        ("short", r"acquisition must return an array of shape .*returned shapes"),
        ("one", r"acquisition must return an array of shape .*returned shapes \[\(\)"),
        (
            "nan",
            r"acquisition must return finite numbers, .* returned \[nan.* for mean .* and best",
        ),
        ("inf", r"acquisition must return finite numbers, .* returned \[inf"),
        ("slope", r"acquisition must return finite numbers, .* returned \[.*, nan, "),
    ],
)
def test_an_acquisition_that_goes_wrong_is_named(wrong, message):
    with pytest.raises(ValueError, match=message) as raised:
        minimize(
            bowl,
            BOUNDS,
            acquisition=GoesWrong(wrong),
            n_initial=4,
            n_calls=12,
            random_state=0,
        )
    assert len(raised.value.optimize_result.func_vals) >= 4


def test_minus_infinity_is_the_least_that_a_point_can_be_worth():
    def only_left(mean, std, best, *, return_gradient=False):
        value = np.where(mean > 1.0, -np.inf, std - mean)
        slope = np.where(mean > 1.0, np.nan, 1.0)
        return (value, -slope, slope) if return_gradient else value

    optimizer = SILBO(BOUNDS, acquisition=only_left, n_initial=4, random_state=0)
    for _ in range(8):
        x = optimizer.ask()
        optimizer.tell(x, 2.0 * bowl(x))
    assert len(optimizer.func_vals_) == 8


def test_a_search_that_finds_nothing_is_named():
    class Blind:
        def find(self, surface, ranked, space, rng):
            return Found(np.empty((0, 3)), np.empty((0, 3)))

    with pytest.raises(ValueError, match=r"what Blind.find returns must be .* of one candidate or"):
        minimize(bowl, BOUNDS, search=Blind(), n_initial=4, n_calls=6, random_state=0)


@pytest.mark.parametrize("scale", [3.0, np.nan])
def test_a_search_that_leaves_the_cube_is_named(scale):
    class Far:
        def find(self, surface, ranked, space, rng):
            X = scale * rng.uniform(-1.0, 1.0, (20, 3))
            return Found(surface.embedding.project(X), X)

    with pytest.raises(ValueError, match=r"what Far.find returns must be places of the cube"):
        minimize(bowl, BOUNDS, search=Far(), n_initial=4, n_calls=6, random_state=0)
