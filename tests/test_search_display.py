"""SearchDisplay: what is computed for it, what it draws, and what it refuses."""

import itertools
import sys

import numpy as np
import pytest
from scipy.stats import uniform
from skbo_silbo.inspection._search_relevance import held_out_share, parameter_relevance
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import RandomizedSearchCV

from skbo_silbo import SILBO, SILBOSearchCV
from skbo_silbo.embedding import LinearEmbedding
from skbo_silbo.inspection import SearchDisplay
from skbo_silbo.inspection._search_curves import best_so_far, expected_best
from skbo_silbo.inspection._search_panels import BELOW, ValueAxis
from skbo_silbo.space import Space, SpaceUnion

plt = pytest.importorskip("matplotlib.pyplot")
X = np.zeros((6, 1))


class Hill(BaseEstimator):
    """Its score depends on a and the kind; fails where `fails` is set."""

    def __init__(self, a=0.0, b=0.0, c=0.0, kind="x", fails=False):
        self.a, self.b, self.c, self.kind, self.fails = a, b, c, kind, fails

    def fit(self, X, y=None):
        if self.fails:
            raise RuntimeError("as asked")
        self.fitted_ = True
        return self

    def score(self, X, y=None):
        return -((self.a - 0.6) ** 2) - 0.1 * (self.kind == "y")


SPACE = {"a": uniform(), "b": uniform(), "kind": ["x", "y", "z"]}


def fitted(space=SPACE, **params):
    params = {"n_iter": 14, "cv": 2, "random_state": 0, **params}
    return SILBOSearchCV(Hill(), space, **params).fit(X)


@pytest.fixture(scope="module")
def search():
    return fitted()


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


# What is computed.


@pytest.mark.parametrize("scores", [[0.3, 0.1, 0.9, 0.4, 0.4], [2.0], [1.0, 1.0, -5.0]])
def test_the_expected_best_is_that_over_all_subsets(scores):
    mean, (low, high) = expected_best(np.array(scores))
    for k in range(1, len(scores) + 1):
        best = np.sort([max(subset) for subset in itertools.combinations(scores, k)])
        assert mean[k - 1] == pytest.approx(best.mean())
        assert low[k - 1] == np.quantile(best, 0.1, method="inverted_cdf")
        assert high[k - 1] == np.quantile(best, 0.9, method="inverted_cdf")


def test_failures_are_the_worst_of_random_search_and_nothing_in_ours():
    np.testing.assert_allclose(expected_best(np.array([np.nan, 1.0, 0.0]))[0], [1 / 3, 2 / 3, 1])
    np.testing.assert_array_equal(best_so_far(np.array([np.nan, 1, np.nan, 0])), [np.nan, 1, 1, 1])


def test_hundreds_of_scores_do_not_overflow():
    scores = np.random.default_rng(0).normal(size=800)
    mean, (low, high) = expected_best(scores)
    assert mean[0] == pytest.approx(scores.mean())
    assert mean[-1] == low[-1] == high[-1] == pytest.approx(scores.max())
    assert np.all(np.diff(mean) > -1e-12)
    assert np.all(low <= high)


def test_relevance_is_the_total_effect_of_a_known_function():
    # f = a + b c with a, b, c uniform on [-1, 1]: variances 1/3 and 1/9, so that the total effects
    # are 3/4, 1/4 and 1/4; d and the kind do not matter.
    space = Space({name: uniform(-1, 2) for name in "abcd"} | {"kind": ["x", "y", "z"]})
    points = np.random.default_rng(0).uniform(-1, 1, (150, 7))
    points = space.round(points)
    scores = points[:, 0] + points[:, 1] * points[:, 2]
    identity = LinearEmbedding(7)
    relevance = parameter_relevance(space, identity, points, scores)
    expected = {"a": 0.75, "b": 0.25, "c": 0.25, "d": 0.0, "kind": 0.0}
    assert relevance == pytest.approx(expected, abs=0.08)
    assert held_out_share(identity, points, scores) > 0.9


