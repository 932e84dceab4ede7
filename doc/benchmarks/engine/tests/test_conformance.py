"""Rules that all baselines of the reproduction follow."""

import json
from functools import partial

import numpy as np
import pytest
from ask_tell import run
from numpy.testing import assert_array_equal

from benchmarks.engine.baselines import BASELINES, BOCK, AddBO, ImageREMBO
from benchmarks.engine.baselines.add_bo import AdditiveProcess
from benchmarks.engine.baselines.silbo_as_run import variance_gain
from skbo_silbo import Space, minimize
from skbo_silbo.space import SpaceExhausted
from skbo_silbo.testing import check_acquisition, check_optimizer, check_surrogate

pytestmark = pytest.mark.bench

BOUNDS = [(-1, 1)] * 3


def bowl(x):
    return float((np.asarray(x) ** 2).sum())


def make(name, bounds, random_state=0):
    return BASELINES[name](bounds, n_initial=5, random_state=random_state)


@pytest.fixture(params=BASELINES)
def name(request):
    return request.param


def test_baselines_follow_rules_of_ask_and_tell(name):
    check_optimizer(partial(make, name), n_calls=7)


def test_components_follow_their_protocols():
    check_acquisition(partial(variance_gain, kappa=2.0))
    check_surrogate(AdditiveProcess(2))


def test_constant_input_keeps_its_value(name):
    optimizer = run(make(name, [(0, 1), (3, 3)]), lambda x: float((x[0] - 0.3) ** 2), 7)
    assert (optimizer.x_iters_[:, 1] == 3).all()
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 7


@pytest.mark.filterwarnings("ignore:bounds should be of real parameters")
def test_finite_space_is_visited_once(name):
    optimizer = make(name, Space({"a": [1, 2, 3], "b": ["x", "y"], "c": ["always"]}))
    run(optimizer, lambda p: p["a"], 6)
    assert len({(p["a"], p["b"]) for p in optimizer.x_iters_}) == 6
    with pytest.raises(SpaceExhausted, match=r"0 of the 6 points"):
        optimizer.ask()


def test_points_differ_if_all_evaluations_fail(name):
    optimizer = run(make(name, BOUNDS), lambda x: np.nan, 7)
    assert len(np.unique(optimizer.x_iters_, axis=0)) == 7


def test_resumed_run_equals_uninterrupted_run(name, tmp_path):
    options = {"method": BASELINES[name], "n_initial": 4, "random_state": 3}
    journal = tmp_path / "run.jsonl"
    minimize(bowl, BOUNDS, n_calls=5, journal=journal, **options)
    resumed = minimize(bowl, BOUNDS, n_calls=7, journal=journal, **options)
    assert_array_equal(resumed.x_iters, minimize(bowl, BOUNDS, n_calls=7, **options).x_iters)


def test_subspace_survives_json():
    optimizer = run(AddBO([(-1, 1)] * 4, n_initial=11, random_state=0), bowl, 12)
    again = AddBO.from_dict(json.loads(json.dumps(optimizer.to_dict()))).subspace_
    assert_array_equal(again.components, optimizer.subspace_.components)
    assert repr(again) == repr(optimizer.subspace_)


def test_add_bo_rejects_constraints():
    optimizer = AddBO(BOUNDS)
    with pytest.raises(ValueError, match=r"acquisition must be 'ei' .* got that of AddBO"):
        optimizer.tell([0, 0, 0], 0.0, constraints=[1.0])


@pytest.mark.parametrize("method", [AddBO, BOCK])
def test_known_noise_is_rejected(method):
    optimizer = method(BOUNDS, random_state=0)
    with pytest.raises(ValueError, match=r"noise_std.*None"):
        optimizer.tell(np.zeros(3), 1.0, noise_std=0.1)


def test_image_kernels_use_known_noise():
    def proposals(noise_std):
        optimizer = ImageREMBO(BOUNDS * 4, kernel="psi", n_initial=6, random_state=0)
        for _ in range(8):
            x = optimizer.ask()
            optimizer.tell(x, bowl(x), noise_std=noise_std)
        return optimizer.x_iters_.tolist()

    assert proposals(0.0) == proposals(None) != proposals(0.5)
