"""Scales, tick labels and limits of the axes, and the expected curve of random search."""

import itertools

import numpy as np
import pytest
from ask_tell import observed_optimizer
from scipy.stats import loguniform, randint, uniform
from sklearn.svm import SVC

from skbo_silbo import Space
from skbo_silbo.inspection._evaluations import read_evaluations
from skbo_silbo.inspection._panels import robust_limits, spread_ties
from skbo_silbo.inspection._search_panels import draw_values, expected_best
from skbo_silbo.inspection._value_axis import (
    BELOW,
    ValueAxis,
    format_number,
    shorten,
    shorten_distinct,
)
from skbo_silbo.space import SpaceUnion, parameter_domains

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.mark.parametrize("scores", [[0.3, 0.1, 0.9, 0.4, 0.4], [2.0]])
def test_expected_best_matches_enumeration(scores):
    mean, (low, high) = expected_best(np.array(scores))
    for k in range(1, len(scores) + 1):
        best = np.sort([max(subset) for subset in itertools.combinations(scores, k)])
        assert mean[k - 1] == pytest.approx(best.mean())
        assert low[k - 1] == np.quantile(best, 0.1, method="inverted_cdf")
        assert high[k - 1] == np.quantile(best, 0.9, method="inverted_cdf")


def test_failures_count_as_worst_random_points():
    np.testing.assert_allclose(expected_best(np.array([np.nan, 1.0, 0.0]))[0], [1 / 3, 2 / 3, 1])


def test_expected_best_of_equal_scores_is_exact():
    """Otherwise rounding errors would fill the axis of a constant objective."""
    assert set(expected_best(np.full(7, 0.1))[0]) == {0.1}


def test_hundreds_of_scores_do_not_overflow():
    scores = np.random.default_rng(0).normal(size=800)
    mean, (low, high) = expected_best(scores)
    assert mean[0] == pytest.approx(scores.mean())
    assert mean[-1] == low[-1] == high[-1] == pytest.approx(scores.max())
    assert np.all(np.diff(mean) > -1e-12)
    assert np.all(low <= high)


def axis_in(values, met, name="p"):
    """Return the axis of observed values of a parameter with this search space."""
    return ValueAxis.from_values(name, met, parameter_domains(Space({name: values}))[name])


def test_number_axes_follow_search_space():
    axis = axis_in(loguniform(1e-3, 1e3), [1.0, 2.0])
    np.testing.assert_allclose(axis.to_position([1e-3, 0.1, 1e3]), [0, 1 / 3, 1], atol=1e-6)
    assert axis.labels == ["0.001", "1", "1e3"]
    assert axis.scale_note == " (log)"
    axis = axis_in(uniform(0, 1000), [0.001, 0.1, 10.0])  # linear although the values span decades
    np.testing.assert_allclose(axis.positions, [1e-6, 1e-4, 1e-2], atol=1e-6)
    assert not axis.scale_note
    assert axis_in([1, 2, 4, 8], [1, 8]).labels == ["1", "2", "4", "8"]
    for values, met in ((randint(5, 80), [100, 5]), (randint(1, 3), [1])):
        axis = axis_in(values, met)
        assert all(float(label).is_integer() for label in axis.labels)
        np.testing.assert_allclose(
            axis.ticks, axis.to_position(list(map(float, axis.labels))), atol=5e-3
        )
    np.testing.assert_allclose(ValueAxis.from_values("n", [1, 3, 5]).positions, [0, 0.5, 1])
    assert ValueAxis.from_values("n", [3, 3]).is_constant


def test_axes_of_ordinal_lists_are_spaced_by_rank():
    levels = [0, 0.001, 0.01, 0.1, 1, 10, 100]
    axis = axis_in(levels, [100, 0, 0.1])
    np.testing.assert_allclose(axis.positions, [1, 0, 0.5])
    assert axis.labels == ["0", "0.001", "0.01", "0.1", "1", "10", "100"]
    assert axis.scale_note == " (by rank)"
    assert axis_in(range(0, 60, 5), [5]).scale_note == ""
    between = axis_in([1, 2, 3, 100], [50, 1, 100])  # a default outside the listed values
    np.testing.assert_allclose(between.positions, [0.75, 0, 1])
    many = axis_in([*range(20), 1000], [0])
    assert many.labels == ["0", "10", "1e3"]


def test_category_axes_keep_space_order():
    axis = axis_in(["b", "a", "c"], np.ma.array(["a", "c", None], mask=[0, 0, 1], dtype=object))
    assert axis.labels == ["b", "a", "c", "none"]
    np.testing.assert_allclose(axis.positions, [0.5, 1, BELOW])
    assert axis_in([True, False], [False, True]).labels == ["True", "False"]
    assert axis_in([None, 15, 3], [3]).labels == ["15", "3", "None"]
    assert np.isnan(axis.to_position(["other"])).all()


def test_no_two_choices_look_alike():
    axis = axis_in([1, "1", True, 1.0], [1, "1"])
    assert axis.labels == ["1", "'1'", "True", "1.0"]
    assert len(set(axis.to_position([1, "1", True, 1.0]))) == 4
    for pair in (["a long name, one", "a long name, two"], ["a middle name", "a muddle name"]):
        labels = axis_in(pair, []).labels
        assert len(set(labels)) == 2
        assert max(map(len, labels)) < len(pair[0])
    assert axis_in([SVC(C=2), "passthrough"], []).labels == ["SVC", "passthrough"]
    assert axis_in([SVC(C=2), SVC(C=3)], []).labels == ["SVC(C=2)", "SVC(C=3)"]