def test_relevance_without_information_is_zero():
    space, points = Space({"a": uniform(), "b": [1]}), np.linspace(-1, 1, 12)[:, None]
    for scores in (np.ones(12), np.full(12, np.nan)):
        assert parameter_relevance(space, LinearEmbedding(1), points, scores) == {"a": 0.0}
        assert np.isnan(held_out_share(LinearEmbedding(1), points, scores))
    noise, points = np.random.default_rng(0).normal(size=80), np.linspace(-1, 1, 80)[:, None]
    assert held_out_share(LinearEmbedding(1), points, noise) < 0.15


def test_relevance_in_a_conditional_space():
    space = SpaceUnion([{"kind": ["x"], "a": uniform()}, {"kind": ["y"], "b": uniform()}])
    points = space.round(np.random.default_rng(0).uniform(-1, 1, (60, 3)))
    scores = np.where(points[:, 0] < 0, points[:, 1], 0.0)  # only a matters, and the branch
    relevance = parameter_relevance(space, LinearEmbedding(3), points, scores)
    assert list(relevance) == ["branch", "a", "b"]
    assert relevance["a"] > 0.3
    assert relevance["b"] < 0.05


def test_axes_of_values():
    axis = ValueAxis.of("C", [0.01, 1.0, 100.0])
    np.testing.assert_allclose(axis.positions, [0, 0.5, 1])
    assert axis.labels == ["0.01", "1", "100"]
    np.testing.assert_allclose(ValueAxis.of("n", [1, 3, 5]).positions, [0, 0.5, 1])
    axis = ValueAxis.of("k", np.ma.array(["b", "a", None], mask=[0, 0, 1], dtype=object))
    np.testing.assert_allclose(axis.positions, [1, 0, BELOW])
    assert axis.labels == ["a", "b", "none"]
    assert ValueAxis.of("s", [Hill(), Hill(), "passthrough-like"]).labels == [
        *("Hill", "passthrough…")
    ]
    assert ValueAxis.of("b", [True, False]).labels == ["False", "True"]
    assert ValueAxis.of("n", [3, 3]).is_constant


# What is drawn.


def test_all_panels(search):
    display = SearchDisplay.from_estimator(search)
    assert isinstance(display, SearchDisplay)
    assert len(display.axes_) == 5
    assert all(axes.figure is display.figure_ for axes in display.axes_)
    convergence, first, second, relevance, parallel = display.axes_
    steps = convergence.lines[-2].get_ydata()
    np.testing.assert_array_equal(
        steps, np.maximum.accumulate(search.cv_results_["mean_test_score"])
    )
    ranked = sorted(display.relevance, key=lambda name: -display.relevance[name])
    assert ranked[-1] == "b"  # of which the score does not depend
    assert [first.get_xlabel(), second.get_xlabel()] == ranked[:2]
    assert [text.get_text() for text in relevance.get_yticklabels()] == ranked
    names = [text.get_text() for text in parallel.get_xticklabels()]
    assert names == [*ranked, "mean test score"]
    assert len(parallel.lines) == 14 + 4  # candidates and axes
    display.figure_.canvas.draw()


def test_random_search_is_drawn_beside(search):
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=30, cv=2, random_state=0).fit(X)
    display = SearchDisplay.from_estimator(search, random_search=random, kind="convergence")
    [axes] = display.axes_
    expected, ours = (line.get_ydata() for line in axes.lines[:2])
    np.testing.assert_allclose(expected, expected_best(random.cv_results_["mean_test_score"])[0])
    assert (len(expected), len(ours)) == (30, 14)
    assert "from 30 candidates of its own" in axes.get_legend_handles_labels()[1][0]
    alone = SearchDisplay.from_estimator(search, kind="convergence").axes_[0]
    assert len(alone.lines[0].get_ydata()) == search.optimizer_.n_initial_


