"""SearchDisplay: what is computed for it, what it draws, and what it refuses."""

import itertools
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, RandomizedSearchCV
from sklearn.svm import SVC

from skbo_silbo import SILBO, SILBOSearchCV, Space, minimize
from skbo_silbo.inspection import ConvergenceDisplay, SearchDisplay, SubspaceDisplay
from skbo_silbo.inspection._dependence import direction_dependence, input_dependence
from skbo_silbo.inspection._limits import is_logarithmic, robust_limits
from skbo_silbo.inspection._search_curves import expected_best
from skbo_silbo.inspection._search_panels import draw_values
from skbo_silbo.inspection._value_axis import BELOW, ValueAxis, number, short
from skbo_silbo.space import SpaceUnion, parameter_domains

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


def told(space, func, n, seed=0):
    optimizer = SILBO(space, random_state=seed)
    m = optimizer.space_.n_features_
    points = optimizer.space_.decode(np.random.default_rng(seed).uniform(-1, 1, (n, m)))
    return optimizer.tell(points, [func(x) for x in points])


def _outside(figure):
    """Return the labels of ticks that lie outside the axes: matplotlib keeps, but does not draw."""
    hidden = set()
    for axes in figure.axes:
        for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            ticks = axis.get_major_ticks() + axis.get_minor_ticks()
            out = [t for t in ticks if not min(low, high) <= t.get_loc() <= max(low, high)]
            hidden |= {label for tick in out for label in (tick.label1, tick.label2)}
    return hidden


