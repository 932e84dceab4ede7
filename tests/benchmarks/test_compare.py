"""compare: several methods with several seeds on a user-defined function."""

import numpy as np
import pytest
from scipy.stats import uniform

from skbo_silbo import FirstPointsOnlyWarning, minimize
from skbo_silbo.baselines import RandomSearch
from skbo_silbo.benchmarks import compare
from skbo_silbo.problems import branin, noisy


def bowl(x):
    return float(((x - 0.3) ** 2).sum())


@pytest.fixture(scope="module")
def comparison():
    return compare(bowl, [(-1, 1)] * 2, ["silbo", "random"], seeds=[0, 3], n_calls=12)


def test_runs_are_best_values_so_far(comparison):
    assert list(comparison.best) == ["silbo", "random"]
    for values in comparison.best.values():
        assert values.shape == (2, 12)
        assert (np.diff(values) <= 0.0).all()
    assert comparison.best["silbo"][:, -1].mean() < comparison.best["random"][:, -1].mean()


def test_frame_has_one_row_per_evaluation(comparison):
    pytest.importorskip("pandas")
    frame = comparison.to_frame()
    assert len(frame) == 2 * 2 * 12
    last = frame[frame.evaluation == 12].set_index(["method", "seed"]).best
    assert last["random", 3] == comparison.best["random"][1, -1]


def test_table_is_sorted_by_mean(comparison):
    lines = repr(comparison).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["silbo", "random"]
    assert f"{comparison.best['silbo'][:, -1].mean():.4g} (" in lines[1]


def test_plot_names_the_methods(comparison):
    plt = pytest.importorskip("matplotlib.pyplot")
    [axes] = comparison.plot().axes_
    assert axes.get_legend_handles_labels()[1] == ["silbo", "random"]
    mean = comparison.best["silbo"].mean(axis=0)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), mean)
    plt.close("all")


def test_method_that_stays_in_its_design_is_named():
    with pytest.warns(FirstPointsOnlyWarning, match=r"\['short'\] .* got 5"):
        compare(bowl, [(-1, 1)] * 2, {"short": "silbo", "random": "random"}, 1, n_calls=5)


def test_noisy_problems_are_compared_without_noise():
    problem = noisy(branin(), 100.0, random_state=0)
    best = compare(problem, problem.bounds, ["random"], seeds=1, n_calls=40).best["random"][0]
    observed = minimize(problem, problem.bounds, method="random", n_calls=40, random_state=0)
    assert best.min() > branin().optimum > observed.fun


def test_named_parameters_and_own_method():
    space = {"a": uniform(), "kind": ["x", "y"]}
    methods = {"mine": RandomSearch, "random": "random"}
    runs = compare(lambda p: p["a"] + (p["kind"] == "y"), space, methods, seeds=1, n_calls=5)
    np.testing.assert_array_equal(runs.best["mine"], runs.best["random"])


@pytest.mark.parametrize(
    ("bounds", "methods", "message"),
    [
        ([(0, 1)], ["silbo", "magic"], "'magic'"),
        ([(0, 1)], [], "must not be empty"),
    ],
)
def test_invalid_methods_raise_before_any_call(bounds, methods, message):
    with pytest.raises(ValueError, match=message):
        compare(pytest.fail, bounds, methods)
