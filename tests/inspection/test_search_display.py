"""SearchDisplay and ConvergenceDisplay: computed values, drawn panels and invalid input."""

import itertools
import sys

import numpy as np
import pytest
from ask_tell import observed_optimizer
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, RandomizedSearchCV

from skbo_silbo import SILBO, SILBOSearchCV, minimize
from skbo_silbo.inspection import ConvergenceDisplay, SearchDisplay, SubspaceDisplay

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("few_draws")
X = np.zeros((6, 1))


class Hill(BaseEstimator):
    """Estimator whose score depends on `a` and `kind`, and whose fit fails if `fails` is set."""

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
    params = {"n_iter": 8, "n_initial": 6, "cv": 2, "random_state": 0, **params}
    return SILBOSearchCV(Hill(), space, **params).fit(X)


def _outside(figure):
    """Return the labels of ticks outside the axes, which matplotlib keeps but does not draw."""
    hidden = set()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks() + axis.get_minor_ticks():
            hidden |= set() if low <= tick.get_loc() <= high else {tick.label1, tick.label2}
    return hidden


def colliding(figure):
    """Return pairs of visible texts whose boxes overlap."""
    figure.canvas.draw()
    texts = [text for text in figure.findobj(plt.Text) if text.get_visible()]
    hidden = _outside(figure)
    shown = [t for t in texts if t.get_text().strip() and t not in hidden]
    boxes = [(text.get_text(), text.get_window_extent().shrunk(0.9, 0.8)) for text in shown]
    pairs = itertools.combinations([(name, box) for name, box in boxes if box.width], 2)
    return [(a, b) for (a, one), (b, two) in pairs if one.overlaps(two)]


@pytest.fixture(scope="module")
def search():
    return fitted(n_iter=16, n_initial=14)  # a space-filling design identifies the inputs


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn_values(axes):
    """Return the x and y data of the last curve in a panel."""
    return axes.lines[-1].get_data()


def test_axes_and_curves_span_space():
    space = {"C": loguniform(1e-3, 0.2), "b": uniform()}
    optimizer = observed_optimizer(space, lambda p: np.log10(p["C"]) + 0.5 * p["b"], 24)
    display = SearchDisplay.from_result(optimizer, kind="dependence")
    for axes in display.axes_:
        np.testing.assert_allclose(drawn_values(axes)[0][[0, -1]], [0, 1], atol=1e-6)
    assert [axes.get_xlabel().split("\n")[0] for axes in display.axes_] == ["C (log)", "b"]
    labels = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    assert labels == ["0.001", "0.0141", "0.2"]


def test_best_value_is_always_visible():
    values = np.r_[np.linspace(3, 1, 20), np.full(20, 0.9), 1e-6, 1e-9]
    for sign, greater in ((1, False), (-1, True)):
        display = ConvergenceDisplay({"a": sign * values}, n_initial=5, greater_is_better=greater)
        axes = display.plot().axes_[0]
        low, high = axes.get_ylim()
        best = axes.lines[0].get_ydata()
        assert low < best.min()
        assert best.max() < high
    far = ConvergenceDisplay({"a": np.r_[1e9, values]}).plot().axes_[0]
    assert far.get_ylim()[1] < 100


def test_labels_explain_markers(search):
    convergence, first, *_ = SearchDisplay.from_result(search).axes_
    assert "first model" in convergence.get_legend_handles_labels()[1]
    assert "hollow: before the first model" in first.get_xlabel()
    assert "orange: the model" in first.get_xlabel()
    one = SILBO([(0, 1)] * 2).tell([0.5, 0.5], 1.0)
    [axes] = SearchDisplay.from_result(one, kind="dependence").axes_
    assert axes.texts[0].get_text() == "No evaluated input varies."
    few = observed_optimizer([(0, 1)] * 2, np.sum, 5)
    assert "all before the first model" in SearchDisplay.from_result(few).axes_[1].get_xlabel()