def colliding(figure):
    """Return pairs of visible texts whose boxes overlap."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes, hidden = [], _outside(figure)
    for text in figure.findobj(plt.Text):
        if text.get_visible() and text.get_text().strip() and text not in hidden:
            boxes.append((text.get_text(), text.get_window_extent(renderer)))
    shrunk = [(name, box.shrunk(0.9, 0.8)) for name, box in boxes]
    return [
        (a, b)
        for (a, one), (b, two) in itertools.combinations(shrunk, 2)
        if one.width and two.width and one.overlaps(two)
    ]


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


def test_failures_are_the_worst_of_random_search():
    np.testing.assert_allclose(expected_best(np.array([np.nan, 1.0, 0.0]))[0], [1 / 3, 2 / 3, 1])


def test_hundreds_of_scores_do_not_overflow():
    scores = np.random.default_rng(0).normal(size=800)
    mean, (low, high) = expected_best(scores)
    assert mean[0] == pytest.approx(scores.mean())
    assert mean[-1] == low[-1] == high[-1] == pytest.approx(scores.max())
    assert np.all(np.diff(mean) > -1e-12)
    assert np.all(low <= high)


def axis_in(values, met, name="p"):
    """The axis of values met of a parameter that a space has."""
    return ValueAxis.of(name, met, parameter_domains(Space({name: values}))[name])


def test_axes_of_numbers_are_as_the_space_says():
    axis = axis_in(loguniform(1e-3, 1e3), [1.0, 2.0])
    np.testing.assert_allclose(axis.place([1e-3, 0.1, 1e3]), [0, 1 / 3, 1], atol=1e-6)
    assert axis.labels == ["0.001", "1", "1e3"]
    assert axis.is_logarithmic
    axis = axis_in(uniform(0, 1000), [0.001, 0.1, 10.0])  # over decades, but not by logarithms
    np.testing.assert_allclose(axis.positions, [1e-6, 1e-4, 1e-2], atol=1e-6)
    assert not axis.is_logarithmic
    assert axis_in([1, 2, 4, 8], [1, 8]).labels == ["1", "2", "4", "8"]
    assert axis_in([1, 2, 3, 100], [1]).labels == ["1", "50", "100"]  # 2 and 3 are too near
    for values, met in ((randint(5, 80), [100, 5]), (randint(1, 3), [1]), ([1, 2, 30, 1001], [3])):
        axis = axis_in(values, met)
        assert all(float(label).is_integer() for label in axis.labels)
        np.testing.assert_allclose(axis.ticks, axis.place(list(map(float, axis.labels))), atol=5e-3)
    np.testing.assert_allclose(ValueAxis.of("n", [1, 3, 5]).positions, [0, 0.5, 1])
    assert ValueAxis.of("n", [3, 3]).is_constant


def test_axes_of_categories_are_in_the_order_of_the_space():
    axis = axis_in(["b", "a", "c"], np.ma.array(["a", "c", None], mask=[0, 0, 1], dtype=object))
    assert axis.labels == ["b", "a", "c", "none"]
    np.testing.assert_allclose(axis.positions, [0.5, 1, BELOW])
    assert axis_in([True, False], [False, True]).labels == ["True", "False"]
    assert axis_in([None, 15, 3], [3]).labels == ["None", "15", "3"]
    assert np.isnan(axis.place(["other"])).all()


def test_no_two_choices_look_alike():
    axis = axis_in([1, "1", True, 1.0], [1, "1"])
    assert axis.labels == ["1", "'1'", "True", "1.0"]
    assert len(set(axis.place([1, "1", True, 1.0]))) == 4
    for pair in (
        ["a long name, one", "a long name, two"],
        ["a middle name of it", "a muddle name of it"],
    ):
        labels = axis_in(pair, []).labels
        assert len(set(labels)) == 2
        assert max(map(len, labels)) < len(pair[0])
    assert axis_in([SVC(C=2), "passthrough"], []).labels == ["SVC", "passthrough"]
    assert axis_in([SVC(C=2), SVC(C=3)], []).labels == ["SVC(C=2)", "SVC(C=3)"]


def test_the_axis_of_a_value_that_is_a_number_in_one_branch_only():
    space = SpaceUnion([{"m": ["sqrt"]}, {"m": uniform()}])
    axis = ValueAxis.of("m", ["sqrt", 0.7, 0.2], parameter_domains(space)["m"])
    assert axis.labels == ["sqrt", "0.2", "0.7"]


def test_a_value_that_is_not_positive_has_no_place_on_a_logarithmic_axis():
    """The default of ``ccp_alpha`` is 0, that of ``max_iter`` -1."""
    axis = axis_in(loguniform(1e-3, 1.0), [0.0, 1e-3, 1.0])
    np.testing.assert_allclose(axis.positions, [BELOW, 0.0, 1.0])
    assert "0.0" in axis.labels
    levels = axis_in([10, 100, 1000, 10000], [-1, 10, 10000])
    np.testing.assert_allclose(levels.positions, [BELOW, 0.0, 1.0])


def test_coinciding_lines_are_fanned_out_in_order():
    axis = ValueAxis.of("k", list("aabbbb"))
    spread = axis.spread(np.array([5, 0, 1, 2, 3, 4]))
    assert len(np.unique(spread)) == 6
    assert spread[1] < spread[0]
    assert (np.diff(spread[2:]) > 0).all()
    assert spread[:2].max() < spread[2:].min()
    distinct = ValueAxis.of("u", np.linspace(0, 1, 7))
    np.testing.assert_array_equal(distinct.spread(np.arange(7)), distinct.positions)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.000175, "1.75e-4"), (0.01, "0.01"), (0.0, "0"), (-2.5e7, "-2.5e7"), (123.4, "123")],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_names_are_short():
    assert short("C") == "C"
    assert short("clf__colsample_bytree") == "clf.colsample_bytree"
    assert short("preprocess__scaler__quantile_range") == "…quantile_range"
    assert len(short("an_ordinary_name_without_steps")) == 20


def test_an_outlier_does_not_set_the_limits():
    values = np.append(np.linspace(0, 1, 40), [1e9, np.nan])
    low, high = robust_limits(values)
    assert -0.2 < low < 0.0
    assert 1.0 < high < 1.2
    assert robust_limits(np.array([np.nan])) == (0.0, 1.0)
    low, high = robust_limits(np.full(5, 3.0))
    assert low < 3.0 < high
    assert is_logarithmic(np.array([1e-3, 10.0]))
    assert not is_logarithmic(np.array([-1.0, 1e9]))


def test_dependence_on_inputs_and_directions():
    optimizer = told({"a": uniform(), "k": ["p", "q"]}, lambda p: p["a"] ** 2 + (p["k"] == "q"), 50)
    model = optimizer.input_model_
    on_a = input_dependence(model, "a")
    a = np.array(on_a.places)
    np.testing.assert_allclose(on_a.mean - on_a.mean[0], a**2 - a[0] ** 2, atol=0.08)
    on_k = input_dependence(model, "k")
    assert dict(zip(on_k.places, on_k.mean, strict=True))["q"] == pytest.approx(1.33, abs=0.15)
    along = direction_dependence(model, np.array([1.0, 0.0]))
    np.testing.assert_allclose(along.mean, ((along.places + 1) / 2) ** 2 + 0.5, atol=0.2)
    assert (along.low <= along.high).all()
    np.testing.assert_array_equal(along.times(-1.0).mean, -along.mean)


def test_dependence_on_a_name_that_branches_have_with_other_values():
    space = [{"kind": ["x"], "C": uniform()}, {"kind": ["y"], "C": uniform(1, 1)}]
    optimizer = told(space, lambda p: p["C"] ** 2, 50)
    on_C = input_dependence(optimizer.input_model_, "C")
    np.testing.assert_allclose(on_C.places, np.linspace(0, 2, 21), atol=1e-6)
    np.testing.assert_allclose(on_C.mean, np.square(on_C.places), atol=0.15)


# What is drawn.


def drawn_values(axes):
    """The x and y of the curve of a panel."""
    return axes.lines[-1].get_data()


def test_axes_and_curves_go_from_end_to_end_of_the_space():
    space = {"C": loguniform(1e-3, 0.2), "b": uniform()}
    optimizer = told(space, lambda p: np.log10(p["C"]) + 0.5 * p["b"], 24)
    display = SearchDisplay.from_result(optimizer, kind="dependence")
    for axes in display.axes_:
        np.testing.assert_allclose(drawn_values(axes)[0][[0, -1]], [0, 1], atol=1e-6)
    assert [axes.get_xlabel().split("\n")[0] for axes in display.axes_] == ["C (log)", "b"]
    labels = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    assert labels == ["0.001", "0.0141", "0.2"]
    names = [name.get_text() for name in display.plot(kind="parallel").axes_[0].get_xticklabels()]
    assert names == ["C (log)", "b", "value"]


def test_the_best_is_never_out_of_the_frame():
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


def test_what_is_dotted_hollow_and_orange_is_said(search):
    convergence, first, *_ = SearchDisplay.from_result(search).axes_
    assert "first model" in convergence.get_legend_handles_labels()[1]
    assert "hollow: before the first model" in first.get_xlabel()
    assert "orange: the model" in first.get_xlabel()
    random = minimize(np.sum, [(0, 1)] * 2, method="random", n_calls=12, random_state=0)
    assert "all before the first model" in SearchDisplay.from_result(random).axes_[1].get_xlabel()


def test_two_choices_that_are_written_alike_are_two_in_every_panel():
    optimizer = told(
        {"branch": [1, "1"], "u": uniform()}, lambda p: (p["branch"] == 1) + p["u"], 30
    )
    assert optimizer.space_.feature_names_ == ["branch='1'", "u"]
    display = SearchDisplay.from_result(optimizer)
    ticks = {label.get_text() for label in display.axes_[1].get_xticklabels()}
    assert ticks == {"1", "'1'"}
    assert ticks <= {text.get_text() for text in display.axes_[-1].texts}


def test_the_name_that_scikit_learn_has_for_it(search):
    for display in (SearchDisplay, ConvergenceDisplay):
        ours, theirs = display.from_estimator(search), display.from_result(search)
        assert type(ours) is display
        assert len(ours.axes_) == len(theirs.axes_)
    assert len(SearchDisplay.from_estimator(search, kind="shares").axes_) == 1
    with pytest.raises(TypeError, match="result must be a fitted SILBOSearchCV"):
        SearchDisplay.from_estimator([1.0])


def test_hints_can_be_read_without_matplotlib():
    code = """
