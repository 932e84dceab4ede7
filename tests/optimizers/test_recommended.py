import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint
from scipy.stats import uniform
from sklearn.exceptions import NotFittedError

from skbo_silbo import SILBO, Space, minimize
from skbo_silbo.baselines import RandomSearch

pytestmark = pytest.mark.quick

BOUNDS = [(-1, 1)] * 3


def bowl(x):
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def noisy_search(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (40, 3))
    optimizer = SILBO(BOUNDS, random_state=seed)
    values = [bowl(x) + 0.5 * rng.standard_normal() for x in X]
    optimizer.tell(X, values, noise_std=np.full(40, 0.5))
    optimizer.ask()
    return optimizer


def test_recommended_beats_lowest_noisy_value():
    searches = [noisy_search(seed) for seed in range(4)]
    recommended = [search.recommended_ for search in searches]
    errors = [abs(r.mean - bowl(r.point)) for r in recommended]
    of_lowest = [abs(search.best_y_ - bowl(search.best_x_)) for search in searches]
    assert np.mean(errors) < 0.5 * np.mean(of_lowest)
    for search, r in zip(searches, recommended, strict=True):
        assert (search.x_iters_ == r.point).all(axis=1).any()
        assert 0.0 <= r.std < 1.0


def test_the_result_has_the_point():
    run = minimize(bowl, BOUNDS, n_calls=7, n_initial=6, random_state=0)
    np.testing.assert_array_equal(run.x_recommended, run.optimizer.recommended_.point)


def test_recommended_is_best_without_noise():
    for unit in (1e90, 1e-250):
        run = minimize(lambda x, u=unit: u * bowl(x), BOUNDS, n_calls=12, random_state=0)
        point, mean, std = run.optimizer.recommended_
        assert bowl(point) < 4.0 * bowl(run.x) + 0.01
        assert abs(mean / unit - bowl(point)) < 0.1
        assert 0.0 <= std < 0.3 * unit


def test_recommended_is_feasible_and_named():
    space = Space({"a": [1, 2, 3.5, 7], "b": ["u", "v", "w"]})
    optimizer = SILBO(space, n_initial=4, random_state=0)
    for params in optimizer.ask(6):
        value = params["a"] + (params["b"] == "u")
        optimizer.tell(params, value, constraints=[0.5 if params["b"] == "v" else -0.5])
    optimizer.ask()
    assert optimizer.recommended_.point["b"] != "v"
    assert set(optimizer.recommended_.point) == {"a", "b"}


def test_recommended_without_model_raises():
    optimizer = RandomSearch(BOUNDS, random_state=0)
    for x in optimizer.ask(5):
        optimizer.tell(x, bowl(x))
    assert optimizer.recommended_.mean == optimizer.best_y_
    assert np.isnan(optimizer.recommended_.std)
    with pytest.raises(NotFittedError, match=r"recommended_.*ask\(\)"):
        _ = SILBO(BOUNDS).tell([0, 0, 0], 1.0).recommended_


def test_of_equal_values_it_is_the_first_point():
    result = minimize(lambda x: 7.0, BOUNDS, n_calls=10, random_state=0)
    np.testing.assert_array_equal(result.x_recommended, result.x_iters[0])
    assert result.optimizer.recommended_.std < 1.0


def told(values, **options):
    """Return a search of the same points, with a model of these values."""
    X = np.random.default_rng(1).uniform(-1, 1, (30, 3))
    optimizer = SILBO(BOUNDS, random_state=0, **options)
    optimizer.tell(X, [values(x) for x in X])
    optimizer.ask()
    return optimizer


@pytest.mark.filterwarnings("ignore:1 of 1 values count as failed")
@pytest.mark.parametrize("penalty", [1e120, 1e308])
def test_a_penalty_does_not_set_the_units(penalty):
    optimizer = told(bowl)
    optimizer.tell([-1.0, -1.0, -1.0], penalty)
    optimizer.ask()
    assert optimizer.recommended_.mean == pytest.approx(optimizer.best_y_, abs=0.05)
    assert 0.0 < optimizer.recommended_.std < 1.0
    assert 0.0 <= optimizer.expected_gain() < 1.0


# --- predictions ----------------------------------------------------------------------------------

ONE, MORE = np.full(3, 0.1), np.random.default_rng(2).uniform(-1, 1, (20, 3))