def test_all_panels(search):
    before = search.optimizer_.x_iters_
    display = SearchDisplay.from_result(search)
    assert search.optimizer_.x_iters_ == before
    assert len(display.axes_) == 4
    assert all(axes.figure is display.figure_ for axes in display.axes_)
    convergence, first, second, shares = display.axes_
    steps = convergence.lines[1].get_ydata()
    np.testing.assert_array_equal(
        steps, np.maximum.accumulate(search.cv_results_["mean_test_score"])
    )
    ranked = display.shares.ranked
    assert ranked == search.optimizer_.subspace_.shares.ranked
    labels = [axes.get_xlabel().split("\n") for axes in (first, second)]
    assert [label[0] for label in labels] == ranked[:2]
    assert all("the model" in label[-1] for label in labels)
    assert [text.get_text() for text in shares.get_yticklabels()] == ranked
    assert colliding(display.figure_) == []


def test_named_panel_handles_absent_values():
    space = [{"k": ["x"], "m__a_long_name_of_it": uniform(), "u": uniform()}, {"k": ["y"]}]
    optimizer = observed_optimizer(
        space, lambda p: (p["k"] == "x") + 3 * p.get("m__a_long_name_of_it", 0), 50
    )
    display = SearchDisplay.from_result(optimizer, kind="u")
    [axes] = display.axes_
    assert axes.get_xlabel().startswith("u\n")
    assert len(axes.lines) == 1  # the mean of the model
    with pytest.raises(ValueError, match=r"kind.*'m__a_long_name_of_it'"):
        display.plot(kind="v")
    [shares] = display.plot(kind="shares").axes_
    colours = {
        t.get_text(): bar.get_facecolor()
        for t, bar in zip(shares.get_yticklabels(), shares.patches, strict=True)
    }
    assert colours["u"] == (0.8, 0.8, 0.8, 1.0) != colours["k"]


def test_result_and_optimiser_give_same_display():
    def func(x):
        return x[0] ** 2 + 0.1 * x[1]

    result = minimize(func, [(-1, 1)] * 3, n_calls=12, n_initial=11, random_state=0)
    for display in (ConvergenceDisplay, SubspaceDisplay):
        ours = display.from_result(result)
        theirs = display.from_result(result.optimizer)
        assert len(ours.axes_) == len(theirs.axes_)
    drawn = SearchDisplay.from_result(result)
    np.testing.assert_array_equal(drawn.values, result.func_vals)
    assert drawn.n_initial == 11
    assert list(drawn.dependences) == drawn.shares.ranked[:2]
    steps = drawn.axes_[0].lines[-2].get_ydata()
    np.testing.assert_array_equal(steps, np.minimum.accumulate(result.func_vals))


def test_maximised_values_keep_their_sign():
    options = {"n_calls": 12, "n_initial": 8, "maximize": True, "random_state": 0}
    result = minimize(lambda x: -(x[0] ** 2), [(-1, 1)] * 2, **options)
    display = SearchDisplay.from_result(result)
    np.testing.assert_array_equal(display.values, result.func_vals)
    curve = ConvergenceDisplay.from_result(result).axes_[0].lines[1]
    np.testing.assert_array_equal(curve.get_ydata(), np.maximum.accumulate(result.func_vals))
    assert display.dependences["x0"].mean.max() < 0.1


def test_useless_model_is_not_drawn():
    rng = np.random.default_rng(0)
    optimizer = observed_optimizer([(0, 1)] * 5, lambda x: rng.standard_normal(), 30)
    display = SearchDisplay.from_result(optimizer)
    assert display.dependences == {}
    assert not display.axes_[1].lines
    assert not display.axes_[3].patches
    [text] = display.axes_[3].texts
    assert "The values do not show" in text.get_text()
    [axes] = SubspaceDisplay.from_result(optimizer).axes_
    assert "The values do not show" in axes.texts[0].get_text()
    given = plt.subplots(1, 2)[1]
    assert list(SubspaceDisplay.from_result(optimizer, ax=given).axes_) == list(given)