import sys, typing
import skbo_silbo.inspection as inspection
displays = [getattr(inspection, name) for name in inspection.__all__ if name.endswith("Display")]
for display in displays:
    for method in ("__init__", "from_result", "from_estimator", "plot"):
        if hasattr(display, method):
            typing.get_type_hints(getattr(display, method))
assert len(displays) == 5
assert not any(name.split(".")[0] == "matplotlib" for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_all_panels(search):
    display = SearchDisplay.from_result(search)
    assert isinstance(display, SearchDisplay)
    assert len(display.axes_) == 5
    assert all(axes.figure is display.figure_ for axes in display.axes_)
    convergence, first, second, shares, parallel = display.axes_
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
    names = [text.get_text() for text in parallel.get_xticklabels()]
    assert names == [*ranked, "mean test score"]
    assert len(parallel.lines) == 14 + 4  # candidates and axes
    assert colliding(display.figure_) == []


def test_a_panel_by_name_grey_bars_and_a_value_that_some_do_not_have():
    space = [{"k": ["x"], "m__a_long_name_of_it": uniform(), "u": uniform()}, {"k": ["y"]}]
    optimizer = told(space, lambda p: (p["k"] == "x") + 3 * p.get("m__a_long_name_of_it", 0), 50)
    display = SearchDisplay.from_result(optimizer, kind="u")
    [axes] = display.axes_
    assert axes.get_xlabel().startswith("u\n")
    assert len(axes.lines) == 1  # the mean of the model
    with pytest.raises(ValueError, match=r"kind must be one of .*'k', 'm__a_long_name_of_it', 'u'"):
        display.plot(kind="v")
    [shares] = display.plot(kind="shares").axes_
    colours = {
        t.get_text(): bar.get_facecolor()
        for t, bar in zip(shares.get_yticklabels(), shares.patches, strict=True)
    }
    assert colours["u"] == (0.8, 0.8, 0.8, 1.0) != colours["k"]
    assert colliding(display.plot(kind="parallel").figure_) == []


@pytest.mark.parametrize("method", ["silbo", "random"])
def test_a_result_and_its_optimiser_are_drawn_alike(method):
    def func(x):
        return x[0] ** 2 + 0.1 * x[1]

    result = minimize(func, [(-1, 1)] * 3, method=method, n_calls=20, random_state=0)
    for display in (SearchDisplay, ConvergenceDisplay, SubspaceDisplay):
        ours = display.from_result(result)
        theirs = display.from_result(result.optimizer)
        assert len(ours.axes_) == len(theirs.axes_)
    drawn = SearchDisplay.from_result(result)
    np.testing.assert_array_equal(drawn.values, result.func_vals)
    assert drawn.n_initial == (20 if method == "random" else result.optimizer.n_initial_)
    assert list(drawn.dependences) == drawn.shares.ranked[:2]
    steps = drawn.axes_[0].lines[-2 if method == "silbo" else -1].get_ydata()
    np.testing.assert_array_equal(steps, np.minimum.accumulate(result.func_vals))


def test_a_maximum_is_drawn_in_its_own_sign():
    result = minimize(
        lambda x: -(x[0] ** 2), [(-1, 1)] * 2, n_calls=14, maximize=True, random_state=0
    )
    display = SearchDisplay.from_result(result)
    np.testing.assert_array_equal(display.values, result.func_vals)
    curve = ConvergenceDisplay.from_result(result).axes_[0].lines[1]
    np.testing.assert_array_equal(curve.get_ydata(), np.maximum.accumulate(result.func_vals))
    assert display.dependences["x0"].mean.max() < 0.1


def test_nothing_is_drawn_of_a_model_that_predicts_nothing():
    rng = np.random.default_rng(0)
    optimizer = told([(0, 1)] * 5, lambda x: rng.standard_normal(), 30)
    display = SearchDisplay.from_result(optimizer)
    assert display.dependences == {}
    assert not display.axes_[1].lines
    assert not display.axes_[3].patches
    [text] = display.axes_[3].texts
    assert "Nothing can be said" in text.get_text()
    [axes] = SubspaceDisplay.from_result(optimizer).axes_
    assert "Nothing can be said" in axes.texts[0].get_text()
    given = plt.subplots(1, 2)[1]
    assert list(SubspaceDisplay.from_result(optimizer, ax=given).axes_) == list(given)


def test_an_outlier_is_a_triangle_at_the_edge():
    def func(x):
        return float("nan") if x[1] < -0.9 else 1e9 if x[2] > 0.96 else np.tanh(2 * x[0])

    optimizer = told([(-1, 1)] * 4, func, 60)
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


@pytest.mark.parametrize("sign", [1, -1])
def test_what_lies_beyond_is_told_of_where_it_lies(sign):
    _, axes = plt.subplots()
    values = sign * np.r_[np.linspace(0, 1, 40), 1e9, 2e9]
    draw_values(axes, ValueAxis.along("u", np.linspace(0, 1, 42)), values, 0, "value")
    above, below = axes.get_title(loc="right"), [text.get_text() for text in axes.texts]
    assert (above, below) == (("▲ 2 beyond", []) if sign > 0 else ("", ["▼ 2 beyond"]))


def test_points_of_one_category_show_no_trend_along_the_axis():
    values = np.sort(np.random.default_rng(1).normal(size=60))
    for scores in (values, values[::-1]):
        _, axes = plt.subplots()
        draw_values(axes, ValueAxis.of("k", list("ab") * 30), scores, 0, "score")
        x, y = np.vstack([c.get_offsets() for c in axes.collections]).T
        for rows in (x < 0.5, x > 0.5):
            assert len(np.unique(x[rows])) == 30  # fanned out
            assert abs(np.corrcoef(x[rows], y[rows])[0, 1]) < 0.6


def test_one_of_several_goals_is_named():
    def scores(estimator, X, y=None):
        return {"plain": estimator.score(X), "other": estimator.b}

    search = fitted(scoring=scores, refit=["plain", "other"])
    display = SearchDisplay.from_result(search)
    name = "mean test plain (of 2 goals)"
    assert display.value_name == name
    lines = name.replace(" (", "\n(")
    assert lines in display.axes_[0].get_ylabel()
    assert name in display.axes_[-1].get_title()
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=9, cv=2, scoring=scores, refit="plain")
    both = ConvergenceDisplay.from_result(search, others={"random": random.fit(X)})
    assert lines in both.axes_[0].get_ylabel()
    again = ConvergenceDisplay.from_result(random, others={"again": random})
    assert set(again.curves) == {"this search", "again"}