@pytest.mark.parametrize(("size", "warp"), [(1e-80, "half-log"), (1e90, "half-log"), (1e90, None)])
def test_predictions_are_in_the_units_of_the_values(size, warp):
    optimizer = told(lambda x: size * (bowl(x) - 1.0), warp=warp)
    mean, std, probability = optimizer.predict(MORE)
    assert mean.shape == std.shape == probability.shape == (20,)
    truth = np.array([bowl(x) - 1.0 for x in MORE])
    np.testing.assert_allclose(mean / size, truth, atol=0.3)
    assert (np.abs(mean / size - truth) < 5.0 * std / size).all()
    assert (probability == 1.0).all()
    one = optimizer.predict(MORE[3])
    assert one == pytest.approx((mean[3], std[3], 1.0))
    assert isinstance(one.mean, float)
    at_known = optimizer.predict(optimizer.x_iters_)
    np.testing.assert_allclose(at_known.mean / size, optimizer.func_vals_ / size, atol=0.01)


@pytest.mark.parametrize("maximize", [False, True])
def test_expected_gain_is_in_score_units(maximize):
    def gain(unit):
        optimizer = SILBO([(0, 1)] * 2, random_state=0, n_initial=5, maximize=maximize)
        points = optimizer.ask(6)
        assert optimizer.expected_gain() == np.inf
        values = np.array([unit * ((x - 0.6) ** 2).sum() for x in points])
        optimizer.tell(points, -values if maximize else values)
        first = optimizer.expected_gain()
        assert optimizer.expected_gain() == first  # reading it changes nothing
        return first

    assert gain(1000.0) == pytest.approx(1000 * gain(1.0), rel=0.05)
    assert 0 < gain(1.0) < 1


def test_expected_gain_without_success_is_infinite():
    optimizer = SILBO([(0, 1)] * 2, random_state=0, n_initial=3)
    optimizer.tell(optimizer.ask(4), [np.nan] * 4)
    assert optimizer.expected_gain() == np.inf


PLANE = {"a": uniform(), "b": uniform()}


@pytest.mark.parametrize("space", [PLANE, {"a": np.linspace(0, 1, 40).tolist(), "b": [0.2, 0.6]}])
def test_expected_gain_respects_constraints(space):
    """The value falls up to the limit: beyond it there is much to gain, before it nothing."""
    whole, optimizer = (SILBO(space, random_state=0, n_initial=5) for _ in range(2))
    optimizer.constrain(NonlinearConstraint(lambda p: p["a"], 0.0, 0.25))
    points = optimizer.ask(12)
    for o in (whole, optimizer):
        o.tell(points, [-5.0 * p["a"] for p in points])
    assert optimizer.expected_gain() < 0.2 * whole.expected_gain()


def test_learnt_constraints_have_a_probability():
    X = np.random.default_rng(1).uniform(-1, 1, (20, 3))
    optimizer = SILBO(BOUNDS, random_state=0)
    optimizer.tell(X, [bowl(x) for x in X], constraints=X[:, :1])  # holds where x0 <= 0
    optimizer.ask()
    probability = optimizer.predict([[-0.9, 0, 0], [0.9, 0, 0]]).probability
    assert probability[0] > 0.9
    assert probability[1] < 0.1


def test_named_points_dicts_and_frames_are_alike():
    pd = pytest.importorskip("pandas")
    space = Space({"C": [1, 2, 3, 4], "kernel": ["rbf", "poly"]})
    optimizer = SILBO(space, n_initial=4, random_state=0)
    for _ in range(5):
        params = optimizer.ask()
        optimizer.tell(params, params["C"] + (params["kernel"] == "rbf"))
    rows = [{"C": 2, "kernel": "rbf"}, {"C": 4, "kernel": "poly"}]
    dicts, frame = optimizer.predict(rows), optimizer.predict(pd.DataFrame(rows))
    np.testing.assert_array_equal(dicts.mean, frame.mean)
    assert optimizer.predict(rows[1]).mean == dicts.mean[1]


def test_a_result_predicts_in_its_own_sign():
    run = minimize(lambda x: 5.0 - bowl(x), BOUNDS, n_calls=10, maximize=True, random_state=0)
    mean, std, _ = run.predict(run.x)
    assert mean == pytest.approx(run.fun, abs=0.1)
    assert std > 0.0
    with pytest.raises(NotFittedError, match=r"predict.*got RandomSearch"):
        minimize(bowl, BOUNDS, n_calls=3, method="random").predict(ONE)


def test_before_a_model_there_is_nothing_to_predict():
    with pytest.raises(NotFittedError, match=r"predict.*ask\(\)"):
        SILBO(BOUNDS).predict(ONE)


@pytest.mark.parametrize("constraints", [None, np.ones((12, 1))])
def test_predict_raises_if_all_failed(constraints):
    optimizer = SILBO(BOUNDS, random_state=0)
    optimizer.tell(optimizer.ask(12), np.full(12, np.nan), constraints=constraints)
    optimizer.ask()
    with pytest.raises(NotFittedError, match="predict needs a finite value, got 12 values, none"):
        optimizer.predict(ONE)