def test_axis_of_parameter_numeric_in_one_branch():
    space = SpaceUnion([{"m": ["sqrt"]}, {"m": uniform()}])
    axis = ValueAxis.from_values("m", ["sqrt", 0.7, 0.2], parameter_domains(space)["m"])
    assert axis.labels == ["sqrt", "0.2", "0.7"]


def test_non_positive_value_is_off_log_axis():
    """Such values occur as defaults: 0 for ``ccp_alpha`` and -1 for ``max_iter``."""
    axis = axis_in(loguniform(1e-3, 1.0), [0.0, 1e-3, 1.0])
    np.testing.assert_allclose(axis.positions, [BELOW, 0.0, 1.0])
    assert "0.0" in axis.labels
    levels = axis_in([10, 100, 1000, 10000], [-1, 10, 10000])
    np.testing.assert_allclose(levels.positions, [BELOW, 0.0, 1.0])


def test_coinciding_points_are_spread():
    axis = ValueAxis.from_values("k", list("aabbbb"))
    spread = spread_ties(axis.positions, np.array([5, 0, 1, 2, 3, 4]))
    assert len(np.unique(spread)) == 6
    assert spread[:2].max() < spread[2:].min()
    distinct = ValueAxis.from_values("u", np.linspace(0, 1, 7)).positions
    np.testing.assert_array_equal(spread_ties(distinct, np.arange(7)), distinct)


def test_numbers_and_names_are_short():
    texts = {0.000175: "1.75e-4", 0.01: "0.01", 0.0: "0", -2.5e7: "-2.5e7", 123.4: "123"}
    assert {value: format_number(value) for value in texts} == texts
    assert shorten("C") == "C"
    assert shorten("clf__colsample_bytree") == "clf.colsample_bytree"
    assert shorten("preprocess__scaler__quantile_range") == "…quantile_range"
    assert len(shorten("an_ordinary_name_without_steps")) == 20


def test_short_names_are_distinct():
    names = [f"columns__{part}__simpleimputer__add_indicator" for part in ("num", "cat")]
    shown = shorten_distinct(["C", *names])
    assert shown[0] == "C"
    assert ["num" in shown[1], "cat" in shown[2]] == [True, True]
    assert max(map(len, shown)) < len(names[0])
    assert shorten_distinct(["one long name of a feature"] * 2)[0] == "one long name of a feature"
    assert shorten_distinct([]) == []


def test_outliers_do_not_affect_limits():
    values = np.append(np.linspace(0, 1, 40), [1e9, np.nan])
    low, high = robust_limits(values)
    assert -0.2 < low < 0.0
    assert 1.0 < high < 1.2
    assert robust_limits(np.array([np.nan])) == (0.0, 1.0)
    low, high = robust_limits(np.full(5, 3.0))
    assert low < 3.0 < high


@pytest.mark.usefixtures("few_draws")
def test_dependence_on_inputs_and_directions():
    optimizer = observed_optimizer(
        {"a": uniform(), "k": ["p", "q"]}, lambda p: p["a"] ** 2 + (p["k"] == "q"), 50
    )
    dependence = read_evaluations(optimizer).dependence
    on_a = dependence("a")
    a = np.array(on_a.x)
    np.testing.assert_allclose(on_a.mean - on_a.mean[0], a**2 - a[0] ** 2, atol=0.08)
    on_k = dependence("k")
    assert dict(zip(on_k.x, on_k.mean, strict=True))["q"] == pytest.approx(1.33, abs=0.15)
    along = dependence(np.array([1.0, 0.0]))
    np.testing.assert_allclose(along.mean, ((along.x + 1) / 2) ** 2 + 0.5, atol=0.2)
    assert (along.low <= along.high).all()


@pytest.mark.usefixtures("few_draws")
def test_dependence_on_parameter_shared_by_branches():
    space = [{"kind": ["x"], "C": uniform()}, {"kind": ["y"], "C": uniform(1, 1)}]
    optimizer = observed_optimizer(space, lambda p: p["C"] ** 2, 50)
    on_C = read_evaluations(optimizer).dependence("C")
    np.testing.assert_allclose(on_C.x, np.linspace(0, 2, 21), atol=1e-6)
    np.testing.assert_allclose(on_C.mean, np.square(on_C.x), atol=0.15)


@pytest.mark.parametrize("sign", [1, -1])
def test_values_beyond_axis_are_annotated(sign):
    _, axes = plt.subplots()
    values = sign * np.r_[np.linspace(0, 1, 40), 1e9, 2e9]
    draw_values(axes, ValueAxis.from_values("u", np.linspace(0, 1, 42)), values, 0, "value")
    above, below = axes.get_title(loc="right"), [text.get_text() for text in axes.texts]
    assert (above, below) == (("▲ 2 beyond", []) if sign > 0 else ("", ["▼ 2 beyond"]))


def test_jitter_within_category_has_no_trend():
    values = np.sort(np.random.default_rng(1).normal(size=60))
    for scores in (values, values[::-1]):
        _, axes = plt.subplots()
        draw_values(axes, ValueAxis.from_values("k", list("ab") * 30), scores, 0, "score")
        x, y = np.vstack([c.get_offsets() for c in axes.collections]).T
        for rows in (x < 0.5, x > 0.5):
            assert len(np.unique(x[rows])) == 30
            assert abs(np.corrcoef(x[rows], y[rows])[0, 1]) < 0.6