def test_labels_do_not_collide():
    names = ["learning_rate", "preprocess__scaler__method", "clf__estimator__max_depth"]
    space = [
        {names[0]: loguniform(1.75e-4, 1), names[1]: ["standard", "minmax", "quantile", "robust"]},
        {names[0]: loguniform(1.75e-4, 1), names[2]: loguniform(1.75e-4, 0.1)},
    ]

    def func(point):
        return np.log10(point[names[0]]) ** 2 + 0.3 * np.log10(point.get(names[2], 1.0))

    optimizer = told(space, func, 40)
    for kind in ("all", "parallel", "shares", "dependence"):
        display = SearchDisplay.from_result(optimizer, kind=kind)
        assert colliding(display.figure_) == []


def test_short_names_of_parallel_axes_are_clear_of_the_ends_of_their_scales():
    optimizer = told([(-1, 1)] * 4, lambda x: x[0] ** 2 + x[3], 12)
    optimizer.tell([-np.ones(4), np.ones(4)], [0.0, 2.0])
    display = SearchDisplay.from_result(optimizer)
    axes = display.figure_.axes[-1]
    display.figure_.canvas.draw()
    ends = [text.get_window_extent().y0 for text in axes.texts if text.get_text() == "-1"]
    assert len(ends) == 4
    assert max(label.get_window_extent().y1 for label in axes.get_xticklabels()) <= min(ends)