@pytest.mark.slow
def test_outlier_is_drawn_at_edge():
    def func(x):
        return float("nan") if x[1] < -0.9 else 1e9 if x[2] > 0.96 else np.tanh(2 * x[0])

    optimizer = observed_optimizer([(-1, 1)] * 4, func, 60)
    n_far = int(np.sum(optimizer.func_vals_ == 1e9))
    assert n_far
    display = SearchDisplay.from_result(optimizer)
    for axes in display.axes_[:3]:
        assert axes.get_ylim()[1] < 2.0
    for axes in display.axes_[1:3]:
        assert f"▲ {n_far} beyond" in axes.get_title(loc="right")
        assert "infeasible or failed" in axes.get_title(loc="right")
    assert colliding(display.figure_) == []
    scatter = SubspaceDisplay.from_result(optimizer)
    assert scatter.axes_[0].get_ylim()[1] < 2.0


def scores(estimator, X, y=None):
    return {"plain": estimator.score(X), "other": estimator.b}


def test_value_name_counts_objectives():
    search = fitted(scoring=scores, refit=["plain", "other"])
    display = SearchDisplay.from_result(search)
    name = "mean test plain (of 2 objectives)"
    assert display.value_name == name
    lines = name.replace(" (", "\n(")
    assert lines in display.axes_[0].get_ylabel()
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=9, cv=2, scoring=scores, refit="plain")
    both = ConvergenceDisplay.from_result(random.fit(X), others={"silbo": search})
    assert set(both.curves) == {"RandomizedSearchCV", "silbo"}


@pytest.mark.slow
def test_labels_of_long_names_do_not_collide():
    names = ["learning_rate", "preprocess__scaler__method", "clf__estimator__max_depth"]
    rates, methods = loguniform(1.75e-4, 1), ["standard", "minmax", "quantile", "robust"]
    space = [{names[0]: rates, names[1]: methods}, {names[0]: rates, names[2]: rates}]

    def func(point):
        return np.log10(point[names[0]]) ** 2 + 0.3 * np.log10(point.get(names[2], 1.0))

    optimizer = observed_optimizer(space, func, 16)
    assert colliding(SearchDisplay.from_result(optimizer).figure_) == []


@pytest.mark.slow
def test_conditional_choice_has_one_name():
    def func(point):
        return point.get("a", 0.0) ** 2 + 3.0 * point.get("b", 1.0) - 3.0

    space = [{"a": uniform(), "kind": ["x"]}, {"kind": ["y"], "b": uniform()}]
    optimizer = observed_optimizer(space, func, 50)
    display = SearchDisplay.from_result(optimizer, kind="all")
    assert set(display.shares.names) == {"kind", "a", "b"} == set(display.parameters)
    on_kind = display.dependences["kind"]
    assert dict(zip(on_kind.x, on_kind.mean, strict=True)) == pytest.approx(
        {"x": 1 / 3, "y": -1.5}, abs=0.15
    )
    shown = {text.get_text() for axes in display.axes_ for text in axes.findobj(plt.Text)}
    assert "kind" in shown
    assert not any("branch" in text for text in shown)
    assert "kind=y" in optimizer.space_.feature_names_


def test_unnamed_branch_choice_is_drawn():
    space = [{"branch": uniform(), "a": uniform()}, {"branch": uniform(), "b": uniform()}]
    optimizer = observed_optimizer(space, lambda p: 5.0 * ("a" in p) + p["branch"], 30)
    display = SearchDisplay.from_result(optimizer)
    assert display.shares.ranked[0] == "branch (2)"
    assert set(display.parameters) == {"branch (2)", "branch", "a", "b"}
    assert list(display.parameters["branch (2)"]) == [int("b" in p) for p in optimizer.x_iters_]
    on_choice = display.dependences["branch (2)"]
    assert dict(zip(on_choice.x, on_choice.mean, strict=True)) == pytest.approx(
        {0: 5.5, 1: 0.5}, abs=0.2
    )
    assert [t.get_text() for t in display.axes_[1].get_xticklabels()] == ["0", "1"]