def test_resumed_candidates_keep_their_place_in_the_design(tmp_path):
    displays = [
        SearchDisplay.from_estimator(fitted(journal=tmp_path / "journal")) for _ in range(2)
    ]
    assert displays[0].n_initial == displays[1].n_initial > 0


def test_directions_of_a_learnt_embedding():
    space = {name: uniform() for name in "abc"}
    display = SearchDisplay.from_estimator(
        fitted(space, embedding="semi-sir", n_components=2), kind="directions"
    )
    assert [axes.get_xlabel() for axes in display.axes_] == ["direction 1", "direction 2"]
    drawn = np.concatenate([c.get_offsets() for c in display.axes_[0].collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(display.directions[:, 0]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
def test_conditional_parameters_and_failures():
    space = [
        {"kind": ["x"], "a": uniform()},
        {"kind": ["y"], "b": uniform(), "fails": [True, False]},
    ]
    display = SearchDisplay.from_estimator(fitted(space))
    labels = {text.get_text() for text in display.axes_[-1].texts}
    assert {"none", "failed"} <= labels
    display.figure_.canvas.draw()


def test_several_metrics():
    def scores(estimator, X, y=None):
        return {"plain": estimator.score(X), "other": estimator.b}

    for refit, metric in (("other", "other"), (False, "plain")):
        search = fitted(scoring=scores, refit=refit)
        display = SearchDisplay.from_estimator(search, kind="convergence")
        np.testing.assert_array_equal(display.scores, -search.optimizer_.func_vals_)
        assert display.score_name == f"mean test {metric}"


def test_few_candidates_and_constants():
    for space, n_iter in ((SPACE, 1), ({"a": [0.1], "kind": ["x"]}, 1), (SPACE, 3)):
        display = SearchDisplay.from_estimator(fitted(space, n_iter=n_iter))
        display.figure_.canvas.draw()


def test_most_parameters_are_left_out():
    space = {name: uniform() for name in "abc"}
    display = SearchDisplay.from_estimator(fitted(space), max_parameters=2)
    assert len(display.axes_[-2].patches) == 2
    assert len(display.axes_[-1].get_xticks()) == 3


@pytest.mark.parametrize(
    ("kind", "n_panels"), [("convergence", 1), ("directions", 2), ("relevance", 1), ("parallel", 1)]
)
def test_one_kind_on_given_axes(search, kind, n_panels):
    figure, axes = plt.subplots(1, n_panels)
    display = SearchDisplay.from_estimator(search, kind=kind, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(np.ravel(axes))
    again = SearchDisplay.from_estimator(search, kind=kind).plot(kind=kind)
    assert len(again.axes_) == n_panels


# Refusals.


def test_refusals(search, monkeypatch):
    with pytest.raises(NotFittedError):
        SearchDisplay.from_estimator(SILBOSearchCV(Hill(), SPACE))
    with pytest.raises(ValueError, match="kind must be one of"):
        SearchDisplay.from_estimator(search, kind="pie")
    with pytest.raises(ValueError, match="max_parameters must be"):
        SearchDisplay.from_estimator(search, max_parameters=0)
    with pytest.raises(ValueError, match="one Axes for each of the 5 panels: got 1"):
        SearchDisplay.from_estimator(search, ax=plt.gca())
    other = RandomizedSearchCV(
        Hill(), SPACE, n_iter=2, cv=2, scoring={"f": lambda e, X, y=None: 1.0}, refit="f"
    )
    with pytest.raises(ValueError, match=r"must have 'mean_test_score'.*got \['mean_test_f'\]"):
        SearchDisplay.from_estimator(search, random_search=other.fit(X))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"skbo_silbo\[plot\]"):
        SearchDisplay.from_estimator(search)


def test_the_search_is_left_as_it_was(search):
    before = search.optimizer_.x_iters_, len(search.optimizer_._pending)
    SearchDisplay.from_estimator(search)
    assert (search.optimizer_.x_iters_, len(search.optimizer_._pending)) == before
    assert isinstance(search.optimizer_, SILBO)