def test_a_conditional_choice_has_one_name():
    space = [
        {"a": uniform(), "kind": ["x"]},
        {"kind": ["y"], "b": uniform()},
    ]
    optimizer = told(space, lambda p: p.get("a", 0.0) ** 2 + 3.0 * p.get("b", 1.0) - 3.0, 50)
    display = SearchDisplay.from_result(optimizer, kind="all")
    assert set(display.shares.names) == {"kind", "a", "b"} == set(display.parameters)
    on_kind = input_dependence(optimizer.input_model_, "kind")
    assert dict(zip(on_kind.places, on_kind.mean, strict=True)) == pytest.approx(
        {"x": 1 / 3, "y": -1.5}, abs=0.15
    )
    shown = {text.get_text() for axes in display.axes_ for text in axes.findobj(plt.Text)}
    assert "kind" in shown
    assert not any("branch" in text for text in shown)
    assert "kind=y" in optimizer.space_.feature_names_


def test_a_choice_that_no_parameter_names_is_drawn_too():
    space = [{"branch": uniform(), "a": uniform()}, {"branch": uniform(), "b": uniform()}]
    optimizer = told(space, lambda p: 5.0 * ("a" in p) + p["branch"], 30)
    display = SearchDisplay.from_result(optimizer)
    assert display.shares.ranked[0] == "branch (2)"
    assert set(display.parameters) == {"branch (2)", "branch", "a", "b"}
    assert list(display.parameters["branch (2)"]) == [int("b" in p) for p in optimizer.x_iters_]
    on_choice = display.dependences["branch (2)"]
    assert dict(zip(on_choice.places, on_choice.mean, strict=True)) == pytest.approx(
        {0: 5.5, 1: 0.5}, abs=0.2
    )
    assert [t.get_text() for t in display.axes_[1].get_xticklabels()] == ["0", "1"]