@pytest.mark.slow
def test_random_search_is_drawn(search):
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=30, cv=2, random_state=0).fit(X)
    display = SearchDisplay.from_result(search, random_search=random, kind="convergence")
    [axes] = display.axes_
    expected, ours = (line.get_ydata() for line in axes.lines[:2])
    scores = random.cv_results_["mean_test_score"]
    assert expected[0] == pytest.approx(scores.mean())  # of the best of one, and of all
    assert expected[-1] == pytest.approx(scores.max())
    assert (len(expected), len(ours)) == (30, 16)
    assert "from 30 random points" in axes.get_legend_handles_labels()[1][0]
    alone = ConvergenceDisplay.from_result(search).axes_[0]
    assert len(alone.lines[0].get_ydata()) == search.optimizer_.n_initial_


def test_convergence_of_another_search(search):
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=9, cv=2, random_state=0).fit(X)
    [axes] = ConvergenceDisplay.from_result(random, name="random", others={"ours": search}).axes_
    np.testing.assert_array_equal(
        axes.lines[0].get_ydata(), np.maximum.accumulate(random.cv_results_["mean_test_score"])
    )
    assert axes.get_legend_handles_labels()[1] == ["random", "ours"]
    assert ConvergenceDisplay.from_result(search, ax=axes).axes_ == [axes]
    assert axes.get_legend_handles_labels()[1].count("SILBOSearchCV") == 1
    for others, got in (({"SILBOSearchCV": random}, r"\['SILBOSearchCV'\]"), ([random], "list")):
        with pytest.raises(ValueError, match=f"others must be a dict of results .* got {got}"):
            ConvergenceDisplay.from_result(search, others=others)
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_result(RandomizedSearchCV(Hill(), SPACE))


def test_different_scorings_are_not_drawn_together():
    rows, y = np.arange(12.0)[:, None], np.arange(12) % 2
    space = {"strategy": ["uniform", "stratified"]}
    by = {
        scoring: RandomizedSearchCV(DummyClassifier(), space, n_iter=2, cv=2, scoring=scoring)
        for scoring in ("accuracy", "neg_log_loss", None)
    }
    for random in by.values():
        random.fit(rows, y)
    same = ConvergenceDisplay.from_result(by["accuracy"], others={"default": by[None]})
    assert set(same.curves) == {"RandomizedSearchCV", "default"}
    with pytest.raises(ValueError, match=r"scored.*'neg_log_loss'"):
        ConvergenceDisplay.from_result(by["accuracy"], others={"": by["neg_log_loss"]})


def test_halving_candidates_use_last_resource():
    sizes = {"resource": "c", "min_resources": 1, "max_resources": 9}
    halving = HalvingRandomSearchCV(Hill(), SPACE, n_candidates=18, cv=2, random_state=0, **sizes)
    results = halving.fit(X).cv_results_
    last = results["mean_test_score"][results["n_resources"] == 9]
    assert 1 < len(last) < len(results["params"])
    display = ConvergenceDisplay.from_result(halving, others={"again": halving})
    np.testing.assert_array_equal(display.curves["HalvingRandomSearchCV"], last)
    np.testing.assert_array_equal(display.curves["again"], last)


def test_resumed_candidates_keep_their_order(tmp_path):
    searches = [fitted(journal=tmp_path / "journal") for _ in range(2)]
    displays = [SearchDisplay.from_result(search, kind="convergence") for search in searches]
    assert displays[0].n_initial == displays[1].n_initial > 0


class Auto(Hill):
    """Accepts a="auto", like ``gamma="scale"`` of SVC, a value outside the search space."""

    def score(self, X, y=None):
        return Hill(0.2 if self.a == "auto" else self.a, kind=self.kind).score(X)


