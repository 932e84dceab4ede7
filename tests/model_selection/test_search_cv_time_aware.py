"""SILBOSearchCV(time_aware=True): cheap candidates first, the price falls, times are kept."""

import time

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from support.derivatives import gradient_with_error

from skbo_silbo import Space
from skbo_silbo.model_selection import SILBOSearchCV
from skbo_silbo.model_selection._stopping import Stopping
from skbo_silbo.model_selection._time_aware import Price, TimeAwareSILBO
from skbo_silbo.surrogate._process import GaussianProcessSurrogate

X, Y = np.random.RandomState(0).normal(size=(12, 2)), np.arange(12.0)
PLANE = {"quality": uniform(), "price": uniform()}


class Clock:
    """Seconds that pass only in fits."""

    now = 0.0

    def __call__(self):
        return Clock.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    Clock.now = 0.0
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, Clock())


class Priced(BaseEstimator):
    """A model that is the better for `quality` and takes the longer for `price`, to no avail."""

    def __init__(self, quality=0.5, price=0.5, kind="good"):
        self.quality, self.price, self.kind = quality, price, kind

    def fit(self, X, y=None):
        Clock.now += 10.0 ** (2 * self.price)
        if self.kind == "fails":
            raise RuntimeError("this kind cannot be fitted")
        return self

    def score(self, X, y=None):
        return -((self.quality - 0.7) ** 2)


def search(space=PLANE, **params):
    params = {"cv": KFold(3), "random_state": 0, "n_iter": 20, "time_aware": True, **params}
    return SILBOSearchCV(Priced(), space, **params)


def prices(fitted):
    results = fitted.cv_results_
    return results["param_price"][results["source"] == "model"].astype(float)


def test_candidates_of_the_model_are_cheap():
    aware, plain = search().fit(X, Y), search(time_aware=False).fit(X, Y)
    assert prices(aware).mean() < 0.5 * prices(plain).mean()
    assert aware.best_score_ > -0.01


def test_more_candidates_are_evaluated_in_the_same_time():
    options = {"n_iter": 40, "max_time": 1500.0}
    aware, plain = (search(time_aware=b, **options).fit(X, Y) for b in (True, False))
    assert aware.stop_reason_ == "max_time" or len(aware.cv_results_["params"]) == 40
    assert len(aware.cv_results_["params"]) > len(plain.cv_results_["params"])


def test_the_price_falls_to_nothing_with_the_candidates(monkeypatch):
    seen = []
    ask = TimeAwareSILBO.ask

    def noted(self, n=None, fixed=None):
        seen.append(self.price)
        return ask(self, n, fixed)

    monkeypatch.setattr(TimeAwareSILBO, "ask", noted)
    search(n_iter=10).fit(X, Y)
    exponents = [price.exponent for price in seen if price is not None]
    np.testing.assert_allclose(exponents[-9:], np.linspace(0.9, 0.1, 9))


def test_the_price_falls_with_the_seconds(monkeypatch):
    stopping = Stopping(1000, max_time=50.0)
    Clock.now += 20.0
    assert stopping.share_spent == pytest.approx(0.4)
    assert stopping.seconds_left == pytest.approx(30.0)
    Clock.now += 100.0
    assert (stopping.share_spent, stopping.seconds_left) == (1.0, 0.0)


def test_without_max_time_what_is_left_is_estimated(capsys):
    search(n_iter=4, verbose=2).fit(X, Y)
    lines = [line for line in capsys.readouterr().out.splitlines() if "s left" in line]
    first = float(lines[0].split(" s left")[0].rsplit(" ", 1)[1])
    assert first == pytest.approx(3 * 30.0)  # three candidates like the first, of 3 fits of 10 s
    assert " 0.0 s left" in lines[-1]


def test_with_max_time_the_bar_says_what_is_left(capsys):
    pytest.importorskip("tqdm")
    search(n_iter=40, max_time=100.0, verbose=1).fit(X, Y)
    assert ", 0 s left" in capsys.readouterr().err