def test_random_search_is_drawn_beside(search):
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=30, cv=2, random_state=0).fit(X)
    display = SearchDisplay.from_result(search, random_search=random, kind="convergence")
    [axes] = display.axes_
    expected, ours = (line.get_ydata() for line in axes.lines[:2])
    np.testing.assert_allclose(expected, expected_best(random.cv_results_["mean_test_score"])[0])
    assert (len(expected), len(ours)) == (30, 14)
    assert "from 30 random points" in axes.get_legend_handles_labels()[1][0]
    alone = ConvergenceDisplay.from_result(search).axes_[0]
    assert len(alone.lines[0].get_ydata()) == search.optimizer_.n_initial_
    both = ConvergenceDisplay.from_result(search, others={"random": random})
    assert "random" in both.axes_[0].get_legend_handles_labels()[1]
    np.testing.assert_array_equal(
        both.axes_[0].lines[2].get_ydata(),
        np.maximum.accumulate(random.cv_results_["mean_test_score"]),
    )


def test_convergence_of_another_search(search):
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=9, cv=2, random_state=0).fit(X)
    [axes] = ConvergenceDisplay.from_result(random, name="random", others={"ours": search}).axes_
    np.testing.assert_array_equal(
        axes.lines[0].get_ydata(), np.maximum.accumulate(random.cv_results_["mean_test_score"])
    )
    assert axes.get_legend_handles_labels()[1] == ["random", "ours"]
    assert ConvergenceDisplay.from_result(search, ax=axes).axes_ == [axes]
    assert axes.get_legend_handles_labels()[1].count("this search") == 1
    for others, got in (({"this search": random}, r"\['this search'\]"), ([random], "list")):
        with pytest.raises(ValueError, match=f"others must be a dict of results .*: got {got}"):
            ConvergenceDisplay.from_result(search, others=others)
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_result(RandomizedSearchCV(Hill(), SPACE))