@pytest.mark.parametrize(
    ("space", "embedding"),
    [(SPACE, "semi-sir"), ([{**SPACE, "kind": ["x"]}, {**SPACE, "kind": ["y"]}], "identity")],
)
def test_untuned_estimator_outside_space_is_drawn(space, embedding):
    search = SILBOSearchCV(Auto("auto"), space, n_iter=8, n_initial=6, cv=2, random_state=0)
    search.set_params(embedding=embedding).fit(X)
    assert search.cv_results_["param_a"][0] == "auto"
    display = SearchDisplay.from_result(search, kind="a")
    assert "auto" in {text.get_text() for text in display.axes_[0].get_xticklabels()}
    assert len(display.values) == 8
    directions = SubspaceDisplay.from_result(search)
    assert len(directions.scores) == 7
    assert np.isfinite(directions.scores).all()
    plt.close("all")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
def test_conditional_parameters_and_failures():
    branch = {"kind": ["y"], "b": uniform(), "fails": [True, False]}
    search = fitted([{"kind": ["x"], "a": uniform()}, branch], initial_params=None)
    display = SearchDisplay.from_result(search, kind="a")
    assert "none" in {text.get_text() for text in display.axes_[0].get_xticklabels()}
    assert "infeasible or failed" in display.axes_[0].get_title(loc="right")
    assert colliding(display.figure_) == []


def test_several_metrics():
    for refit, metric in (("other", "other"), (False, "plain")):
        search = fitted(scoring=scores, refit=refit)
        display = SearchDisplay.from_result(search, kind="convergence")
        np.testing.assert_array_equal(display.values, -search.optimizer_.func_vals_)
        assert display.value_name == f"mean test {metric}"


@pytest.mark.parametrize(("kind", "n_panels"), [("dependence", 2), ("shares", 1)])
def test_one_kind_on_given_axes(search, kind, n_panels):
    figure, axes = plt.subplots(1, n_panels)
    display = SearchDisplay.from_result(search, kind=kind, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(np.ravel(axes))
    assert len(display.plot(kind=kind).axes_) == n_panels


def test_invalid_input_raises(search, monkeypatch):
    with pytest.raises(NotFittedError):
        SearchDisplay.from_result(SILBOSearchCV(Hill(), SPACE))
    with pytest.raises(NotFittedError, match="this SILBO has none"):
        SearchDisplay.from_result(SILBO([(0, 1)] * 2))
    with pytest.raises(ValueError, match="kind must be one of"):
        SearchDisplay.from_result(search, kind="pie")
    with pytest.raises(ValueError, match=r"Axes.*4.*got 1"):
        SearchDisplay.from_result(search, ax=plt.gca())
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=2, cv=2).fit(X)
    for other in (random, [1.0, 2.0]):
        with pytest.raises(TypeError, match=r"result.*SILBOSearchCV"):
            SearchDisplay.from_result(other)
    optimizer = observed_optimizer([(0, 1)] * 2, np.sum, 12)
    with pytest.raises(ValueError, match=r"random_search.*same"):
        SearchDisplay.from_result(optimizer, random_search=random)
    scoring = {"f": lambda e, X, y=None: 1.0}
    other = RandomizedSearchCV(Hill(), SPACE, n_iter=2, cv=2, scoring=scoring, refit="f")
    with pytest.raises(ValueError, match=r"'mean_test_score'.*got \['mean_test_f'\]"):
        SearchDisplay.from_result(search, random_search=other.fit(X))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"skbo_silbo\[plot\]"):
        SearchDisplay.from_result(search)


@pytest.mark.filterwarnings("ignore:.*count as failed evaluations")
def test_penalties_of_any_size_are_drawn():
    def func(x):
        return float(np.sum((x - 0.3) ** 2)) if x[0] < 0.5 else np.finfo(float).max

    optimizer = observed_optimizer([(-1, 1)] * 2, func, 14)
    assert np.max(optimizer.func_vals_) == np.finfo(float).max
    for display in (ConvergenceDisplay, SearchDisplay, SubspaceDisplay):
        axes = display.from_result(optimizer).figure_.axes
        assert all(np.isfinite(ax.get_xlim() + ax.get_ylim()).all() for ax in axes)
