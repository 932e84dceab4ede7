"""Dimensions of other libraries: the error says how to write them."""

import numpy as np
import pytest
from scipy import stats

from skbo_silbo import SILBO, Space

pytestmark = pytest.mark.quick

LOG_INTEGERS = "numpy.unique(numpy.geomspace(1, 100, 20).round().astype(int))"


def code_in_error(make):
    with pytest.raises(ValueError, match=r"of another library\. Write .* instead\.") as caught:
        make()
    return str(caught.value).partition("Write ")[2].removesuffix(" instead.")


@pytest.mark.parametrize(
    ("kind", "arguments", "code"),
    [
        ("Real", (1e-3, 1e3, "log-uniform"), "scipy.stats.loguniform(0.001, 1000.0)"),
        ("Real", (0.1, 0.3), "scipy.stats.uniform(0.1, 0.3 - 0.1)"),
        ("Integer", (1, 100), "scipy.stats.randint(1, 100 + 1)"),
        ("Integer", (1, 100, "log-uniform"), LOG_INTEGERS),
        ("Categorical", (["rbf", "poly"],), "['rbf', 'poly']"),
    ],
)
def test_dimensions_of_scikit_optimize_are_translated(kind, arguments, code):
    skopt_space = pytest.importorskip("skopt.space")
    dimension = getattr(skopt_space, kind)(*arguments)
    assert code_in_error(lambda: Space({"a": dimension})) == code


@pytest.mark.parametrize(
    ("kind", "arguments", "options", "code"),
    [
        ("Float", (1e-3, 1e3), {"log": True}, "scipy.stats.loguniform(0.001, 1000.0)"),
        ("Float", (-1.0, 1.0), {}, "scipy.stats.uniform(-1.0, 1.0 - -1.0)"),
        ("Float", (0.0, 1.0), {"step": 0.25}, "numpy.arange(0.0, 1.0 + 0.25 / 2, 0.25)"),
        ("Int", (1, 9), {}, "scipy.stats.randint(1, 9 + 1)"),
        ("Int", (1, 9), {"step": 2}, "numpy.arange(1, 9 + 2 / 2, 2)"),
        ("Int", (1, 100), {"log": True}, LOG_INTEGERS),
        ("Categorical", (["rbf", None],), {}, "['rbf', None]"),
    ],
)
def test_distributions_of_optuna_are_translated(kind, arguments, options, code):
    distributions = pytest.importorskip("optuna.distributions")
    dimension = getattr(distributions, f"{kind}Distribution")(*arguments, **options)
    assert code_in_error(lambda: SILBO({"a": dimension})) == code


@pytest.mark.parametrize(
    ("kind", "arguments", "code"),
    [
        ("uniform", (0, 1), "scipy.stats.uniform(0, 1 - 0)"),
        ("loguniform", (-3, 3), "scipy.stats.loguniform(numpy.exp(-3), numpy.exp(3))"),
        ("uniformint", (1, 9), "scipy.stats.randint(1, 9 + 1)"),
        ("randint", (9,), "scipy.stats.randint(0, 9)"),
        ("choice", (["rbf", "poly"],), "['rbf', 'poly']"),
        ("qnormal", (1, 2, 3), "a distribution of scipy.stats or a list"),
    ],
)
def test_expressions_of_hyperopt_are_translated(kind, arguments, code):
    hp = pytest.importorskip("hyperopt").hp
    assert code_in_error(lambda: Space({"a": getattr(hp, kind)("a", *arguments)})) == code


def test_dimensions_as_bounds_get_equivalent_space():
    distributions = pytest.importorskip("optuna.distributions")
    dimensions = [distributions.FloatDistribution(0.5, 2.0, log=True), (0, 4)]
    with pytest.raises(ValueError, match="`bounds` must be pairs of numbers or a Space") as caught:
        SILBO(dimensions)
    code = str(caught.value).partition("Write ")[2].removesuffix(".")
    scope = {"scipy": __import__("scipy"), "numpy": np, "Space": Space}
    space = eval(code, scope)
    assert repr(space) == repr(Space({"x0": stats.loguniform(0.5, 2.0), "x1": stats.uniform(0, 4)}))