def test_scores_of_two_kinds_are_not_drawn_on_one_axis():
    rows, y = np.arange(12.0)[:, None], np.arange(12) % 2
    space = {"strategy": ["uniform", "stratified"]}
    by = {
        scoring: RandomizedSearchCV(DummyClassifier(), space, n_iter=2, cv=2, scoring=scoring)
        for scoring in ("accuracy", "neg_log_loss", None)
    }
    for random in by.values():
        random.fit(rows, y)
    same = ConvergenceDisplay.from_result(by["accuracy"], others={"default": by[None]})
    assert set(same.curves) == {"this search", "default"}
    with pytest.raises(ValueError, match=r"scored as result is, by 'accuracy'.*'neg_log_loss'"):
        ConvergenceDisplay.from_result(by["accuracy"], random_search=by["neg_log_loss"])


def test_candidates_of_a_halving_search_are_compared_at_its_last_resource():
    sizes = {"resource": "c", "min_resources": 1, "max_resources": 9}
    halving = HalvingRandomSearchCV(Hill(), SPACE, n_candidates=18, cv=2, random_state=0, **sizes)
    results = halving.fit(X).cv_results_
    last = results["mean_test_score"][results["n_resources"] == 9]
    assert 1 < len(last) < len(results["params"])
    display = ConvergenceDisplay.from_result(halving, others={"again": halving})
    np.testing.assert_array_equal(display.curves["this search"], last)
    np.testing.assert_array_equal(display.curves["again"], last)


def test_resumed_candidates_keep_their_place_in_the_design(tmp_path):
    searches = [fitted(journal=tmp_path / "journal") for _ in range(2)]
    displays = [SearchDisplay.from_result(search, kind="convergence") for search in searches]
    assert displays[0].n_initial == displays[1].n_initial > 0


def test_directions_of_a_learnt_embedding():
    space = {name: uniform() for name in "abc"}
    search = fitted(space, embedding="semi-sir", n_components=2, n_iter=18)
    display = SearchDisplay.from_result(search, kind="dependence")
    labels = [axes.get_xlabel().split("\n")[0] for axes in display.axes_]
    assert labels == ["direction 1", "direction 2"]
    points = search.optimizer_.space_.encode(search.cv_results_["params"])
    expected = search.optimizer_.embedding_.project(points)
    np.testing.assert_allclose(np.column_stack(list(display.directions.values())), expected)


class Auto(Hill):
    """With a="auto" as scikit-learn's ``gamma="scale"``: it can be evaluated, not modelled."""

    def score(self, X, y=None):
        return Hill(0.2 if self.a == "auto" else self.a, kind=self.kind).score(X)


@pytest.mark.parametrize(
    ("space", "embedding"),
    [(SPACE, "semi-sir"), ([{**SPACE, "kind": ["x"]}, {**SPACE, "kind": ["y"]}], "identity")],
)
def test_the_estimator_as_it_was_is_drawn_though_it_is_outside_the_space(space, embedding):
    search = SILBOSearchCV(Auto("auto"), space, n_iter=14, cv=2, random_state=0)
    search.set_params(embedding=embedding).fit(X)
    assert search.cv_results_["param_a"][0] == "auto"
    display = SearchDisplay.from_result(search)
    assert "auto" in {text.get_text() for text in display.axes_[-1].texts}
    assert len(display.values) == 14
    directions = SubspaceDisplay.from_result(search)
    assert len(directions.scores) == 13
    assert np.isfinite(directions.scores).all()
    plt.close("all")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
def test_conditional_parameters_and_failures():
    space = [
        {"kind": ["x"], "a": uniform()},
        {"kind": ["y"], "b": uniform(), "fails": [True, False]},
    ]
    display = SearchDisplay.from_result(fitted(space))
    labels = {text.get_text() for text in display.axes_[-1].texts}
    assert {"none", "infeasible or failed"} <= labels
    assert colliding(display.figure_) == []


def test_several_metrics():
    def scores(estimator, X, y=None):
        return {"plain": estimator.score(X), "other": estimator.b}

    for refit, metric in (("other", "other"), (False, "plain")):
        search = fitted(scoring=scores, refit=refit)
        display = SearchDisplay.from_result(search, kind="convergence")
        np.testing.assert_array_equal(display.values, -search.optimizer_.func_vals_)
        assert display.value_name == f"mean test {metric}"