def test_a_search_that_goes_on_knows_the_times_of_its_journal(tmp_path):
    path = tmp_path / "search.jsonl"
    search(n_iter=12, journal=path).fit(X, Y)
    later = search(n_iter=14, journal=path).fit(X, Y)
    known = later.optimizer_.price.process.observations_
    assert len(known.X) == 13  # all but the last, after which none is asked for
    assert later.cv_results_["source"].tolist().count("resumed") == 12


@pytest.mark.parametrize("options", [{"batch_size": 4}, {"racing": True}], ids=str)
def test_it_goes_with(options):
    fitted = search(n_iter=14, **options).fit(X, Y)
    assert len(fitted.cv_results_["params"]) == 14
    assert fitted.optimizer_.price.exponent < 0.5


def test_as_workers_are_free(monkeypatch):
    monkeypatch.undo()  # joblib waits by the clock
    with parallel_config("threading"):
        fitted = search(n_iter=14, n_jobs=2).fit(X, Y)
    assert len(fitted.cv_results_["params"]) == 14
    assert fitted.optimizer_.price.exponent < 0.5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_candidates_that_fail_have_no_known_time_and_stop_nothing():
    space = {**PLANE, "kind": ["good", "fails"]}
    results = search(space, n_iter=16).fit(X, Y).cv_results_
    assert len(results["params"]) == 16
    assert {"good", "fails"} == set(results["param_kind"])


def test_what_the_price_says_and_its_derivative():
    rng = np.random.default_rng(0)
    places = rng.uniform(-1, 1, (20, 2))
    process = GaussianProcessSurrogate().fit(places, places[:, 0] + places[:, 1] ** 2)
    price = Price(process, proposing=0.5, exponent=0.7)
    x = np.array([0.2, -0.3])
    value, gradient = price.log_price_gradient(x[None])
    mean = process.predict(x[None])[0]
    np.testing.assert_allclose(value, 0.7 * np.log(0.5 + np.exp(mean)))
    expected, error = gradient_with_error(lambda p: price.log_price(p[None])[0], x, 0.1)
    np.testing.assert_allclose(gradient[0], expected, atol=10 * np.max(error) + 1e-6)


def test_the_surface_is_the_improvement_less_the_price():
    space = Space(PLANE)
    optimizer = TimeAwareSILBO(space, n_initial=6, random_state=0)
    for _ in range(8):
        point = optimizer.ask()
        optimizer.tell(point, (point["quality"] - 0.7) ** 2)
    optimizer.ask()
    places = np.random.default_rng(1).uniform(-1, 1, (5, 2))
    plain = optimizer._surface()
    process = GaussianProcessSurrogate().fit(places, places[:, 1])
    optimizer.price = Price(process, proposing=0.0, exponent=1.0)
    priced = optimizer._surface()
    mean = process.predict(places)[0]
    np.testing.assert_allclose(priced.values(places), plain.values(places) - mean)
    Z = plain.embedding.project(places)
    np.testing.assert_allclose(priced.values_at(Z), plain.values_at(Z) - mean)
    value, gradient = priced.value_and_gradient(places[0])
    gain = optimizer.expected_gain()
    assert optimizer.price.exponent == 1.0
    optimizer.price = None
    assert gain == optimizer.expected_gain()  # no gain per second
    bare, slope = plain.value_and_gradient(places[0])
    assert value == pytest.approx(bare - mean[0])
    by_x = process.predict_gradient(places[:1])[2][0]
    np.testing.assert_allclose(gradient, slope - by_x)


def test_another_acquisition_is_refused():
    refusal = r"acquisition must be 'ei' with time_aware=True.*got 'ucb'"
    with pytest.raises(ValueError, match=refusal):
        search(optimizer_options={"acquisition": "ucb"}).fit(X, Y)