def test_few_candidates_and_constants():
    for space, n_iter in ((SPACE, 1), ({"a": [0.1], "kind": ["x"]}, 1), (SPACE, 3)):
        display = SearchDisplay.from_result(fitted(space, n_iter=n_iter))
        display.figure_.canvas.draw()


def test_most_parameters_are_left_out(search):
    display = SearchDisplay.from_result(search, max_parameters=2)
    assert len(display.axes_[-2].patches) == 2
    assert len(display.axes_[-1].get_xticks()) == 3


@pytest.mark.parametrize(
    ("kind", "n_panels"), [("convergence", 1), ("dependence", 2), ("shares", 1), ("parallel", 1)]
)
def test_one_kind_on_given_axes(search, kind, n_panels):
    figure, axes = plt.subplots(1, n_panels)
    display = SearchDisplay.from_result(search, kind=kind, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(np.ravel(axes))
    assert len(display.plot(kind=kind).axes_) == n_panels


# Refusals.


def test_refusals(search, monkeypatch):
    with pytest.raises(NotFittedError):
        SearchDisplay.from_result(SILBOSearchCV(Hill(), SPACE))
    with pytest.raises(ValueError, match="kind must be one of"):
        SearchDisplay.from_result(search, kind="pie")
    with pytest.raises(ValueError, match="max_parameters must be"):
        SearchDisplay.from_result(search, max_parameters=0)
    with pytest.raises(ValueError, match="one Axes for each of the 5 panels: got 1"):
        SearchDisplay.from_result(search, ax=plt.gca())
    random = RandomizedSearchCV(Hill(), SPACE, n_iter=2, cv=2).fit(X)
    for other in (random, [1.0, 2.0]):
        with pytest.raises(TypeError, match="result must be a fitted SILBOSearchCV, an optimiser"):
            SearchDisplay.from_result(other)
    optimizer = told([(0, 1)] * 2, np.sum, 12)
    with pytest.raises(ValueError, match="random_search must be of the same kind as result"):
        ConvergenceDisplay.from_result(optimizer, random_search=random)
    other = RandomizedSearchCV(
        Hill(), SPACE, n_iter=2, cv=2, scoring={"f": lambda e, X, y=None: 1.0}, refit="f"
    )
    with pytest.raises(ValueError, match=r"must have 'mean_test_score'.*got \['mean_test_f'\]"):
        SearchDisplay.from_result(search, random_search=other.fit(X))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"skbo_silbo\[plot\]"):
        SearchDisplay.from_result(search)


def test_the_search_is_left_as_it_was(search):
    before = search.optimizer_.x_iters_, len(search.optimizer_._pending)
    SearchDisplay.from_result(search)
    assert (search.optimizer_.x_iters_, len(search.optimizer_._pending)) == before
    assert isinstance(search.optimizer_, SILBO)


@pytest.fixture(scope="module", params=[1e300, np.finfo(float).max])
def penalised(request):
    def func(x):
        return float(np.sum((x - 0.3) ** 2)) if x[0] < 0.5 else request.param

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*count as failed evaluations")
        result = minimize(func, [(-1, 1)] * 2, n_calls=14, random_state=0)
    assert np.max(result.func_vals) == request.param
    return result


@pytest.mark.parametrize("display", [ConvergenceDisplay, SearchDisplay, SubspaceDisplay])
@pytest.mark.filterwarnings("ignore:.*count as failed evaluations")
def test_penalties_of_any_size_are_drawn(display, penalised):
    display.from_result(penalised)
    plt.gcf().canvas.draw()
    assert all(np.isfinite(ax.get_xlim() + ax.get_ylim()).all() for ax in plt.gcf().axes)
    plt.close("all")


@pytest.mark.parametrize("display", [ConvergenceDisplay, SearchDisplay, SubspaceDisplay])
def test_an_optimiser_told_nothing_has_nothing_to_draw(display):
    with pytest.raises(NotFittedError, match="this SILBO has none"):
        display.from_result(SILBO([(0, 1)] * 2))
